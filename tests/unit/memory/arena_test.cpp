// SPDX-License-Identifier: Apache-2.0
#include <rhino/memory/arena.hpp>

#include <cstdint>
#include <random>

#include <gtest/gtest.h>

#include <rhino/base/error.hpp>

namespace rhino::memory {
namespace {

TEST(Arena, BlocksOfOneTimeShareNothing) {
  const std::vector<Lifetime> blocks{{100, 0, 5}, {60, 3, 8}, {64, 6, 9}};
  const ArenaLayout layout = place_blocks(blocks, 64);
  EXPECT_EQ(find_overlap(blocks, layout, 64), "");
  EXPECT_EQ(layout.load, 192);   // 128 + 64 while the first two live
  EXPECT_EQ(layout.bytes, 192);  // the third takes the place of the first
}

TEST(Arena, BlocksThatFollowEachOtherShareBytes) {
  const std::vector<Lifetime> blocks{{64, 0, 1}, {64, 2, 3}, {64, 4, 5}};
  EXPECT_EQ(place_blocks(blocks, 64).bytes, 64);
}

TEST(Arena, BothEndsOfALifetimeAreIncluded) {
  const std::vector<Lifetime> blocks{{64, 0, 2}, {64, 2, 3}};
  EXPECT_EQ(place_blocks(blocks, 64).bytes, 128);
}

TEST(Arena, BlocksThatLiveAlwaysLieAtTheBottom) {
  const std::vector<Lifetime> blocks{{64, 3, 4}, {128, 0, INT64_MAX}, {64, 0, INT64_MAX}};
  const ArenaLayout layout = place_blocks(blocks, 64);
  EXPECT_EQ(find_overlap(blocks, layout, 64), "");
  EXPECT_EQ(layout.bytes, 256);
  EXPECT_EQ(layout.offsets[0], 192);
}

TEST(Arena, EmptyAndZeroBlocks) {
  EXPECT_EQ(place_blocks({}, 64).bytes, 0);
  const std::vector<Lifetime> blocks{{0, 0, 5}, {0, 0, INT64_MAX}};
  EXPECT_EQ(place_blocks(blocks, 64).bytes, 0);
}

TEST(Arena, RandomBlocksNeverOverlapAndStayNearTheLoad) {
  std::mt19937_64 rng(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> blocks;
    const int count = 1 + static_cast<int>(rng() % 60);
    for (int i = 0; i < count; ++i) {
      const auto first = static_cast<std::int64_t>(rng() % 40);
      const auto last = rng() % 10 == 0 ? INT64_MAX : first + static_cast<std::int64_t>(rng() % 12);
      blocks.push_back({static_cast<std::int64_t>(rng() % 1000), last == INT64_MAX ? 0 : first, last});
    }
    const ArenaLayout layout = place_blocks(blocks, 16);
    ASSERT_EQ(find_overlap(blocks, layout, 16), "") << "round " << round;
    EXPECT_GE(layout.bytes, layout.load);
    EXPECT_LE(layout.bytes, 2 * layout.load);
  }
}

TEST(Arena, TheCheckerSeesWhatIsWrong) {
  const std::vector<Lifetime> blocks{{64, 0, 5}, {64, 5, 6}};
  EXPECT_NE(find_overlap(blocks, {{0, 32}, 96, 128}, 32), "");   // overlap
  EXPECT_NE(find_overlap(blocks, {{0, 65}, 200, 128}, 64), "");  // not aligned
  EXPECT_NE(find_overlap(blocks, {{0, 64}, 100, 128}, 64), "");  // beyond the end
  EXPECT_NE(find_overlap(blocks, {{0}, 64, 64}, 64), "");        // an offset is missing
  EXPECT_EQ(find_overlap(blocks, {{0, 64}, 128, 128}, 64), "");
}

TEST(Arena, ImpossibleBlocksAreAnAssertion) {
  EXPECT_THROW(place_blocks({{-1, 0, 1}}, 64), InternalError);
  EXPECT_THROW(place_blocks({{1, 2, 1}}, 64), InternalError);
  EXPECT_THROW(place_blocks({{1, 0, 1}}, 0), InternalError);
}

}  // namespace
}  // namespace rhino::memory
