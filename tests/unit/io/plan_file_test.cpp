// SPDX-License-Identifier: Apache-2.0
#include <rhino/io/plan_file.hpp>

#include <filesystem>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/base/random.hpp>
#include <rhino/io/hdf5.hpp>
#include <rhino/io/model_file.hpp>

#include "hostile.hpp"
#include "small_model.hpp"

namespace rhino::io {
namespace {

using test::message_of;
using testing::HasSubstr;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : stream_{seed, 0} {}
  std::int64_t operator()(std::int64_t below) { return static_cast<std::int64_t>(stream_.bits(at_++) % static_cast<std::uint64_t>(below)); }

 private:
  RandomStream stream_;
  std::uint64_t at_ = 0;
};

shard::DimLayout random_dim(Draw& draw) {
  shard::DimLayout dim;
  dim.subs.resize(static_cast<std::size_t>(draw(3)));
  for (shard::SubDim& sub : dim.subs) {
    sub.size = 1 + draw(9);
    for (std::int64_t i = draw(3); i > 0; --i) sub.axes.push_back(static_cast<int>(draw(3)));
  }
  return dim;
}

shard::Layout random_layout(Draw& draw) {
  shard::Layout layout;
  for (std::int64_t i = draw(4); i > 0; --i) layout.dims.push_back(random_dim(draw));
  if (draw(2) == 0) layout.partial_axes.push_back(static_cast<int>(draw(3)));
  layout.partial_kind = static_cast<shard::PartialKind>(draw(5));
  return layout;
}

/// A plan whose every field differs from its default; layouts need not make sense to be stored.
plan::Plan random_plan(std::uint64_t seed, std::size_t ops) {
  Draw draw(seed);
  plan::Plan plan;
  plan.program_hash = {0x0123456789abcdef + seed, 0xfedcba9876543210};
  plan.devices = 12;
  plan.strategy_name = "auto";
  plan.sharding.mesh = shard::MeshShape({{"x", 2}, {"y", 3}, {"long name", 2}});
  plan.sharding.functions.resize(3);
  for (shard::FunctionSharding& function : plan.sharding.functions) {
    for (std::int64_t i = draw(5); i > 0; --i) function.params.push_back(random_layout(draw));
    for (std::int64_t i = draw(5); i > 0; --i) function.results.push_back(random_layout(draw));
  }
  for (std::size_t i = 0; i < ops; ++i) {
    shard::Strategy strategy;
    for (std::int64_t k = draw(5); k > 0; --k) strategy.factors.push_back(random_dim(draw));
    if (draw(3) == 0) strategy.carried_axes.push_back(static_cast<int>(draw(3)));
    for (std::int64_t k = draw(3); k > 0; --k) strategy.carried_operands.push_back(draw(2) == 1);
    strategy.carried_kind = static_cast<shard::PartialKind>(draw(5));
    plan.sharding.functions[1].ops.push_back(std::move(strategy));
    plan.stage_of_op.push_back(static_cast<std::uint32_t>(draw(4)));
  }
  plan.stages = 4;
  plan.micro_batches = 8;
  plan.schedule = plan::Schedule::Interleaved;
  plan.recomputed_ops = {3, 5, 4294967294u};
  plan.optimizer_sharded = {1};
  plan.bytes_per_rank = {1, std::int64_t{1} << 40};
  plan.predicted = {0.25, 1.0 / 3, 1e-300};
  plan.lower_bound_seconds = 0.125;
  plan.candidates = {{"data x4", 0.5, 77, true}, {"tensor", std::numeric_limits<double>::infinity(), 0, false}};
  plan.seed = std::numeric_limits<std::uint64_t>::max();
  plan.level = 2;
  plan.cluster_name = "eight of them";
  plan.options = "[plan]\nstrategy = \"auto\"\n";
  return plan;
}

TEST(PlanFile, RoundTripIsTheIdentity) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const plan::Plan plan = random_plan(seed, static_cast<std::size_t>(seed * 3));
    write_plan(plan, "plan.h5");
    EXPECT_TRUE(read_plan("plan.h5") == plan) << seed;
  }
  write_plan(plan::Plan{}, "empty.h5");
  EXPECT_TRUE(read_plan("empty.h5") == plan::Plan{});
}

