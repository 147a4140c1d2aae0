// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/labelling/checker.hpp>

#include <random>

#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/plan/labelling/solve.hpp>

#include "random_labelling.hpp"

namespace rhino::plan::labelling {
namespace {

/// Changes one number or drops one entry somewhere.
void damage(Certificate& certificate, std::mt19937_64& random) {
  const auto pick = [&](auto& values) -> auto& { return values[random() % values.size()]; };
  switch (random() % 5) {
    case 0:
      if (!certificate.prices.empty()) pick(certificate.prices).price += static_cast<std::int64_t>(random() % 2000000);
      break;
    case 1:
      if (!certificate.steps.empty()) pick(certificate.steps).state += 1;
      break;
    case 2:
      if (!certificate.steps.empty()) pick(certificate.steps).other += 1;
      break;
    case 3:
      if (!certificate.steps.empty()) certificate.steps.erase(certificate.steps.begin() + static_cast<std::ptrdiff_t>(random() % certificate.steps.size()));
      break;
    default:
      if (!certificate.messages.empty()) {
        auto& message = pick(certificate.messages).to_first;
        if (!message.empty()) pick(message) += static_cast<std::int64_t>(random()) >> 20;
      }
  }
}

// Whatever is done to a certificate: it is refused, or what it then proves is still true.
TEST(Checker, NoDamagedCertificateProvesTooMuch) {
  int refused = 0, weaker = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Problem problem = test::random_problem(seed);
    const auto least = test::exhaustive(problem);
    if (!least) continue;
    Options options;
    options.work = 1'000'000;
    options.threads = 1;
    const Solution solution = solve(problem, options);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 20; ++i) {
      Certificate damaged = solution.certificate;
      damage(damaged, random);
      try {
        const Wide bound = check_bound(problem, damaged);
        ASSERT_TRUE(bound <= *least) << seed;
        weaker += bound < *solution.bound;
      } catch (const InputError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(weaker, 3);
}

TEST(Checker, FalseStepsAreRefused) {
  Problem problem;
  problem.nodes = {{{0, 1}, {5, 3}, {1, 2}}, {{0, 1}, {1, 1}, {0, 0}}};
  problem.edges = {{0, 1, {0, 9, 9, 0}}};
  problem.usage_limit = 10;
  using Kind = ProofStep::Kind;
  for (const ProofStep step : {ProofStep{Kind::Drop, 0, 0, 0}, ProofStep{Kind::Dominated, 0, 0, 1}, ProofStep{Kind::Separate, 0, 0, 1},
                               ProofStep{Kind::Drop, 7, 0, 0}, ProofStep{Kind::Drop, 0, -1, 0}, ProofStep{Kind::Dominated, 0, 0, 0}}) {
    Certificate certificate;
    certificate.steps = {step};
    EXPECT_THROW(check_bound(problem, certificate), InputError);
  }
  Certificate negative;
  negative.prices = {{0, -1}};
  EXPECT_THROW(check_bound(problem, negative), InputError);
  EXPECT_TRUE(check_bound(problem, {}) == 4);
}

TEST(Checker, ImpossibleProblemsAreShownToBe) {
  Problem problem;
  problem.nodes = {{{0, 1}, {5, 3}, {1, 2}}, {{0, 1}, {1}, {0}}};
  problem.edges = {{0, 1, {forbidden, forbidden}}};
  const Solution solution = solve(problem);
  EXPECT_EQ(solution.status, Status::Infeasible);
  EXPECT_TRUE(check_infeasible(problem, solution.certificate));
  EXPECT_FALSE(check_infeasible(problem, {}));
}

}  // namespace
}  // namespace rhino::plan::labelling
