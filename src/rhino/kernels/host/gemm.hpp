// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <rhino/ir/types.hpp>

namespace rhino::kernels::host {

/// How a matrix lies: rows x columns row-major with `leading` elements from row to row, or its transpose so.
struct MatrixLayout {
  bool transposed = false;
  std::int64_t leading = 1;
};

/// c[m][n] = sum over k of a[m][k] * b[n][k]; f32 or f64. Both operands are seen with the contracted side as columns;
/// `c` has `c_leading` elements from row to row. `accumulate` adds to what `c` holds.
void gemm(ir::DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, const void* a, MatrixLayout a_layout, const void* b,
          MatrixLayout b_layout, void* c, std::int64_t c_leading, bool accumulate = false);

}  // namespace rhino::kernels::host
