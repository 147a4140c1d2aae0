// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gtest/gtest.h>

#include <rhino/ad/gradient.hpp>
#include <rhino/ir/op_info.hpp>

#include "gradient_check.hpp"

namespace rhino::ad::test {
namespace {

using ir::OpKind;
using ir::ValueId;

struct Range {
  OpKind kind;
  double low, high;
};

void check_unary(const Range& range) {
  SCOPED_TRACE(ir::op_name(range.kind));
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Random random(seed);
    check_gradient(random, {random.dims(2, 4)},
                   [&](ir::Builder& b, const auto& x) { return std::vector{b(range.kind, x[0])}; },
                   {.low = range.low, .high = range.high});
  }
}

TEST(ElementwiseRules, OneOperand) {
  for (const Range& range : {
           Range{OpKind::Abs, -2, 2},
           {OpKind::Cbrt, 0.3, 2},
           {OpKind::Cbrt, -2, -0.3},
           {OpKind::Ceil, -2, 2},
           {OpKind::Cosine, -2, 2},
           {OpKind::Exponential, -2, 2},
           {OpKind::ExponentialMinusOne, -2, 2},
           {OpKind::Floor, -2, 2},
           {OpKind::Log, 0.3, 3},
           {OpKind::LogPlusOne, -0.6, 3},
           {OpKind::Logistic, -4, 4},
           {OpKind::Negate, -2, 2},
           {OpKind::RoundNearestAfz, -2, 2},
           {OpKind::RoundNearestEven, -2, 2},
           {OpKind::Rsqrt, 0.3, 3},
           {OpKind::Sign, -2, 2},
           {OpKind::Sine, -2, 2},
           {OpKind::Sqrt, 0.3, 3},
           {OpKind::Tan, -1, 1},
           {OpKind::Tanh, -2, 2},
           {OpKind::Acos, -0.9, 0.9},
           {OpKind::Acosh, 1.2, 4},
           {OpKind::Asin, -0.9, 0.9},
           {OpKind::Asinh, -4, 4},
           {OpKind::Atan, -2, 2},
           {OpKind::Atanh, -0.9, 0.9},
           {OpKind::Cosh, -2, 2},
           {OpKind::Sinh, -2, 2},
           {OpKind::Erf, -2, 2},
           {OpKind::ErfInv, -0.9, 0.9},
           {OpKind::Erfc, -2, 2},
           {OpKind::Lgamma, 0.3, 4},
           {OpKind::Digamma, 0.5, 4},
       })
    check_unary(range);
}

TEST(ElementwiseRules, TwoOperands) {
  for (const Range& range : {
           Range{OpKind::Add, -2, 2},
           {OpKind::Atan2, -2, 2},
           {OpKind::Divide, 0.5, 2},
           {OpKind::Maximum, -2, 2},
           {OpKind::Minimum, -2, 2},
           {OpKind::Multiply, -2, 2},
           {OpKind::Power, 0.3, 2},
           {OpKind::Remainder, 0.5, 4},
           {OpKind::Subtract, -2, 2},
       }) {
    SCOPED_TRACE(ir::op_name(range.kind));
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      Random random(seed);
      const ir::Dims dims = random.dims(2, 4);
      const CheckOptions options{.low = range.low, .high = range.high};
      const auto of_two = [&](ir::Builder& b, const auto& x) { return std::vector{b(range.kind, x[0], x[1])}; };
      check_gradient(random, {dims, dims}, of_two, options);
      check_gradient(random, {dims}, [&](ir::Builder& b, const auto& x) { return std::vector{b(range.kind, x[0], b.full(b.type(x[0]), 1.3))}; }, options);
      check_gradient(random, {dims}, [&](ir::Builder& b, const auto& x) { return std::vector{b(range.kind, b.full(b.type(x[0]), 1.3), x[0])}; }, options);
    }
  }
}

TEST(ElementwiseRules, SpecialFunctionsOfTheirSecondOperand) {
  for (const OpKind kind : {OpKind::Polygamma, OpKind::Zeta})
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      Random random(seed);
      const double order = static_cast<double>(random.integer(2, 4));
      check_gradient(random, {{3}}, [&](ir::Builder& b, const auto& x) { return std::vector{b(kind, b.full(b.type(x[0]), order), x[0])}; },
                     {.low = 0.8, .high = 3, .tolerance = 1e-5});
    }
}

TEST(ElementwiseRules, ClampAndSelectAlsoWithScalars) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const ir::Dims dims = random.dims(2, 4);
    const ir::Dims low = random.coin() ? ir::Dims{} : dims;
    const ir::Dims high = random.coin() ? ir::Dims{} : dims;
    check_gradient(random, {low, dims, high}, [](ir::Builder& b, const auto& x) { return std::vector{b.add(OpKind::Clamp, {x[0], x[1], x[2]})}; });
    check_gradient(random, {dims, dims}, [&](ir::Builder& b, const auto& x) {
      const ValueId bits = random.indices(b, random.coin() ? ir::Dims{} : dims, 0, 1);
      return std::vector{b.select(b.convert(bits, ir::DType::I1), x[0], x[1])};
    });
  }
}

TEST(ElementwiseRules, TiesAreShared) {
  const auto sum_of = [](OpKind kind) {
    return [kind](ir::Builder& b, const std::vector<ValueId>& x) {
      return b.reduce(b(kind, x[0], x[1]), ir::ReducerKind::Add, {0});
    };
  };
  for (const OpKind kind : {OpKind::Maximum, OpKind::Minimum}) {
    const auto g = gradients_at({vector({1, 2, 3}), vector({1, 3, 2})}, sum_of(kind));
    const bool max = kind == OpKind::Maximum;
    EXPECT_EQ(values(g[0]), (std::vector<double>{0.5, max ? 0. : 1., max ? 1. : 0.}));
    EXPECT_EQ(values(g[1]), (std::vector<double>{0.5, max ? 1. : 0., max ? 0. : 1.}));
  }
}

TEST(ElementwiseRules, PowersAtZeroAreFinite) {
  const auto power = [](ir::Builder& b, const std::vector<ValueId>& x) {
    return b.reduce(b(OpKind::Power, x[0], x[1]), ir::ReducerKind::Add, {0});
  };
  const auto g = gradients_at({vector({0, 0, 0, 2}), vector({0, 1, 2, 0})}, power);
  EXPECT_EQ(values(g[0]), (std::vector<double>{0, 1, 0, 0}));
  EXPECT_EQ(values(g[1]), (std::vector<double>{0, 0, 0, std::log(2.0)}));
}

TEST(ElementwiseRules, ConvertsGoBackToTheirType) {
  ir::Program program;
  program.main = program.add_function("main");
  ir::Builder b(program, program.main);
  const ValueId x = b.param({ir::DType::F64, {3}});
  const ValueId narrow = b.convert(x, ir::DType::F32);
  const ValueId whole = b.convert(b.convert(x, ir::DType::I32), ir::DType::F32);
  const ValueId rounded = b.add(OpKind::ReducePrecision, {narrow}, ir::ReducePrecisionAttrs{5, 2});
  const ValueId loss = b.reduce(b(OpKind::Multiply, rounded, whole), ir::ReducerKind::Add, {0});
  b.set_results(gradient(program, program.main, loss, std::vector{x}));
  ir::verify(program);
  const auto g = kernels::reference::run(program, program.main, {vector({1.1, -2.6, 3.9})});
  EXPECT_EQ(values(g[0]), (std::vector<double>{1, -2, 3}));
}

}  // namespace
}  // namespace rhino::ad::test
