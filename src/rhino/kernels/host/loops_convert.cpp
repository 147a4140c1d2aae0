// SPDX-License-Identifier: Apache-2.0
#if defined(__F16C__)
#include <immintrin.h>
#endif

#include <rhino/kernels/host/loops_isa.hpp>

namespace rhino::kernels::host::RHINO_ISA {

using namespace bodies;

namespace {

template <class From, class To>
void convert_loop(const LoopArgs& args) {
  const From* x = static_cast<const From*>(args.in[0]);
  To* y = static_cast<To*>(args.out);
  const std::int64_t n = args.count;
  if constexpr (sizeof(From) == sizeof(To)) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) y[i] = convert_body<To, From>(x[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) y[i] = convert_body<To, From>(x[i]);
  }
}

template <class From>
void to_bool_loop(const LoopArgs& args) {
  const From* x = static_cast<const From*>(args.in[0]);
  auto* y = static_cast<std::uint8_t*>(args.out);
  const std::int64_t n = args.count;
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] != From(0);
}

void bfloat16_to_float_loop(const LoopArgs& args) {
  const auto* x = static_cast<const std::uint16_t*>(args.in[0]);
  auto* y = static_cast<std::uint32_t*>(args.out);
  const std::int64_t n = args.count;
  for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<std::uint32_t>(x[i]) << 16;
}

void float_to_bfloat16_loop(const LoopArgs& args) {
  const auto* x = static_cast<const std::uint32_t*>(args.in[0]);
  auto* y = static_cast<std::uint16_t*>(args.out);
  const std::int64_t n = args.count;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint32_t bits = x[i];
    const std::uint32_t nan = (bits >> 16) | 0x40u;
    const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    y[i] = static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
  }
}

#if defined(__F16C__)
void half_to_float_loop(const LoopArgs& args) {
  const auto* x = static_cast<const std::uint16_t*>(args.in[0]);
  auto* y = static_cast<float*>(args.out);
  std::int64_t i = 0;
  for (; i + 8 <= args.count; i += 8) {
    _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
  }
  for (; i < args.count; ++i) y[i] = _cvtsh_ss(x[i]);
}

void float_to_half_loop(const LoopArgs& args) {
  const auto* x = static_cast<const float*>(args.in[0]);
  auto* y = static_cast<std::uint16_t*>(args.out);
  std::int64_t i = 0;
  for (; i + 8 <= args.count; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  for (; i < args.count; ++i) y[i] = _cvtss_sh(x[i], _MM_FROUND_TO_NEAREST_INT);
}
#endif

template <class From>
Loop find_to(DType to) {
  switch (to) {
    case DType::I1: return to_bool_loop<From>;
    case DType::I8: return convert_loop<From, std::int8_t>;
    case DType::I16: return convert_loop<From, std::int16_t>;
    case DType::I32: return convert_loop<From, std::int32_t>;
    case DType::I64: return convert_loop<From, std::int64_t>;
    case DType::U8: return convert_loop<From, std::uint8_t>;
    case DType::U16: return convert_loop<From, std::uint16_t>;
    case DType::U32: return convert_loop<From, std::uint32_t>;
    case DType::U64: return convert_loop<From, std::uint64_t>;
    case DType::F32: return convert_loop<From, float>;
    case DType::F64: return convert_loop<From, double>;
    default: return nullptr;
  }
}

}  // namespace

Loop find_convert_loop(const LoopKey& key) {
  if (key.scalars != 0) return nullptr;
  switch (key.in) {
    case DType::I1:
    case DType::U8: return find_to<std::uint8_t>(key.out);
    case DType::I8: return find_to<std::int8_t>(key.out);
    case DType::I16: return find_to<std::int16_t>(key.out);
    case DType::I32: return find_to<std::int32_t>(key.out);
    case DType::I64: return find_to<std::int64_t>(key.out);
    case DType::U16: return find_to<std::uint16_t>(key.out);
    case DType::U32: return find_to<std::uint32_t>(key.out);
    case DType::U64: return find_to<std::uint64_t>(key.out);
    case DType::F32:
      if (key.out == DType::BF16) return float_to_bfloat16_loop;
#if defined(__F16C__)
      if (key.out == DType::F16) return float_to_half_loop;
#endif
      return find_to<float>(key.out);
    case DType::F64: return find_to<double>(key.out);
    case DType::BF16: return key.out == DType::F32 ? bfloat16_to_float_loop : nullptr;
    case DType::F16:
#if defined(__F16C__)
      return key.out == DType::F32 ? half_to_float_loop : nullptr;
#else
      return nullptr;
#endif
  }
  return nullptr;
}

}  // namespace rhino::kernels::host::RHINO_ISA
