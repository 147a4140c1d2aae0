// SPDX-License-Identifier: Apache-2.0
#include <rhino/base/math.hpp>

#include <algorithm>

#include <rhino/base/error.hpp>

namespace rhino {

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  RHINO_CHECK(!__builtin_add_overflow(a, b, &sum), "{} + {} does not fit into 64 bits", a, b);
  return sum;
}

std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  RHINO_CHECK(!__builtin_mul_overflow(a, b, &product), "{} * {} does not fit into 64 bits", a, b);
  return product;
}

std::int64_t checked_product(std::span<const std::int64_t> values) {
  if (std::find(values.begin(), values.end(), 0) != values.end()) return 0;
  std::int64_t product = 1;
  for (const std::int64_t value : values) product = checked_multiply(product, value);
  return product;
}

}  // namespace rhino
