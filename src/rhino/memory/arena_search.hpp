// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace rhino::memory {

/// A buffer of an arena: `size` bytes that must exist at the times [lower, upper).
struct ArenaBlock {
  std::int64_t lower = 0, upper = 0;
  std::int64_t size = 0;
  std::optional<std::int64_t> offset;  ///< where it must lie; such a block can also stand for a range that must stay free
};

struct ArenaProblem {
  std::vector<ArenaBlock> blocks;
  std::int64_t alignment = 1;  ///< bytes; movable blocks begin at multiples and take whole multiples, fixed ones are as they are
};

enum class SearchOutcome : std::uint8_t { Found, None, GaveUp };

/// What a search may spend. Work is counted, not timed, so that equal inputs give equal results on every machine; `stop` is
/// for those who want a clock besides.
struct SearchLimits {
  std::int64_t nodes = 1'000'000;
  std::function<bool()> stop;  ///< asked now and then; may be empty
};

/// Exact search for offsets within a capacity, over skylines: at the lowest moment (of several the one with the fewest
/// choices) either one of the blocks that fit there lies, or nothing does and the bytes up to the next possible height are
/// lost; a branch ends when a moment cannot hold what it still needs. Parts that no open block joins are searched one by
/// one, and restarts with growing limits try the blocks in several orders. (The bound per moment and the splitting into parts
/// are also among the rules of MiniMalloc, Moffitt, ASPLOS 2023; the branching is not.)
/// None is a proof that no placement exists. On Found, `offsets` has one per block; blocks of no bytes or no time lie at 0.
SearchOutcome search_offsets(const ArenaProblem& problem, std::int64_t capacity, const SearchLimits& limits,
                             std::vector<std::int64_t>& offsets);

}  // namespace rhino::memory
