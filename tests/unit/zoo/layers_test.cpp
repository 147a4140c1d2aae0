// SPDX-License-Identifier: Apache-2.0
// Each layer against its formula in plain loops.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/zoo/layers/basic.hpp>
#include <rhino/zoo/layers/convolution.hpp>
#include <rhino/zoo/layers/losses.hpp>

#include "layer_run.hpp"

namespace rhino::zoo {
namespace {

using ir::Dims;
using testing::HasSubstr;

constexpr double kLayersClose = 1e-10;

std::string failure(const std::function<void()>& build) {
  try {
    build();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Layers, Dense) {
  LayerRun run;
  const Numbers y = run.run(dense(run.b, "up", run.input("x", {2, 3}), {4}, normal(1)));
  const Numbers &x = run.value("x"), &w = run.value("params/up/w"), &bias = run.value("params/up/b");
  Numbers expected;
  for (std::size_t r = 0; r < 2; ++r)
    for (std::size_t c = 0; c < 4; ++c) {
      double sum = bias[c];
      for (std::size_t k = 0; k < 3; ++k)
        sum += x[r * 3 + k] * w[k * 4 + c];
      expected.push_back(sum);
    }
  EXPECT_LT(difference(y, expected), kLayersClose);
}

TEST(Layers, EmbeddingAndTiedScores) {
  LayerRun run;
  const Embedding e = embed(run.b, "embedding", run.ids("ids", {3}, {2, 0, 2}), 4, 2, normal(1));
  const std::vector<Numbers> y = run.run({e.rows, tied_scores(run.b, e.rows, e.table)});
  const Numbers& table = run.value("params/embedding/table");
  Numbers rows, scores;
  for (const std::size_t id : {2, 0, 2}) {
    for (std::size_t m = 0; m < 2; ++m)
      rows.push_back(table[id * 2 + m]);
    for (std::size_t v = 0; v < 4; ++v)
      scores.push_back(table[id * 2] * table[v * 2] + table[id * 2 + 1] * table[v * 2 + 1]);
  }
  EXPECT_LT(difference(y[0], rows), kLayersClose);
  EXPECT_LT(difference(y[1], scores), kLayersClose);
}

/// (x - mean) / sqrt(variance + epsilon) of some elements; without the mean for RMS norm.
Numbers normalised(const Numbers& x, double epsilon, bool centre = true) {
  double mean = 0, variance = 0;
  for (const double v : x)
    mean += centre ? v / static_cast<double>(x.size()) : 0;
  for (const double v : x)
    variance += (v - mean) * (v - mean) / static_cast<double>(x.size());
  Numbers y;
  for (const double v : x)
    y.push_back((v - mean) / std::sqrt(variance + epsilon));
  return y;
}

TEST(Layers, LayerNormAndRmsNorm) {
  LayerRun run;
  const Tensor x = run.input("x", {2, 5});
  const std::vector<Numbers> y =
      run.run({norm(run.b, "layer", x, Norm::Layer, 1e-3), norm(run.b, "rms", x, Norm::Rms, 1e-3)});
  for (const bool rms : {false, true}) {
    Numbers expected;
    for (std::size_t r = 0; r < 2; ++r) {
      const auto row = run.value("x").begin() + static_cast<std::ptrdiff_t>(5 * r);
      const Numbers n = normalised({row, row + 5}, 1e-3, !rms);
      for (std::size_t c = 0; c < 5; ++c)
        expected.push_back(rms ? n[c] * run.value("params/rms/scale")[c]
                               : n[c] * run.value("params/layer/scale")[c] + run.value("params/layer/bias")[c]);
    }
    EXPECT_LT(difference(y[rms ? 1 : 0], expected), kLayersClose);
  }
}

TEST(Layers, BatchNormInTrainingAndAfter) {
  for (const bool training : {true, false}) {
    LayerRun run({.training = training});
    run.set("statistics/norm/variance", {0.5, 2});
    const Numbers y = run.run(batch_norm(run.b, "norm", run.input("x", {3, 2, 2}), 0.1, 1e-3));
    Numbers expected(12);
    for (std::size_t c = 0; c < 2; ++c) {
      Numbers column;
      for (std::size_t r = 0; r < 6; ++r)
        column.push_back(run.value("x")[r * 2 + c]);
      Numbers n = normalised(column, 1e-3);
      if (!training)
        for (std::size_t r = 0; r < 6; ++r)
          n[r] = (column[r] - run.value("statistics/norm/mean")[c]) /
                 std::sqrt(run.value("statistics/norm/variance")[c] + 1e-3);
      for (std::size_t r = 0; r < 6; ++r)
        expected[r * 2 + c] = n[r] * run.value("params/norm/scale")[c] + run.value("params/norm/bias")[c];
    }
    EXPECT_LT(difference(y, expected), kLayersClose) << training;
  }
}

TEST(Layers, GroupNorm) {
  LayerRun run;
  const Numbers y = run.run(group_norm(run.b, "norm", run.input("x", {2, 3, 4}), 2, 1e-3));
  Numbers expected(24);
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t g = 0; g < 2; ++g) {
      std::vector<std::size_t> at;
      Numbers group;
      for (std::size_t p = 0; p < 3; ++p)
        for (std::size_t c = 2 * g; c < 2 * g + 2; ++c)
          at.push_back(n * 12 + p * 4 + c);
      for (const std::size_t i : at)
        group.push_back(run.value("x")[i]);
      const Numbers done = normalised(group, 1e-3);
      for (std::size_t i = 0; i < at.size(); ++i)
        expected[at[i]] =
            done[i] * run.value("params/norm/scale")[at[i] % 4] + run.value("params/norm/bias")[at[i] % 4];
    }
  EXPECT_LT(difference(y, expected), kLayersClose);
  EXPECT_THAT(failure([] {
                LayerRun bad;
                group_norm(bad.b, "norm", bad.input("x", {2, 3, 4}), 3);
              }),
              HasSubstr("norm: 3 groups do not divide 4 features"));
}

TEST(Layers, Activations) {
  LayerRun run;
  const Tensor x = run.input("x", {8});
  const std::vector<Activation> kinds{Activation::Relu,      Activation::Gelu, Activation::GeluTanh,
                                      Activation::QuickGelu, Activation::Silu, Activation::Tanh};
  std::vector<Tensor> outputs;
  for (const Activation kind : kinds)
    outputs.push_back(activate(run.b, x, kind));
  const std::vector<Numbers> y = run.run(outputs);
  for (std::size_t i = 0; i < 8; ++i) {
    const double v = run.value("x")[i];
    EXPECT_NEAR(y[0][i], std::max(v, 0.0), kLayersClose);
    EXPECT_NEAR(y[1][i], 0.5 * v * std::erfc(-v / std::numbers::sqrt2), 1e-7);  // constants are rounded to f32
    EXPECT_NEAR(y[2][i], 0.5 * v * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (v + 0.044715 * v * v * v))), 1e-7);
    EXPECT_NEAR(y[3][i], v / (1 + std::exp(-1.702 * v)), 1e-7);
    EXPECT_NEAR(y[4][i], v / (1 + std::exp(-v)), kLayersClose);
    EXPECT_NEAR(y[5][i], std::tanh(v), kLayersClose);
  }
}

