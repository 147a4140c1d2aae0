// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/host/convolution.hpp>

namespace rhino::kernels::host {

ConvolutionProblem::ConvolutionProblem(const OpContext& context) {
  const auto& attrs = context.op.as<ir::ConvolutionAttrs>();
  const ir::TensorType &in = context.operand(0), &kernel = context.operand(1), &out = context.result();
  const ir::Dims in_strides = ir::row_major_strides(in.dims), kernel_strides = ir::row_major_strides(kernel.dims),
                 out_strides = ir::row_major_strides(out.dims);
  const auto at = [](const ir::Dims& dims, int d) { return dims[static_cast<std::size_t>(d)]; };
  dtype = in.dtype;
  batch = at(out.dims, attrs.output_batch);
  batch_groups = attrs.batch_group_count;
  feature_groups = attrs.feature_group_count;
  in_features = at(kernel.dims, attrs.kernel_input_feature);
  out_features = at(out.dims, attrs.output_feature);
  in_batch_stride = at(in_strides, attrs.input_batch);
  in_feature_stride = at(in_strides, attrs.input_feature);
  kernel_in_stride = at(kernel_strides, attrs.kernel_input_feature);
  kernel_out_stride = at(kernel_strides, attrs.kernel_output_feature);
  out_batch_stride = at(out_strides, attrs.output_batch);
  out_feature_stride = at(out_strides, attrs.output_feature);
  for (std::size_t d = 0; d < attrs.window.size(); ++d) {
    spatial.push_back({attrs.window[d], at(in.dims, attrs.input_spatial[d]), at(out.dims, attrs.output_spatial[d]),
                       at(in_strides, attrs.input_spatial[d]), at(kernel_strides, attrs.kernel_spatial[d]),
                       at(out_strides, attrs.output_spatial[d])});
  }
  in_elements = in.elements(), kernel_elements = kernel.elements(), out_elements = out.elements();
}

std::unique_ptr<Kernel> make_convolution_kernel(const OpContext& context) {
  const ir::DType dtype = context.operand(0).dtype;
  if (dtype != context.operand(1).dtype || dtype != context.result().dtype) return nullptr;
  if (dtype != ir::DType::F32 && dtype != ir::DType::F64) return nullptr;
  const ConvolutionProblem problem(context);
  if (problem.in_elements == 0 || problem.kernel_elements == 0 || problem.out_elements == 0) return nullptr;
  if (auto kernel = make_dnnl_convolution(problem)) return kernel;
  return make_matrix_convolution(problem);
}

}  // namespace rhino::kernels::host
