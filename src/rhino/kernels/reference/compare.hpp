// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <rhino/kernels/reference/interpreter.hpp>

namespace rhino::kernels::reference {

/// The first element that breaks an expectation, and how far off the worst one is.
struct Mismatch {
  ir::Dims index;         ///< of the first bad element
  std::string got, want;  ///< its values as text that distinguishes all values of the type
  std::int64_t bad = 0;   ///< number of bad elements
  double worst = 0;       ///< largest difference, in the unit of the comparison (ULP or absolute)
};

/// Distance of two floats of one type in representable values; 0 for two NaNs and for zeros of either sign, the largest
/// uint64 for one NaN. Integers: their absolute difference.
std::uint64_t ulp_distance(const Tensor& a, const Tensor& b, std::int64_t element);

// All three throw InputError where the types differ, and return nullopt where the expectation holds.

/// Equal values: equal bits, or both NaN.
std::optional<Mismatch> expect_eq(const Tensor& got, const Tensor& want);
/// Floats within [min_ulp, max_ulp] representable values; other types equal.
std::optional<Mismatch> expect_close(const Tensor& got, const Tensor& want, std::uint64_t max_ulp = 3,
                                     std::uint64_t min_ulp = 0);
/// Floats within an absolute tolerance, infinities and NaN alike; other types equal.
std::optional<Mismatch> expect_almost_eq(const Tensor& got, const Tensor& want, double tolerance = 1e-3);

/// Largest ULP distance of all elements of two tensors of one type.
std::uint64_t largest_ulp_distance(const Tensor& got, const Tensor& want);

}  // namespace rhino::kernels::reference
