// SPDX-License-Identifier: Apache-2.0
// Attention of all kinds against its formula, one query at a time.
#include <cmath>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/zoo/layers/attention.hpp>

#include "layer_run.hpp"

namespace rhino::zoo {
namespace {

using testing::HasSubstr;

constexpr std::size_t kAttentionBatch = 2, kAttentionQueries = 4, kAttentionKeys = 4, kAttentionWidth = 6;

/// Row `place` of x [batch, places, width] times w [width, heads, head_width] for one head.
Numbers project(const LayerRun& run, const std::string& input, std::size_t batch, std::size_t place, std::size_t places,
                const std::string& weight, std::size_t heads, std::size_t head, std::size_t head_width) {
  const Numbers &x = run.value(input), &w = run.value("params/attention/" + weight + "/w");
  const bool bias = run.has("params/attention/" + weight + "/b");
  Numbers y(head_width);
  for (std::size_t d = 0; d < head_width; ++d) {
    y[d] = bias ? run.value("params/attention/" + weight + "/b")[head * head_width + d] : 0;
    for (std::size_t m = 0; m < kAttentionWidth; ++m)
      y[d] += x[(batch * places + place) * kAttentionWidth + m] * w[(m * heads + head) * head_width + d];
  }
  return y;
}

void rotate(Numbers& x, std::size_t place, double base) {
  const std::size_t half = x.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    const double angle =
        static_cast<double>(place) * std::pow(base, -static_cast<double>(i) / static_cast<double>(half));
    const double a = x[i], b = x[i + half];
    x[i] = a * std::cos(angle) - b * std::sin(angle);
    x[i + half] = b * std::cos(angle) + a * std::sin(angle);
  }
}

/// `bias` gives what is added to a score, by (head, query, key).
Numbers plain_attention(const LayerRun& run, const std::string& context, const AttentionSpec& spec,
                        const std::function<double(std::size_t, std::size_t, std::size_t)>& bias) {
  const auto heads = static_cast<std::size_t>(spec.heads), kv_heads = static_cast<std::size_t>(spec.kv_heads);
  const auto width = static_cast<std::size_t>(spec.head_width);
  const double scale = spec.scale != 0 ? spec.scale : 1 / std::sqrt(static_cast<double>(width));
  const Numbers& out = run.value("params/attention/out/w");
  Numbers y(kAttentionBatch * kAttentionQueries * kAttentionWidth);
  for (std::size_t n = 0; n < kAttentionBatch; ++n)
    for (std::size_t q = 0; q < kAttentionQueries; ++q)
      for (std::size_t h = 0; h < heads; ++h) {
        const std::size_t kv = h / (heads / kv_heads);
        Numbers query = project(run, "x", n, q, kAttentionQueries, "q", heads, h, width), weights;
        if (spec.positions == Positions::Rope) rotate(query, q, spec.rope_base);
        double total = 0;
        for (std::size_t k = 0; k < kAttentionKeys; ++k) {
          Numbers key = project(run, context, n, k, kAttentionKeys, "k", kv_heads, kv, width);
          if (spec.positions == Positions::Rope) rotate(key, k, spec.rope_base);
          double score = bias(h, q, k);
          for (std::size_t d = 0; d < width; ++d)
            score += scale * query[d] * key[d];
          weights.push_back(spec.causal && k > q ? 0 : std::exp(score));
          total += weights.back();
        }
        for (std::size_t k = 0; k < kAttentionKeys; ++k) {
          const Numbers value = project(run, context, n, k, kAttentionKeys, "v", kv_heads, kv, width);
          for (std::size_t d = 0; d < width; ++d)
            for (std::size_t m = 0; m < kAttentionWidth; ++m)
              y[(n * kAttentionQueries + q) * kAttentionWidth + m] += weights[k] / total * value[d] * out[(h * width + d) * kAttentionWidth + m];
        }
      }
  if (spec.output_bias)
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] += run.value("params/attention/out/b")[i % kAttentionWidth];
  return y;
}

double none(std::size_t, std::size_t, std::size_t) { return 0; }

void check(const AttentionSpec& spec, const std::function<double(std::size_t, std::size_t, std::size_t)>& bias = none) {
  LayerRun run;
  const Tensor x = run.input("x", {kAttentionBatch, kAttentionQueries, kAttentionWidth});
  const Numbers y = run.run(attention(run.b, "attention", x, x, spec));
  EXPECT_LT(difference(y, plain_attention(run, "x", spec, bias)), 1e-7);
}

