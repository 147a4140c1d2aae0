// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "gradient_check.hpp"

namespace rhino::ad::test {
namespace {

using ir::Builder;
using ir::Dims;
using ir::OpKind;
using ir::ReducerKind;
using ir::ValueId;

std::vector<int> some_dimensions(Random& random, int rank) {
  std::vector<int> dimensions = random.permutation(rank);
  dimensions.resize(static_cast<std::size_t>(random.integer(0, rank)));
  return dimensions;
}

TEST(ReduceRule, SumProductAndExtrema) {
  for (const ReducerKind kind : {ReducerKind::Add, ReducerKind::Multiply, ReducerKind::Maximum, ReducerKind::Minimum})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Random random(seed);
      check_gradient(random, {random.dims(3, 3)}, [&](Builder& b, const auto& x) { return std::vector{b.reduce(x[0], kind, some_dimensions(random, 3))}; });
    }
}

TEST(ReduceRule, SumAlsoFromAnInitialValue) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Random random(seed);
    check_gradient(random, {random.dims(3, 3), {}}, [&](Builder& b, const auto& x) {
      const ir::FunctionId add = ir::make_reducer(b.program(), ReducerKind::Add, ir::DType::F64);
      return std::vector{b.add(OpKind::Reduce, {x[0], x[1]}, ir::ReduceAttrs{some_dimensions(random, 3)}, {add})};
    });
  }
}

TEST(ReduceRule, ProductWithZeros) {
  const auto product = [](Builder& b, const std::vector<ValueId>& x) { return b.reduce(x[0], ReducerKind::Multiply, {0}); };
  EXPECT_EQ(values(gradients_at({vector({2, 0, 3})}, product)[0]), (std::vector<double>{0, 6, 0}));
  EXPECT_EQ(values(gradients_at({vector({2, 0, 0})}, product)[0]), (std::vector<double>{0, 0, 0}));
}

TEST(ReduceRule, TiesShareEqually) {
  const auto largest = [](Builder& b, const std::vector<ValueId>& x) { return b.reduce(x[0], ReducerKind::Maximum, {0}); };
  EXPECT_EQ(values(gradients_at({vector({3, 1, 3, 3, 3})}, largest)[0]), (std::vector<double>{0.25, 0, 0.25, 0.25, 0.25}));
}

}  // namespace
}  // namespace rhino::ad::test
