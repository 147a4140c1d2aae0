// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace rhino::memory {

/// A flow network with whole-number capacities. Largest flow by blocking flows (Dinic 1970).
class FlowNetwork {
 public:
  static constexpr std::int64_t unbounded = std::int64_t{1} << 61;

  explicit FlowNetwork(std::int32_t nodes) : first_(static_cast<std::size_t>(nodes), -1) {}

  /// Returns the number of the arc, for flow().
  std::int32_t add_arc(std::int32_t from, std::int32_t to, std::int64_t capacity);
  /// Runs until the flow is largest. `work` is lowered by the arcs looked at; false if it was used up before.
  bool run(std::int32_t source, std::int32_t sink, std::int64_t& work);
  std::int64_t flow(std::int32_t arc) const { return arcs_[static_cast<std::size_t>(arc) + 1].left; }
  /// Nodes that the source reaches in what is left: the smallest source side of a cheapest cut.
  std::vector<bool> reached_from(std::int32_t source) const;
  /// Nodes that reach the sink: the complement is the largest source side.
  std::vector<bool> reaching(std::int32_t sink) const;

 private:
  struct Arc {
    std::int32_t to, next;
    std::int64_t left;
  };
  bool level(std::int32_t source, std::int32_t sink, std::int64_t& work);
  bool augment(std::int32_t source, std::int32_t sink, std::int64_t& work);

  std::vector<Arc> arcs_;
  std::vector<std::int32_t> first_, level_, current_;
};

}  // namespace rhino::memory
