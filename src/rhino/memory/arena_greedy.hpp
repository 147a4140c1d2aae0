// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <rhino/memory/arena_search.hpp>

namespace rhino::memory {

/// Largest sum of bytes (rounded up to the alignment) that live at one time: no placement is lower. Fixed blocks count too.
std::int64_t peak_load(const ArenaProblem& problem);

/// Height of a placement: the largest end of a movable block or of a fixed one.
std::int64_t height_of(const ArenaProblem& problem, const std::vector<std::int64_t>& offsets);

/// Places the movable blocks one by one in the order given, each at the lowest gap that fits. Blocks that `offsets` already
/// places (not -1) and fixed blocks stay. Finds the blocks of a common time by a tree over the times.
void place_first_fit(const ArenaProblem& problem, const std::vector<std::size_t>& order, std::vector<std::int64_t>& offsets);

/// The best of first fit over the usual orders: size, size times lifespan, lifespan, begin.
std::vector<std::int64_t> place_greedily(const ArenaProblem& problem, std::int64_t good_enough);

}  // namespace rhino::memory