TEST(Attention, MultiHead) { check({.heads = 3, .kv_heads = 3, .head_width = 2}); }
TEST(Attention, Causal) { check({.heads = 3, .kv_heads = 3, .head_width = 2, .causal = true}); }
TEST(Attention, MultiQuery) { check({.heads = 4, .kv_heads = 1, .head_width = 3, .bias = false, .causal = true}); }
TEST(Attention, GroupedQuery) {
  check({.heads = 4, .kv_heads = 2, .head_width = 3, .output_bias = false, .causal = true});
}
TEST(Attention, OwnScale) { check({.heads = 2, .kv_heads = 2, .head_width = 3, .scale = 1}); }
TEST(Attention, RotaryPositions) {
  for (const std::int64_t kv_heads : {1, 2, 4})
    check({.heads = 4,
           .kv_heads = kv_heads,
           .head_width = 4,
           .causal = true,
           .positions = Positions::Rope,
           .rope_base = 100});
}
TEST(Attention, Alibi) {
  for (const std::int64_t kv_heads : {1, 2, 4})
    check({.heads = 4, .kv_heads = kv_heads, .head_width = 4, .causal = true, .positions = Positions::Alibi},
          [](std::size_t h, std::size_t q, std::size_t k) {
            return -std::exp2(-2.0 * static_cast<double>(h + 1)) *
                   std::abs(static_cast<double>(q) - static_cast<double>(k));
          });
}

TEST(Attention, Cross) {
  LayerRun run;
  const AttentionSpec spec{.heads = 3, .kv_heads = 3, .head_width = 2};
  const Tensor x = run.input("x", {kAttentionBatch, kAttentionQueries, kAttentionWidth}), context = run.input("context", {kAttentionBatch, kAttentionKeys, kAttentionWidth});
  const Numbers y = run.run(attention(run.b, "attention", x, context, spec));
  EXPECT_LT(difference(y, plain_attention(run, "context", spec, none)), 1e-7);  // constants are rounded to f32
}

TEST(Attention, ScoreBiasPerHeadAndPerPlace) {
  for (const std::int64_t kv_heads : {1, 2, 4})
    for (const std::int64_t bias_heads : {1, 4}) {
      LayerRun run;
      const AttentionSpec spec{.heads = 4, .kv_heads = kv_heads, .head_width = 2};
      const Tensor x = run.input("x", {kAttentionBatch, kAttentionQueries, kAttentionWidth});
      const Tensor bias = run.input("bias", {bias_heads, kAttentionQueries, kAttentionKeys});
      const Numbers y = run.run(attention(run.b, "attention", x, x, spec, bias));
      const auto added = [&](std::size_t h, std::size_t q, std::size_t k) {
        return run.value("bias")[((bias_heads == 1 ? 0 : h) * kAttentionQueries + q) * kAttentionKeys + k];
      };
      EXPECT_LT(difference(y, plain_attention(run, "x", spec, added)), 1e-7);
    }
}

/// Bucket of a key that is `ahead` places after the query, after the description in Raffel et al. 2020.
std::int64_t bucket_of(std::int64_t ahead, bool both, std::int64_t buckets, std::int64_t furthest) {
  std::int64_t first = 0;
  if (both) {
    buckets /= 2;
    if (ahead > 0) first = buckets;
    ahead = std::abs(ahead);
  } else {
    ahead = std::max<std::int64_t>(-ahead, 0);
  }
  const std::int64_t exact = buckets / 2;
  if (ahead < exact) return first + ahead;
  const double share = std::log(static_cast<double>(ahead) / static_cast<double>(exact)) /
                       std::log(static_cast<double>(furthest) / static_cast<double>(exact));
  return first + std::min(buckets - 1, exact + static_cast<std::int64_t>(share * static_cast<double>(buckets - exact)));
}

TEST(Attention, RelativeBias) {
  for (const bool both : {true, false}) {
    LayerRun run;
    constexpr std::int64_t places = 37, heads = 2, buckets = 8, furthest = 20;
    const Numbers y = run.run(relative_bias(run.b, "relative", places, places, heads, both, buckets, furthest));
    Numbers expected;
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t q = 0; q < places; ++q)
        for (std::int64_t k = 0; k < places; ++k)
          expected.push_back(run.value("params/relative/table")[static_cast<std::size_t>(
              bucket_of(k - q, both, buckets, furthest) * heads + h)]);
    EXPECT_EQ(difference(y, expected), 0) << both;
  }
}

TEST(Attention, RefusesHeadsThatDoNotFit) {
  LayerRun run;
  const Tensor x = run.input("x", {kAttentionBatch, kAttentionQueries, kAttentionWidth});
  try {
    attention(run.b, "attention", x, x, {.heads = 4, .kv_heads = 3, .head_width = 2});
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("attention: 3 key and value heads do not divide 4 heads"));
  }
}

}  // namespace
}  // namespace rhino::zoo
