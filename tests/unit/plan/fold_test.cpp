// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/fold.hpp>

#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <rhino/cluster/mesh.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/plan/pricing.hpp>
#include <rhino/plan/recipes.hpp>
#include <rhino/zoo/zoo.hpp>

#include "support/small_step.hpp"

namespace rhino::plan {
namespace {

zoo::BuiltModel model(const char* family, const std::vector<std::string>& settings) {
  return zoo::build_model(family, "tiny", settings);
}

TEST(Fold, LeavesThreeLayersOfAnyNumber) {
  std::size_t ops_of_ten = 0;
  for (const int layers : {10, 20, 40}) {
    const zoo::BuiltModel whole = model("gpt", {fmt::format("layers={}", layers)});
    const auto folded = fold_repeats(whole.program, whole.signature);
    ASSERT_TRUE(folded.has_value()) << layers;
    ir::verify(folded->program);
    ir::verify(folded->signature, folded->program.entry());
    const std::size_t ops = folded->program.entry().ops.size();
    if (ops_of_ten == 0) ops_of_ten = ops;
    EXPECT_EQ(ops, ops_of_ten) << "the size does not depend on the number of layers";
    EXPECT_EQ(std::accumulate(folded->op_weight.begin(), folded->op_weight.end(), 0.0), static_cast<double>(whole.program.entry().ops.size()));
    EXPECT_EQ(std::accumulate(folded->param_weight.begin(), folded->param_weight.end(), 0.0),
              static_cast<double>(whole.program.entry().params.size()));
  }
}

TEST(Fold, WhatDoesNotRepeatStaysWhole) {
  const test::SmallStep step = test::small_step(8, 16, 32);
  EXPECT_FALSE(fold_repeats(step.program, step.signature).has_value());
}

TEST(Fold, UnfoldedDecisionsAreValidAndCostWhatTheFoldedOnesSay) {
  for (const auto& [family, settings] : std::vector<std::pair<const char*, std::vector<std::string>>>{
           {"gpt", {"layers=16"}}, {"llama", {"layers=16"}}, {"bert", {"layers=16"}}, {"gpt", {"layers=16", "clip=1"}}}) {
    SCOPED_TRACE(family);
    const zoo::BuiltModel whole = model(family, settings);
    const auto folded = fold_repeats(whole.program, whole.signature);
    ASSERT_TRUE(folded.has_value());
    const cluster::Cluster cluster = cluster::default_cpu_cluster(4);
    for (const Recipe& recipe : enumerate_recipes(4, 2)) {
      SCOPED_TRACE(to_string(recipe));
      const cluster::Mesh mesh = cluster::lay_out(recipe.mesh, cluster);
      const shard::Sharding small = make_sharding(folded->program, folded->signature, recipe);
      const shard::Sharding large = unfold(*folded, whole.program, small);
      EXPECT_NO_THROW(shard::check_sharding(whole.program, large));
      Pricer few(folded->program, mesh, folded->op_weight, folded->param_weight), all(whole.program, mesh);
      const PredictedTime from_few = few.price(small), from_all = all.price(large);
      EXPECT_NEAR(from_few.compute, from_all.compute, 1e-9 * from_all.compute);
      EXPECT_NEAR(from_few.communication, from_all.communication, 0.1 * from_all.communication + 1e-6);
      EXPECT_NEAR(static_cast<double>(few.bytes_per_rank(small)), static_cast<double>(all.bytes_per_rank(large)),
                  0.25 * static_cast<double>(all.bytes_per_rank(large)));
    }
  }
}

}  // namespace
}  // namespace rhino::plan
