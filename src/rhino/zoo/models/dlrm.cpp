// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>

#include <rhino/zoo/layers/losses.hpp>

#include "common.hpp"
#include "families.hpp"

namespace rhino::zoo {

namespace {

Tensor layers(ModelBuilder& b, std::string_view name, Tensor x, const std::vector<std::int64_t>& sizes) {
  const auto scope = b.scope(name);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double deviation = std::sqrt(2 / static_cast<double>(x.dim(-1) + sizes[i]));
    x = activate(b, dense(b, fmt::format("dense{}", i), x, {sizes[i]}, normal(deviation)), Activation::Relu);
  }
  return x;
}

/// Products of each pair of rows of x [batch, rows, width] -> [batch, rows * (rows - 1) / 2].
Tensor pairs(ModelBuilder& b, const Tensor& x) {
  const auto scope = b.scope("pairs");
  const Tensor products = b.einsum("bim,bjm->bij", x, x);
  std::vector<Tensor> below;
  for (std::int64_t i = 1; i < x.dim(1); ++i)
    below.push_back(b.reshape(b.slice(b.slice(products, 1, i, i + 1), 2, 0, i), {x.dim(0), i}));
  return b.concatenate(below, 1);
}

Tensor build_dlrm(ModelBuilder& b, const Settings& settings) {
  const std::int64_t batch = settings.integer("batch");
  const std::vector<std::int64_t> tables = settings.integers("tables"), bottom = settings.integers("bottom");
  const std::int64_t width = bottom.back();
  const Tensor numbers = b.batch("dense", {ir::DType::F32, {batch, settings.integer("dense_features")}});
  const Tensor categories = b.batch("categories", {ir::DType::I32, {batch, static_cast<std::int64_t>(tables.size())}});
  const Tensor click = b.batch("click", {ir::DType::F32, {batch}});
  const Tensor from_numbers = layers(b, "bottom", b.convert(numbers, b.compute()), bottom);
  std::vector<Tensor> rows{b.expand(from_numbers, 1)};
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const Tensor ids = b.slice(categories, 1, static_cast<std::int64_t>(i), static_cast<std::int64_t>(i) + 1);
    const ir::InitRecipe recipe = uniform(1 / std::sqrt(static_cast<double>(tables[i])));
    rows.push_back(embed(b, fmt::format("table{}", i), ids, tables[i], width, recipe).rows);
  }
  const Tensor features = b.concatenate({from_numbers, pairs(b, b.concatenate(rows, 1))}, 1);
  const Tensor top = layers(b, "top", features, settings.integers("top"));
  const Tensor score =
      b.reshape(dense(b, "head", top, {1}, normal(1 / std::sqrt(static_cast<double>(top.dim(-1))))), {batch});
  return binary_cross_entropy(b, score, click);
}

}  // namespace

Family dlrm_family() {
  return {"dlrm",
          "click prediction: one embedding table per category, products of all pairs, dense layers",
          "Naumov et al. 2019; the sizes: MLPerf training",
          "batch=2048 optimizer=sgd learning_rate=0.1 dense_features=13 bottom=512,256,128 top=1024,1024,512,256 "
          "tables=39884406,39043,17289,7420,20263,3,7120,1543,63,38532951,2953546,403346,10,2208,11938,155,4,976,14,"
          "39979771,25641295,39664984,585935,12972,108,36",
          {{"tiny", "batch=64 dense_features=4 tables=50,20,10,5 bottom=32,8 top=32 optimizer=adam learning_rate=0.01",
            0, ""},
           {"small", "tables=100000,40000,17000,7400,20000,3,7000,1500,63,90000,50000 bottom=256,64,16 top=512,256",
            5.523e6, "our own small tables"},
           {"mlperf", "", 24.04e9, "26 tables of at most 40 million rows, 128 wide"}},
          build_dlrm};
}

}  // namespace rhino::zoo
