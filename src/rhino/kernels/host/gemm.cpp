// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/host/gemm.hpp>

#include <climits>

#include <cblas.h>
#include <omp.h>

#include <rhino/base/error.hpp>
#include <rhino/kernels/host/op_kernels.hpp>

namespace rhino::kernels::host {

void set_threads(int threads) {
  openblas_set_num_threads(threads);
  omp_set_num_threads(threads);  // oneDNN's: ranks that each take all cores spin in each other's way
}

void gemm(ir::DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, const void* a, MatrixLayout a_layout, const void* b,
          MatrixLayout b_layout, void* c, std::int64_t c_leading, bool accumulate) {
  RHINO_ASSERT(m <= INT_MAX && n <= INT_MAX && k <= INT_MAX && a_layout.leading <= INT_MAX && b_layout.leading <= INT_MAX,
               "a matrix of {} x {} x {} is too large for the BLAS", m, n, k);
  const CBLAS_TRANSPOSE a_op = a_layout.transposed ? CblasTrans : CblasNoTrans;
  const CBLAS_TRANSPOSE b_op = b_layout.transposed ? CblasNoTrans : CblasTrans;  // b is seen as n x k
  const int mi = static_cast<int>(m), ni = static_cast<int>(n), ki = static_cast<int>(k);
  const int la = static_cast<int>(a_layout.leading), lb = static_cast<int>(b_layout.leading), lc = static_cast<int>(c_leading);
  if (dtype == ir::DType::F32) {
    const auto *x = static_cast<const float*>(a), *y = static_cast<const float*>(b);
    auto* z = static_cast<float*>(c);
    const float beta = accumulate ? 1.0f : 0.0f;
    if (n == 1) {
      // b is a vector of k elements with a step of its leading dimension when it lies transposed.
      const int step = b_layout.transposed ? lb : 1;
      if (a_layout.transposed) cblas_sgemv(CblasRowMajor, CblasTrans, ki, mi, 1.0f, x, la, y, step, beta, z, lc);
      else cblas_sgemv(CblasRowMajor, CblasNoTrans, mi, ki, 1.0f, x, la, y, step, beta, z, lc);
    } else if (m == 1) {
      const int step = a_layout.transposed ? la : 1;
      if (b_layout.transposed) cblas_sgemv(CblasRowMajor, CblasTrans, ki, ni, 1.0f, y, lb, x, step, beta, z, 1);
      else cblas_sgemv(CblasRowMajor, CblasNoTrans, ni, ki, 1.0f, y, lb, x, step, beta, z, 1);
    } else {
      cblas_sgemm(CblasRowMajor, a_op, b_op, mi, ni, ki, 1.0f, x, la, y, lb, beta, z, lc);
    }
  } else {
    RHINO_ASSERT(dtype == ir::DType::F64, "gemm of {}", ir::dtype_name(dtype));
    const auto *x = static_cast<const double*>(a), *y = static_cast<const double*>(b);
    auto* z = static_cast<double*>(c);
    const double beta = accumulate ? 1.0 : 0.0;
    if (n == 1) {
      const int step = b_layout.transposed ? lb : 1;
      if (a_layout.transposed) cblas_dgemv(CblasRowMajor, CblasTrans, ki, mi, 1.0, x, la, y, step, beta, z, lc);
      else cblas_dgemv(CblasRowMajor, CblasNoTrans, mi, ki, 1.0, x, la, y, step, beta, z, lc);
    } else if (m == 1) {
      const int step = a_layout.transposed ? la : 1;
      if (b_layout.transposed) cblas_dgemv(CblasRowMajor, CblasTrans, ki, ni, 1.0, y, lb, x, step, beta, z, 1);
      else cblas_dgemv(CblasRowMajor, CblasNoTrans, ni, ki, 1.0, y, lb, x, step, beta, z, 1);
    } else {
      cblas_dgemm(CblasRowMajor, a_op, b_op, mi, ni, ki, 1.0, x, la, y, lb, beta, z, lc);
    }
  }
}

}  // namespace rhino::kernels::host
