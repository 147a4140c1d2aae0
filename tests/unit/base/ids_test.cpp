// SPDX-License-Identifier: Apache-2.0
#include <rhino/base/ids.hpp>

#include <type_traits>
#include <unordered_set>

#include <gtest/gtest.h>

namespace rhino {
namespace {

using AppleId = Id<struct AppleTag>;
using PearId = Id<struct PearTag>;

static_assert(!std::is_convertible_v<AppleId, PearId>);
static_assert(!std::is_constructible_v<AppleId, PearId>);
static_assert(!std::is_convertible_v<int, AppleId>);
static_assert(sizeof(AppleId) == 4);

TEST(Ids, DefaultIsInvalidAndLast) {
  EXPECT_FALSE(AppleId().valid());
  EXPECT_TRUE(AppleId(0).valid());
  EXPECT_LT(AppleId(123456), AppleId());
}

TEST(Ids, CompareAndHashByIndex) {
  EXPECT_EQ(AppleId(3), AppleId(3));
  EXPECT_LT(AppleId(3), AppleId(4));
  std::unordered_set<AppleId> set;
  for (int i = 0; i < 100; ++i) set.insert(AppleId(i % 50));
  EXPECT_EQ(set.size(), 50u);
}

}  // namespace
}  // namespace rhino
