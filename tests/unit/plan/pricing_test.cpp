// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/pricing.hpp>

#include <algorithm>

#include <gtest/gtest.h>

#include <rhino/plan/recipes.hpp>

#include "support/small_step.hpp"

namespace rhino::plan {
namespace {

TEST(Pricer, CommunicationHidesBehindComputationWhereTheDeviceOverlaps) {
  const test::SmallStep step = test::small_step(64, 128, 512);
  cluster::Cluster cluster = cluster::default_cpu_cluster(4);
  const auto price = [&](const Recipe& recipe, double overlap) {
    cluster.device.overlap = overlap;
    Pricer pricer(step.program, cluster::lay_out(recipe.mesh, cluster));
    return pricer.price(make_sharding(step.program, step.signature, recipe));
  };
  bool some_hides = false;
  for (const Recipe& recipe : enumerate_recipes(4, 2)) {
    const PredictedTime serial = price(recipe, 0), overlapped = price(recipe, 1);
    EXPECT_DOUBLE_EQ(serial.total, serial.compute + serial.communication) << to_string(recipe);
    EXPECT_DOUBLE_EQ(overlapped.compute, serial.compute);
    EXPECT_LE(overlapped.total, serial.total * (1 + 1e-12));
    EXPECT_GE(overlapped.total, std::max(serial.compute, serial.communication) * (1 - 1e-12));
    some_hides = some_hides || overlapped.total < 0.99 * serial.total;
  }
  EXPECT_TRUE(some_hides);
}

}  // namespace
}  // namespace rhino::plan
