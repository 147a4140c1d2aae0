// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/labelling/problem.hpp>

#include <algorithm>
#include <utility>

#include <rhino/base/error.hpp>

namespace rhino::plan::labelling {
namespace {

void check_node(const Node& node, std::size_t index) {
  RHINO_CHECK(!node.cost.empty(), "node {} has no strategies", index);
  RHINO_CHECK(node.usage.size() == node.cost.size(), "node {} has {} costs and {} usages", index, node.cost.size(),
              node.usage.size());
  RHINO_CHECK(node.live.lower >= 0 && node.live.lower <= node.live.upper, "node {} has the interval [{}, {})", index,
              node.live.lower, node.live.upper);
  for (const std::int64_t cost : node.cost)
    RHINO_CHECK(cost > -forbidden, "node {} has a cost of {}", index, cost);
  for (const std::int64_t usage : node.usage)
    RHINO_CHECK(usage >= 0, "node {} has a usage of {}", index, usage);
}

void check_edge(const Problem& problem, const Edge& edge, std::size_t index) {
  const auto count = static_cast<int>(problem.nodes.size());
  for (const int end : {edge.first, edge.second})
    RHINO_CHECK(end >= 0 && end < count, "edge {} names node {} of {}", index, end, count);
  RHINO_CHECK(edge.first != edge.second, "edge {} joins node {} to itself", index, edge.first);
  const std::size_t rows = problem.nodes[static_cast<std::size_t>(edge.first)].cost.size();
  const std::size_t columns = problem.nodes[static_cast<std::size_t>(edge.second)].cost.size();
  RHINO_CHECK(edge.cost.size() == rows * columns, "edge {} has {} costs for {} x {} strategies", index,
              edge.cost.size(), rows, columns);
  for (const std::int64_t cost : edge.cost)
    RHINO_CHECK(cost > -forbidden, "edge {} has a cost of {}", index, cost);
}

}  // namespace

void check_problem(const Problem& problem) {
  RHINO_CHECK(problem.nodes.size() < 100'000'000, "there are {} nodes, too many", problem.nodes.size());
  RHINO_CHECK(problem.edges.size() < 500'000'000, "there are {} edges, too many", problem.edges.size());
  RHINO_CHECK(!problem.usage_limit || *problem.usage_limit >= 0, "the usage limit is {}", *problem.usage_limit);
  for (std::size_t i = 0; i < problem.nodes.size(); ++i) check_node(problem.nodes[i], i);
  for (std::size_t i = 0; i < problem.edges.size(); ++i) check_edge(problem, problem.edges[i], i);
}

Evaluation evaluate(const Problem& problem, std::span<const int> assignment) {
  RHINO_CHECK(assignment.size() == problem.nodes.size(), "the assignment has {} strategies for {} nodes",
              assignment.size(), problem.nodes.size());
  Evaluation result;
  result.allowed = true;
  const auto add = [&](std::int64_t cost) {
    if (cost >= forbidden)
      result.allowed = false;
    else
      result.cost += cost;
  };
  std::vector<std::pair<std::int64_t, Wide>> changes;  // of the usage, by time
  for (std::size_t i = 0; i < assignment.size(); ++i) {
    const Node& node = problem.nodes[i];
    RHINO_CHECK(assignment[i] >= 0 && static_cast<std::size_t>(assignment[i]) < node.cost.size(),
                "the assignment gives node {} the strategy {} of {}", i, assignment[i], node.cost.size());
    const auto strategy = static_cast<std::size_t>(assignment[i]);
    add(node.cost[strategy]);
    if (node.live.empty()) continue;
    changes.emplace_back(node.live.lower, node.usage[strategy]);
    changes.emplace_back(node.live.upper, -static_cast<Wide>(node.usage[strategy]));
  }
  for (const Edge& edge : problem.edges) {
    const auto first = static_cast<std::size_t>(edge.first), second = static_cast<std::size_t>(edge.second);
    const std::size_t columns = problem.nodes[second].cost.size();
    add(edge.cost[static_cast<std::size_t>(assignment[first]) * columns + static_cast<std::size_t>(assignment[second])]);
  }
  std::sort(changes.begin(), changes.end());  // what ends at a point of time sorts before what begins
  Wide usage = 0;
  for (const auto& [time, change] : changes) {
    usage += change;
    if (usage <= result.peak_usage) continue;
    result.peak_usage = usage;
    result.peak_time = time;
  }
  return result;
}

std::string to_string(Wide value) {
  const bool negative = value < 0;
  std::string digits;
  do {
    const auto digit = static_cast<int>(value % 10);
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
    value /= 10;
  } while (value != 0);
  if (negative) digits += '-';
  return {digits.rbegin(), digits.rend()};
}

}  // namespace rhino::plan::labelling
