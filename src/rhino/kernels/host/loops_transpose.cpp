// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include <rhino/kernels/host/loops_isa.hpp>

namespace rhino::kernels::host::RHINO_ISA {
namespace {

template <class T>
void plain(const T* in, std::int64_t in_stride, T* out, std::int64_t out_stride, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) out[j * out_stride + i] = in[i * in_stride + j];
  }
}

#if defined(__AVX__)
constexpr std::int64_t float_tile = 8;

inline void tile(const float* in, std::int64_t is, float* out, std::int64_t os) {
  // Halves of rows r and r + 4 side by side, then 4x4 transposes within the lanes.
  const auto pair = [&](std::int64_t r, std::int64_t c) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(in + r * is + c)), _mm_loadu_ps(in + (r + 4) * is + c), 1);
  };
  for (int c = 0; c < 8; c += 4) {
    const __m256 r0 = pair(0, c), r1 = pair(1, c), r2 = pair(2, c), r3 = pair(3, c);
    const __m256 t0 = _mm256_unpacklo_ps(r0, r1), t1 = _mm256_unpackhi_ps(r0, r1);
    const __m256 t2 = _mm256_unpacklo_ps(r2, r3), t3 = _mm256_unpackhi_ps(r2, r3);
    _mm256_storeu_ps(out + (c + 0) * os, _mm256_shuffle_ps(t0, t2, 0x44));
    _mm256_storeu_ps(out + (c + 1) * os, _mm256_shuffle_ps(t0, t2, 0xee));
    _mm256_storeu_ps(out + (c + 2) * os, _mm256_shuffle_ps(t1, t3, 0x44));
    _mm256_storeu_ps(out + (c + 3) * os, _mm256_shuffle_ps(t1, t3, 0xee));
  }
}
#else
constexpr std::int64_t float_tile = 4;

inline void tile(const float* in, std::int64_t is, float* out, std::int64_t os) {
  __m128 r0 = _mm_loadu_ps(in), r1 = _mm_loadu_ps(in + is), r2 = _mm_loadu_ps(in + 2 * is), r3 = _mm_loadu_ps(in + 3 * is);
  _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
  _mm_storeu_ps(out, r0);
  _mm_storeu_ps(out + os, r1);
  _mm_storeu_ps(out + 2 * os, r2);
  _mm_storeu_ps(out + 3 * os, r3);
}
#endif

constexpr std::int64_t double_tile = 2;

inline void tile(const double* in, std::int64_t is, double* out, std::int64_t os) {
  const __m128d r0 = _mm_loadu_pd(in), r1 = _mm_loadu_pd(in + is);
  _mm_storeu_pd(out, _mm_unpacklo_pd(r0, r1));
  _mm_storeu_pd(out + os, _mm_unpackhi_pd(r0, r1));
}

template <std::int64_t Tile, class T>
void tiled(const T* in, std::int64_t is, T* out, std::int64_t os, std::int64_t rows, std::int64_t columns) {
  // Strips of the input as wide as a cache line, so that both sides are read and written in whole lines.
  constexpr std::int64_t strip = 64 / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t full_rows = rows - rows % Tile, full_columns = columns - columns % Tile;
  for (std::int64_t j0 = 0; j0 < full_columns; j0 += strip) {
    const std::int64_t j1 = j0 + strip < full_columns ? j0 + strip : full_columns;
    for (std::int64_t i = 0; i < full_rows; i += Tile) {
      for (std::int64_t j = j0; j < j1; j += Tile) tile(in + i * is + j, is, out + j * os + i, os);
    }
  }
  plain(in + full_rows * is, is, out + full_rows, os, rows - full_rows, full_columns);
  plain(in + full_columns, is, out + full_columns * os, os, rows, columns - full_columns);
}

}  // namespace

void transpose_tile(int width, const void* in, std::int64_t in_stride, void* out, std::int64_t out_stride,
                    std::int64_t rows, std::int64_t columns) {
  switch (width) {
    case 1:
      return plain(static_cast<const std::uint8_t*>(in), in_stride, static_cast<std::uint8_t*>(out), out_stride, rows, columns);
    case 2:
      return plain(static_cast<const std::uint16_t*>(in), in_stride, static_cast<std::uint16_t*>(out), out_stride, rows,
                   columns);
    case 4:
      return tiled<float_tile>(static_cast<const float*>(in), in_stride, static_cast<float*>(out), out_stride, rows, columns);
    default:
      return tiled<double_tile>(static_cast<const double*>(in), in_stride, static_cast<double*>(out), out_stride, rows,
                                columns);
  }
}

}  // namespace rhino::kernels::host::RHINO_ISA
