// SPDX-License-Identifier: Apache-2.0
#include "random_labelling.hpp"

#include <random>

namespace rhino::plan::labelling::test {

Problem random_problem(std::uint64_t seed, int most_nodes, int most_strategies) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t count) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count)); };
  Problem problem;
  problem.name = "random " + std::to_string(seed);
  const auto nodes = static_cast<int>(1 + below(most_nodes));
  const std::int64_t range = below(3) == 0 ? 4 : 1000;  // few different costs make ties
  for (int i = 0; i < nodes; ++i) {
    Node node;
    node.live.lower = below(10);
    node.live.upper = node.live.lower + (below(5) == 0 ? 0 : 1 + below(8));
    for (std::int64_t s = 1 + below(most_strategies); s > 0; --s) {
      node.cost.push_back(below(12) == 0 ? forbidden : below(range));
      node.usage.push_back(below(4) == 0 ? 0 : below(100));
    }
    problem.nodes.push_back(node);
  }
  for (std::int64_t e = nodes < 2 ? 0 : below(2 * nodes + 1); e > 0; --e) {
    Edge edge;
    edge.first = static_cast<int>(below(nodes));
    edge.second = static_cast<int>((edge.first + 1 + below(nodes - 1)) % nodes);
    const std::size_t rows = problem.nodes[edge.first].cost.size(), columns = problem.nodes[edge.second].cost.size();
    const std::int64_t kind = below(4);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        if (kind == 0) edge.cost.push_back(i % columns == j ? 0 : forbidden);  // a tie
        if (kind == 1) edge.cost.push_back(static_cast<std::int64_t>(3 * i + 2 * j));  // a sum
        if (kind > 1) edge.cost.push_back(below(5) == 0 ? forbidden : below(range));
      }
    problem.edges.push_back(edge);
  }
  if (below(4) != 0) problem.usage_limit = below(40 * nodes);
  return problem;
}

std::optional<Wide> exhaustive(const Problem& problem) {
  std::optional<Wide> least;
  std::vector<int> assignment(problem.nodes.size(), 0);
  while (true) {
    const Evaluation evaluation = evaluate(problem, assignment);
    if (evaluation.feasible(problem) && (!least || evaluation.cost < *least)) least = evaluation.cost;
    std::size_t i = 0;
    for (; i < assignment.size(); ++i) {
      if (++assignment[i] < static_cast<int>(problem.nodes[i].cost.size())) break;
      assignment[i] = 0;
    }
    if (i == assignment.size()) return least;
  }
}

}  // namespace rhino::plan::labelling::test
