// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rhino::ir {

/// Element types of a Program. `I1` is stored as one byte (0 or 1) everywhere in memory.
enum class DType : std::uint8_t { I1, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64 };

/// Bytes of one element in memory.
std::size_t dtype_bytes(DType dtype);
/// Bits of one element as StableHLO counts them (1 for `I1`).
int dtype_bits(DType dtype);
bool is_float(DType dtype);
bool is_signed_int(DType dtype);
bool is_unsigned_int(DType dtype);
/// Signed or unsigned integer; `I1` is a boolean and not an integer.
bool is_integer(DType dtype);

/// StableHLO spelling: i1 i8 .. i64 ui8 .. ui64 f16 bf16 f32 f64.
std::string_view dtype_name(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);

/// Sizes of a tensor's dimensions, outermost first; memory order is row-major.
using Dims = std::vector<std::int64_t>;

/// Static type of a value: element type and shape.
struct TensorType {
  DType dtype = DType::F32;
  Dims dims;

  int rank() const { return static_cast<int>(dims.size()); }
  /// Number of elements; 1 for a scalar.
  std::int64_t elements() const;
  std::int64_t bytes() const;
  bool operator==(const TensorType&) const = default;
};

/// `tensor<2x3xf32>`, `tensor<f32>` for scalars.
std::string to_string(const TensorType& type);
std::string to_string(const Dims& dims);

/// Row-major strides in elements.
Dims row_major_strides(const Dims& dims);

}  // namespace rhino::ir
