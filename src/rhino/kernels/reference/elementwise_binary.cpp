// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>

#include <rhino/kernels/reference/element.hpp>
#include <rhino/kernels/reference/elementwise.hpp>
#include <rhino/kernels/reference/special_functions.hpp>

namespace rhino::kernels::reference {
namespace {

template <class T, class R = T, class Function>
void zip(const ElementwiseCall& call, Function function) {
  const T* a = reinterpret_cast<const T*>(call.inputs[0]);
  const T* b = reinterpret_cast<const T*>(call.inputs[1]);
  R* y = reinterpret_cast<R*>(call.output);
  for (std::int64_t i = 0; i < call.count; ++i)
    y[i] = function(a[i], b[i]);
}

template <class Operation>
void any_type(const ElementwiseCall& call) {
  dispatch_dtype(call.dtype, [&]<class T>(std::type_identity<T>) {
    zip<T>(call, [](T a, T b) { return Operation::template apply<T>(a, b); });
  });
}

/// Integers and booleans of one width, signed types as such.
template <class Operation>
void any_integer(const ElementwiseCall& call) {
  dispatch_dtype(call.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      zip<T>(call, [](T a, T b) { return Operation::template apply<T>(a, b); });
    } else {
      RHINO_ASSERT(false, "bitwise op on element type {}", ir::dtype_name(call.dtype));
    }
  });
}

template <double (*Function)(double, double)>
void through_double(const ElementwiseCall& call) {
  dispatch_float(call.dtype, [&]<class T>(std::type_identity<T>) {
    zip<T>(call, [](T a, T b) { return T(Function(static_cast<double>(a), static_cast<double>(b))); });
  });
}

/// Integer division truncates; by zero it gives all ones, and the one overflowing quotient wraps (as XLA does).
struct DivideOp {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (is_bool_element<T>) {
      return a || !b;
    } else if constexpr (is_int_element<T>) {
      if (b == 0) return static_cast<T>(-1);
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return SubtractOp::apply<T>(0, a);
      }
      return static_cast<T>(a / b);
    } else {
      return T(Compute<T>(a) / Compute<T>(b));
    }
  }
};

/// Sign of the dividend; integers modulo zero give the dividend.
struct RemainderOp {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (is_bool_element<T>) {
      return a && !b;
    } else if constexpr (is_int_element<T>) {
      if (b == 0) return a;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
      }
      return static_cast<T>(a % b);
    } else {
      return T(std::fmod(Compute<T>(a), Compute<T>(b)));
    }
  }
};

/// Integer powers wrap; a negative exponent gives 0, except for the bases 1 and -1.
struct PowerOp {
  template <class T>
  static T apply(T base, T exponent) {
    if constexpr (is_bool_element<T>) {
      return base || !exponent;
    } else if constexpr (is_int_element<T>) {
      if constexpr (std::is_signed_v<T>) {
        if (exponent < 0) {
          if (base == 1) return 1;
          if (base == -1) return (exponent & 1) != 0 ? T(-1) : T(1);
          return 0;
        }
      }
      T result = 1;
      for (auto rest = static_cast<std::make_unsigned_t<T>>(exponent); rest != 0; rest >>= 1) {
        if ((rest & 1) != 0) result = MultiplyOp::apply<T>(result, base);
        base = MultiplyOp::apply<T>(base, base);
      }
      return result;
    } else {
      return T(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
    }
  }
};

/// Shift amounts are unsigned; amounts of the width or more shift everything out.
template <class T>
bool shifts_all_out(T amount) {
  return static_cast<std::make_unsigned_t<T>>(amount) >= sizeof(T) * 8;
}

struct ShiftLeftOp {
  template <class T>
  static T apply(T a, T amount) {
    if constexpr (is_bool_element<T>)
      return a && !amount;
    else
      return shifts_all_out(amount) ? T(0) : static_cast<T>(Wrapping<T>(a) << amount);
  }
};

struct ShiftRightArithmeticOp {
  template <class T>
  static T apply(T a, T amount) {
    if constexpr (is_bool_element<T>) {
      return a;
    } else {
      const auto value = static_cast<std::make_signed_t<T>>(a);
      if (shifts_all_out(amount)) return static_cast<T>(value < 0 ? -1 : 0);
      return static_cast<T>(value >> amount);
    }
  }
};

struct ShiftRightLogicalOp {
  template <class T>
  static T apply(T a, T amount) {
    if constexpr (is_bool_element<T>)
      return a && !amount;
    else
      return shifts_all_out(amount) ? T(0) : static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) >> amount);
  }
};

