// SPDX-License-Identifier: Apache-2.0
#include <rhino/memory/arena.hpp>

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include <rhino/base/error.hpp>
#include <rhino/base/math.hpp>
#include <rhino/memory/arena_plan.hpp>

namespace rhino::memory {

namespace {

bool overlap_in_time(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

bool lives_always(const Lifetime& block) {
  return block.first <= 0 && block.last == std::numeric_limits<std::int64_t>::max();
}

/// Work of the exact search: enough to pack what a step of some hundred tasks needs, and never more than about a second.
SearchLimits limits_for(std::size_t blocks) {
  return {static_cast<std::int64_t>(4'000'000 / (blocks + 1)) + 100, {}};
}

}  // namespace

ArenaLayout place_blocks(const std::vector<Lifetime>& blocks, std::int64_t alignment) {
  RHINO_ASSERT(alignment > 0, "alignment {}", alignment);
  ArenaLayout layout;
  layout.offsets.assign(blocks.size(), 0);
  ArenaProblem problem;
  problem.alignment = alignment;
  std::vector<std::size_t> movable;
  std::int64_t bottom = 0;  // what lives always lies below the rest
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Lifetime& block = blocks[i];
    RHINO_ASSERT(block.bytes >= 0 && block.first <= block.last, "block of {} bytes from {} to {}", block.bytes, block.first, block.last);
    if (block.bytes == 0) continue;
    if (lives_always(block)) {
      layout.offsets[i] = bottom;
      bottom += round_up(block.bytes, alignment);
      continue;
    }
    const bool to_the_end = block.last == std::numeric_limits<std::int64_t>::max();
    problem.blocks.push_back({block.first, to_the_end ? block.last : block.last + 1, block.bytes, {}});
    movable.push_back(i);
  }
  ArenaOptions options;
  options.limits = limits_for(movable.size());
  const ArenaPlan plan = plan_arena(problem, options);
  for (std::size_t k = 0; k < movable.size(); ++k) layout.offsets[movable[k]] = bottom + plan.offsets[k];
  layout.bytes = bottom + plan.height;
  layout.load = bottom + plan.load;
  return layout;
}

std::string find_overlap(const std::vector<Lifetime>& blocks, const ArenaLayout& layout, std::int64_t alignment) {
  if (layout.offsets.size() != blocks.size()) {
    return fmt::format("{} offsets for {} blocks", layout.offsets.size(), blocks.size());
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].bytes == 0) continue;
    if (layout.offsets[i] < 0 || layout.offsets[i] % alignment != 0) {
      return fmt::format("block {} at offset {} is not aligned to {}", i, layout.offsets[i], alignment);
    }
    if (layout.offsets[i] + blocks[i].bytes > layout.bytes) {
      return fmt::format("block {} ends at {}, beyond the arena of {}", i, layout.offsets[i] + blocks[i].bytes, layout.bytes);
    }
    order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return layout.offsets[a] < layout.offsets[b]; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t a = order[i];
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      const std::size_t b = order[j];
      if (layout.offsets[b] >= layout.offsets[a] + blocks[a].bytes) break;
      if (overlap_in_time(blocks[a], blocks[b])) {
        return fmt::format("blocks {} and {} overlap at offset {} while both are alive", a, b, layout.offsets[b]);
      }
    }
  }
  return {};
}

}  // namespace rhino::memory
