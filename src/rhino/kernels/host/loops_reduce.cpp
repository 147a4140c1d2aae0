// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/host/loops_isa.hpp>

namespace rhino::kernels::host::RHINO_ISA {

using namespace bodies;
using ir::ReducerKind;

namespace {

#if defined(__AVX512F__)
constexpr int register_bytes = 64;
#elif defined(__AVX2__)
constexpr int register_bytes = 32;
#else
constexpr int register_bytes = 16;
#endif

/// One register's worth of elements.
template <class T>
struct Wide {
  typedef T Vector __attribute__((vector_size(register_bytes)));
  typedef T Unaligned __attribute__((vector_size(register_bytes), aligned(alignof(T)), may_alias));
  static constexpr int lanes = register_bytes / static_cast<int>(sizeof(T));
  static Vector load(const T* p) { return *reinterpret_cast<const Unaligned*>(p); }
};

/// The type in which sums and products of T are formed: signed integers wrap, so as unsigned ones.
template <class T> struct Wrapping { using Type = T; };
template <> struct Wrapping<std::int8_t> { using Type = std::uint8_t; };
template <> struct Wrapping<std::int16_t> { using Type = std::uint16_t; };
template <> struct Wrapping<std::int32_t> { using Type = std::uint32_t; };
template <> struct Wrapping<std::int64_t> { using Type = std::uint64_t; };

template <class Body, class T>
inline __attribute__((always_inline)) typename Wide<T>::Vector combine(typename Wide<T>::Vector a, typename Wide<T>::Vector b) {
  using V = typename Wide<T>::Vector;
  using W = typename Wide<typename Wrapping<T>::Type>::Vector;
  if constexpr (__is_same(Body, AddBody)) {
    return reinterpret_cast<V>(reinterpret_cast<W>(a) + reinterpret_cast<W>(b));
  } else if constexpr (__is_same(Body, MultiplyBody)) {
    return reinterpret_cast<V>(reinterpret_cast<W>(a) * reinterpret_cast<W>(b));
  } else if constexpr (__is_same(Body, AndBody)) {
    return a & b;
  } else if constexpr (__is_same(Body, OrBody)) {
    return a | b;
  } else if constexpr (__is_same(Body, XorBody)) {
    return a ^ b;
  } else {
    constexpr bool is_max = __is_same(Body, MaximumBody);
    const V better = is_max ? (a > b ? a : b) : (a < b ? a : b);
    if constexpr (static_cast<T>(0.5) == T(0)) {
      return better;  // integers
    } else {
      typedef FloatBits<T> Bits __attribute__((vector_size(register_bytes)));
      const Bits x = reinterpret_cast<Bits>(a), y = reinterpret_cast<Bits>(b);
      const V tied = reinterpret_cast<V>(is_max ? (x & y) : (x | y));
      const V ordered = a == b ? tied : better;
      return a != a ? a : ordered;
    }
  }
}

/// Of at least one element. Long rows are halved, so that rounding errors of sums grow with the logarithm of the length.
template <class Body, class T>
T fold_row(const T* x, std::int64_t count) {
  using W = Wide<T>;
  constexpr std::int64_t lanes = W::lanes;
  if (count > 8192) {
    const std::int64_t half = count / 2 / 64 * 64;
    const T left = fold_row<Body, T>(x, half);
    return Body::template apply<T>(left, fold_row<Body, T>(x + half, count - half));
  }
  std::int64_t i = 1;
  T result = x[0];
  if (count >= lanes) {
    typename W::Vector a0 = W::load(x);
    i = lanes;
    if (count >= 4 * lanes) {
      typename W::Vector a1 = W::load(x + lanes), a2 = W::load(x + 2 * lanes), a3 = W::load(x + 3 * lanes);
      for (i = 4 * lanes; i + 4 * lanes <= count; i += 4 * lanes) {
        a0 = combine<Body, T>(a0, W::load(x + i));
        a1 = combine<Body, T>(a1, W::load(x + i + lanes));
        a2 = combine<Body, T>(a2, W::load(x + i + 2 * lanes));
        a3 = combine<Body, T>(a3, W::load(x + i + 3 * lanes));
      }
      a0 = combine<Body, T>(combine<Body, T>(a0, a1), combine<Body, T>(a2, a3));
    }
    for (; i + lanes <= count; i += lanes) a0 = combine<Body, T>(a0, W::load(x + i));
    T lane[lanes];
    *reinterpret_cast<typename W::Unaligned*>(lane) = a0;
    for (std::int64_t half = lanes / 2; half > 0; half /= 2) {
      for (std::int64_t k = 0; k < half; ++k) lane[k] = Body::template apply<T>(lane[k], lane[k + half]);
    }
    result = lane[0];
  }
  for (; i < count; ++i) result = Body::template apply<T>(result, x[i]);
  return result;
}

template <class Body, class T>
void reduce_row(const void* in, std::int64_t count, void* out) {
  if (count == 0) return;
  T* y = static_cast<T*>(out);
  *y = Body::template apply<T>(*y, fold_row<Body, T>(static_cast<const T*>(in), count));
}

template <class Body, class T>
void add_rows(const T* x, std::int64_t rows, std::int64_t stride, std::int64_t n, T* y) {
  std::int64_t r = 0;
  for (; r + 4 <= rows; r += 4, x += 4 * stride) {
    const T *x0 = x, *x1 = x + stride, *x2 = x + 2 * stride, *x3 = x + 3 * stride;
#pragma GCC ivdep
    for (std::int64_t k = 0; k < n; ++k) {
      const T left = Body::template apply<T>(x0[k], x1[k]), right = Body::template apply<T>(x2[k], x3[k]);
      y[k] = Body::template apply<T>(y[k], Body::template apply<T>(left, right));
    }
  }
  for (; r < rows; ++r, x += stride) {
#pragma GCC ivdep
    for (std::int64_t k = 0; k < n; ++k) y[k] = Body::template apply<T>(y[k], x[k]);
  }
}

template <class Body, class T>
void reduce_rows(const void* in, std::int64_t rows, std::int64_t stride, std::int64_t count, void* out) {
  constexpr std::int64_t strip = 2048 / static_cast<std::int64_t>(sizeof(T));  // of the result, stays in the nearest cache
  constexpr std::int64_t chunk = 256;  // rows summed on their own, so that rounding errors stay small
  T partial[strip];
  for (std::int64_t start = 0; start < count; start += strip) {
    const std::int64_t n = count - start < strip ? count - start : strip;
    T* y = static_cast<T*>(out) + start;
    const T* x = static_cast<const T*>(in) + start;
    for (std::int64_t r = 0; r < rows; r += chunk, x += chunk * stride) {
      const std::int64_t some = rows - r < chunk ? rows - r : chunk;
      if (rows <= chunk) {
        add_rows<Body, T>(x, some, stride, n, y);
        continue;
      }
      for (std::int64_t k = 0; k < n; ++k) partial[k] = x[k];
      add_rows<Body, T>(x + stride, some - 1, stride, n, partial);
#pragma GCC ivdep
      for (std::int64_t k = 0; k < n; ++k) y[k] = Body::template apply<T>(y[k], partial[k]);
    }
  }
}

template <class Body, class T>
ReduceLoops make() {
  return {reduce_row<Body, T>, reduce_rows<Body, T>};
}

template <class T>
ReduceLoops find_number(ReducerKind kind) {
  switch (kind) {
    case ReducerKind::Add: return make<AddBody, T>();
    case ReducerKind::Multiply: return make<MultiplyBody, T>();
    case ReducerKind::Maximum: return make<MaximumBody, T>();
    case ReducerKind::Minimum: return make<MinimumBody, T>();
    default: return {};
  }
}

template <class T>
ReduceLoops find_integer(ReducerKind kind) {
  switch (kind) {
    case ReducerKind::And: return make<AndBody, T>();
    case ReducerKind::Or: return make<OrBody, T>();
    case ReducerKind::Xor: return make<XorBody, T>();
    default: return find_number<T>(kind);
  }
}

ReduceLoops find_bool(ReducerKind kind) {
  switch (kind) {
    case ReducerKind::Add:
    case ReducerKind::Maximum:
    case ReducerKind::Or: return make<OrBody, std::uint8_t>();
    case ReducerKind::Multiply:
    case ReducerKind::Minimum:
    case ReducerKind::And: return make<AndBody, std::uint8_t>();
    case ReducerKind::Xor: return make<XorBody, std::uint8_t>();
    default: return {};
  }
}

}  // namespace

ReduceLoops find_reduce_loops(ReducerKind kind, DType dtype) {
  switch (dtype) {
    case DType::I1: return find_bool(kind);
    case DType::I32: return find_integer<std::int32_t>(kind);
    case DType::I64: return find_integer<std::int64_t>(kind);
    case DType::U32: return find_integer<std::uint32_t>(kind);
    case DType::U64: return find_integer<std::uint64_t>(kind);
    case DType::F32: return find_number<float>(kind);
    case DType::F64: return find_number<double>(kind);
    default: return {};
  }
}

}  // namespace rhino::kernels::host::RHINO_ISA
