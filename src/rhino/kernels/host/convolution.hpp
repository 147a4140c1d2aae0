// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <rhino/kernels/host/op_kernels.hpp>

namespace rhino::kernels::host {

/// A convolution with its dimensions told apart. Strides are in elements.
struct ConvolutionProblem {
  ir::DType dtype = ir::DType::F32;
  std::int64_t batch = 1;         ///< of the result (per batch group)
  std::int64_t batch_groups = 1;  ///< at most one kind of group is more than 1
  std::int64_t feature_groups = 1;
  std::int64_t in_features = 1;   ///< per group: what is summed over beside the window
  std::int64_t out_features = 1;  ///< in all groups together
  std::int64_t in_batch_stride = 0, in_feature_stride = 0;
  std::int64_t kernel_in_stride = 0, kernel_out_stride = 0;
  std::int64_t out_batch_stride = 0, out_feature_stride = 0;
  struct Spatial {
    ir::WindowDim window;
    std::int64_t in = 1, out = 1;
    std::int64_t in_stride = 0, kernel_stride = 0, out_stride = 0;
  };
  std::vector<Spatial> spatial;
  std::int64_t in_elements = 1, kernel_elements = 1, out_elements = 1;

  explicit ConvolutionProblem(const OpContext& context);
};

/// By oneDNN: forward, gradient of the data (a dilated input) or of the weights (a window larger than the result), in f32.
/// nullptr where oneDNN has no such form.
std::unique_ptr<Kernel> make_dnnl_convolution(const ConvolutionProblem& problem);

/// Any convolution in f32 or f64: windows are written out as rows of a matrix, which BLAS multiplies by the kernel.
std::unique_ptr<Kernel> make_matrix_convolution(const ConvolutionProblem& problem);

}  // namespace rhino::kernels::host
