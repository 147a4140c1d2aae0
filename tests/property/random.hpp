// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace rhino::test {

/// Draws of one test case; equal seeds give equal draws on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// Uniform in [low, high].
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;  // 0: all numbers
    const std::uint64_t draw = span == 0 ? engine_() : engine_() % span;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + draw);
  }
  bool chance(double probability) { return real() < probability; }
  /// Uniform in [0, 1).
  double real() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(integer(0, static_cast<std::int64_t>(from.size()) - 1))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace rhino::test
