// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/kernels/reference/compare.hpp>

#include "op_runner.hpp"

namespace rhino::kernels::reference::test {
namespace {


float ulps_up(float x, int n) {
  for (int i = 0; i < n; ++i)
    x = std::nextafter(x, inf);
  return x;
}

TEST(Compare, UlpDistance) {
  const auto distance = [](float a, float b) { return ulp_distance(scalar(a), scalar(b), 0); };
  EXPECT_EQ(distance(1, ulps_up(1, 3)), 3u);
  EXPECT_EQ(distance(0.0f, -0.0f), 0u);
  EXPECT_EQ(distance(0x1p-149f, -0x1p-149f), 2u);
  EXPECT_EQ(distance(-1, 1), 2u * 0x3f800000u);
  EXPECT_EQ(distance(nan, -nan), 0u);
  EXPECT_EQ(distance(nan, 1), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(distance(std::numeric_limits<float>::max(), inf), 1u);
  EXPECT_EQ(ulp_distance(scalar(Half(1.0f)), scalar(Half(1.0f + 0x1p-9f)), 0), 2u);
  EXPECT_EQ(ulp_distance(scalar<std::int64_t>(INT64_MIN), scalar<std::int64_t>(INT64_MAX), 0), ~std::uint64_t{0});
}

TEST(Compare, Equal) {
  EXPECT_FALSE(expect_eq(vector<float>({1, nan}), vector<float>({1, -nan})));
  EXPECT_TRUE(expect_eq(scalar(0.0f), scalar(-0.0f)));
  const auto mismatch =
      expect_eq(tensor<std::int32_t>({2, 2}, {1, 2, 3, 4}), tensor<std::int32_t>({2, 2}, {1, 2, 5, 6}));
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->index, (ir::Dims{1, 0}));
  EXPECT_EQ(mismatch->got, "3");
  EXPECT_EQ(mismatch->want, "5");
  EXPECT_EQ(mismatch->bad, 2);
  EXPECT_THROW(expect_eq(scalar(1.0f), scalar(1.0)), InputError);
}

TEST(Compare, Close) {
  EXPECT_FALSE(expect_close(scalar(ulps_up(2, 3)), scalar(2.0f)));
  EXPECT_TRUE(expect_close(scalar(ulps_up(2, 4)), scalar(2.0f)));
  EXPECT_FALSE(expect_close(scalar(ulps_up(2, 4)), scalar(2.0f), 4));
  EXPECT_TRUE(expect_close(scalar(2.0f), scalar(2.0f), 3, 1));
  EXPECT_TRUE(expect_close(scalar<std::int32_t>(2), scalar<std::int32_t>(3)));
  EXPECT_FALSE(expect_close(scalar(nan), scalar(nan)));
}

TEST(Compare, AlmostEqual) {
  EXPECT_FALSE(expect_almost_eq(vector<float>({1.0005f, inf, nan}), vector<float>({1, inf, nan})));
  EXPECT_TRUE(expect_almost_eq(scalar(1.002f), scalar(1.0f)));
  EXPECT_FALSE(expect_almost_eq(scalar(1.002f), scalar(1.0f), 0.01));
  EXPECT_TRUE(expect_almost_eq(scalar(inf), scalar(-inf)));
  EXPECT_TRUE(expect_almost_eq(scalar(nan), scalar(1.0f)));
}

}  // namespace
}  // namespace rhino::kernels::reference::test
