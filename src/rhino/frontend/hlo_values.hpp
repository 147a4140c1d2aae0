// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rhino::frontend {

// Notations of HLO attribute values. All return nullopt for a malformed value.

/// All integers of a value, with their signs; whatever else is in it only separates them.
std::optional<std::vector<std::int64_t>> parse_hlo_integers(std::string_view value);

/// The value of one key in a window `{size=3x3 stride=2x2 pad=0_1x0_1}`; empty if it is not there.
std::string_view hlo_window_field(std::string_view window, std::string_view key);

/// Device groups `{{0,1},{2,3}}`, or as a grid of consecutive numbers: `[2,4]<=[8]` are two groups of four,
/// `[2,2]<=[2,2]T(1,0)` takes the numbers in transposed order.
std::optional<std::vector<std::vector<std::int64_t>>> parse_hlo_groups(std::string_view value);

}  // namespace rhino::frontend
