// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rhino::plan::labelling {

/// Sums of many 64-bit values.
__extension__ typedef __int128 Wide;

/// A cost of this or more forbids the strategy, or the pair of strategies.
inline constexpr std::int64_t forbidden = 1'000'000'000'000'000'000;

/// Points of time [lower, upper); nothing if they are equal.
struct Interval {
  std::int64_t lower = 0;
  std::int64_t upper = 0;

  bool empty() const noexcept { return lower >= upper; }
  bool operator==(const Interval&) const = default;
};

/// Something to be decided: one of cost.size() strategies.
struct Node {
  Interval live;                    ///< when the chosen usage is held
  std::vector<std::int64_t> cost;   ///< per strategy; `forbidden` or more: may not be chosen
  std::vector<std::int64_t> usage;  ///< per strategy, >= 0

  bool operator==(const Node&) const = default;
};

/// A cost of the pair of strategies of two nodes. Several edges may join the same nodes: their costs add.
struct Edge {
  int first = 0;
  int second = 0;
  std::vector<std::int64_t> cost;  ///< [strategy of first][strategy of second], row-major

  bool operator==(const Edge&) const = default;
};

/// Choose one strategy per node so that the sum of node and edge costs is least and at each point of time the usages of
/// the nodes that are live then sum to no more than the limit: a cost function network with a memory limit. The form is
/// that of the ASPLOS 2025 contest on intra-operator parallelism (google/iopddl).
struct Problem {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::optional<std::int64_t> usage_limit;

  bool operator==(const Problem&) const = default;
};

/// Throws InputError that names the first thing which does not fit: an empty node, sizes of tables, an edge to nowhere or
/// to its own node, a negative usage or limit, a cost <= -forbidden, an interval that is reversed or begins before 0.
void check_problem(const Problem& problem);

/// What an assignment (strategy per node) costs and uses.
struct Evaluation {
  bool allowed = false;      ///< no forbidden strategy or pair is chosen
  Wide cost = 0;             ///< of what is not forbidden
  Wide peak_usage = 0;       ///< the greatest usage over time
  std::int64_t peak_time = 0;

  /// Whether it is a solution of the problem.
  bool feasible(const Problem& problem) const {
    return allowed && (!problem.usage_limit || peak_usage <= *problem.usage_limit);
  }
};

/// Evaluates from scratch, in exact arithmetic. Throws InputError if the assignment is not one of this problem.
Evaluation evaluate(const Problem& problem, std::span<const int> assignment);

std::string to_string(Wide value);

}  // namespace rhino::plan::labelling
