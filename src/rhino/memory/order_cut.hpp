// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <rhino/memory/order.hpp>

namespace rhino::memory {

/// The graph with successors and, per op, what it makes and touches.
struct OrderIndex {
  explicit OrderIndex(const OrderGraph& graph);

  const OrderGraph& graph;
  std::vector<std::vector<std::int32_t>> succs;
  std::vector<std::vector<std::int32_t>> makes;    ///< per op: buffers of which it is the producer, with bytes
  std::vector<std::vector<std::int32_t>> touches;  ///< per op: buffers of which it is a user, with bytes
};

/// A cheapest state of memory in which `op` can run, if the ops outside order[begin, end) stay on their side.
struct OpCut {
  bool complete = false;           ///< false: the work was used up
  std::int64_t bytes = 0;          ///< live across the cut, of the buffers that the block touches
  std::vector<std::int32_t> fewest, most;  ///< ops of the block before `op`: the smallest and the largest such set
  std::vector<OrderFlow> flow;     ///< filled if asked for
};

/// `position` is the inverse of the order. Lowers `work` by the arcs looked at.
OpCut cut_at(const OrderIndex& index, std::span<const std::int32_t> order, std::span<const std::int32_t> position,
             std::int32_t begin, std::int32_t end, std::int32_t op, bool with_flow, std::int64_t& work);

}  // namespace rhino::memory
