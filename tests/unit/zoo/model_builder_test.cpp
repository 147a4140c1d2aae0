// SPDX-License-Identifier: Apache-2.0
#include <rhino/zoo/model_builder.hpp>

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/zoo/layers/basic.hpp>

#include "layer_run.hpp"

namespace rhino::zoo {
namespace {

using testing::HasSubstr;

/// Three dense layers in a row on [2, 3] values.
std::vector<Tensor> three_layers(LayerRun& run, double dropout = 0) {
  return run.b.repeat(3, "block", {run.input("x", {2, 3})}, [&](std::vector<Tensor> carried) {
    const Tensor y = run.b.tanh(dense(run.b, "dense", carried[0], {3}, normal(1)));
    return std::vector<Tensor>{run.b.dropout(y, dropout)};
  });
}

TEST(ModelBuilder, ScanEqualsRepeatedOps) {
  LayerRun scanned({.scan = true}), repeated;
  const Numbers y = scanned.run(three_layers(scanned)[0]);
  for (const auto& [name, size] : std::map<std::string, std::ptrdiff_t>{{"w", 9}, {"b", 3}})
    for (std::ptrdiff_t i = 0; i < 3; ++i) {
      const auto first = scanned.value("params/blocks/dense/" + name).begin() + i * size;
      repeated.set("params/block" + std::to_string(i) + "/dense/" + name, {first, first + size});
    }
  EXPECT_LT(difference(y, repeated.run(three_layers(repeated)[0])), 1e-12);
}

TEST(ModelBuilder, RefusesTwoParametersOfOnePath) {
  LayerRun run;
  run.b.parameter("w", {2}, zeros());
  try {
    run.b.parameter("w", {2}, zeros());
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'params/w' is declared twice"));
  }
}

TEST(ModelBuilder, SharingGivesOneParameter) {
  for (const bool scan : {false, true}) {
    LayerRun run({.scan = scan});
    const ModelBuilder::Sharing sharing(run.b);
    const Numbers y = run.run(three_layers(run)[0]);
    const std::string path = scan ? "params/blocks/dense/w" : "params/block/dense/w";
    ASSERT_TRUE(run.has(path));
    EXPECT_EQ(run.value(path).size(), 9u);
    EXPECT_EQ(y.size(), 6u);
  }
}

TEST(ModelBuilder, DropoutZeroesItsShareAndScalesTheRest) {
  LayerRun run;
  const Tensor x = run.b.full({ir::DType::F32, {200, 100}}, 1);
  Numbers kept;
  for (const double v : run.run(run.b.dropout(x, 0.3))) {
    if (v != 0) kept.push_back(v);
  }
  EXPECT_NEAR(static_cast<double>(kept.size()), 14000, 4 * std::sqrt(20000 * 0.3 * 0.7));
  for (const double v : kept)
    EXPECT_NEAR(v, 1 / 0.7, 1e-6);
}

TEST(ModelBuilder, DropoutIsNewInEachStepPlaceAndTrip) {
  const auto draw = [](double step, bool scan) {
    LayerRun run({.scan = scan});
    run.set("step", {step});
    const Tensor x = run.b.full({ir::DType::F32, {64}}, 1);
    std::vector<Tensor> outputs = run.b.repeat(2, "block", {x, x}, [&](std::vector<Tensor> carried) {
      return std::vector<Tensor>{run.b.dropout(x, 0.5), carried[0]};  // the last two masks
    });
    outputs.push_back(run.b.dropout(x, 0.5));
    return run.run(outputs);
  };
  for (const bool scan : {false, true}) {
    const auto first = draw(0, scan), again = draw(0, scan), next = draw(1, scan);
    EXPECT_EQ(first, again);
    EXPECT_NE(first[0], next[0]);
    EXPECT_NE(first[0], first[1]) << "two trips draw alike";
    EXPECT_NE(first[0], first[2]) << "two places draw alike";
  }
}

TEST(ModelBuilder, NothingIsDroppedOutsideOfTraining) {
  LayerRun run({.training = false});
  const Tensor x = run.input("x", {50});
  const Numbers y = run.run(run.b.dropout(x, 0.5));
  EXPECT_EQ(y, run.value("x"));
}

TEST(ModelBuilder, RandomNumbersHaveTheirMoments) {
  LayerRun run;
  const std::vector<Numbers> y = run.run({run.b.random_uniform({20000}), run.b.random_normal({100, 200})});
  const auto moment = [](const Numbers& x, int power) {
    double sum = 0;
    for (const double v : x)
      sum += std::pow(v, power) / static_cast<double>(x.size());
    return sum;
  };
  EXPECT_NEAR(moment(y[0], 1), 0.5, 4 * std::sqrt(1 / 12.0 / 20000));
  EXPECT_NEAR(moment(y[0], 2), 1 / 3.0, 0.01);
  EXPECT_NEAR(moment(y[1], 1), 0, 4 / std::sqrt(20000));
  EXPECT_NEAR(moment(y[1], 2), 1, 0.05);
  EXPECT_NEAR(moment(y[1], 4), 3, 0.3);
  for (const double v : y[0])
    ASSERT_TRUE(v >= 0 && v < 1);
}

TEST(ModelBuilder, NeighboursDrawIndependently) {
  // Correlation of each element with its neighbour along each dimension.
  LayerRun run;
  const Numbers y = run.run(run.b.random_uniform({100, 100}));
  for (const std::size_t step : {std::size_t{1}, std::size_t{100}}) {
    double sum = 0;
    for (std::size_t i = 0; i + step < y.size(); ++i)
      sum += (y[i] - 0.5) * (y[i + step] - 0.5) * 12;
    EXPECT_NEAR(sum / static_cast<double>(y.size()), 0, 0.04);
  }
}

TEST(ModelBuilder, RefusesBadRatesAndShapes) {
  LayerRun run;
  const Tensor x = run.input("x", {2});
  EXPECT_THROW(run.b.dropout(x, 1), InputError);
  EXPECT_THROW(run.b.dropout(x, -0.1), InputError);
  EXPECT_THROW(run.b.parameter("none", {2, 0}, zeros()), InputError);
  EXPECT_THROW(run.b.repeat(0, "block", {x}, [](auto carried) { return carried; }), InputError);
}

}  // namespace
}  // namespace rhino::zoo
