// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rhino/memory/arena_search.hpp>

namespace rhino::memory {

enum class ArenaStatus : std::uint8_t {
  Optimal,     ///< placed, and no placement is lower
  Feasible,    ///< placed (within the capacity, if one was given)
  Infeasible,  ///< proved: no placement fits the capacity
  Unknown      ///< none found within the limits
};

struct ArenaOptions {
  std::int64_t capacity = 0;  ///< 0: as low as possible
  SearchLimits limits{2'000'000, {}};
  /// Told the height of each better placement as it is found; may be empty.
  std::function<void(std::int64_t)> on_better;
};

struct ArenaPlan {
  ArenaStatus status = ArenaStatus::Unknown;
  std::vector<std::int64_t> offsets;  ///< one per block; empty unless placed
  std::int64_t height = 0;            ///< of `offsets`
  std::int64_t load = 0;              ///< largest sum of bytes alive at one time
  std::int64_t bound = 0;             ///< proved: no placement is lower
};

/// Places blocks: first by the greedy orders, then exactly (search_offsets) at the load, by bisection between what is proved
/// and what is found, and where the whole is too large for that first the big blocks exactly and then the small ones in the
/// gaps, and by putting the blocks that stick out first. Never worse than the greedy orders. Deterministic unless
/// `limits.stop` says otherwise.
ArenaPlan plan_arena(const ArenaProblem& problem, const ArenaOptions& options = {});

/// Independent check: every block placed, fixed ones where they must be, alignment, no two blocks of a common time over each
/// other, nothing above `height`. Returns an empty string or what is wrong. Knows nothing of how the placement came about.
std::string find_placement_error(const ArenaProblem& problem, const std::vector<std::int64_t>& offsets, std::int64_t height);

}  // namespace rhino::memory
