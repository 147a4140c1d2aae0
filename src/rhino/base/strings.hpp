// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rhino {

/// Parts between separators, also empty ones; "" gives one empty part.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Without white space at both ends.
std::string_view trim(std::string_view text);

/// Least number of insertions, deletions, replacements and swaps of neighbours that turn a into b.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to a misspelt name, or nothing if none is near (more than half of it differs).
/// Among equally near ones the first.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates);

/// " (did you mean 'x'?)", or "" where nothing is near: for the end of a message.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

/// 1536 -> "1.50 KiB"; exact below 1 KiB: "17 B".
std::string human_bytes(std::int64_t bytes);

/// 1.5e9 -> "1.50 G"; for counts and rates: human_count(x) + "FLOP/s".
std::string human_count(double value);

/// Seconds with a fitting unit: "1.20 ms".
std::string human_seconds(double seconds);

}  // namespace rhino
