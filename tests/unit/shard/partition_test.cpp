// SPDX-License-Identifier: Apache-2.0
// What the partitioner emits. That it computes the right numbers is tested at random by tests/property.
#include <rhino/shard/partition.hpp>

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/builder.hpp>
#include <rhino/shard/factor_map.hpp>

namespace rhino::shard {
namespace {

using ir::Builder;
using ir::DType;
using ir::OpKind;
using ir::ValueId;

/// A program of one function.
struct Whole {
  ir::Program program;
  Whole() { program.main = program.add_function("main"); }
  Builder builder() { return Builder(program, program.main); }
  const ir::Function& entry() const { return program.entry(); }
  FactorMap map(std::size_t op) const { return factor_map(program, entry(), entry().ops[op]); }
};

DimLayout block(std::int64_t size, std::vector<AxisId> axes) { return {{{size, std::move(axes)}}}; }

std::vector<const ir::Op*> ops_of(const PartitionedProgram& made, OpKind kind) {
  std::vector<const ir::Op*> found;
  for (const ir::Op& op : made.local.entry().ops) {
    if (op.kind == kind) found.push_back(&op);
  }
  return found;
}

/// A factor of the given kind of one op.
std::size_t factor_of(const FactorMap& map, FactorKind kind) {
  const auto found = std::find_if(map.factors.begin(), map.factors.end(), [&](const Factor& f) { return f.kind == kind; });
  EXPECT_NE(found, map.factors.end());
  return static_cast<std::size_t>(found - map.factors.begin());
}

const MeshShape mesh({{"x", 4}});

TEST(Partition, ConvolutionSendsOnlyTheRowsThatNeighboursTouch) {
  Whole whole;
  Builder b = whole.builder();
  ir::ConvolutionAttrs attrs;
  attrs.window = {{.size = 3, .pad_low = 1, .pad_high = 1}};
  attrs.input_batch = 0, attrs.input_feature = 1, attrs.input_spatial = {2};
  attrs.kernel_output_feature = 0, attrs.kernel_input_feature = 1, attrs.kernel_spatial = {2};
  attrs.output_batch = 0, attrs.output_feature = 1, attrs.output_spatial = {2};
  attrs.result_dtype = DType::F64;
  const ValueId image = b.param({DType::F64, {2, 3, 16}}), kernel = b.param({DType::F64, {5, 3, 3}});
  b.set_results({b.add(OpKind::Convolution, {image, kernel}, attrs)});
  Sharding sharding = replicated_sharding(whole.program, mesh);
  FunctionSharding& decisions = sharding.functions[whole.program.main.index()];
  decisions.ops[0].factors[factor_of(whole.map(0), FactorKind::Halo)] = block(16, {0});
  decisions.params[0] = Layout::split({2, 3, 16}, 2, {0});
  decisions.results[0] = Layout::split({2, 5, 16}, 2, {0});
  const PartitionedProgram made = partition(whole.program, sharding);
  const auto permutes = ops_of(made, OpKind::CollectivePermute);
  ASSERT_EQ(permutes.size(), 2u);  // one row from each side
  for (const ir::Op* permute : permutes) {
    EXPECT_EQ(made.local.entry().type(permute->results[0]).dims, (ir::Dims{2, 3, 1}));
    EXPECT_EQ(permute->as<ir::CollectiveAttrs>().groups->size(), 3u);  // none around the ends
  }
  EXPECT_TRUE(ops_of(made, OpKind::AllGather).empty());
  ASSERT_EQ(ops_of(made, OpKind::Convolution).size(), 1u);
  EXPECT_EQ(made.local.entry().type(ops_of(made, OpKind::Convolution)[0]->results[0]).dims, (ir::Dims{2, 5, 4}));
}

TEST(Partition, DisjointWindowsMoveNothing) {
  Whole whole;
  Builder b = whole.builder();
  const ValueId image = b.param({DType::F64, {16}});
  const ir::FunctionId larger = ir::make_reducer(whole.program, ir::ReducerKind::Maximum, DType::F64);
  const ValueId lowest = b.constant(ir::reducer_identity(ir::ReducerKind::Maximum, DType::F64));
  b.set_results({b.add(OpKind::ReduceWindow, {image, lowest}, ir::ReduceWindowAttrs{{{.size = 2, .stride = 2}}}, {larger})});
  Sharding sharding = replicated_sharding(whole.program, mesh);
  FunctionSharding& decisions = sharding.functions[whole.program.main.index()];
  decisions.ops[1].factors[factor_of(whole.map(1), FactorKind::Parallel)] = block(8, {0});
  decisions.params[0] = Layout::split({16}, 0, {0});
  decisions.results[0] = Layout::split({8}, 0, {0});
  const PartitionedProgram made = partition(whole.program, sharding);
  EXPECT_EQ(made.local.entry().ops.size(), 2u);  // the initial value and the reduction of the own part
}

TEST(Partition, HeadsOfAFusedWeightAreSlicedInPlace) {
  // [q|k|v] of 12 columns each, split by 4 heads of 3: a strided split of which each device has its part of all three.
  Whole whole;
  Builder b = whole.builder();
  const ValueId fused = b.param({DType::F32, {36}});
  b.set_results({b.slice(fused, {12}, {24})});
  Sharding sharding = replicated_sharding(whole.program, mesh);
  FunctionSharding& decisions = sharding.functions[whole.program.main.index()];
  decisions.ops[0].factors[factor_of(whole.map(0), FactorKind::Parallel)] = block(12, {0});
  decisions.params[0].dims[0] = DimLayout{{{3, {}}, {12, {0}}}};
  decisions.results[0] = Layout::split({12}, 0, {0});
  const PartitionedProgram made = partition(whole.program, sharding);
  for (const ir::Op& op : made.local.entry().ops) {
    EXPECT_THAT(op.kind, ::testing::AnyOf(OpKind::Slice, OpKind::Reshape));
  }
  EXPECT_EQ(made.local.entry().type(made.local.entry().results[0]).dims, (ir::Dims{3}));
}

TEST(Partition, SplitContractionIsReducedOnce) {
  Whole whole;
  Builder b = whole.builder();
  const ValueId lhs = b.param({DType::F64, {3, 8}}), rhs = b.param({DType::F64, {8, 5}}), bias = b.param({DType::F64, {3, 5}});
  const ValueId dot = b.add(OpKind::DotGeneral, {lhs, rhs}, ir::DotGeneralAttrs{{}, {}, {1}, {0}, DType::F64});
  const ValueId one = b(OpKind::Add, dot, bias);
  b.set_results({one, b(OpKind::Multiply, dot, bias)});
  Sharding sharding = replicated_sharding(whole.program, mesh);
  FunctionSharding& decisions = sharding.functions[whole.program.main.index()];
  decisions.ops[0].factors[factor_of(whole.map(0), FactorKind::Reduction)] = block(8, {0});
  const PartitionedProgram made = partition(whole.program, sharding);
  EXPECT_EQ(ops_of(made, OpKind::AllReduce).size(), 1u);  // for both consumers
  ASSERT_TRUE(made.values[dot.index()].value.valid());
  EXPECT_EQ(made.values[dot.index()].layout.partial_axes, (std::vector<AxisId>{0}));
}

TEST(Partition, MaskedValuesAddNothingNotEvenASign) {
  Whole whole;
  Builder b = whole.builder();
  const ValueId table = b.param({DType::F64, {8}}), start = b.param({DType::I32, {}});
  b.set_results({b.dynamic_slice(table, {start}, {1})});
  Sharding sharding = replicated_sharding(whole.program, mesh);
  FunctionSharding& decisions = sharding.functions[whole.program.main.index()];
  decisions.ops[0].factors[factor_of(whole.map(0), FactorKind::Masked)] = block(8, {0});
  const PartitionedProgram made = partition(whole.program, sharding);
  const auto selects = ops_of(made, OpKind::Select);
  ASSERT_EQ(selects.size(), 1u);
  const ir::Op* fill = made.local.entry().producer(selects[0]->operands[2]);
  while (fill->kind == OpKind::BroadcastInDim) fill = made.local.entry().producer(fill->operands[0]);
  ASSERT_EQ(fill->kind, OpKind::Constant);
  EXPECT_TRUE(std::signbit(fill->as<ir::ConstantAttrs>().value.element_as_double(0)));  // 0 + -0 would be 0
}

TEST(Partition, ValuesAreRenumberedWithTheLocalProgram) {
  Whole whole;
  Builder b = whole.builder();
  const ValueId x = b.param({DType::F64, {8}});
  const ValueId unused = b(OpKind::Negate, x);
  const ValueId used = b(OpKind::Abs, x);
  b.set_results({used});
  const PartitionedProgram made = partition(whole.program, replicated_sharding(whole.program, mesh));
  EXPECT_FALSE(made.values[unused.index()].value.valid());
  ASSERT_TRUE(made.values[used.index()].value.valid());
  EXPECT_EQ(made.local.entry().producer(made.values[used.index()].value)->kind, OpKind::Abs);
  EXPECT_EQ(made.local.entry().ops.size(), 1u);
}

TEST(Partition, AxesOfSizeOneMakeNothingPartial) {
  const MeshShape thin({{"x", 1}, {"y", 2}});
  Whole whole;
  Builder b = whole.builder();
  const ValueId x = b.param({DType::F64, {6, 4}}), start = b.param({DType::I32, {}});
  const ValueId least = b.reduce(x, ir::ReducerKind::Minimum, {1});
  const ValueId cut = b.dynamic_slice(least, {start}, {2});
  b.set_results({cut});
  Strategy strategy = replicated_strategy(whole.map(whole.entry().ops.size() - 1));
  strategy.factors[factor_of(whole.map(whole.entry().ops.size() - 1), FactorKind::Masked)] = block(6, {0});
  strategy.carried_axes = {1};
  strategy.carried_kind = PartialKind::Min;
  strategy.carried_operands = {true, false};
  const FactorMap map = whole.map(whole.entry().ops.size() - 1);
  EXPECT_NO_THROW(check_strategy(map, strategy, thin, "slice"));
  EXPECT_EQ(result_layout(map, strategy, 0, thin).partial_kind, PartialKind::Min);
  EXPECT_EQ(result_layout(map, strategy, 0, thin).partial_axes, (std::vector<AxisId>{1}));
}

TEST(Partition, ABarrierWithAWholeOperandCarriesNothing) {
  Whole whole;
  Builder b = whole.builder();
  const ValueId flags = b.param({DType::I1, {4}}), numbers = b.param({DType::F64, {4}});
  b.set_results(b.add_multi(OpKind::OptimizationBarrier, {flags, numbers}));
  const ir::Op& barrier = whole.entry().ops[0];
  EXPECT_FALSE(carries_partial(whole.program, whole.entry(), barrier, PartialKind::Or, {true, false}));
  EXPECT_TRUE(carries_partial(whole.program, whole.entry(), barrier, PartialKind::Sum, {true, true}));
}

TEST(Partition, RefusesWhatIsAlreadyPartitioned) {
  Whole whole;
  Builder b = whole.builder();
  b.set_results({b.add(OpKind::PartitionId, {})});
  EXPECT_THROW(partition(whole.program, replicated_sharding(whole.program, mesh)), InputError);
}

}  // namespace
}  // namespace rhino::shard
