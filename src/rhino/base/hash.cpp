// SPDX-License-Identifier: Apache-2.0
#include <rhino/base/hash.hpp>

#include <charconv>

#include <fmt/format.h>
#include <xxhash.h>

#include <rhino/base/error.hpp>

namespace rhino {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

std::uint64_t parse_hex(std::string_view digits, std::string_view whole) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  RHINO_CHECK(code == std::errc() && end == digits.data() + digits.size(),
              "'{}' is not a hash of 32 hexadecimal digits", whole);
  return value;
}

}  // namespace

std::string to_string(const Hash128& hash) { return fmt::format("{:016x}{:016x}", hash.high, hash.low); }

Hash128 hash128_from_string(std::string_view text) {
  RHINO_CHECK(text.size() == 32, "'{}' is not a hash of 32 hexadecimal digits", text.substr(0, 64));
  return {parse_hex(text.substr(0, 16), text), parse_hex(text.substr(16), text)};
}

Hash128 hash128(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

Hash128 hash128(std::string_view text) { return hash128(bytes_of(text)); }

std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::uint64_t hash64(std::string_view text, std::uint64_t seed) { return hash64(bytes_of(text), seed); }

}  // namespace rhino