/// Convolution of 1 to 3 dimensions by its definition, as one over [n, a, b, c, in] with leading sizes of one.
Numbers plain_convolution(const Numbers& x, std::array<std::int64_t, 5> xd, const Numbers& w,
                          std::array<std::int64_t, 5> wd, std::int64_t stride, std::int64_t pad, std::int64_t groups,
                          std::array<std::int64_t, 3> out, std::array<bool, 3> spatial) {
  Numbers y;
  const std::int64_t per_group = wd[4] / groups;
  for (std::int64_t n = 0; n < xd[0]; ++n)
    for (std::int64_t a = 0; a < out[0]; ++a)
      for (std::int64_t b = 0; b < out[1]; ++b)
        for (std::int64_t c = 0; c < out[2]; ++c)
          for (std::int64_t o = 0; o < wd[4]; ++o) {
            double sum = 0;
            for (std::int64_t i = 0; i < wd[0]; ++i)
              for (std::int64_t j = 0; j < wd[1]; ++j)
                for (std::int64_t k = 0; k < wd[2]; ++k) {
                  const std::array<std::int64_t, 3> at{spatial[0] ? a * stride + i - pad : 0,
                                                       spatial[1] ? b * stride + j - pad : 0,
                                                       spatial[2] ? c * stride + k - pad : 0};
                  bool inside = true;
                  for (std::size_t d = 0; d < 3; ++d)
                    inside = inside && at[d] >= 0 && at[d] < xd[d + 1];
                  if (!inside) continue;
                  for (std::int64_t f = 0; f < wd[3]; ++f) {
                    const std::int64_t feature = (o / per_group) * wd[3] + f;
                    sum += x[static_cast<std::size_t>((((n * xd[1] + at[0]) * xd[2] + at[1]) * xd[3] + at[2]) * xd[4] +
                                                      feature)] *
                           w[static_cast<std::size_t>((((i * wd[1] + j) * wd[2] + k) * wd[3] + f) * wd[4] + o)];
                  }
                }
            y.push_back(sum);
          }
  return y;
}