TEST(PlanFile, LargePlansAreSmallFiles) {
  plan::Plan plan = random_plan(1, 50);
  auto& ops = plan.sharding.functions[1].ops;
  while (ops.size() < 100'000) ops.push_back(ops[ops.size() % 50]);
  write_plan(plan, "large.h5");
  EXPECT_LT(std::filesystem::file_size("large.h5"), 1u << 20);
  EXPECT_TRUE(read_plan("large.h5") == plan);
}

TEST(PlanFile, ForeignAndMissingFilesAreErrors) {
  write_model(test::small_model(), "model.h5");
  EXPECT_THAT(message_of([] { read_plan("model.h5"); }), HasSubstr("is not a plan file: its format is 'rhino-model'"));
  EXPECT_THAT(message_of([] { read_plan("absent.h5"); }), HasSubstr("no file"));
  EXPECT_THROW(write_plan(plan::Plan{}, "absent_folder/p.h5"), EnvironmentError);
}

TEST(PlanFile, DamageNeverGoesUnnoticed) {
  const plan::Plan plan = random_plan(7, 300);
  write_plan(plan, "damaged.h5");
  test::damage("damaged.h5", test::read_bytes("damaged.h5"), 257, [&] { return read_plan("damaged.h5") == plan; });
}

/// A file like that of write_plan with one table replaced.
std::string read_with_table(const std::string& name, const std::vector<std::int64_t>& numbers, std::int64_t count) {
  Hdf5File file = Hdf5File::create("table.h5");
  {
    Hdf5Group& root = file.root();
    set_format(file, "rhino-plan", 1);
    root.set_attribute("program_hash", std::string(32, '0'));
    for (const char* key : {"strategy_name", "cluster_name", "options", "content_hash"}) root.set_attribute(key, "");
    for (const char* key : {"devices", "stages", "micro_batches", "level", "seed"}) root.set_attribute(key, std::int64_t{1});
    root.set_attribute("schedule", "none");
    for (const char* key : {"predicted_compute_seconds", "predicted_communication_seconds", "predicted_seconds",
                            "lower_bound_seconds"})
      root.set_attribute(key, 0.0);
    root.write_texts("mesh/name", {"x"});
    root.write_numbers<std::int64_t>("mesh/size", {2});
    for (const char* table : {"dims", "layouts", "strategies"})
      if (name != table) root.write_numbers<std::int64_t>(std::string("sharding/") + table, {}).set_attribute("count", std::int64_t{0});
    if (name != "functions") root.write_numbers<std::int64_t>("sharding/functions", {0}).set_attribute("count", std::int64_t{0});
    root.write_numbers("sharding/" + name, numbers).set_attribute("count", count);
    for (const char* list : {"stage_of_op", "recomputed_ops", "optimizer_sharded"}) root.write_numbers<std::uint32_t>(list, {});
    root.write_numbers<std::int64_t>("bytes_per_rank", {});
    root.write_texts("candidates/name", {});
    root.write_numbers<double>("candidates/seconds", {});
    root.write_numbers<std::int64_t>("candidates/bytes_per_rank", {});
    root.write_numbers<std::uint8_t>("candidates/feasible", {});
  }
  file.commit();
  return message_of([] { read_plan("table.h5"); });
}

TEST(PlanFile, HostileNumbersNeitherCrashNorAllocate) {
  EXPECT_THAT(read_with_table("dims", {1, 4, 0, 0}, 1), HasSubstr("was edited"));  // well formed, but the hash is another
  EXPECT_THAT(read_with_table("dims", {1, 4, 1, 0, 0}, 1), HasSubstr("was edited"));
  EXPECT_THAT(read_with_table("dims", {1, 4, 1, 1, 0}, 1), HasSubstr("1 is not between 0 and 0"));  // no such axis
  EXPECT_THAT(read_with_table("dims", {INT64_MAX, 4, 0, 0}, 1), HasSubstr("is not between"));
  EXPECT_THAT(read_with_table("dims", {-1, 4, 0, 0}, 1), HasSubstr("is not between"));
  EXPECT_THAT(read_with_table("dims", {1, 4, 0}, 1), HasSubstr("ends too early"));
  EXPECT_THAT(read_with_table("dims", {1, 4, 0, 0, 9}, 1), HasSubstr("left over"));
  EXPECT_THAT(read_with_table("dims", {}, INT64_MAX), HasSubstr("claims"));
  EXPECT_THAT(read_with_table("dims", {}, -1), HasSubstr("claims"));
  EXPECT_THAT(read_with_table("layouts", {1, 0, 0, 0}, 1), HasSubstr("is not between"));  // no such dimension
  EXPECT_THAT(read_with_table("layouts", {0, 0, 7}, 1), HasSubstr("is not between"));     // no such kind
  EXPECT_THAT(read_with_table("strategies", {0, 0, 1, 2, 0}, 1), HasSubstr("is not between"));
  EXPECT_THAT(read_with_table("functions", {0, 0, 1, 0, 0}, 1), HasSubstr("is not between"));
}

}  // namespace
}  // namespace rhino::io
