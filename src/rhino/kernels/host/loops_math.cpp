// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>
#include <sleef.h>

#include <rhino/kernels/host/loops_isa.hpp>

// Transcendental functions by SLEEF, at most 1 unit in the last place off. Incomplete vectors go through a padded copy, so a
// value does not depend on where in an array it lies.

#if defined(__AVX512F__)
#define RHINO_SLEEF_F(name, ulp) Sleef_##name##f16_##ulp##avx512f
#define RHINO_SLEEF_D(name, ulp) Sleef_##name##d8_##ulp##avx512f
#elif defined(__AVX2__)
#define RHINO_SLEEF_F(name, ulp) Sleef_##name##f8_##ulp##avx2
#define RHINO_SLEEF_D(name, ulp) Sleef_##name##d4_##ulp##avx2
#else
#define RHINO_SLEEF_F(name, ulp) Sleef_##name##f4_##ulp
#define RHINO_SLEEF_D(name, ulp) Sleef_##name##d2_##ulp
#endif

namespace rhino::kernels::host::RHINO_ISA {
namespace {

#if defined(__AVX512F__)
struct F32 {
  using Element = float;
  using Vector = __m512;
  static constexpr int width = 16;
  static Vector load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, Vector v) { _mm512_storeu_ps(p, v); }
};
struct F64 {
  using Element = double;
  using Vector = __m512d;
  static constexpr int width = 8;
  static Vector load(const double* p) { return _mm512_loadu_pd(p); }
  static void store(double* p, Vector v) { _mm512_storeu_pd(p, v); }
};
#elif defined(__AVX2__)
struct F32 {
  using Element = float;
  using Vector = __m256;
  static constexpr int width = 8;
  static Vector load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, Vector v) { _mm256_storeu_ps(p, v); }
};
struct F64 {
  using Element = double;
  using Vector = __m256d;
  static constexpr int width = 4;
  static Vector load(const double* p) { return _mm256_loadu_pd(p); }
  static void store(double* p, Vector v) { _mm256_storeu_pd(p, v); }
};
#else
struct F32 {
  using Element = float;
  using Vector = __m128;
  static constexpr int width = 4;
  static Vector load(const float* p) { return _mm_loadu_ps(p); }
  static void store(float* p, Vector v) { _mm_storeu_ps(p, v); }
};
struct F64 {
  using Element = double;
  using Vector = __m128d;
  static constexpr int width = 2;
  static Vector load(const double* p) { return _mm_loadu_pd(p); }
  static void store(double* p, Vector v) { _mm_storeu_pd(p, v); }
};
#endif

template <class V, auto Function>
void map_loop(const LoopArgs& args) {
  using T = typename V::Element;
  const T* x = static_cast<const T*>(args.in[0]);
  T* y = static_cast<T*>(args.out);
  std::int64_t i = 0;
  for (; i + V::width <= args.count; i += V::width) V::store(y + i, Function(V::load(x + i)));
  if (i < args.count) {
    T padded[V::width] = {};
    for (std::int64_t k = i; k < args.count; ++k) padded[k - i] = x[k];
    V::store(padded, Function(V::load(padded)));
    for (std::int64_t k = i; k < args.count; ++k) y[k] = padded[k - i];
  }
}

template <class V, auto Function>
void zip_loop(const LoopArgs& args) {
  using T = typename V::Element;
  const T* a = static_cast<const T*>(args.in[0]);
  const T* b = static_cast<const T*>(args.in[1]);
  T* y = static_cast<T*>(args.out);
  std::int64_t i = 0;
  for (; i + V::width <= args.count; i += V::width) V::store(y + i, Function(V::load(a + i), V::load(b + i)));
  if (i < args.count) {
    T left[V::width] = {}, right[V::width] = {};
    for (std::int64_t k = i; k < args.count; ++k) left[k - i] = a[k], right[k - i] = b[k];
    V::store(left, Function(V::load(left), V::load(right)));
    for (std::int64_t k = i; k < args.count; ++k) y[k] = left[k - i];
  }
}

template <class V, auto Exp>
typename V::Vector logistic(typename V::Vector x) {
  return 1 / (1 + Exp(-x));
}

}  // namespace

#define RHINO_MAP(Kind, name, ulp) \
  case OpKind::Kind: return single ? map_loop<F32, RHINO_SLEEF_F(name, ulp)> : map_loop<F64, RHINO_SLEEF_D(name, ulp)>;
#define RHINO_ZIP(Kind, name, ulp) \
  case OpKind::Kind: return single ? zip_loop<F32, RHINO_SLEEF_F(name, ulp)> : zip_loop<F64, RHINO_SLEEF_D(name, ulp)>;

Loop find_math_loop(const LoopKey& key) {
  if (key.scalars != 0 || (key.in != DType::F32 && key.in != DType::F64)) return nullptr;
  const bool single = key.in == DType::F32;
  switch (key.kind) {
    RHINO_MAP(Exponential, exp, u10)
    RHINO_MAP(ExponentialMinusOne, expm1, u10)
    RHINO_MAP(Log, log, u10)
    RHINO_MAP(LogPlusOne, log1p, u10)
    RHINO_MAP(Tanh, tanh, u10)
    RHINO_MAP(Sine, sin, u10)
    RHINO_MAP(Cosine, cos, u10)
    RHINO_MAP(Tan, tan, u10)
    RHINO_MAP(Cbrt, cbrt, u10)
    RHINO_MAP(Erf, erf, u10)
    RHINO_MAP(Asin, asin, u10)
    RHINO_MAP(Acos, acos, u10)
    RHINO_MAP(Atan, atan, u10)
    RHINO_MAP(Atanh, atanh, u10)
    RHINO_ZIP(Power, pow, u10)
    RHINO_ZIP(Atan2, atan2, u10)
    case OpKind::Logistic:
      return single ? map_loop<F32, logistic<F32, RHINO_SLEEF_F(exp, u10)>> : map_loop<F64, logistic<F64, RHINO_SLEEF_D(exp, u10)>>;
    default: return nullptr;
  }
}

}  // namespace rhino::kernels::host::RHINO_ISA
