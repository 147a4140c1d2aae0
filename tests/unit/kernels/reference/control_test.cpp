// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>

#include "op_runner.hpp"

namespace rhino::kernels::reference::test {
namespace {

using ir::Builder;
using ir::OpKind;
using Values = std::vector<ir::ValueId>;


TEST(Control, WhileCountsAndRunsZeroTimes) {
  OpRunner runner;
  const auto condition = runner.region({scalar_type(i32), scalar_type(i32)}, [](Builder& b, const Values& p) {
    return Values{b.compare(p[0], b.scalar_int(i32, 5), ir::Comparison::Lt)};
  });
  const auto body = runner.region({scalar_type(i32), scalar_type(i32)}, [](Builder& b, const Values& p) {
    return Values{b(OpKind::Add, p[0], b.scalar_int(i32, 1)), b(OpKind::Add, p[1], p[0])};
  });
  const auto loop = [&](std::int32_t start) {
    const auto results =
        runner.run_multi(OpKind::While, {scalar(start), scalar<std::int32_t>(0)}, ir::NoAttrs{}, {condition, body});
    return std::pair(values<std::int32_t>(results[0])[0], values<std::int32_t>(results[1])[0]);
  };
  EXPECT_EQ(loop(0), std::pair(5, 0 + 1 + 2 + 3 + 4));
  EXPECT_EQ(loop(9), std::pair(9, 0));
}

TEST(Control, CaseTakesTheLastBranchForABadIndex) {
  OpRunner runner;
  std::vector<ir::FunctionId> branches;
  for (const std::int32_t factor : {10, 20, 30})
    branches.push_back(runner.region({scalar_type(i32)}, [&](Builder& b, const Values& p) {
      return Values{b(OpKind::Multiply, p[0], b.scalar_int(i32, factor))};
    }));
  const auto choose = [&](std::int32_t index) {
    return values<std::int32_t>(
        runner.run(OpKind::Case, {scalar(index), scalar<std::int32_t>(2)}, ir::NoAttrs{}, branches))[0];
  };
  EXPECT_EQ(choose(0), 20);
  EXPECT_EQ(choose(1), 40);
  EXPECT_EQ(choose(-1), 60);
  EXPECT_EQ(choose(3), 60);
}

TEST(Control, LongChainsOfCallsNeedNoStack) {
  // f_0(x) = x + 1, f_k(x) = f_{k-1}(x) + 1.
  constexpr int depth = 20000;
  ir::Program program;
  ir::FunctionId inner;
  for (int k = 0; k < depth; ++k) {
    const ir::FunctionId id = program.add_function("f" + std::to_string(k));
    Builder b(program, id);
    ir::ValueId x = b.param(scalar_type(i32));
    if (k > 0) {
      program.function(id).append(OpKind::Call, ir::NoAttrs{}, {x}, {scalar_type(i32)}, {inner});
      x = program.function(id).ops.back().results[0];
    }
    b.set_results({b(OpKind::Add, x, b.scalar_int(i32, 1))});
    inner = id;
  }
  program.main = inner;
  std::vector<Tensor> arguments;
  arguments.push_back(scalar<std::int32_t>(0));
  EXPECT_EQ(values<std::int32_t>(reference::run(program, inner, std::move(arguments))[0])[0], depth);
}

TEST(Control, ReportsEveryOpOfTheEntry) {
  OpRunner runner;
  const ir::FunctionId main = runner.program.add_function("main");
  Builder b(runner.program, main);
  const auto x = b.param(scalar_type(i32));
  const auto y = b(OpKind::Add, x, x);
  b.set_results({b(OpKind::Multiply, y, y)});
  std::vector<std::int32_t> seen;
  RunOptions options;
  options.on_op = [&](ir::OpId op, std::span<const Tensor> results) {
    EXPECT_EQ(op.index(), seen.size());
    seen.push_back(results[0].as<std::int32_t>()[0]);
  };
  std::vector<Tensor> arguments;
  arguments.push_back(scalar<std::int32_t>(3));
  reference::run(runner.program, main, std::move(arguments), options);
  EXPECT_EQ(seen, (std::vector<std::int32_t>{6, 36}));
}

TEST(Control, WrongArgumentsAreErrors) {
  OpRunner runner;
  const auto id = runner.region({scalar_type(i32)}, [](Builder&, const Values& p) { return Values{p[0]}; });
  EXPECT_THROW(reference::run(runner.program, id, {}), InputError);
  std::vector<Tensor> floats;
  floats.push_back(scalar(1.0f));
  EXPECT_THROW(reference::run(runner.program, id, std::move(floats)), InputError);
}

TEST(Control, UnknownCustomCallIsAnError) {
  ir::CustomCallAttrs attrs;
  attrs.target = "somebody.elses";
  attrs.result_types = {scalar_type(i32)};
  EXPECT_THROW(run(OpKind::CustomCall, {scalar<std::int32_t>(1)}, attrs), InputError);
}

}  // namespace
}  // namespace rhino::kernels::reference::test
