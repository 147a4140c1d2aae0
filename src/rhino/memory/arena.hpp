// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rhino::memory {

/// A block of bytes that must exist from task `first` to task `last` (both included).
struct Lifetime {
  std::int64_t bytes = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Offsets of blocks in one arena.
struct ArenaLayout {
  std::vector<std::int64_t> offsets;  ///< one per block, multiples of the alignment
  std::int64_t bytes = 0;             ///< height of the arena
  std::int64_t load = 0;              ///< largest sum of live bytes at any time: no layout can be lower
};

/// Places blocks so that those alive at the same time do not overlap (plan_arena, with little and counted work, so that every
/// rank gets the same); blocks that live always lie at the bottom. Blocks of zero bytes get offset 0.
ArenaLayout place_blocks(const std::vector<Lifetime>& blocks, std::int64_t alignment);

/// Independent check of a layout: alignment, bounds and overlaps. Returns an empty string or what is wrong.
std::string find_overlap(const std::vector<Lifetime>& blocks, const ArenaLayout& layout, std::int64_t alignment);

}  // namespace rhino::memory
