// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

// Scalar meaning of the elementwise ops that a launcher (host loops, device threads) can inline. One struct per op with
// `apply`; T is an arithmetic C++ type. `i1` elements are bytes 0 or 1 and use the bitwise ops. Floating results follow
// StableHLO (a NaN operand of max or min wins, -0 < +0 there); integers wrap. The 16-bit floats are computed in float.

#if defined(__CUDACC__)
#define RHINO_BODY __host__ __device__ static inline
#else
#define RHINO_BODY static inline __attribute__((always_inline))
#endif

// The host compiles this header once per instruction set; the inline namespace keeps those copies apart.
#ifndef RHINO_ISA
#define RHINO_ISA generic
#endif

namespace rhino::kernels::bodies {
inline namespace RHINO_ISA {

/// Unsigned type in which T's integer arithmetic wraps without promotion to a signed type.
template <class T>
struct WrapType {
  using type = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;
};

template <class T>
using FloatBits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class To, class From>
RHINO_BODY To bits_as(From value) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, value);
}

struct AddBody {
  template <class T>
  RHINO_BODY T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      using W = typename WrapType<T>::type;
      return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
    } else {
      return a + b;
    }
  }
};

struct SubtractBody {
  template <class T>
  RHINO_BODY T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      using W = typename WrapType<T>::type;
      return static_cast<T>(static_cast<W>(a) - static_cast<W>(b));
    } else {
      return a - b;
    }
  }
};

struct MultiplyBody {
  template <class T>
  RHINO_BODY T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      using W = typename WrapType<T>::type;
      return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
    } else {
      return a * b;
    }
  }
};

/// Integers: truncates; x / 0 is all ones; the one overflowing quotient wraps.
struct DivideBody {
  template <class T>
  RHINO_BODY T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return static_cast<T>(-1);
      if constexpr (std::is_signed_v<T>) {
        if (b == static_cast<T>(-1)) return SubtractBody::apply<T>(0, a);
      }
      return static_cast<T>(a / b);
    } else {
      return a / b;
    }
  }
};

/// Integers only: sign of the dividend; x % 0 is x.
struct RemainderBody {
  template <class T>
  RHINO_BODY T apply(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>) {
      if (b == static_cast<T>(-1)) return 0;
    }
    return static_cast<T>(a % b);
  }
};

struct MaximumBody {
  template <class T>
  RHINO_BODY T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return a > b ? a : b;
    } else {
      using U = FloatBits<T>;
      const T both = bits_as<T>(static_cast<U>(bits_as<U>(a) & bits_as<U>(b)));
      const T larger = a > b ? a : b;  // b if either is a NaN
      const T ordered = a == b ? both : larger;
      return a != a ? a : ordered;
    }
  }
};

struct MinimumBody {
  template <class T>
  RHINO_BODY T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return a < b ? a : b;
    } else {
      using U = FloatBits<T>;
      const T either = bits_as<T>(static_cast<U>(bits_as<U>(a) | bits_as<U>(b)));
      const T smaller = a < b ? a : b;
      const T ordered = a == b ? either : smaller;
      return a != a ? a : ordered;
    }
  }
};

struct AndBody {
  template <class T>
  RHINO_BODY T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};

struct OrBody {
  template <class T>
  RHINO_BODY T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};

