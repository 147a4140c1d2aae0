// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/planner.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/builder.hpp>

#include "support/small_step.hpp"

namespace rhino::plan {
namespace {

using testing::HasSubstr;

Plan plan_for(const test::SmallStep& step, std::int64_t devices, PlannerOptions options = {}) {
  LocalSearchBoard board;
  return find_plan(step.program, step.signature, cluster::default_cpu_cluster(devices), options, board);
}

TEST(Planner, AutoIsNeverPredictedSlowerThanDataOrTensor) {
  const test::SmallStep step = test::small_step(24, 16, 64);
  for (std::int64_t devices : {2, 3, 4, 6, 8}) {
    PlannerOptions options;
    const double automatic = plan_for(step, devices, options).predicted.total;
    options.strategy = "data";
    const double data = plan_for(step, devices, options).predicted.total;
    options.strategy = "tensor";
    const double tensor = plan_for(step, devices, options).predicted.total;
    EXPECT_LE(automatic, data) << devices;
    EXPECT_LE(automatic, tensor) << devices;
  }
}

TEST(Planner, PlansAreCompleteAndFitTheirProgram) {
  const test::SmallStep step = test::small_step(24, 16, 64);
  for (const char* strategy : {"auto", "data", "tensor"}) {
    PlannerOptions options;
    options.strategy = strategy;
    const Plan plan = plan_for(step, 4, options);
    EXPECT_NO_THROW(check_plan(plan, step.program, 4)) << strategy;
    EXPECT_EQ(plan.strategy_name, strategy);
    EXPECT_GT(plan.predicted.total, 0);
    EXPECT_FALSE(plan.candidates.empty());
    EXPECT_THAT(to_string(plan, step.program), HasSubstr("candidates:"));
  }
}

TEST(Planner, DataSplitsTheBatchAndTensorTheWeights) {
  const test::SmallStep step = test::small_step(24, 16, 64);
  PlannerOptions options;
  options.strategy = "data";
  const Plan data = plan_for(step, 2, options);
  const auto& entry = data.sharding.functions[step.program.main.index()];
  EXPECT_TRUE(entry.params[step.batch].dims[0].is_split());
  EXPECT_TRUE(entry.params[step.first_weight].is_replicated());
  options.strategy = "tensor";
  const Plan tensor = plan_for(step, 2, options);
  const auto& split = tensor.sharding.functions[step.program.main.index()];
  EXPECT_FALSE(split.params[step.first_weight].is_replicated());
  EXPECT_FALSE(split.params[step.batch].dims[0].is_split());
}

TEST(Planner, EqualInputsGiveEqualPlans) {
  const test::SmallStep step = test::small_step(24, 16, 64);
  EXPECT_EQ(plan_for(step, 4), plan_for(step, 4));
}

TEST(Planner, OneDeviceNeedsNoMesh) {
  const test::SmallStep step = test::small_step(8, 4, 8);
  const Plan plan = plan_for(step, 1);
  EXPECT_EQ(plan.sharding.mesh.rank(), 0);
  EXPECT_EQ(plan.predicted.communication, 0);
}

TEST(Planner, AMemoryLimitThatNothingFitsIsAnErrorWithTheBytes) {
  const test::SmallStep step = test::small_step(24, 16, 64);
  PlannerOptions options;
  options.memory_limit = 100;
  try {
    plan_for(step, 2, options);
    FAIL() << "a plan within 100 bytes";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("100 B"));
    EXPECT_THAT(error.what(), HasSubstr("the leanest of"));
  }
}

TEST(Planner, AnUnknownStrategyIsAnError) {
  const test::SmallStep step = test::small_step(8, 4, 8);
  PlannerOptions options;
  options.strategy = "magic";
  EXPECT_THROW(plan_for(step, 2, options), UsageError);
}

TEST(CheckPlan, RefusesAnotherModelAndAnotherNumberOfDevices) {
  const test::SmallStep step = test::small_step(24, 16, 64);
  const test::SmallStep other = test::small_step(24, 16, 32);
  const Plan plan = plan_for(step, 2);
  EXPECT_THROW(check_plan(plan, other.program, 2), InputError);
  EXPECT_THROW(check_plan(plan, step.program, 4), InputError);
}

}  // namespace
}  // namespace rhino::plan
