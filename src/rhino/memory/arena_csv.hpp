// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <rhino/memory/arena_search.hpp>

namespace rhino::memory {

/// Blocks as a table: the public format of allocation benchmarks, one line per block with its id, times and size.
struct ArenaTable {
  std::vector<std::string> ids;  ///< one per block, as the file has them
  ArenaProblem problem;          ///< alignment 1
};

/// Reads CSV with a header line that names the columns id, lower, upper, size in any order, and optionally offset (where a
/// block must lie; empty: anywhere). Times are half-open. Throws InputError with the line for anything else: unknown or missing
/// columns, numbers that are none, negative or too large, times that run backwards, an id used twice, no blocks at all.
ArenaTable read_arena_csv(const std::filesystem::path& path);
/// The same from text; `name` is for messages.
ArenaTable parse_arena_csv(std::string_view text, const std::string& name);

/// The table with a column of offsets.
std::string to_arena_csv(const ArenaTable& table, const std::vector<std::int64_t>& offsets);

}  // namespace rhino::memory
