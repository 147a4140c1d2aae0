// SPDX-License-Identifier: Apache-2.0
#include <rhino/base/half.hpp>

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace rhino {
namespace {

TEST(Half, EveryHalfSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = half_to_float(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(value)))) << bits;
    } else {
      ASSERT_EQ(float_to_half(value), bits);
    }
  }
}

TEST(Half, EveryBfloatSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = bfloat16_to_float(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(bfloat16_to_float(float_to_bfloat16(value)))) << bits;
    } else {
      ASSERT_EQ(float_to_bfloat16(value), bits);
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(float_to_half(1.0f + 0x1p-11f), 0x3c00);             // tie: down to even
  EXPECT_EQ(float_to_half(1.0f + 0x1p-10f + 0x1p-11f), 0x3c02);  // tie: up to even
  EXPECT_EQ(float_to_half(65504.0f), 0x7bff);
  EXPECT_EQ(float_to_half(65519.0f), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_half(-0x1p-24f), 0x8001);
  EXPECT_EQ(float_to_half(0x1p-25f), 0x0000);  // tie: down to even zero
  EXPECT_EQ(float_to_half(0x1.8p-25f), 0x0001);
  EXPECT_EQ(float_to_half(-0.0f), 0x8000);
  EXPECT_EQ(float_to_bfloat16(1.0f + 0x1p-8f), 0x3f80);
  EXPECT_EQ(float_to_bfloat16(1.0f + 0x1p-7f + 0x1p-8f), 0x3f82);
  EXPECT_EQ(float_to_bfloat16(std::numeric_limits<float>::max()), 0x7f80);
}

TEST(Half, DoublesAreRoundedOnce) {
  // Through a plain float the bit at 2^-40 is lost and the tie would go to even.
  EXPECT_EQ(double_to_half(1.0 + 0x1p-11 + 0x1p-40), 0x3c01);
  EXPECT_EQ(double_to_half(1.0 + 0x1p-11 - 0x1p-40), 0x3c00);
  EXPECT_EQ(double_to_half(-(1.0 + 0x1p-11 + 0x1p-40)), 0xbc01);
  EXPECT_EQ(double_to_bfloat16(1.0 + 0x1p-8 + 0x1p-40), 0x3f81);
  EXPECT_EQ(double_to_bfloat16(1.0 + 0x1p-8 - 0x1p-40), 0x3f80);
  EXPECT_EQ(double_to_half(1e300), 0x7c00);
  EXPECT_EQ(double_to_half(std::numeric_limits<double>::infinity()), 0x7c00);
  EXPECT_EQ(double_to_half(1e-300), 0x0000);
  EXPECT_TRUE(std::isnan(half_to_float(double_to_half(std::nan("")))));
}

}  // namespace
}  // namespace rhino
