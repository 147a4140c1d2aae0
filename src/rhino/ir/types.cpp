// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/types.hpp>

#include <array>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/math.hpp>

namespace rhino::ir {
namespace {

struct DTypeInfo {
  std::string_view name;
  int bits;
  std::size_t bytes;
};

constexpr std::array<DTypeInfo, 13> dtype_table{{
    {"i1", 1, 1},
    {"i8", 8, 1},
    {"i16", 16, 2},
    {"i32", 32, 4},
    {"i64", 64, 8},
    {"ui8", 8, 1},
    {"ui16", 16, 2},
    {"ui32", 32, 4},
    {"ui64", 64, 8},
    {"f16", 16, 2},
    {"bf16", 16, 2},
    {"f32", 32, 4},
    {"f64", 64, 8},
}};

const DTypeInfo& info(DType dtype) {
  const auto index = static_cast<std::size_t>(dtype);
  RHINO_ASSERT(index < dtype_table.size());
  return dtype_table[index];
}

}  // namespace

std::size_t dtype_bytes(DType dtype) { return info(dtype).bytes; }

int dtype_bits(DType dtype) { return info(dtype).bits; }

bool is_float(DType dtype) { return dtype >= DType::F16; }

bool is_signed_int(DType dtype) { return dtype >= DType::I8 && dtype <= DType::I64; }

bool is_unsigned_int(DType dtype) { return dtype >= DType::U8 && dtype <= DType::U64; }

bool is_integer(DType dtype) { return is_signed_int(dtype) || is_unsigned_int(dtype); }

std::string_view dtype_name(DType dtype) { return info(dtype).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (std::size_t i = 0; i < dtype_table.size(); ++i)
    if (dtype_table[i].name == name) return static_cast<DType>(i);
  return std::nullopt;
}

std::int64_t TensorType::elements() const { return checked_product(dims); }

std::int64_t TensorType::bytes() const {
  return checked_multiply(elements(), static_cast<std::int64_t>(dtype_bytes(dtype)));
}

std::string to_string(const TensorType& type) {
  std::string text = "tensor<";
  for (const std::int64_t size : type.dims)
    fmt::format_to(std::back_inserter(text), "{}x", size);
  text += dtype_name(type.dtype);
  text += '>';
  return text;
}

std::string to_string(const Dims& dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i)
    fmt::format_to(std::back_inserter(text), "{}{}", i == 0 ? "" : ", ", dims[i]);
  text += ']';
  return text;
}

Dims row_major_strides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;)
    strides[i - 1] = checked_multiply(strides[i], dims[i]);
  return strides;
}

}  // namespace rhino::ir
