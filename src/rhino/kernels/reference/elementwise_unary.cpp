// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>

#include <rhino/kernels/reference/element.hpp>
#include <rhino/kernels/reference/elementwise.hpp>

namespace rhino::kernels::reference {
namespace {

template <class T, class R = T, class Function>
void map(const ElementwiseCall& call, Function function) {
  const T* x = reinterpret_cast<const T*>(call.inputs[0]);
  R* y = reinterpret_cast<R*>(call.output);
  for (std::int64_t i = 0; i < call.count; ++i)
    y[i] = function(x[i]);
}

/// Bit pattern type of a float.
template <class T>
using Bits =
    std::conditional_t<sizeof(T) == 2, std::uint16_t, std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

template <class T>
constexpr Bits<T> sign_bit = Bits<T>(1) << (sizeof(T) * 8 - 1);

/// All floating types compute in double and round once.
template <double (*Function)(double)>
void through_double(const ElementwiseCall& call) {
  dispatch_float(call.dtype, [&]<class T>(std::type_identity<T>) {
    map<T>(call, [](T x) { return T(Function(static_cast<double>(x))); });
  });
}

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double reciprocal_sqrt(double x) { return 1.0 / std::sqrt(x); }

double round_half_even(double x) {
  // Independent of the floating point environment: round halves away first, then correct exact ties.
  const double rounded = std::round(x);
  if (std::fabs(rounded - x) == 0.5 && std::fmod(rounded, 2.0) != 0.0)
    return std::copysign(std::fabs(rounded) - 1.0, x);
  return rounded;
}

template <class T>
struct FloatFormat;
template <>
struct FloatFormat<Half> {
  static constexpr int exponent = 5, mantissa = 10;
};
template <>
struct FloatFormat<Bfloat16> {
  static constexpr int exponent = 8, mantissa = 7;
};
template <>
struct FloatFormat<float> {
  static constexpr int exponent = 8, mantissa = 23;
};
template <>
struct FloatFormat<double> {
  static constexpr int exponent = 11, mantissa = 52;
};

/// Rounds to fewer mantissa bits (nearest even), then clamps the exponent: too large gives infinity, what would be
/// subnormal gives zero.
template <class T>
T reduce_precision(T value, int exponent_bits, int mantissa_bits) {
  using U = Bits<T>;
  constexpr int mantissa = FloatFormat<T>::mantissa, exponent = FloatFormat<T>::exponent;
  constexpr U exponent_mask = ((U(1) << exponent) - 1) << mantissa;
  U bits = std::bit_cast<U>(value);
  const U sign = bits & sign_bit<T>;
  const bool is_nan = (bits & exponent_mask) == exponent_mask && (bits & ((U(1) << mantissa) - 1)) != 0;
  if (is_nan) return mantissa_bits > 0 ? value : std::bit_cast<T>(static_cast<U>(sign | exponent_mask));
  if (mantissa_bits < mantissa) {
    const int dropped = mantissa - mantissa_bits;
    const U half_minus_one = (U(1) << (dropped - 1)) - 1;
    const U odd = (bits >> dropped) & 1;
    bits = static_cast<U>(bits + half_minus_one + odd);
    bits = static_cast<U>(bits & ~((U(1) << dropped) - 1));
  }
  if (exponent_bits < exponent) {
    const U bias = (U(1) << (exponent - 1)) - 1;
    const U reduced_bias = (U(1) << (exponent_bits - 1)) - 1;
    const U biased = (bits & exponent_mask) >> mantissa;
    if (biased > bias + reduced_bias)
      bits = static_cast<U>(sign | exponent_mask);
    else if (biased <= bias - reduced_bias)
      bits = sign;
  }
  return std::bit_cast<T>(bits);
}

}  // namespace

void abs_kernel(const ElementwiseCall& call) {
  dispatch_dtype(call.dtype, [&]<class T>(std::type_identity<T>) {
    map<T>(call, [](T x) -> T {
      if constexpr (is_float_element<T>) {
        return std::bit_cast<T>(static_cast<Bits<T>>(std::bit_cast<Bits<T>>(x) & ~sign_bit<T>));
      } else if constexpr (std::is_signed_v<T>) {
        return x < 0 ? SubtractOp::apply<T>(0, x) : x;
      } else {
        return x;
      }
    });
  });
}

void negate_kernel(const ElementwiseCall& call) {
  dispatch_dtype(call.dtype, [&]<class T>(std::type_identity<T>) {
    map<T>(call, [](T x) -> T {
      if constexpr (is_float_element<T>) {
        return std::bit_cast<T>(static_cast<Bits<T>>(std::bit_cast<Bits<T>>(x) ^ sign_bit<T>));
      } else {
        return SubtractOp::apply<T>(T(0), x);
      }
    });
  });
}

void not_kernel(const ElementwiseCall& call) {
  dispatch_dtype(call.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (is_bool_element<T>) {
      map<T>(call, [](T x) { return !x; });
    } else if constexpr (is_int_element<T>) {
      map<T>(call, [](T x) { return static_cast<T>(~x); });
    } else {
      RHINO_ASSERT(false, "not: operand is floating");
    }
  });
}

