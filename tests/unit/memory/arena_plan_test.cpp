// SPDX-License-Identifier: Apache-2.0
#include <rhino/memory/arena_plan.hpp>

#include <algorithm>
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

#include <rhino/base/math.hpp>
#include <rhino/memory/arena_greedy.hpp>

namespace rhino::memory {
namespace {

std::int64_t bytes_of(const ArenaProblem& problem, const ArenaBlock& block) {
  return block.offset ? block.size : round_up(block.size, problem.alignment);
}

bool share_time(const ArenaBlock& a, const ArenaBlock& b) { return a.lower < b.upper && b.lower < a.upper; }

/// Whether blocks from `next` on can be placed within `capacity`, by trying every offset.
bool fits(const ArenaProblem& problem, std::int64_t capacity, std::size_t next, std::vector<std::int64_t>& offsets) {
  if (next == problem.blocks.size()) return true;
  const ArenaBlock& block = problem.blocks[next];
  const std::int64_t step = block.offset ? 1 : problem.alignment, bytes = bytes_of(problem, block);
  for (std::int64_t at = block.offset.value_or(0); at + bytes <= capacity; at += step) {
    bool free = true;
    for (std::size_t b = 0; b < next && free; ++b) {
      const ArenaBlock& other = problem.blocks[b];
      free = !share_time(block, other) || offsets[b] + bytes_of(problem, other) <= at || at + bytes <= offsets[b];
    }
    offsets[next] = at;
    if (free && fits(problem, capacity, next + 1, offsets)) return true;
    if (block.offset) break;
  }
  return false;
}

std::int64_t least_height(const ArenaProblem& problem) {
  for (std::int64_t capacity = 0;; ++capacity) {
    std::vector<std::int64_t> offsets(problem.blocks.size());
    if (fits(problem, capacity, 0, offsets)) return capacity;
  }
}

ArenaProblem random_problem(std::mt19937_64& random, int most_blocks, std::int64_t most_bytes, bool with_fixed) {
  const auto pick = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); };
  ArenaProblem problem;
  problem.alignment = 1 + pick(3);  // movable blocks take whole units of it
  const auto blocks = 1 + pick(most_blocks);
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t lower = pick(8);
    problem.blocks.push_back({lower, lower + 1 + pick(5), 1 + pick(most_bytes), {}});
  }
  if (with_fixed) problem.blocks[0].offset = pick(2 * most_bytes);
  return problem;
}

TEST(ArenaPlan, SmallOnesAreAsLowAsCanBe) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 600; ++round) {
    const ArenaProblem problem = random_problem(random, 6, 5, round % 3 == 0);
    const std::int64_t least = least_height(problem);
    const ArenaPlan plan = plan_arena(problem);
    ASSERT_EQ(plan.height, least) << "round " << round;
    ASSERT_EQ(plan.bound, least) << "round " << round;
    EXPECT_EQ(plan.status, ArenaStatus::Optimal);
    EXPECT_EQ(find_placement_error(problem, plan.offsets, plan.height), "");
    std::vector<std::int64_t> offsets;
    EXPECT_EQ(search_offsets(problem, least, {}, offsets), SearchOutcome::Found) << "round " << round;
    EXPECT_EQ(find_placement_error(problem, offsets, least), "");
    EXPECT_EQ(search_offsets(problem, least - 1, {}, offsets), SearchOutcome::None) << "round " << round;
    ArenaOptions too_little;
    too_little.capacity = least - 1;
    if (least > 1) {
      EXPECT_EQ(plan_arena(problem, too_little).status, ArenaStatus::Infeasible) << "round " << round;
    }
  }
}

TEST(ArenaPlan, LargerOnesAreValidAndNeverWorseThanGreedy) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 40; ++round) {
    ArenaProblem problem = random_problem(random, 60, 1000, round % 4 == 0);
    for (ArenaBlock& block : problem.blocks) block.upper += static_cast<std::int64_t>(random() % 3);
    ArenaOptions options;
    options.limits.nodes = 20'000;
    const ArenaPlan plan = plan_arena(problem, options);
    ASSERT_EQ(find_placement_error(problem, plan.offsets, plan.height), "") << "round " << round;
    EXPECT_LE(plan.load, plan.bound);
    EXPECT_LE(plan.bound, plan.height);
    EXPECT_LE(plan.height, height_of(problem, place_greedily(problem, 0)));
    EXPECT_EQ(plan_arena(problem, options).offsets, plan.offsets) << "equal work gives equal offsets";
  }
}

TEST(ArenaPlan, PacksWhatGreedyOrdersCannot) {
  // Two of three and one of two over them: only some orders fill the arena.
  const ArenaProblem problem{{{0, 3, 2, {}}, {2, 6, 3, {}}, {5, 9, 2, {}}, {0, 2, 3, {}}, {7, 9, 3, {}}, {3, 5, 2, {}}}, 1};
  const ArenaPlan plan = plan_arena(problem);
  EXPECT_EQ(plan.height, least_height(problem));
}

TEST(ArenaPlan, BlocksWithoutBytesOrTimeTakeNoRoom) {
  const ArenaProblem problem{{{0, 5, 0, {}}, {3, 3, 10, {}}, {0, 5, 4, {}}}, 1};
  const ArenaPlan plan = plan_arena(problem);
  EXPECT_EQ(plan.height, 4);
  EXPECT_EQ(plan.offsets.size(), 3u);
  EXPECT_EQ(plan_arena({}).height, 0);
  EXPECT_EQ(plan_arena({}).status, ArenaStatus::Optimal);
}

TEST(ArenaPlan, AFixedBlockAboveTheCapacityIsAProof) {
  const ArenaProblem problem{{{0, 5, 4, 8}, {0, 5, 4, {}}}, 1};
  ArenaOptions options;
  options.capacity = 10;
  EXPECT_EQ(plan_arena(problem, options).status, ArenaStatus::Infeasible);
  EXPECT_EQ(plan_arena(problem).height, 12);
}

TEST(ArenaPlan, TheCheckerSeesEveryChange) {
  std::mt19937_64 random(3);
  int seen = 0;
  for (int round = 0; round < 200; ++round) {
    const ArenaProblem problem = random_problem(random, 12, 20, round % 2 == 0);
    const ArenaPlan plan = plan_arena(problem);
    std::vector<std::int64_t> offsets = plan.offsets;
    const std::size_t b = random() % offsets.size();
    offsets[b] += static_cast<std::int64_t>(random() % 41) - 20;
    // By the definition, pair by pair.
    bool good = offsets[b] >= 0 && offsets[b] + problem.blocks[b].size <= plan.height &&
                (problem.blocks[b].offset ? offsets[b] == *problem.blocks[b].offset : offsets[b] % problem.alignment == 0);
    for (std::size_t other = 0; other < offsets.size(); ++other) {
      if (other == b || !share_time(problem.blocks[b], problem.blocks[other])) continue;
      good = good && (offsets[b] + problem.blocks[b].size <= offsets[other] || offsets[other] + problem.blocks[other].size <= offsets[b]);
    }
    EXPECT_EQ(find_placement_error(problem, offsets, plan.height).empty(), good) << "round " << round;
    seen += good ? 0 : 1;
  }
  EXPECT_GT(seen, 50);
}

}  // namespace
}  // namespace rhino::memory
