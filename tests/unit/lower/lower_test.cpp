// SPDX-License-Identifier: Apache-2.0
// Structure of the task lists; that they compute the right thing is tests/unit/runtime and tests/mpi.
#include <rhino/lower/lower.hpp>

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/builder.hpp>
#include <rhino/lower/fusion.hpp>

#include "support/small_step.hpp"

namespace rhino::lower {
namespace {

using ir::DType;
using ir::OpKind;
using ir::ValueId;

class LowerTest : public testing::Test {
 protected:
  LowerTest() { program_.main = program_.add_function("main"); }

  ir::Builder builder() { return ir::Builder(program_, program_.main); }

  RankProgram lowered(const LowerOptions& options = {}) {
    ir::Signature signature;
    const ir::Function& entry = program_.entry();
    for (std::size_t i = 0; i < entry.params.size(); ++i) {
      signature.params.push_back({"p" + std::to_string(i), ir::ParamRole::Batch, {}, ir::Evidence::User});
    }
    for (std::size_t i = 0; i < entry.results.size(); ++i) {
      signature.results.push_back({"r" + std::to_string(i), ir::ResultRole::Metric, 0, ir::Evidence::User});
    }
    return lowered(signature, options);
  }

  RankProgram lowered(const ir::Signature& signature, const LowerOptions& options = {}) {
    shard::PartitionedProgram partitioned;
    partitioned.local = program_;
    const ir::Function& entry = program_.entry();
    for (ValueId v : entry.params) partitioned.params.push_back(shard::Layout::replicated(entry.type(v).dims));
    for (ValueId v : entry.results) partitioned.results.push_back(shard::Layout::replicated(entry.type(v).dims));
    RankProgram out = lower(partitioned, signature, 0, options);
    verify(out);
    return out;
  }

  template <class Body>
  static std::size_t count(const RankProgram& program) {
    return static_cast<std::size_t>(std::count_if(program.tasks.begin(), program.tasks.end(), [](const Task& task) {
      return std::holds_alternative<Body>(task.body);
    }));
  }