/// The next representable value after `a` in the direction of `b`.
template <class T>
T next_after(T a, T b) {
  using U = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                               std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  constexpr U sign_bit = U(1) << (sizeof(T) * 8 - 1);
  const auto x = Compute<T>(a), y = Compute<T>(b);
  if (x != x) return a;
  if (y != y) return b;
  if (x == y) return b;
  U bits = std::bit_cast<U>(a);
  if (x == 0) return std::bit_cast<T>(static_cast<U>((y < 0 ? sign_bit : 0) | 1u));
  const bool grows = (x < y) == (x > 0);  // away from zero
  bits = static_cast<U>(grows ? bits + 1 : bits - 1);
  return std::bit_cast<T>(bits);
}

template <class T, class Key>
void compare_by_key(const ElementwiseCall& call, ir::Comparison direction, Key key) {
  switch (direction) {
    case ir::Comparison::Eq:
      return zip<T, bool>(call, [&](T a, T b) { return key(a) == key(b); });
    case ir::Comparison::Ne:
      return zip<T, bool>(call, [&](T a, T b) { return key(a) != key(b); });
    case ir::Comparison::Ge:
      return zip<T, bool>(call, [&](T a, T b) { return key(a) >= key(b); });
    case ir::Comparison::Gt:
      return zip<T, bool>(call, [&](T a, T b) { return key(a) > key(b); });
    case ir::Comparison::Le:
      return zip<T, bool>(call, [&](T a, T b) { return key(a) <= key(b); });
    case ir::Comparison::Lt:
      return zip<T, bool>(call, [&](T a, T b) { return key(a) < key(b); });
  }
}

}  // namespace

void add_kernel(const ElementwiseCall& call) { any_type<AddOp>(call); }
void subtract_kernel(const ElementwiseCall& call) { any_type<SubtractOp>(call); }
void multiply_kernel(const ElementwiseCall& call) { any_type<MultiplyOp>(call); }
void divide_kernel(const ElementwiseCall& call) { any_type<DivideOp>(call); }
void remainder_kernel(const ElementwiseCall& call) { any_type<RemainderOp>(call); }
void power_kernel(const ElementwiseCall& call) { any_type<PowerOp>(call); }
void maximum_kernel(const ElementwiseCall& call) { any_type<MaximumOp>(call); }
void minimum_kernel(const ElementwiseCall& call) { any_type<MinimumOp>(call); }
void and_kernel(const ElementwiseCall& call) { any_integer<AndOp>(call); }
void or_kernel(const ElementwiseCall& call) { any_integer<OrOp>(call); }
void xor_kernel(const ElementwiseCall& call) { any_integer<XorOp>(call); }
void shift_left_kernel(const ElementwiseCall& call) { any_integer<ShiftLeftOp>(call); }
void shift_right_arithmetic_kernel(const ElementwiseCall& call) { any_integer<ShiftRightArithmeticOp>(call); }
void shift_right_logical_kernel(const ElementwiseCall& call) { any_integer<ShiftRightLogicalOp>(call); }
void atan2_kernel(const ElementwiseCall& call) { through_double<std::atan2>(call); }
void polygamma_kernel(const ElementwiseCall& call) { through_double<polygamma>(call); }
void zeta_kernel(const ElementwiseCall& call) { through_double<zeta>(call); }

void next_after_kernel(const ElementwiseCall& call) {
  dispatch_float(call.dtype, [&]<class T>(std::type_identity<T>) { zip<T>(call, next_after<T>); });
}

void compare_kernel(const ElementwiseCall& call) {
  const auto& attrs = std::get<ir::CompareAttrs>(*call.attrs);
  dispatch_dtype(call.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (is_float_element<T>) {
      if (attrs.type == ir::ComparisonType::TotalOrder)
        return compare_by_key<T>(call, attrs.direction, [](T x) { return total_order_key(x); });
    }
    compare_by_key<T>(call, attrs.direction, [](T x) { return Compute<T>(x); });
  });
}

}  // namespace rhino::kernels::reference
