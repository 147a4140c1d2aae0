// SPDX-License-Identifier: Apache-2.0
#include <rhino/base/math.hpp>

#include <array>
#include <limits>

#include <gtest/gtest.h>

#include <rhino/base/error.hpp>

namespace rhino {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(Math, CeilDivAndRoundUp) {
  EXPECT_EQ(ceil_div(0, 3), 0);
  EXPECT_EQ(ceil_div(7, 3), 3);
  EXPECT_EQ(ceil_div(9, 3), 3);
  EXPECT_EQ(ceil_div(kMax, 2), kMax / 2 + 1);
  EXPECT_EQ(round_up(65, 64), 128);
  EXPECT_EQ(round_up(64, 64), 64);
}

TEST(Math, CheckedArithmeticThrowsOnOverflow) {
  EXPECT_EQ(checked_add(kMax - 1, 1), kMax);
  EXPECT_THROW(checked_add(kMax, 1), InputError);
  EXPECT_EQ(checked_multiply(-3, 5), -15);
  EXPECT_THROW(checked_multiply(kMax / 2, 3), InputError);
}

TEST(Math, CheckedProduct) {
  EXPECT_EQ(checked_product({}), 1);
  EXPECT_EQ(checked_product(std::array<std::int64_t, 3>{2, 3, 4}), 24);
  EXPECT_EQ(checked_product(std::array<std::int64_t, 3>{kMax, kMax, 0}), 0);
  EXPECT_THROW(checked_product(std::array<std::int64_t, 2>{kMax, 2}), InputError);
}

}  // namespace
}  // namespace rhino
