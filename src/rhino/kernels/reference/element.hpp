// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <rhino/base/error.hpp>
#include <rhino/base/half.hpp>
#include <rhino/ir/types.hpp>

namespace rhino::kernels::reference {

/// IEEE binary16 as it lies in memory. Arithmetic is done in float and rounded once (exact for + - * / sqrt).
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  explicit Half(float value) : bits(float_to_half(value)) {}
  explicit Half(double value) : bits(double_to_half(value)) {}
  explicit operator float() const { return half_to_float(bits); }
  explicit operator double() const { return half_to_float(bits); }
};

/// bfloat16 as it lies in memory. Arithmetic as for Half.
struct Bfloat16 {
  std::uint16_t bits = 0;
  Bfloat16() = default;
  explicit Bfloat16(float value) : bits(float_to_bfloat16(value)) {}
  explicit Bfloat16(double value) : bits(double_to_bfloat16(value)) {}
  explicit operator float() const { return bfloat16_to_float(bits); }
  explicit operator double() const { return bfloat16_to_float(bits); }
};

template <class T>
inline constexpr bool is_small_float = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>;
template <class T>
inline constexpr bool is_float_element = std::is_floating_point_v<T> || is_small_float<T>;
template <class T>
inline constexpr bool is_bool_element = std::is_same_v<T, bool>;
template <class T>
inline constexpr bool is_int_element = std::is_integral_v<T> && !is_bool_element<T>;

/// The type in which one arithmetic operation on T is done: float for the 16-bit floats, else T itself.
template <class T>
using Compute = std::conditional_t<is_small_float<T>, float, T>;

/// Calls `body(std::type_identity<T>{})` with the storage type T of `dtype`.
template <class Body>
decltype(auto) dispatch_dtype(ir::DType dtype, Body&& body) {
  switch (dtype) {
    case ir::DType::I1:
      return body(std::type_identity<bool>{});
    case ir::DType::I8:
      return body(std::type_identity<std::int8_t>{});
    case ir::DType::I16:
      return body(std::type_identity<std::int16_t>{});
    case ir::DType::I32:
      return body(std::type_identity<std::int32_t>{});
    case ir::DType::I64:
      return body(std::type_identity<std::int64_t>{});
    case ir::DType::U8:
      return body(std::type_identity<std::uint8_t>{});
    case ir::DType::U16:
      return body(std::type_identity<std::uint16_t>{});
    case ir::DType::U32:
      return body(std::type_identity<std::uint32_t>{});
    case ir::DType::U64:
      return body(std::type_identity<std::uint64_t>{});
    case ir::DType::F16:
      return body(std::type_identity<Half>{});
    case ir::DType::BF16:
      return body(std::type_identity<Bfloat16>{});
    case ir::DType::F32:
      return body(std::type_identity<float>{});
    case ir::DType::F64:
      return body(std::type_identity<double>{});
  }
  RHINO_ASSERT(false, "unknown element type {}", static_cast<int>(dtype));
  std::abort();
}

/// The same for the four floating types; anything else is an InternalError (the verifier keeps it out).
template <class Body>
decltype(auto) dispatch_float(ir::DType dtype, Body&& body) {
  switch (dtype) {
    case ir::DType::F16:
      return body(std::type_identity<Half>{});
    case ir::DType::BF16:
      return body(std::type_identity<Bfloat16>{});
    case ir::DType::F32:
      return body(std::type_identity<float>{});
    case ir::DType::F64:
      return body(std::type_identity<double>{});
    default:
      break;
  }
  RHINO_ASSERT(false, "element type {} is not a floating type", ir::dtype_name(dtype));
  std::abort();
}

/// Calls `body(std::type_identity<U>{})` with an unsigned integer type as wide as an element of `dtype`; for ops that
/// only move elements.
template <class Body>
decltype(auto) dispatch_width(ir::DType dtype, Body&& body) {
  switch (ir::dtype_bytes(dtype)) {
    case 1:
      return body(std::type_identity<std::uint8_t>{});
    case 2:
      return body(std::type_identity<std::uint16_t>{});
    case 4:
      return body(std::type_identity<std::uint32_t>{});
    case 8:
      return body(std::type_identity<std::uint64_t>{});
    default:
      break;
  }
  RHINO_ASSERT(false, "element type {} has an unknown width", ir::dtype_name(dtype));
  std::abort();
}

