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

/// A random gather: operand dimensions are batching, collapsed or windows; some are indexed.
struct RandomGather {
  Dims operand, indices;
  ir::GatherAttrs attrs;
  std::int64_t highest = 0;  ///< index that may be drawn
};

RandomGather random_gather(Random& random) {
  RandomGather g;
  const int rank = static_cast<int>(random.integer(1, 3));
  g.operand = random.dims(rank, 4);
  g.indices = random.dims(static_cast<int>(random.integer(0, 2)), 3);
  int windows = 0;
  for (int d = 0; d < rank; ++d) {
    const std::int64_t size = g.operand[static_cast<std::size_t>(d)];
    const int part = static_cast<int>(random.integer(0, 2));
    if (part == 0 && g.attrs.operand_batching_dims.size() < 1) {
      g.attrs.operand_batching_dims.push_back(d);
      g.attrs.start_indices_batching_dims.push_back(static_cast<int>(g.indices.size()));
      g.indices.push_back(size);
      g.attrs.slice_sizes.push_back(1);
      continue;
    }
    if (part == 1) g.attrs.collapsed_slice_dims.push_back(d);
    g.attrs.slice_sizes.push_back(part == 1 ? 1 : random.integer(1, size));
    if (part != 1) ++windows;
    if (part == 1 || random.coin()) g.attrs.start_index_map.push_back(d);
    g.highest = std::max(g.highest, size);
  }
  g.attrs.index_vector_dim = static_cast<int>(g.indices.size());
  const int batch = static_cast<int>(g.indices.size());
  g.indices.push_back(static_cast<std::int64_t>(g.attrs.start_index_map.size()));
  std::vector<int> order = random.permutation(batch + windows);
  g.attrs.offset_dims.assign(order.begin(), order.begin() + windows);
  std::sort(g.attrs.offset_dims.begin(), g.attrs.offset_dims.end());
  return g;
}

TEST(GatherRule, AnyWindowAlsoBeyondTheEnds) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const RandomGather g = random_gather(random);
    check_gradient(random, {g.operand}, [&](Builder& b, const auto& x) {
      const ir::DType dtype = random.coin() ? ir::DType::I32 : random.coin() ? ir::DType::I8 : ir::DType::I64;
      const ValueId indices = random.indices(b, g.indices, -1, g.highest, dtype);
      return std::vector{b.add(OpKind::Gather, {x[0], indices}, g.attrs), b(OpKind::Sine, x[0])};
    });
  }
}

}  // namespace
}  // namespace rhino::ad::test
