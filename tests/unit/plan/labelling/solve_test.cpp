// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/labelling/solve.hpp>

#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/plan/labelling/checker.hpp>

#include "random_labelling.hpp"

namespace rhino::plan::labelling {
namespace {

Options within(std::int64_t work, int threads = 1, std::uint64_t seed = 1) {
  Options options;
  options.seconds = 1e6;
  options.work = work;
  options.threads = threads;
  options.seed = seed;
  return options;
}

/// Too large for branch and bound, with a limit that binds.
Problem hard_problem(std::uint64_t seed) {
  Problem problem;
  std::uint64_t state = seed + 1;
  const auto next = [&](std::uint64_t count) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state >> 33) % count);
  };
  constexpr int nodes = 300;
  for (int i = 0; i < nodes; ++i) {
    Node node{{next(50), 60}, {}, {}};
    for (int s = 0; s < 6; ++s) {
      node.cost.push_back(next(1000));
      node.usage.push_back(next(100));
    }
    problem.nodes.push_back(node);
  }
  for (int e = 0; e < 3 * nodes; ++e) {
    const auto first = static_cast<int>(next(nodes));
    Edge edge{first, static_cast<int>((first + 1 + next(nodes - 1)) % nodes), {}};
    for (int i = 0; i < 36; ++i) edge.cost.push_back(next(1000));
    problem.edges.push_back(edge);
  }
  problem.usage_limit = 30 * nodes;
  return problem;
}

TEST(Solve, SmallProblemsAreSolvedToOptimality) {
  int infeasible = 0, bounded = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const Problem problem = test::random_problem(seed);
    const auto expected = test::exhaustive(problem);
    const Solution solution = solve(problem, within(1'000'000));
    if (!expected) {
      ++infeasible;
      EXPECT_EQ(solution.status, Status::Infeasible) << seed;
      EXPECT_TRUE(solution.assignment.empty()) << seed;
      continue;
    }
    ASSERT_EQ(solution.status, Status::Optimal) << seed;
    EXPECT_TRUE(solution.cost == *expected) << seed << ": " << to_string(solution.cost) << " is not " << to_string(*expected);
    const Evaluation evaluation = evaluate(problem, solution.assignment);
    EXPECT_TRUE(evaluation.feasible(problem) && evaluation.cost == solution.cost) << seed;
    ASSERT_TRUE(solution.bound.has_value()) << seed;
    EXPECT_TRUE(*solution.bound <= *expected) << seed;
    EXPECT_TRUE(check_bound(problem, solution.certificate) == *solution.bound) << seed;
    bounded += *solution.bound == *expected;
  }
  EXPECT_GT(infeasible, 20);
  EXPECT_GT(bounded, 200);
}

TEST(Solve, NoLimitIsTheSameAsAnAmpleOne) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Problem problem = test::random_problem(seed, 12, 5);
    problem.usage_limit.reset();
    const Solution without = solve(problem, within(1'000'000));
    problem.usage_limit = 1'000'000;
    const Solution ample = solve(problem, within(1'000'000));
    EXPECT_EQ(without.status, ample.status) << seed;
    EXPECT_TRUE(without.cost == ample.cost) << seed;
  }
}

TEST(Solve, WorkLimitGivesTheSameAnswerForOneAndTwoThreads) {
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    const Problem problem = hard_problem(seed);
    const Solution one = solve(problem, within(100'000'000, 1)), two = solve(problem, within(100'000'000, 2));
    EXPECT_EQ(one.status, Status::Feasible) << "too easy to show anything";
    EXPECT_EQ(one.status, two.status);
    EXPECT_EQ(one.assignment, two.assignment);
    EXPECT_EQ(one.work, two.work);
    EXPECT_TRUE(one.bound == two.bound);
  }
}

TEST(Solve, LargeNumbersDoNotOverflow) {
  Problem problem;
  constexpr std::int64_t huge = forbidden - 1;
  for (int i = 0; i < 40; ++i) problem.nodes.push_back({{0, 2}, {huge, huge - 5 * i}, {huge / 100, huge / 50}});
  for (int i = 1; i < 40; ++i) problem.edges.push_back({i - 1, i, {huge, huge, huge, huge}});
  problem.usage_limit = huge;
  const Solution solution = solve(problem, within(50'000'000));
  ASSERT_FALSE(solution.assignment.empty());
  const Evaluation evaluation = evaluate(problem, solution.assignment);
  EXPECT_TRUE(evaluation.feasible(problem));
  EXPECT_TRUE(evaluation.cost == solution.cost);
  EXPECT_TRUE(evaluation.cost > static_cast<Wide>(huge) * 70);
}

TEST(Solve, AnEmptyProblemCostsNothing) {
  const Solution solution = solve({}, within(1000));
  EXPECT_EQ(solution.status, Status::Optimal);
  EXPECT_TRUE(solution.cost == 0);
}

TEST(Solve, SenselessOptionsAreErrors) {
  Options options;
  options.threads = 3;
  EXPECT_THROW(solve({}, options), UsageError);
  options = {};
  options.seconds = 0;
  EXPECT_THROW(solve({}, options), UsageError);
}

}  // namespace
}  // namespace rhino::plan::labelling
