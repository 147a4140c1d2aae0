// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace rhino {

/// Smallest integer >= a / b, for a >= 0 and b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) noexcept { return a / b + (a % b != 0); }

/// Smallest multiple of b that is >= a, for a >= 0 and b > 0.
constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) noexcept { return ceil_div(a, b) * b; }

/// a + b; throws InputError where it does not fit into 64 bits.
std::int64_t checked_add(std::int64_t a, std::int64_t b);

/// a * b; throws InputError where it does not fit into 64 bits.
std::int64_t checked_multiply(std::int64_t a, std::int64_t b);

/// Product of all values (1 if there are none), e.g. the element count of a shape; throws InputError
/// where it does not fit into 64 bits. A zero factor gives zero whatever the others are.
std::int64_t checked_product(std::span<const std::int64_t> values);

}  // namespace rhino
