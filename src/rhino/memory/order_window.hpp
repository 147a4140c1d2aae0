// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <rhino/memory/order_cut.hpp>

namespace rhino::memory {

/// Best order of the at most 64 ops order[begin, end) while the others stay: search over predecessor-closed sets, lowest peak
/// so far first, so that the first complete set is best. Empty if nothing below `limit` bytes was found within `states` sets.
std::vector<std::int32_t> best_window(const OrderIndex& index, std::span<const std::int32_t> order,
                                      std::span<const std::int32_t> position, std::int32_t begin, std::int32_t end,
                                      std::int64_t limit, std::int64_t states);

}  // namespace rhino::memory