struct XorBody {
  template <class T>
  RHINO_BODY T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

// Shift amounts count as unsigned; the width or more shifts everything out.

struct ShiftLeftBody {
  template <class T>
  RHINO_BODY T apply(T a, T amount) {
    using U = std::make_unsigned_t<T>;
    using W = typename WrapType<T>::type;
    constexpr U width = sizeof(T) * 8;
    const W shifted = static_cast<W>(static_cast<U>(a)) << (static_cast<U>(amount) & (width - 1));
    return static_cast<U>(amount) < width ? static_cast<T>(shifted) : T(0);
  }
};

struct ShiftRightLogicalBody {
  template <class T>
  RHINO_BODY T apply(T a, T amount) {
    using U = std::make_unsigned_t<T>;
    using W = typename WrapType<T>::type;
    constexpr U width = sizeof(T) * 8;
    const W shifted = static_cast<W>(static_cast<U>(a)) >> (static_cast<U>(amount) & (width - 1));
    return static_cast<U>(amount) < width ? static_cast<T>(shifted) : T(0);
  }
};

struct ShiftRightArithmeticBody {
  template <class T>
  RHINO_BODY T apply(T a, T amount) {
    using U = std::make_unsigned_t<T>;
    using S = std::make_signed_t<T>;
    constexpr U width = sizeof(T) * 8;
    const U bounded = static_cast<U>(amount) < width ? static_cast<U>(amount) : static_cast<U>(width - 1);
    return static_cast<T>(static_cast<S>(a) >> bounded);
  }
};

struct EqualBody {
  template <class T>
  RHINO_BODY std::uint8_t apply(T a, T b) {
    return a == b;
  }
};
struct NotEqualBody {
  template <class T>
  RHINO_BODY std::uint8_t apply(T a, T b) {
    return a != b;
  }
};
struct LessBody {
  template <class T>
  RHINO_BODY std::uint8_t apply(T a, T b) {
    return a < b;
  }
};
struct LessEqualBody {
  template <class T>
  RHINO_BODY std::uint8_t apply(T a, T b) {
    return a <= b;
  }
};
struct GreaterBody {
  template <class T>
  RHINO_BODY std::uint8_t apply(T a, T b) {
    return a > b;
  }
};
struct GreaterEqualBody {
  template <class T>
  RHINO_BODY std::uint8_t apply(T a, T b) {
    return a >= b;
  }
};

struct AbsBody {
  template <class T>
  RHINO_BODY T apply(T a) {
    if constexpr (std::is_integral_v<T>) {
      return a < 0 ? SubtractBody::apply<T>(0, a) : a;
    } else {
      using U = FloatBits<T>;
      return bits_as<T>(static_cast<U>(bits_as<U>(a) & (~U(0) >> 1)));
    }
  }
};

struct NegateBody {
  template <class T>
  RHINO_BODY T apply(T a) {
    if constexpr (std::is_integral_v<T>) {
      return SubtractBody::apply<T>(0, a);
    } else {
      using U = FloatBits<T>;
      return bits_as<T>(static_cast<U>(bits_as<U>(a) ^ (U(1) << (sizeof(T) * 8 - 1))));
    }
  }
};

struct NotBody {
  template <class T>
  RHINO_BODY T apply(T a) {
    return static_cast<T>(~a);
  }
};

struct NotBoolBody {
  template <class T>
  RHINO_BODY T apply(T a) {
    return static_cast<T>(a ^ 1);
  }
};

/// -1, 0 or 1; floats keep the sign of zero, and a NaN stays.
struct SignBody {
  template <class T>
  RHINO_BODY T apply(T a) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>((a > 0) - (a < 0));
    } else {
      const T one = a > 0 ? T(1) : T(-1);
      return (a != a || a == 0) ? a : one;
    }
  }
};

struct IsFiniteBody {
  template <class T>
  RHINO_BODY std::uint8_t apply(T a) {
    return (a - a) == 0;
  }
};

struct SqrtBody {
  template <class T>
  RHINO_BODY T apply(T a) {
    if constexpr (sizeof(T) == 4) return __builtin_sqrtf(a);
    else return __builtin_sqrt(a);
  }
};

struct RsqrtBody {
  template <class T>
  RHINO_BODY T apply(T a) {
    return T(1) / SqrtBody::apply<T>(a);
  }
};

struct FloorBody {
  template <class T>
  RHINO_BODY T apply(T a) {
    if constexpr (sizeof(T) == 4) return __builtin_floorf(a);
    else return __builtin_floor(a);
  }
};

struct CeilBody {
  template <class T>
  RHINO_BODY T apply(T a) {
    if constexpr (sizeof(T) == 4) return __builtin_ceilf(a);
    else return __builtin_ceil(a);
  }
};

struct RoundEvenBody {
  template <class T>
  RHINO_BODY T apply(T a) {
    // The floating point environment rounds to nearest even.
    if constexpr (sizeof(T) == 4) return __builtin_rintf(a);
    else return __builtin_rint(a);
  }
};

struct SelectBody {
  template <class T>
  RHINO_BODY T apply(std::uint8_t predicate, T on_true, T on_false) {
    return predicate != 0 ? on_true : on_false;
  }
};

struct ClampBody {
  template <class T>
  RHINO_BODY T apply(T low, T value, T high) {
    return MinimumBody::apply<T>(MaximumBody::apply<T>(low, value), high);
  }
};

/// Value conversion between arithmetic types: floats to integers truncate, saturate, and give 0 for a NaN; everything else
/// is C++'s conversion (integers wrap, floats round to nearest even).
template <class To, class From>
RHINO_BODY To convert_body(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    constexpr bool is_signed = std::is_signed_v<To>;
    constexpr int digits = static_cast<int>(sizeof(To)) * 8 - (is_signed ? 1 : 0);
    constexpr To highest = static_cast<To>(~typename WrapType<To>::type(0) >>
                                           (sizeof(typename WrapType<To>::type) * 8 - static_cast<unsigned>(digits)));
    constexpr To lowest = is_signed ? static_cast<To>(static_cast<To>(-1) - highest) : To(0);
    constexpr From above = static_cast<From>(2) * static_cast<From>(To(1) << (digits - 1));
    constexpr From below = is_signed ? -above : From(0);
    const From inside = (value >= below && value < above) ? value : From(0);
    const To truncated = static_cast<To>(inside);
    const To high = value >= above ? highest : truncated;
    return value <= below ? lowest : high;
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace RHINO_ISA
}  // namespace rhino::kernels::bodies
