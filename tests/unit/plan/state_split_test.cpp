// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/state_split.hpp>

#include <gtest/gtest.h>

#include <rhino/plan/recipes.hpp>
#include <rhino/zoo/zoo.hpp>

namespace rhino::plan {
namespace {

struct SplitCase {
  explicit SplitCase(const std::vector<std::string>& settings = {}) : model(zoo::build_model("gpt", "tiny", settings)) {}

  shard::Sharding data_parallel(std::int64_t devices) const {
    return make_sharding(model.program, model.signature, enumerate_recipes(devices, 1).front());
  }
  Pricer pricer(std::int64_t devices) const {
    return Pricer(model.program, cluster::lay_out(enumerate_recipes(devices, 1).front().mesh, cluster::default_cpu_cluster(devices)));
  }
  int split_states(const shard::Sharding& sharding, ir::StateKind kind) const {
    int count = 0;
    const auto& params = sharding.functions[model.program.main.index()].params;
    for (std::size_t p = 0; p < params.size(); ++p) {
      const ir::ParamInfo& info = model.signature.params[p];
      if (info.role == ir::ParamRole::State && info.kind == kind && !params[p].is_replicated()) ++count;
    }
    return count;
  }

  zoo::BuiltModel model;
};

TEST(StateGroups, AWeightIsWithTheMomentsOfItsShape) {
  const SplitCase gpt;
  const auto groups = find_state_groups(gpt.model.program, gpt.model.signature);
  const ir::Function& f = gpt.model.program.entry();
  ASSERT_FALSE(groups.empty());
  std::vector<int> seen(f.params.size(), 0);
  for (const StateGroup& group : groups) {
    int weights = 0;
    for (const std::uint32_t p : group.params) {
      ++seen[p];
      EXPECT_EQ(f.type(f.params[p]).dims, f.type(f.params[group.params[0]]).dims);
      if (gpt.model.signature.params[p].kind == ir::StateKind::Param) ++weights;
    }
    EXPECT_EQ(weights, 1) << gpt.model.signature.params[group.params[0]].path;
    EXPECT_EQ(group.params.size(), 3u) << "a weight and two moments of Adam";
    EXPECT_FALSE(group.ops.empty());
  }
  for (std::size_t p = 0; p < f.params.size(); ++p) {
    const ir::ParamInfo& info = gpt.model.signature.params[p];
    const bool split = info.role == ir::ParamRole::State && f.type(f.params[p]).elements() > 1 &&
                       (info.kind == ir::StateKind::Param || info.kind == ir::StateKind::Optimizer);
    EXPECT_EQ(seen[p], split ? 1 : 0) << info.path;
  }
}

TEST(StateSplitter, FitsEveryLimitDownToTheLeast) {
  const SplitCase gpt;
  const shard::Sharding whole = gpt.data_parallel(4);
  Pricer pricer = gpt.pricer(4);
  StateSplitter splitter(pricer, gpt.model.signature);
  const std::int64_t before = pricer.bytes_per_rank(whole, gpt.model.signature.updates());
  const std::int64_t least = splitter.least_bytes(whole);
  ASSERT_LT(least, before);
  EXPECT_EQ(gpt.split_states(whole, ir::StateKind::Optimizer), 0);
  double seconds = 0;
  for (const double part : {2.0, 0.9, 0.6, 0.3, 0.0}) {
    const auto limit = least + static_cast<std::int64_t>(part * static_cast<double>(before - least));
    shard::Sharding sharding = whole;
    const std::int64_t bytes = splitter.fit(sharding, limit);
    EXPECT_LE(bytes, limit) << part;
    EXPECT_NO_THROW(shard::check_sharding(gpt.model.program, sharding));
    EXPECT_GT(gpt.split_states(sharding, ir::StateKind::Optimizer) + gpt.split_states(sharding, ir::StateKind::Param), 0) << part;
    const double now = pricer.price(sharding).total;
    if (part == 0.0) EXPECT_GE(now, seconds);
    else if (seconds == 0) seconds = now;
  }
}

TEST(StateSplitter, NeverMakesAStepSlowerWhereMemoryIsAmple) {
  for (const char* dtype : {"dtype=f32", "dtype=bf16"}) {
    const SplitCase gpt({dtype});
    shard::Sharding sharding = gpt.data_parallel(8);
    Pricer pricer = gpt.pricer(8);
    const double before = pricer.price(sharding).total;
    StateSplitter(pricer, gpt.model.signature).fit(sharding, INT64_MAX);
    EXPECT_LE(pricer.price(sharding).total, before * (1 + 1e-9)) << dtype;
  }
}

}  // namespace
}  // namespace rhino::plan
