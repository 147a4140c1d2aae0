// SPDX-License-Identifier: Apache-2.0
#include <rhino/base/random.hpp>

#include <bit>
#include <cmath>
#include <numbers>

namespace rhino {
namespace {

// What the fourth counter word is used for; draws of different purposes never share bits.
constexpr std::uint32_t kUniformDraw = 0;
constexpr std::uint32_t kFirstNormalDraw = 1;

std::array<std::uint32_t, 4> draw(const RandomStream& stream, std::uint64_t index, std::uint32_t attempt) {
  return philox4x32({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), stream.stream, attempt},
                    {static_cast<std::uint32_t>(stream.seed), static_cast<std::uint32_t>(stream.seed >> 32)});
}

std::uint64_t join(std::uint32_t low, std::uint32_t high) { return static_cast<std::uint64_t>(high) << 32 | low; }

double to_unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

double normal_attempt(const RandomStream& stream, std::uint64_t index, std::uint32_t attempt) {
  const auto words = draw(stream, index, kFirstNormalDraw + attempt);
  const double radius_draw = 1.0 - to_unit(join(words[0], words[1]));  // in (0, 1]
  const double angle = 2.0 * std::numbers::pi * to_unit(join(words[2], words[3]));
  return std::sqrt(-2.0 * std::log(radius_draw)) * std::cos(angle);
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  constexpr std::uint64_t kMultiplier0 = 0xd2511f53u;
  constexpr std::uint64_t kMultiplier1 = 0xcd9e8d57u;
  constexpr std::uint32_t kWeyl0 = 0x9e3779b9u;
  constexpr std::uint32_t kWeyl1 = 0xbb67ae85u;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

std::array<std::uint32_t, 2> threefry2x32(std::array<std::uint32_t, 2> counter, std::array<std::uint32_t, 2> key) {
  constexpr int kRotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  const std::uint32_t schedule[3] = {key[0], key[1], 0x1bd11bdau ^ key[0] ^ key[1]};
  std::uint32_t x = counter[0] + schedule[0];
  std::uint32_t y = counter[1] + schedule[1];
  for (std::uint32_t round = 0; round < 20; ++round) {
    x += y;
    y = std::rotl(y, kRotations[round % 8]) ^ x;
    if (round % 4 == 3) {
      const std::uint32_t injection = round / 4 + 1;
      x += schedule[injection % 3];
      y += schedule[(injection + 1) % 3] + injection;
    }
  }
  return {x, y};
}

std::uint64_t RandomStream::bits(std::uint64_t index) const {
  const auto words = draw(*this, index, kUniformDraw);
  return join(words[0], words[1]);
}

double RandomStream::uniform(std::uint64_t index) const { return to_unit(bits(index)); }

double RandomStream::normal(std::uint64_t index) const { return normal_attempt(*this, index, 0); }

double RandomStream::truncated_normal(std::uint64_t index) const {
  // 95 of 100 attempts are accepted; a thousand rejections in a row do not happen.
  for (std::uint32_t attempt = 0; attempt < 1000; ++attempt) {
    const double value = normal_attempt(*this, index, attempt);
    if (std::abs(value) <= 2.0) return value;
  }
  return 0.0;
}

}  // namespace rhino
