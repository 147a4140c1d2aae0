// SPDX-License-Identifier: Apache-2.0
// Feed-forward layers and mixtures of experts against their description.
#include <rhino/zoo/layers/feed_forward.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>

#include "layer_run.hpp"

namespace rhino::zoo {
namespace {

using testing::HasSubstr;

double silu(double x) { return x / (1 + std::exp(-x)); }

TEST(FeedForward, PlainAndGated) {
  for (const bool gated : {false, true}) {
    LayerRun run;
    const FeedForwardSpec spec{.hidden = 4, .activation = Activation::Silu, .gated = gated, .bias = !gated};
    const Numbers y = run.run(feed_forward(run.b, "mlp", run.input("x", {2, 3}), spec));
    const auto get = [&](const char* name) { return run.value(std::string("params/mlp/") + name); };
    Numbers expected(6);
    for (std::size_t r = 0; r < 2; ++r)
      for (std::size_t h = 0; h < 4; ++h) {
        const auto product = [&](const char* name) {
          double sum = 0;
          for (std::size_t m = 0; m < 3; ++m)
            sum += run.value("x")[r * 3 + m] * get(name)[m * 4 + h];
          return sum;
        };
        const double hidden =
            gated ? silu(product("gate/w")) * product("up/w") : silu(product("up/w") + get("up/b")[h]);
        for (std::size_t m = 0; m < 3; ++m)
          expected[r * 3 + m] += hidden * get("down/w")[h * 3 + m];
      }
    if (!gated)
      for (std::size_t i = 0; i < 6; ++i)
        expected[i] += get("down/b")[i % 3];
    EXPECT_LT(difference(y, expected), 1e-10);
  }
}

constexpr std::size_t kFeedForwardGroups = 2, kFeedForwardTokens = 9, kFeedForwardWidth = 4, kFeedForwardHidden = 3, kFeedForwardExperts = 4;

MixtureSpec mixture_spec(std::int64_t chosen, double capacity_factor, Dispatch dispatch, bool gated = false) {
  return {.experts = kFeedForwardExperts,
          .chosen = chosen,
          .capacity_factor = capacity_factor,
          .dispatch = dispatch,
          .expert = {.hidden = kFeedForwardHidden, .activation = Activation::Silu, .gated = gated}};
}

struct Expected {
  Numbers y = Numbers(kFeedForwardGroups * kFeedForwardTokens * kFeedForwardWidth);
  double balance = 0, dropped = 0;
};

Numbers expert(const LayerRun& run, std::size_t e, const double* x, bool gated) {
  const auto at = [&](const char* name, std::size_t i) { return run.value(std::string("params/moe/") + name)[i]; };
  Numbers y(kFeedForwardWidth);
  for (std::size_t h = 0; h < kFeedForwardHidden; ++h) {
    double up = 0, gate = 0;
    for (std::size_t m = 0; m < kFeedForwardWidth; ++m) {
      up += x[m] * at("up", (e * kFeedForwardWidth + m) * kFeedForwardHidden + h);
      if (gated) gate += x[m] * at("gate", (e * kFeedForwardWidth + m) * kFeedForwardHidden + h);
    }
    const double hidden = gated ? silu(gate) * up : silu(up);
    for (std::size_t m = 0; m < kFeedForwardWidth; ++m)
      y[m] += hidden * at("down", (e * kFeedForwardHidden + h) * kFeedForwardWidth + m);
  }
  return y;
}

/// Token by token, first choices of all before second ones.
Expected plain_mixture(const LayerRun& run, const MixtureSpec& spec) {
  Expected expected;
  const auto chosen = static_cast<std::size_t>(spec.chosen);
  const auto capacity = std::min<std::size_t>(
      kFeedForwardTokens,
      static_cast<std::size_t>(std::ceil(spec.capacity_factor * static_cast<double>(chosen * kFeedForwardTokens) / kFeedForwardExperts)));
  Numbers first_share(kFeedForwardExperts), mean_probability(kFeedForwardExperts);
  for (std::size_t g = 0; g < kFeedForwardGroups; ++g) {
    std::vector<Numbers> probability(kFeedForwardTokens, Numbers(kFeedForwardExperts));
    std::vector<std::vector<std::size_t>> order(kFeedForwardTokens, std::vector<std::size_t>(kFeedForwardExperts));
    for (std::size_t t = 0; t < kFeedForwardTokens; ++t) {
      double total = 0;
      for (std::size_t e = 0; e < kFeedForwardExperts; ++e) {
        double score = 0;
        for (std::size_t m = 0; m < kFeedForwardWidth; ++m)
          score += run.value("x")[(g * kFeedForwardTokens + t) * kFeedForwardWidth + m] * run.value("params/moe/router/w")[m * kFeedForwardExperts + e];
        total += probability[t][e] = std::exp(score);
      }
      for (double& p : probability[t])
        p /= total;
      std::iota(order[t].begin(), order[t].end(), 0);
      std::sort(order[t].begin(), order[t].end(),
                [&](auto a, auto b) { return probability[t][a] > probability[t][b]; });
      first_share[order[t][0]] += 1.0 / (kFeedForwardGroups * kFeedForwardTokens);
      for (std::size_t e = 0; e < kFeedForwardExperts; ++e)
        mean_probability[e] += probability[t][e] / (kFeedForwardGroups * kFeedForwardTokens);
    }
    std::vector<std::size_t> taken(kFeedForwardExperts);
    for (std::size_t choice = 0; choice < chosen; ++choice)
      for (std::size_t t = 0; t < kFeedForwardTokens; ++t) {
        const std::size_t e = order[t][choice];
        if (taken[e]++ >= capacity) {
          expected.dropped += 1.0 / static_cast<double>(kFeedForwardGroups * kFeedForwardTokens * chosen);
          continue;
        }
        double weight = probability[t][e];
        if (chosen == 2) weight /= probability[t][order[t][0]] + probability[t][order[t][1]];
        const Numbers y = expert(run, e, run.value("x").data() + (g * kFeedForwardTokens + t) * kFeedForwardWidth, spec.expert.gated);
        for (std::size_t m = 0; m < kFeedForwardWidth; ++m)
          expected.y[(g * kFeedForwardTokens + t) * kFeedForwardWidth + m] += weight * y[m];
      }
  }
  for (std::size_t e = 0; e < kFeedForwardExperts; ++e)
    expected.balance += kFeedForwardExperts * first_share[e] * mean_probability[e];
  return expected;
}

TEST(Mixture, AsDescribedByBothWaysOfDispatch) {
  int tight = 0;
  for (const Dispatch dispatch : {Dispatch::OneHot, Dispatch::Sort})
    for (const std::int64_t chosen : {1, 2})
      for (const double factor : {0.5, 1.0, 4.0}) {
        LayerRun run;
        const MixtureSpec spec = mixture_spec(chosen, factor, dispatch, factor == 1.0);
        const MixtureOutput output = mixture(run.b, "moe", run.input("x", {kFeedForwardGroups, kFeedForwardTokens, kFeedForwardWidth}), spec);
        const std::vector<Numbers> got = run.run({output.y, output.balance, output.dropped});
        const Expected expected = plain_mixture(run, spec);
        tight += expected.dropped > 0 ? 1 : 0;
        EXPECT_LT(difference(got[0], expected.y), 1e-10) << chosen << " chosen, factor " << factor;
        EXPECT_NEAR(got[1][0], expected.balance, 1e-10);
        EXPECT_NEAR(got[2][0], expected.dropped, 1e-10);
      }
  EXPECT_GE(tight, 4) << "no case drops tokens";
}

TEST(Mixture, EvenLoadHasABalanceOfOne) {
  LayerRun run;
  const MixtureOutput output =
      mixture(run.b, "moe", run.input("x", {1, 8, kFeedForwardWidth}), mixture_spec(1, 1, Dispatch::OneHot));
  // Tokens are the unit vectors, twice; the router sends each to another expert.
  Numbers x(8 * kFeedForwardWidth), router(kFeedForwardWidth * kFeedForwardExperts);
  for (std::size_t t = 0; t < 8; ++t)
    x[t * kFeedForwardWidth + t % 4] = 1;
  for (std::size_t e = 0; e < kFeedForwardExperts; ++e)
    router[e * kFeedForwardExperts + e] = 5;
  run.set("x", x);
  run.set("params/moe/router/w", router);
  const std::vector<Numbers> got = run.run({output.balance, output.dropped});
  EXPECT_NEAR(got[0][0], 1, 1e-12);
  EXPECT_NEAR(got[1][0], 0, 1e-12);
}

TEST(Mixture, RefusesTooFewExperts) {
  LayerRun run;
  MixtureSpec spec = mixture_spec(2, 1, Dispatch::OneHot);
  spec.experts = 1;
  try {
    mixture(run.b, "moe", run.input("x", {1, 8, kFeedForwardWidth}), spec);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("moe: 1 expert(s) are fewer than the 2 that each token chooses"));
  }
}

}  // namespace
}  // namespace rhino::zoo
