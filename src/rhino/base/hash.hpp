// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rhino {

/// A 128-bit content hash (XXH3), equal on every machine. Guards against mix-ups, not against forgery.
struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

/// 32 lower-case hexadecimal digits.
std::string to_string(const Hash128& hash);
/// Reads what to_string wrote; throws InputError otherwise.
Hash128 hash128_from_string(std::string_view text);

Hash128 hash128(std::span<const std::byte> bytes);
Hash128 hash128(std::string_view text);
std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed = 0);
std::uint64_t hash64(std::string_view text, std::uint64_t seed = 0);

}  // namespace rhino
