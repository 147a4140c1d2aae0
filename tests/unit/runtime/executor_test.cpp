// SPDX-License-Identifier: Apache-2.0
#include <rhino/runtime/executor.hpp>

#include <cstring>

#include <gtest/gtest.h>

#include <rhino/comm/single_communicator.hpp>
#include <rhino/ir/builder.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/kernels/reference/interpreter.hpp>
#include <rhino/kernels/reference/reference_backend.hpp>
#include <rhino/lower/lower.hpp>
#include <rhino/runtime/backend.hpp>

#include "support/random_program.hpp"
#include "support/run_tasks.hpp"

namespace rhino::runtime {
namespace {

using kernels::reference::Tensor;

/// The program as the partition of itself for one device.
shard::PartitionedProgram on_one_device(const ir::Program& program) {
  shard::PartitionedProgram out;
  out.local = program;
  const ir::Function& entry = program.entry();
  for (ir::ValueId param : entry.params) out.params.push_back(shard::Layout::replicated(entry.type(param).dims));
  for (ir::ValueId result : entry.results) out.results.push_back(shard::Layout::replicated(entry.type(result).dims));
  return out;
}

/// Runs a program as tasks on `backend` and compares every result with the interpreter's.
void check_program(const ir::Program& program, const std::vector<ir::Literal>& arguments, const kernels::Backend& backend,
                   const std::string& what) {
  std::vector<Tensor> tensors;
  for (const ir::Literal& argument : arguments) tensors.emplace_back(argument);
  const std::vector<Tensor> want = kernels::reference::run(program, program.main, tensors);

  const lower::RankProgram tasks =
      lower::lower(on_one_device(program), test::plain_signature(program.entry()), 0, options_for(backend));
  ASSERT_NO_THROW(lower::verify(tasks)) << what << "\n" << lower::to_string(tasks);
  const auto communicator = comm::make_single_communicator();
  Executor executor(tasks, backend, *communicator, device::make_host_arena(tasks.arena_bytes));
  for (int repeat = 0; repeat < 2; ++repeat) {  // nothing of the first step may be left in the second
    for (const lower::BatchSlot& slot : tasks.batch) {
      const auto& bytes = tensors[slot.param].bytes;
      std::memcpy(executor.address(slot.buffer), bytes.data(), bytes.size());
    }
    executor.run_step();
    for (const lower::ResultSlot& slot : tasks.results) {
      test::expect_near(want[slot.result], executor.address(slot.buffer), what + " result " + std::to_string(slot.result));
      if (testing::Test::HasFatalFailure()) return;
    }
    executor.advance();
  }
}

void check_random_programs(const kernels::Backend& backend, std::uint64_t first_seed, int count) {
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    test::Rng rng(seed);
    ir::Program program = test::random_program(rng);
    const std::vector<ir::Literal> arguments = test::random_arguments(program, rng);
    ir::inline_calls(program);
    check_program(program, arguments, backend, "seed " + std::to_string(seed));
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Executor, RandomProgramsOnReferenceKernels) { check_random_programs(*kernels::reference::make_backend(), 1, 300); }

TEST(Executor, RandomProgramsOnTheKernelsOfThisBuild) { check_random_programs(*make_backend(), 1000, 300); }

class StateTest : public testing::Test {
 protected:
  StateTest() { program_.main = program_.add_function("main"); }

  /// Runs `steps` steps of `program_`, whose parameters are all states of shape f64[4], and compares the states after each
  /// with the interpreter's.
  void check_states(int steps) {
    const auto backend = make_backend();
    const ir::Function& entry = program_.entry();
    ir::Signature signature;
    for (std::size_t i = 0; i < entry.params.size(); ++i) {
      signature.params.push_back({"s" + std::to_string(i), ir::ParamRole::State, ir::StateKind::Param, ir::Evidence::User});
      signature.results.push_back({"s" + std::to_string(i), ir::ResultRole::State, static_cast<std::uint32_t>(i), ir::Evidence::User});
    }
    const lower::RankProgram tasks = lower::lower(on_one_device(program_), signature, 0, options_for(*backend));
    lower::verify(tasks);
    const auto communicator = comm::make_single_communicator();
    Executor executor(tasks, *backend, *communicator, device::make_host_arena(tasks.arena_bytes));
    std::vector<Tensor> states;
    for (std::size_t i = 0; i < entry.params.size(); ++i) {
      Tensor state(entry.type(entry.params[i]));
      for (std::size_t k = 0; k < 4; ++k) state.as<double>()[k] = 1.0 + 0.25 * static_cast<double>(4 * i + k);
      std::memcpy(executor.address(tasks.state[i].current), state.bytes.data(), state.bytes.size());
      states.push_back(std::move(state));
    }
    for (int step = 0; step < steps; ++step) {
      executor.run_step();
      executor.advance();
      states = kernels::reference::run(program_, program_.main, states);
      for (std::size_t i = 0; i < states.size(); ++i) {
        test::expect_near(states[i], executor.address(tasks.state[i].current),
                    "step " + std::to_string(step) + " state " + std::to_string(i));
      }
    }
    swapped_ = 0;
    for (const lower::StateSlot& slot : tasks.state) swapped_ += slot.current == slot.next ? 0 : 1;
  }

  ir::ValueId add_state() { return program_.entry().add_param({ir::DType::F64, {4}}); }

  ir::Program program_;
  int swapped_ = 0;
};

TEST_F(StateTest, AnElementwiseUpdateHappensInPlace) {
  const ir::ValueId a = add_state();
  const ir::ValueId b = add_state();
  ir::Builder builder(program_, program_.main);
  const ir::ValueId next_a = builder.add(ir::OpKind::Add, {a, b});
  const ir::ValueId next_b = builder.add(ir::OpKind::Multiply, {b, builder.full({ir::DType::F64, {4}}, 0.5)});
  builder.set_results({next_a, next_b});
  check_states(4);
  EXPECT_EQ(swapped_, 0);
}

TEST_F(StateTest, AStateThatIsReadAfterItsUpdateIsKept) {
  // The reverse of `a` needs the old value everywhere, so the new one cannot be written over it.
  const ir::ValueId a = add_state();
  ir::Builder builder(program_, program_.main);
  const ir::ValueId reversed = builder.add(ir::OpKind::Reverse, {a}, ir::DimensionsAttrs{{0}});
  builder.set_results({builder.add(ir::OpKind::Add, {a, reversed})});
  check_states(4);
}

TEST_F(StateTest, StatesThatChangePlaces) {
  const ir::ValueId a = add_state();
  const ir::ValueId b = add_state();
  const ir::ValueId c = add_state();
  ir::Builder builder(program_, program_.main);
  builder.set_results({b, c, a});
  check_states(5);
}

TEST_F(StateTest, AnUnchangedStateAndACopyOfAnother) {
  const ir::ValueId a = add_state();
  const ir::ValueId b = add_state();
  ir::Builder builder(program_, program_.main);
  (void)b;
  builder.set_results({a, a});
  check_states(3);
}

TEST_F(StateTest, TwoStatesThatBecomeTheSameValue) {
  const ir::ValueId a = add_state();
  const ir::ValueId b = add_state();
  ir::Builder builder(program_, program_.main);
  const ir::ValueId sum = builder.add(ir::OpKind::Add, {a, b});
  builder.set_results({sum, sum});
  check_states(4);
}

}  // namespace
}  // namespace rhino::runtime