// Scalar arithmetic with StableHLO's meaning on every element type: integers wrap, booleans use or/and, a NaN operand
// of max and min gives a NaN, and -0 is less than +0 there.

/// Unsigned type wide enough that C++ promotion cannot make its arithmetic signed.
template <class T>
using Wrapping = std::common_type_t<std::make_unsigned_t<T>, unsigned>;

struct AddOp {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (is_bool_element<T>)
      return a || b;
    else if constexpr (is_int_element<T>)
      return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b));
    else
      return T(Compute<T>(a) + Compute<T>(b));
  }
};

struct SubtractOp {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (is_bool_element<T>)
      return a != b;
    else if constexpr (is_int_element<T>)
      return static_cast<T>(Wrapping<T>(a) - Wrapping<T>(b));
    else
      return T(Compute<T>(a) - Compute<T>(b));
  }
};

struct MultiplyOp {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (is_bool_element<T>)
      return a && b;
    else if constexpr (is_int_element<T>)
      return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b));
    else
      return T(Compute<T>(a) * Compute<T>(b));
  }
};

struct MaximumOp {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (is_float_element<T>) {
      const auto x = Compute<T>(a), y = Compute<T>(b);
      if (x != x) return a;
      if (y != y) return b;
      if (x == y) return std::signbit(x) ? b : a;
      return x > y ? a : b;
    } else {
      return a > b ? a : b;
    }
  }
};

struct MinimumOp {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (is_float_element<T>) {
      const auto x = Compute<T>(a), y = Compute<T>(b);
      if (x != x) return a;
      if (y != y) return b;
      if (x == y) return std::signbit(x) ? a : b;
      return x < y ? a : b;
    } else {
      return a < b ? a : b;
    }
  }
};

struct AndOp {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};

struct OrOp {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};

struct XorOp {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

/// Value conversion with StableHLO's rules: to i1 "is not zero"; floats to integers truncate, saturate, and give 0 for
/// NaN; integers wrap; everything else rounds to nearest even.
template <class To, class From>
To convert_element(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (is_bool_element<To>) {
    return Compute<From>(value) != Compute<From>(0);
  } else if constexpr (is_int_element<To>) {
    if constexpr (is_float_element<From>) {
      const double x = static_cast<double>(value);
      if (x != x) return 0;
      // Both bounds are powers of two (or zero) and so exact in double.
      constexpr double below = static_cast<double>(std::numeric_limits<To>::min());
      constexpr double above = 2.0 * static_cast<double>(To(1) << (std::numeric_limits<To>::digits - 1));
      if (x <= below) return std::numeric_limits<To>::min();
      if (x >= above) return std::numeric_limits<To>::max();
      return static_cast<To>(x);
    } else {
      return static_cast<To>(value);
    }
  } else if constexpr (is_small_float<To>) {
    if constexpr (is_float_element<From>) {
      return To(static_cast<std::conditional_t<std::is_same_v<From, double>, double, float>>(value));
    } else if constexpr (sizeof(From) == 8) {
      // A 64-bit integer is exact in long double; rounding to odd keeps the second rounding harmless.
      const auto wide = static_cast<long double>(value);
      double narrow = static_cast<double>(wide);
      if (static_cast<long double>(narrow) != wide) {
        const bool away = std::fabs(static_cast<long double>(narrow)) > std::fabs(wide);
        auto bits = std::bit_cast<std::uint64_t>(narrow);
        if (away) --bits;
        narrow = std::bit_cast<double>(bits | 1u);
      }
      return To(narrow);
    } else {
      return To(static_cast<double>(value));
    }
  } else if constexpr (is_small_float<From>) {
    return static_cast<To>(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

/// Key that orders floats totally: -NaN < -inf < .. < -0 < +0 < .. < +inf < +NaN.
template <class T>
auto total_order_key(T value) {
  using Bits =
      std::conditional_t<sizeof(T) == 2, std::int16_t, std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>;
  const auto bits = std::bit_cast<Bits>(value);
  return bits < 0 ? static_cast<Bits>(bits ^ std::numeric_limits<Bits>::max()) : bits;
}

}  // namespace rhino::kernels::reference