  ir::Program program_;
};

TEST_F(LowerTest, AnElementwiseChainIsOnePass) {
  auto b = builder();
  const ValueId x = b.param({DType::F32, {8, 16}});
  const ValueId y = b.param({DType::F32, {16}});
  const ValueId bias = b.broadcast(y, {8, 16}, {1});
  const ValueId sum = b.add(OpKind::Add, {x, bias});
  b.set_results({b.add(OpKind::Multiply, {b.add(OpKind::Tanh, {sum}), b.full({DType::F32, {8, 16}}, 2)})});
  const RankProgram program = lowered();
  ASSERT_EQ(program.tasks.size(), 1u);
  const auto& task = std::get<FusedTask>(program.tasks[0].body);
  EXPECT_EQ(task.inputs.size(), 2u);  // the broadcast is read through a stride of zero, the constant is a step
  EXPECT_THAT(task.expression.inputs[1].strides, testing::AnyOf(testing::ElementsAre(0, 1), testing::ElementsAre(16, 1)));
  EXPECT_EQ(task.outputs.size(), 1u);
}

TEST_F(LowerTest, AProductSeparatesWhatIsBeforeFromWhatIsAfter) {
  auto b = builder();
  const ValueId x = b.param({DType::F32, {4, 4}});
  const ValueId before = b.add(OpKind::Tanh, {x});
  const ValueId product = b.add(OpKind::DotGeneral, {before, before}, ir::DotGeneralAttrs{{}, {}, {1}, {0}, DType::F32});
  // `before` and the product meet again: one group would have to run on both sides of the product.
  b.set_results({b.add(OpKind::Add, {product, before})});
  const RankProgram program = lowered();
  EXPECT_EQ(count<FusedTask>(program), 2u);
  EXPECT_EQ(count<KernelTask>(program), 1u);
}

TEST_F(LowerTest, SlicesAndIotasNeedNoMemory) {
  auto b = builder();
  const ValueId x = b.param({DType::F32, {12}});
  const ValueId low = b.slice(x, {0}, {6}, {1});
  const ValueId high = b.slice(x, {6}, {12}, {1});
  const ValueId positions = b.iota({DType::F32, {6}}, 0);
  b.set_results({b.add(OpKind::Add, {b.add(OpKind::Multiply, {low, high}), positions})});
  const RankProgram program = lowered();
  ASSERT_EQ(program.tasks.size(), 1u);
  EXPECT_EQ(program.arena_bytes, 64 + 64);  // 48 bytes of input and 24 of output, aligned
}

TEST_F(LowerTest, LongChainsAreCutInProgramOrder) {
  auto b = builder();
  ValueId x = b.param({DType::F32, {4}});
  for (int i = 0; i < 500; ++i) x = b.add(OpKind::Tanh, {x});
  b.set_results({x});
  const RankProgram program = lowered();
  EXPECT_EQ(count<FusedTask>(program), 6u);  // at most 96 steps each
}

TEST_F(LowerTest, StatesOfATrainingStepAreUpdatedInPlace) {
  const test::SmallStep step = test::small_step(8, 4, 16);
  program_ = step.program;
  const RankProgram program = lowered(step.signature);
  ASSERT_EQ(program.state.size(), 2u);
  for (const StateSlot& slot : program.state) EXPECT_EQ(slot.current, slot.next);
  ASSERT_EQ(program.results.size(), 1u);
  EXPECT_THAT(to_string(program), testing::HasSubstr("dot_general"));
}

TEST_F(LowerTest, LargeResultsAreUsedUpBeforeTheNextIsMade) {
  auto b = builder();
  const ir::DotGeneralAttrs product{{}, {}, {1}, {0}, DType::F32};
  const ValueId row = b.param({DType::F32, {1, 64}}), vector = b.param({DType::F32, {64, 1}});
  std::vector<ValueId> large, small;
  for (int i = 0; i < 3; ++i) large.push_back(b.add(OpKind::DotGeneral, {b.param({DType::F32, {64, 1}}), row}, product));
  for (const ValueId value : large) small.push_back(b.add(OpKind::DotGeneral, {value, vector}, product));
  b.set_results(small);
  EXPECT_LT(lowered().arena_bytes, 2 * 64 * 64 * 4);  // program order has all three at once
}

TEST_F(LowerTest, TheOrderOfTasksAndTheArenaAreTheSameOnEveryRank) {
  auto b = builder();
  const ValueId x = b.param({DType::F32, {4}});
  const auto groups = std::make_shared<ir::ReplicaGroups>(ir::ReplicaGroups{{0, 1}});
  ir::CollectiveAttrs attrs;
  attrs.groups = groups;
  attrs.group_size = 2;
  const ir::FunctionId add = ir::make_reducer(program_, ir::ReducerKind::Add, DType::F32);
  const ValueId a = b.add(OpKind::AllReduce, {b.add(OpKind::Tanh, {x})}, attrs, {add});
  const ValueId c = b.add(OpKind::AllReduce, {b.add(OpKind::Sine, {x})}, attrs, {add});
  b.set_results({b.add(OpKind::Add, {a, c})});
  shard::PartitionedProgram partitioned;
  partitioned.local = program_;
  partitioned.mesh = shard::MeshShape({{"x", 2}});
  partitioned.params = {shard::Layout::replicated({4})};
  partitioned.results = {shard::Layout::replicated({4})};
  ir::Signature signature;
  signature.params = {{"x", ir::ParamRole::Batch, {}, ir::Evidence::User}};
  signature.results = {{"r", ir::ResultRole::Metric, 0, ir::Evidence::User}};
  LowerOptions options;
  RankProgram first = lower(partitioned, signature, 0, options);
  RankProgram second = lower(partitioned, signature, 1, options);
  verify(first);
  EXPECT_EQ(count<CollectiveTask>(first), 1u);  // the two small ones travel together
  second.rank = first.rank;
  EXPECT_EQ(to_string(first), to_string(second));
  options.bundle_bytes = 0;
  EXPECT_EQ(count<CollectiveTask>(lower(partitioned, signature, 0, options)), 2u);
}

TEST_F(LowerTest, ForeignCodeIsAnError) {
  auto b = builder();
  const ValueId x = b.param({DType::F32, {4}});
  b.set_results({b.add(OpKind::CustomCall, {x}, ir::CustomCallAttrs{"mystery", "", false, {{DType::F32, {4}}}})});
  EXPECT_THROW(lowered(), InputError);
}

class VerifyTest : public LowerTest {
 protected:
  RankProgram sound() {
    auto b = builder();
    const ValueId x = b.param({DType::F32, {4, 4}});
    const ValueId y = b.add(OpKind::DotGeneral, {x, x}, ir::DotGeneralAttrs{{}, {}, {1}, {0}, DType::F32});
    b.set_results({b.add(OpKind::Add, {y, x})});
    return lowered();
  }
};

TEST_F(VerifyTest, SeesABufferBeyondTheArena) {
  RankProgram program = sound();
  program.arena_bytes -= 1;
  EXPECT_THROW(verify(program), InternalError);
}

TEST_F(VerifyTest, SeesAReadOfWhatWasNeverWritten) {
  RankProgram program = sound();
  program.tasks.erase(program.tasks.begin());
  EXPECT_THROW(verify(program), InternalError);
}

TEST_F(VerifyTest, SeesOverlappingBuffers) {
  RankProgram program = sound();
  const auto& kernel = std::get<KernelTask>(program.tasks[0].body);
  program.buffers[kernel.results[0].index()].offset = program.buffers[kernel.operands[0].index()].offset + 16;
  EXPECT_THROW(verify(program), InternalError);
}

TEST_F(VerifyTest, SeesARequestThatNobodyAwaits) {
  RankProgram program = sound();
  const auto& kernel = std::get<KernelTask>(program.tasks[0].body);
  CollectiveTask collective;
  collective.send = collective.receive = kernel.operands[0];
  program.tasks.insert(program.tasks.begin() + 1, Task{collective, "lost"});
  EXPECT_THROW(verify(program), InternalError);
}

}  // namespace
}  // namespace rhino::lower
