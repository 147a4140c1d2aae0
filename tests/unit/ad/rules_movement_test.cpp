// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gtest/gtest.h>

#include "gradient_check.hpp"

namespace rhino::ad::test {
namespace {

using ir::Builder;
using ir::Dims;
using ir::OpKind;
using ir::ValueId;

constexpr std::uint64_t cases = 25;

TEST(MovementRules, BroadcastInDim) {
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    Random random(seed);
    const Dims result = random.dims(3, 3);
    std::vector<int> dimensions = random.permutation(3);
    dimensions.resize(static_cast<std::size_t>(random.integer(0, 3)));
    Dims operand;
    for (const int d : dimensions)
      operand.push_back(random.coin() ? 1 : result[static_cast<std::size_t>(d)]);
    check_gradient(random, {operand}, [&](Builder& b, const auto& x) { return std::vector{b.broadcast(x[0], result, dimensions)}; });
  }
}

TEST(MovementRules, ReshapeTransposeReverse) {
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    Random random(seed);
    const Dims dims = random.dims(3, 3);
    check_gradient(random, {dims}, [&](Builder& b, const auto& x) {
      std::vector<int> reversed = random.permutation(3);
      reversed.resize(2);
      std::sort(reversed.begin(), reversed.end());
      return std::vector{b.reshape(x[0], {dims[0] * dims[1], dims[2]}), b.transpose(x[0], random.permutation(3)),
                         b.add(OpKind::Reverse, {x[0]}, ir::DimensionsAttrs{reversed}),
                         b.add(OpKind::OptimizationBarrier, {x[0]})};
    });
  }
}

TEST(MovementRules, ConcatenateAndSlice) {
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    Random random(seed);
    const std::size_t dimension = static_cast<std::size_t>(random.integer(0, 1));
    std::vector<Dims> dims(3, random.dims(2, 4));
    for (Dims& d : dims)
      d[dimension] = random.integer(0, 3);
    check_gradient(random, dims, [&](Builder& b, const auto& x) {
      const ValueId whole = b.concatenate({x[0], x[1], x[0], x[2]}, static_cast<int>(dimension));
      Dims start, limit, stride;
      for (const std::int64_t size : b.type(whole).dims) {
        start.push_back(random.integer(0, size));
        limit.push_back(random.integer(start.back(), size));
        stride.push_back(random.integer(1, 3));
      }
      return std::vector{b.slice(whole, start, limit, stride), b.slice(x[0], {0, 0}, b.type(x[0]).dims)};
    });
  }
}

TEST(MovementRules, PadAlsoNegativeAndInterior) {
  for (std::uint64_t seed = 0; seed < 2 * cases; ++seed) {
    Random random(seed);
    const Dims dims = random.dims(2, 4);
    Dims low, high, interior;
    for (const std::int64_t size : dims) {
      interior.push_back(random.integer(0, 2));
      const std::int64_t extent = (size - 1) * (interior.back() + 1) + 1;
      low.push_back(random.integer(-extent / 2, 2));
      high.push_back(random.integer(-extent / 2, 2));
    }
    check_gradient(random, {dims, {}}, [&](Builder& b, const auto& x) { return std::vector{b.pad(x[0], x[1], low, high, interior)}; });
  }
}

TEST(MovementRules, DynamicSlicesAlsoBeyondTheEnds) {
  for (std::uint64_t seed = 0; seed < 2 * cases; ++seed) {
    Random random(seed);
    const Dims dims = random.dims(2, 4);
    const Dims sizes{random.integer(1, dims[0]), random.integer(1, dims[1])};
    check_gradient(random, {dims, sizes}, [&](Builder& b, const auto& x) {
      const auto start = [&] { return std::vector{random.indices(b, {}, -1, 4), random.indices(b, {}, -1, 4)}; };
      const auto at = start();
      // Twice from the same tensor, so that slices are added onto each other.
      return std::vector{b.dynamic_slice(x[0], start(), sizes), b.dynamic_slice(x[0], start(), sizes),
                         b.add(OpKind::DynamicUpdateSlice, {x[0], x[1], at[0], at[1]}), b(OpKind::Sine, x[0])};
    });
  }
}

}  // namespace
}  // namespace rhino::ad::test
