// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <rhino/ir/types.hpp>

namespace rhino::ir {

/// An immutable tensor value inside a Program. Elements are row-major and little-endian; a splat holds one element that
/// stands for all. Copies share the bytes.
class Literal {
 public:
  Literal() = default;
  /// @param bytes `type.elements()` elements, or exactly one if `splat`. Throws InternalError on another size.
  Literal(TensorType type, std::vector<std::byte> bytes, bool splat = false);

  /// A splat of `value` converted to `type.dtype` (round to nearest even; integers saturate).
  static Literal splat(TensorType type, double value);
  /// A splat of an exactly given integer.
  static Literal splat_int(TensorType type, std::int64_t value);

  const TensorType& type() const { return type_; }
  bool is_splat() const { return splat_; }
  /// The stored bytes: one element for a splat, else all elements.
  std::span<const std::byte> stored_bytes() const;
  /// All elements written out, also for a splat.
  std::vector<std::byte> expanded_bytes() const;
  /// Element `index` (row-major) as double; exact for everything but large 64-bit integers.
  double element_as_double(std::int64_t index) const;
  /// Element `index` as a signed integer (unsigned 64-bit values wrap); floats truncate.
  std::int64_t element_as_int(std::int64_t index) const;
  /// Same type and the same element bits, whether stored as splat or not.
  bool operator==(const Literal& other) const;

 private:
  TensorType type_;
  std::shared_ptr<const std::vector<std::byte>> bytes_;
  bool splat_ = false;
};

}  // namespace rhino::ir