TEST(Layers, ConvolutionsOfOneToThreeDimensions) {
  ir::WindowSpec window = ir::WindowSpec::valid(2);
  window.pad_low = window.pad_high = {1};
  window.groups = 2;
  const ConvolutionSpec spec{.features = 4, .kernel = {3}, .window = window, .bias = false};
  {
    LayerRun run;
    const Numbers y = run.run(convolution(run.b, "c", run.input("x", {2, 6, 4}), spec));
    EXPECT_LT(difference(y, plain_convolution(run.value("x"), {2, 1, 1, 6, 4}, run.value("params/c/w"), {1, 1, 3, 2, 4},
                                              2, 1, 2, {1, 1, 3}, {false, false, true})),
              kLayersClose);
  }
  {
    LayerRun run;
    const Numbers y = run.run(convolution(run.b, "c", run.input("x", {2, 5, 6, 4}), spec));
    EXPECT_LT(difference(y, plain_convolution(run.value("x"), {2, 1, 5, 6, 4}, run.value("params/c/w"), {1, 3, 3, 2, 4},
                                              2, 1, 2, {1, 3, 3}, {false, true, true})),
              kLayersClose);
  }
  {
    LayerRun run;
    const Numbers y = run.run(convolution(run.b, "c", run.input("x", {1, 4, 5, 3, 4}), spec));
    EXPECT_LT(difference(y, plain_convolution(run.value("x"), {1, 4, 5, 3, 4}, run.value("params/c/w"), {3, 3, 3, 2, 4},
                                              2, 1, 2, {2, 3, 2}, {true, true, true})),
              kLayersClose);
  }
  EXPECT_THAT(failure([&] {
                LayerRun bad;
                convolution(bad.b, "c", bad.input("x", {2, 6, 3}), spec);
              }),
              HasSubstr("c: 2 groups do not divide 3 input"));
}

TEST(Layers, TransposedConvolutionDoublesTheImage) {
  LayerRun run;
  const Numbers y = run.run(transposed_convolution(run.b, "up", run.input("x", {1, 2, 3, 2}), 3));
  const Numbers &x = run.value("x"), &w = run.value("params/up/w"), &bias = run.value("params/up/b");
  Numbers expected;
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t c = 0; c < 6; ++c)
      for (std::size_t o = 0; o < 3; ++o) {
        // Output (2 i + di, 2 j + dj) comes from input (i, j) alone; the kernel is stored turned around.
        double sum = bias[o];
        for (std::size_t f = 0; f < 2; ++f)
          sum += x[((r / 2) * 3 + c / 2) * 2 + f] * w[(((1 - r % 2) * 2 + 1 - c % 2) * 2 + f) * 3 + o];
        expected.push_back(sum);
      }
  EXPECT_LT(difference(y, expected), kLayersClose);
}

TEST(Layers, Pooling) {
  LayerRun run;
  const Tensor x = run.input("x", {1, 4, 4, 1});
  const std::vector<Numbers> y = run.run({max_pool(run.b, x, 2, ir::WindowSpec::valid(2)), average_pool(run.b, x, 2, 2),
                                          global_average_pool(run.b, x), upsample_nearest(run.b, x)});
  const Numbers& v = run.value("x");
  double total = 0;
  for (std::size_t r = 0; r < 2; ++r)
    for (std::size_t c = 0; c < 2; ++c) {
      const Numbers window{v[8 * r + 2 * c], v[8 * r + 2 * c + 1], v[8 * r + 4 + 2 * c], v[8 * r + 4 + 2 * c + 1]};
      EXPECT_EQ(y[0][2 * r + c], *std::max_element(window.begin(), window.end()));
      EXPECT_NEAR(y[1][2 * r + c], (window[0] + window[1] + window[2] + window[3]) / 4, kLayersClose);
      total += window[0] + window[1] + window[2] + window[3];
    }
  EXPECT_NEAR(y[2][0], total / 16, kLayersClose);
  for (std::size_t i = 0; i < 64; ++i)
    EXPECT_EQ(y[3][i], v[(i / 16) * 4 + (i % 8) / 2]);
}