void sign_kernel(const ElementwiseCall& call) {
  dispatch_dtype(call.dtype, [&]<class T>(std::type_identity<T>) {
    map<T>(call, [](T x) -> T {
      if constexpr (is_float_element<T>) {
        const auto value = Compute<T>(x);
        if (value > 0) return T(Compute<T>(1));
        if (value < 0) return T(Compute<T>(-1));
        return x;  // zeros of both signs and NaN stay
      } else if constexpr (std::is_signed_v<T>) {
        return static_cast<T>((x > 0) - (x < 0));
      } else {
        return static_cast<T>(x != 0);
      }
    });
  });
}

void is_finite_kernel(const ElementwiseCall& call) {
  dispatch_float(call.dtype, [&]<class T>(std::type_identity<T>) {
    map<T, bool>(call, [](T x) { return std::isfinite(Compute<T>(x)); });
  });
}

void population_count_kernel(const ElementwiseCall& call) {
  dispatch_width(call.dtype, [&]<class T>(std::type_identity<T>) {
    map<T>(call, [](T x) { return static_cast<T>(std::popcount(x)); });
  });
}

void count_leading_zeros_kernel(const ElementwiseCall& call) {
  dispatch_width(call.dtype, [&]<class T>(std::type_identity<T>) {
    map<T>(call, [](T x) { return static_cast<T>(std::countl_zero(x)); });
  });
}

void reduce_precision_kernel(const ElementwiseCall& call) {
  const auto& attrs = std::get<ir::ReducePrecisionAttrs>(*call.attrs);
  dispatch_float(call.dtype, [&]<class T>(std::type_identity<T>) {
    map<T>(call, [&](T x) { return reduce_precision(x, attrs.exponent_bits, attrs.mantissa_bits); });
  });
}

ElementwiseKernel float_function_kernel(ir::OpKind kind) {
  using ir::OpKind;
  switch (kind) {
    case OpKind::Cbrt:
      return through_double<std::cbrt>;
    case OpKind::Ceil:
      return through_double<std::ceil>;
    case OpKind::Cosine:
      return through_double<std::cos>;
    case OpKind::Exponential:
      return through_double<std::exp>;
    case OpKind::ExponentialMinusOne:
      return through_double<std::expm1>;
    case OpKind::Floor:
      return through_double<std::floor>;
    case OpKind::Log:
      return through_double<std::log>;
    case OpKind::LogPlusOne:
      return through_double<std::log1p>;
    case OpKind::Logistic:
      return through_double<logistic>;
    case OpKind::RoundNearestAfz:
      return through_double<std::round>;
    case OpKind::RoundNearestEven:
      return through_double<round_half_even>;
    case OpKind::Rsqrt:
      return through_double<reciprocal_sqrt>;
    case OpKind::Sine:
      return through_double<std::sin>;
    case OpKind::Sqrt:
      return through_double<std::sqrt>;
    case OpKind::Tan:
      return through_double<std::tan>;
    case OpKind::Tanh:
      return through_double<std::tanh>;
    case OpKind::Acos:
      return through_double<std::acos>;
    case OpKind::Asin:
      return through_double<std::asin>;
    case OpKind::Atan:
      return through_double<std::atan>;
    default:
      return nullptr;  // not a function of one real argument; elementwise_kernel lists every kind
  }
}

}  // namespace rhino::kernels::reference
