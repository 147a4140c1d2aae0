// SPDX-License-Identifier: Apache-2.0
#include <rhino/runtime/verify/verify.hpp>

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/ir/builder.hpp>
#include <rhino/runtime/verify/local_part.hpp>
#include <rhino/shard/factor_map.hpp>

namespace rhino::runtime {
namespace {

using ir::DType;
using ir::OpKind;
using ir::ValueId;
using kernels::reference::Tensor;

const shard::MeshShape mesh({{"x", 3}});

/// y = tanh(a + b); z = a row sum of y * b, partial before it is reduced. Rows split unevenly or columns split.
struct Example {
  ir::Program program;
  shard::Sharding sharding;
  std::vector<Tensor> arguments;

  Example() {
    program.main = program.add_function("main");
    ir::Builder b(program, program.main);
    const ir::TensorType type{DType::F64, {4, 6}};
    const ValueId a = b.param(type), c = b.param(type);
    const ValueId sum = b(OpKind::Add, a, c);
    const ValueId y = b(OpKind::Tanh, sum);
    const ValueId product = b(OpKind::Multiply, y, c);
    const ValueId z = b.reduce(product, ir::ReducerKind::Add, {1});
    b.set_results({y, z});
    sharding = shard::propagate(program, mesh, {{a, shard::Layout::split(type.dims, 1, {0})}});
    for (int p = 0; p < 2; ++p) {
      Tensor tensor(type);
      for (std::size_t i = 0; i < 24; ++i) tensor.as<double>()[i] = 0.1 * static_cast<double>(i) - p;
      arguments.push_back(std::move(tensor));
    }
  }
};

TEST(LocalPart, PaddingIsVisible) {
  Tensor whole(ir::TensorType{DType::F64, {4}});
  for (std::size_t i = 0; i < 4; ++i) whole.as<double>()[i] = static_cast<double>(i);
  const auto layout = shard::Layout::split({4}, 0, {0});
  EXPECT_EQ(local_part(whole, layout, mesh, 1).as<double>()[1], 3.0);
  EXPECT_TRUE(std::isnan(local_part(whole, layout, mesh, 2).as<double>()[0]));
}

TEST(VerifyPartition, EqualProgramsAreEqual) {
  const Example example;
  const auto report = verify_partition(example.program, shard::partition(example.program, example.sharding), example.arguments);
  ASSERT_EQ(report.results.size(), 2u);
  EXPECT_TRUE(report.equal());
  EXPECT_FALSE(report.first_op.has_value());
  EXPECT_LT(report.results[1].relative, 1e-14);
}

TEST(VerifyPartition, NamesTheFirstOpThatDiffers) {
  const Example example;
  shard::PartitionedProgram wrong = shard::partition(example.program, example.sharding);
  for (ir::Op& op : wrong.local.entry().ops) {
    if (op.kind == OpKind::Tanh) op.kind = OpKind::Sine;
  }
  const auto report = verify_partition(example.program, wrong, example.arguments);
  EXPECT_FALSE(report.equal());
  ASSERT_TRUE(report.first_op.has_value());
  EXPECT_EQ(example.program.entry().op(report.first_op->op).kind, OpKind::Tanh);
  EXPECT_THAT(report.first_op->difference.where, testing::HasSubstr("device 2, element 23: got -0.44252"));
}

TEST(VerifyPartition, ComparesPartialValuesByTheirCombination) {
  const Example example;
  shard::PartitionedProgram wrong = shard::partition(example.program, example.sharding);
  bool reduced = false;
  for (ir::Op& op : wrong.local.entry().ops) {
    if (op.kind != OpKind::AllReduce) continue;
    const ir::FunctionId larger = ir::make_reducer(wrong.local, ir::ReducerKind::Maximum, DType::F64);
    op.regions[0] = larger;
    reduced = true;
    break;
  }
  ASSERT_TRUE(reduced);
  const auto report = verify_partition(example.program, wrong, example.arguments);
  EXPECT_TRUE(report.results[0].equal);
  EXPECT_FALSE(report.results[1].equal);
  // Every op is right: what is wrong lies between the partial sum and the result.
  EXPECT_FALSE(report.first_op.has_value());
}

TEST(VerifyPartition, ANumberThatIsNoneIsADifference) {
  Example example;
  shard::PartitionedProgram made = shard::partition(example.program, example.sharding);
  for (ir::Op& op : made.local.entry().ops) {
    if (op.kind == OpKind::Tanh) op.kind = OpKind::Log;
  }
  const auto report = verify_partition(example.program, made, example.arguments, {.find_first_op = false});
  EXPECT_EQ(report.results[0].largest, std::numeric_limits<double>::infinity());
  EXPECT_FALSE(report.results[0].equal);
  EXPECT_FALSE(report.first_op.has_value());
}

}  // namespace
}  // namespace rhino::runtime
