// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/literal.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <rhino/base/error.hpp>
#include <rhino/base/half.hpp>

namespace rhino::ir {
namespace {

static_assert(std::endian::native == std::endian::little, "literals are little-endian in memory");

template <class T>
void store(std::byte* target, T value) {
  std::memcpy(target, &value, sizeof value);
}

template <class T>
T load(const std::byte* source) {
  T value;
  std::memcpy(&value, source, sizeof value);
  return value;
}

/// Nearest integer, ties to even, saturating; NaN gives 0.
template <class T>
T to_integer(double value) {
  if (std::isnan(value)) return 0;
  const double rounded = std::nearbyint(value);
  // The limits of 64-bit types are not doubles, hence the comparison with the power of two above.
  const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (rounded >= above) return std::numeric_limits<T>::max();
  if (rounded <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  return static_cast<T>(rounded);
}

void store_double(DType dtype, double value, std::byte* target) {
  switch (dtype) {
    case DType::I1:
      return store<std::uint8_t>(target, value != 0.0);
    case DType::I8:
      return store(target, to_integer<std::int8_t>(value));
    case DType::I16:
      return store(target, to_integer<std::int16_t>(value));
    case DType::I32:
      return store(target, to_integer<std::int32_t>(value));
    case DType::I64:
      return store(target, to_integer<std::int64_t>(value));
    case DType::U8:
      return store(target, to_integer<std::uint8_t>(value));
    case DType::U16:
      return store(target, to_integer<std::uint16_t>(value));
    case DType::U32:
      return store(target, to_integer<std::uint32_t>(value));
    case DType::U64:
      return store(target, to_integer<std::uint64_t>(value));
    case DType::F16:
      return store(target, double_to_half(value));
    case DType::BF16:
      return store(target, double_to_bfloat16(value));
    case DType::F32:
      return store(target, static_cast<float>(value));
    case DType::F64:
      return store(target, value);
  }
}

}  // namespace

Literal::Literal(TensorType type, std::vector<std::byte> bytes, bool splat) : type_(std::move(type)), splat_(splat) {
  const std::size_t expected = splat ? dtype_bytes(type_.dtype) : static_cast<std::size_t>(type_.bytes());
  RHINO_ASSERT(bytes.size() == expected, "a literal of type {} has {} bytes instead of {}", to_string(type_),
               bytes.size(), expected);
  bytes_ = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

Literal Literal::splat(TensorType type, double value) {
  std::vector<std::byte> bytes(dtype_bytes(type.dtype));
  store_double(type.dtype, value, bytes.data());
  return Literal(std::move(type), std::move(bytes), true);
}

Literal Literal::splat_int(TensorType type, std::int64_t value) {
  const DType dtype = type.dtype;
  if (is_float(dtype)) return splat(std::move(type), static_cast<double>(value));
  // Two's complement: the low bytes are the value in every narrower integer type.
  std::vector<std::byte> bytes(dtype_bytes(dtype));
  if (dtype == DType::I1) value = value != 0;
  std::memcpy(bytes.data(), &value, bytes.size());
  return Literal(std::move(type), std::move(bytes), true);
}

std::span<const std::byte> Literal::stored_bytes() const {
  if (!bytes_) return {};
  return *bytes_;
}

std::vector<std::byte> Literal::expanded_bytes() const {
  const auto stored = stored_bytes();
  if (!splat_) return {stored.begin(), stored.end()};
  std::vector<std::byte> all(static_cast<std::size_t>(type_.bytes()));
  if (stored.size() == 1) {
    std::fill(all.begin(), all.end(), stored[0]);
  } else if (!all.empty()) {
    // Doubling copies: few calls for large tensors.
    std::memcpy(all.data(), stored.data(), stored.size());
    for (std::size_t done = stored.size(); done < all.size();) {
      const std::size_t count = std::min(done, all.size() - done);
      std::memcpy(all.data() + done, all.data(), count);
      done += count;
    }
  }
  return all;
}

double Literal::element_as_double(std::int64_t index) const {
  const std::byte* source =
      stored_bytes().data() + (splat_ ? 0 : static_cast<std::size_t>(index) * dtype_bytes(type_.dtype));
  switch (type_.dtype) {
    case DType::I1:
      return load<std::uint8_t>(source) != 0;
    case DType::I8:
      return load<std::int8_t>(source);
    case DType::I16:
      return load<std::int16_t>(source);
    case DType::I32:
      return load<std::int32_t>(source);
    case DType::I64:
      return static_cast<double>(load<std::int64_t>(source));
    case DType::U8:
      return load<std::uint8_t>(source);
    case DType::U16:
      return load<std::uint16_t>(source);
    case DType::U32:
      return load<std::uint32_t>(source);
    case DType::U64:
      return static_cast<double>(load<std::uint64_t>(source));
    case DType::F16:
      return half_to_float(load<std::uint16_t>(source));
    case DType::BF16:
      return bfloat16_to_float(load<std::uint16_t>(source));
    case DType::F32:
      return load<float>(source);
    case DType::F64:
      return load<double>(source);
  }
  return 0.0;
}

std::int64_t Literal::element_as_int(std::int64_t index) const {
  const std::byte* source =
      stored_bytes().data() + (splat_ ? 0 : static_cast<std::size_t>(index) * dtype_bytes(type_.dtype));
  switch (type_.dtype) {
    case DType::I1:
      return load<std::uint8_t>(source) != 0;
    case DType::I8:
      return load<std::int8_t>(source);
    case DType::I16:
      return load<std::int16_t>(source);
    case DType::I32:
      return load<std::int32_t>(source);
    case DType::I64:
      return load<std::int64_t>(source);
    case DType::U8:
      return load<std::uint8_t>(source);
    case DType::U16:
      return load<std::uint16_t>(source);
    case DType::U32:
      return load<std::uint32_t>(source);
    case DType::U64:
      return static_cast<std::int64_t>(load<std::uint64_t>(source));
    case DType::F16:
    case DType::BF16:
    case DType::F32:
    case DType::F64:
      return to_integer<std::int64_t>(std::trunc(element_as_double(index)));
  }
  return 0;
}

bool Literal::operator==(const Literal& other) const {
  if (type_ != other.type_) return false;
  if (bytes_ == other.bytes_ && splat_ == other.splat_) return true;
  if (!bytes_ || !other.bytes_) return false;
  if (splat_ == other.splat_) return *bytes_ == *other.bytes_;
  const auto one = splat_ ? stored_bytes() : other.stored_bytes();
  const auto all = splat_ ? other.stored_bytes() : stored_bytes();
  for (std::size_t at = 0; at < all.size(); at += one.size())
    if (std::memcmp(all.data() + at, one.data(), one.size()) != 0) return false;
  return true;
}

}  // namespace rhino::ir
