// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace rhino {

/// Counter-based generators: pure functions of (counter, key), so that any rank can make any part of a
/// stream by itself. Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);
/// With 20 rounds, as JAX's default generator.
std::array<std::uint32_t, 2> threefry2x32(std::array<std::uint32_t, 2> counter, std::array<std::uint32_t, 2> key);

/// One numbered stream of a seed. The number of an element depends on its global index only, not on the
/// layout or on the order of the calls. Streams with different numbers are independent.
struct RandomStream {
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;

  /// 64 uniform bits of element `index`.
  std::uint64_t bits(std::uint64_t index) const;
  /// Uniform in [0, 1), a multiple of 2^-53.
  double uniform(std::uint64_t index) const;
  /// Normal with mean 0 and deviation 1 (Box and Muller).
  double normal(std::uint64_t index) const;
  /// The same normal distribution, restricted to [-2, 2] (by rejection).
  double truncated_normal(std::uint64_t index) const;
};

}  // namespace rhino
