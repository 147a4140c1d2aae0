// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rhino::ir {

/// How a state tensor's first values are made without storing them. Evaluated per element by a counter-based generator keyed
/// by (seed, global row-major index), so that every layout sees the same numbers.
struct InitRecipe {
  enum class Kind : std::uint8_t { Zeros, Constant, Normal, Uniform, TruncatedNormal };
  Kind kind = Kind::Zeros;
  double a = 0;  ///< Constant: value; Normal, TruncatedNormal: mean; Uniform: low
  double b = 0;  ///< Normal, TruncatedNormal (cut at two deviations): standard deviation; Uniform: high
  std::uint64_t seed = 0;
  bool operator==(const InitRecipe&) const = default;
};

}  // namespace rhino::ir
