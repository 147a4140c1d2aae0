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

/// Sum and sum of squares of pairs; the larger of two with what comes along with it: reductions of several tensors.
TEST(ReduceRule, SeveralTensors) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Random random(seed);
    const Dims dims = random.dims(3, 4);
    check_gradient(random, {dims, dims, {}, {}}, [&](Builder& b, const auto& x) {
      const ir::FunctionId function = b.program().add_function("reducer");
      Builder reducer(b.program(), function);
      std::vector<ValueId> p;
      for (int i = 0; i < 4; ++i) p.push_back(reducer.param({ir::DType::F64, {}}));
      const ValueId larger = reducer.compare(p[0], p[2], ir::Comparison::Ge);
      if (seed % 2 == 0)
        reducer.set_results({reducer.select(larger, p[0], p[2]), reducer.select(larger, p[1], p[3])});
      else
        reducer.set_results({reducer(OpKind::Add, p[0], p[2]),
                             reducer(OpKind::Add, reducer(OpKind::Multiply, p[0], p[2]), reducer(OpKind::Add, p[1], p[3]))});
      return b.add_multi(OpKind::Reduce, {x[0], x[1], x[2], x[3]}, ir::ReduceAttrs{some_dimensions(random, 3)}, {function});
    });
  }
}

TEST(ReduceRule, ExtremaAlsoFromAnInitialValue) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Random random(seed);
    check_gradient(random, {random.dims(2, 3), {}}, [&](Builder& b, const auto& x) {
      const ir::FunctionId largest = ir::make_reducer(b.program(), ReducerKind::Maximum, ir::DType::F64);
      return std::vector{b.add(OpKind::Reduce, {x[0], x[1]}, ir::ReduceAttrs{some_dimensions(random, 2)}, {largest})};
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
