// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace rhino {

// 16-bit floating point numbers as bit patterns. All narrowing rounds to nearest, ties to even; overflow gives infinity,
// a NaN stays a NaN of the same sign.

/// IEEE binary16 to binary32; exact.
constexpr float half_to_float(std::uint16_t half) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fu;
  const std::uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

/// binary32 to IEEE binary16.
constexpr std::uint16_t float_to_half(float value) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds to 65536 or is more
  if (magnitude < 0x38800000u) {
    // Subnormal in binary16: count units of 2^-24, the spacing of both 0.5 + 2^-24 k and the result.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

/// bfloat16 to binary32; exact.
constexpr float bfloat16_to_float(std::uint16_t bfloat) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bfloat) << 16);
}

/// binary32 to bfloat16.
constexpr std::uint16_t float_to_bfloat16(float value) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/// binary64 to binary32 by rounding to odd: narrowing the result further (to at most 22 bits) rounds as if at once.
constexpr float double_to_float_odd(double value) noexcept {
  const float nearest = static_cast<float>(value);
  const double back = static_cast<double>(nearest);
  if (back == value || value != value) return nearest;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  // Step back to the truncated value if rounding went away from zero, then set the last bit as "something follows".
  const bool away = (value < 0 ? -back : back) > (value < 0 ? -value : value);
  if (away) --bits;
  return std::bit_cast<float>(bits | 1u);
}

/// binary64 to IEEE binary16, rounded once.
constexpr std::uint16_t double_to_half(double value) noexcept { return float_to_half(double_to_float_odd(value)); }

/// binary64 to bfloat16, rounded once.
constexpr std::uint16_t double_to_bfloat16(double value) noexcept {
  return float_to_bfloat16(double_to_float_odd(value));
}

}  // namespace rhino