TEST(Layers, CrossEntropyWithAndWithoutWeights) {
  LayerRun run;
  const Tensor scores = run.input("scores", {2, 2, 3}), weights = run.input("weights", {2, 2});
  run.set("weights", {1, 0, 0.5, 1});
  const Tensor labels = run.ids("labels", {2, 2}, {2, 1, 0, 0});
  const std::vector<Numbers> y =
      run.run({cross_entropy(run.b, scores, labels), cross_entropy(run.b, scores, labels, weights),
               accuracy(run.b, scores, labels)});
  const std::vector<std::size_t> label{2, 1, 0, 0};
  const Numbers weight{1, 0, 0.5, 1};
  double mean = 0, weighted = 0, right = 0;
  for (std::size_t r = 0; r < 4; ++r) {
    const double* s = run.value("scores").data() + 3 * r;
    const double each = std::log(std::exp(s[0]) + std::exp(s[1]) + std::exp(s[2])) - s[label[r]];
    mean += each / 4;
    weighted += each * weight[r] / 2.5;
    right += s[label[r]] >= std::max({s[0], s[1], s[2]}) ? 0.25 : 0;
  }
  EXPECT_NEAR(y[0][0], mean, kLayersClose);
  EXPECT_NEAR(y[1][0], weighted, kLayersClose);
  EXPECT_NEAR(y[2][0], right, kLayersClose);
}

TEST(Layers, OtherLosses) {
  LayerRun run;
  const Tensor a = run.input("a", {3, 2}), c = run.input("c", {3, 2});
  run.set("target", {0, 1, 0.5});
  const Tensor target = run.input("target", {3}), score = run.input("score", {3});
  const Tensor log_scale = run.b.scalar(ir::DType::F32, 0.5);
  const std::vector<Numbers> y = run.run({mean_squared_error(run.b, a, c), binary_cross_entropy(run.b, score, target),
                                          contrastive(run.b, a, c, log_scale)});
  const Numbers &l = run.value("a"), &r = run.value("c"), &s = run.value("score"), &t = run.value("target");
  double squares = 0, binary = 0, contrast = 0;
  for (std::size_t i = 0; i < 6; ++i)
    squares += (l[i] - r[i]) * (l[i] - r[i]) / 6;
  for (std::size_t i = 0; i < 3; ++i)
    binary += (t[i] * std::log1p(std::exp(-s[i])) + (1 - t[i]) * std::log1p(std::exp(s[i]))) / 3;
  const auto similar = [&](std::size_t i, std::size_t j) {
    const double dot = l[2 * i] * r[2 * j] + l[2 * i + 1] * r[2 * j + 1];
    return std::exp(0.5) * dot / (std::hypot(l[2 * i], l[2 * i + 1]) * std::hypot(r[2 * j], r[2 * j + 1]));
  };
  for (std::size_t i = 0; i < 3; ++i) {
    double row = 0, column = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      row += std::exp(similar(i, j));
      column += std::exp(similar(j, i));
    }
    contrast += (std::log(row) + std::log(column) - 2 * similar(i, i)) / 6;
  }
  EXPECT_NEAR(y[0][0], squares, kLayersClose);
  EXPECT_NEAR(y[1][0], binary, kLayersClose);
  EXPECT_NEAR(y[2][0], contrast, 1e-7);
}

TEST(Layers, LossesDoNotOverflow) {
  LayerRun run;
  run.set("score", {1e4, -1e4});
  run.set("target", {1, 0});
  const Tensor score = run.input("score", {2}), target = run.input("target", {2});
  EXPECT_EQ(run.run(binary_cross_entropy(run.b, score, target)), Numbers{0});
}

}  // namespace
}  // namespace rhino::zoo
