// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <rhino/kernels/reference/element.hpp>
#include <rhino/kernels/reference/op_context.hpp>
#include <rhino/kernels/reference/strided.hpp>

namespace rhino::kernels::reference {
namespace {

/// Row-major copy with the dimensions in the given order.
std::vector<std::byte> permuted(const Tensor& tensor, const std::vector<int>& order) {
  const ir::Dims strides = ir::row_major_strides(tensor.type.dims);
  ir::Dims box, source_strides;
  for (const int d : order) {
    box.push_back(tensor.type.dims[static_cast<std::size_t>(d)]);
    source_strides.push_back(strides[static_cast<std::size_t>(d)]);
  }
  std::vector<std::byte> result(tensor.bytes.size());
  strided_copy(box, tensor.bytes.data(), source_strides, result.data(), ir::row_major_strides(box),
               ir::dtype_bytes(tensor.type.dtype));
  return result;
}

std::vector<int> order_of(int first, const std::vector<int>& spatial, int last) {
  std::vector<int> order{first};
  order.insert(order.end(), spatial.begin(), spatial.end());
  order.push_back(last);
  return order;
}

/// Sizes of a convolution after sorting dimensions: input [batch, spatial.., channels], kernel [spatial.., inputs,
/// outputs], result [batch, spatial.., outputs].
struct Sizes {
  std::int64_t batch, channels, kernel_inputs, outputs;
  ir::Dims input_spatial, kernel_spatial, result_spatial;
};

/// One term of the sum over the kernel's spatial positions: where it reads for a given result position.
struct Tap {
  std::int64_t input_offset;   ///< in elements, of channel 0 of example 0
  std::int64_t kernel_offset;  ///< in elements, of input feature 0
};

std::vector<Tap> taps_at(const ir::ConvolutionAttrs& attrs, const Sizes& sizes, const ir::Dims& position,
                         const ir::Dims& input_strides) {
  std::vector<Tap> taps;
  std::int64_t kernel_position = 0;
  for (Odometer kernel(sizes.kernel_spatial); !kernel.done(); kernel.next(), ++kernel_position) {
    std::int64_t offset = 0;
    bool inside = true;
    for (std::size_t d = 0; d < attrs.window.size() && inside; ++d) {
      const ir::WindowDim& window = attrs.window[d];
      const std::int64_t k = window.reversal ? window.size - 1 - kernel[d] : kernel[d];
      const std::int64_t dilated = position[d] * window.stride - window.pad_low + k * window.window_dilation;
      const std::int64_t index = dilated / window.base_dilation;
      inside = dilated >= 0 && dilated % window.base_dilation == 0 && index < sizes.input_spatial[d];
      offset += index * input_strides[d];
    }
    if (inside) taps.push_back({offset, kernel_position * sizes.kernel_inputs * sizes.outputs});
  }
  return taps;
}

template <class T>
void convolve(const ir::ConvolutionAttrs& attrs, const Sizes& sizes, const T* input, const T* kernel, T* result) {
  ir::Dims input_strides(sizes.input_spatial.size());
  std::int64_t input_example = sizes.channels;
  for (std::size_t d = input_strides.size(); d-- > 0;) {
    input_strides[d] = input_example;
    input_example *= sizes.input_spatial[d];
  }
  std::int64_t positions = 1;
  for (const auto size : sizes.result_spatial) positions *= size;
  // With batch groups, group g of the output features sees example g * (batch / groups) + n only.
  const std::int64_t result_batch = sizes.batch / attrs.batch_group_count;
  const std::int64_t groups = std::max(attrs.feature_group_count, attrs.batch_group_count);
  const std::int64_t group_outputs = sizes.outputs / groups;
  std::int64_t place = 0;
  for (Odometer position(sizes.result_spatial); !position.done(); position.next(), ++place) {
    const auto taps = taps_at(attrs, sizes, position.index(), input_strides);
    for (std::int64_t n = 0; n < result_batch; ++n)
      for (std::int64_t g = 0; g < groups; ++g) {
        T* out = result + (n * positions + place) * sizes.outputs + g * group_outputs;
        const std::int64_t example = attrs.batch_group_count > 1 ? g * result_batch + n : n;
        const std::int64_t channel = attrs.feature_group_count > 1 ? g * sizes.kernel_inputs : 0;
        for (const Tap& tap : taps) {
          const T* x = input + example * input_example + tap.input_offset + channel;
          for (std::int64_t c = 0; c < sizes.kernel_inputs; ++c) {
            const T* w = kernel + tap.kernel_offset + c * sizes.outputs + g * group_outputs;
            for (std::int64_t o = 0; o < group_outputs; ++o)
              out[o] = AddOp::apply<T>(out[o], MultiplyOp::apply<T>(x[c], w[o]));
          }
        }
      }
  }
}

}  // namespace

std::vector<Tensor> run_convolution(const OpContext& context) {
  const auto& attrs = context.attrs<ir::ConvolutionAttrs>();
  const ir::TensorType& type = context.result_type();
  // As for dot_general: 16-bit floats are summed in f32 and rounded once.
  const bool small = type.dtype == ir::DType::F16 || type.dtype == ir::DType::BF16;
  const ir::DType dtype = small ? ir::DType::F32 : type.dtype;
  Tensor input_storage, kernel_storage;
  const Tensor& input = with_dtype(context.operand(0), dtype, input_storage);
  const Tensor& kernel = with_dtype(context.operand(1), dtype, kernel_storage);

  const auto input_order = order_of(attrs.input_batch, attrs.input_spatial, attrs.input_feature);
  std::vector<int> kernel_order = attrs.kernel_spatial;
  kernel_order.push_back(attrs.kernel_input_feature);
  kernel_order.push_back(attrs.kernel_output_feature);
  const auto result_order = order_of(attrs.output_batch, attrs.output_spatial, attrs.output_feature);
  const auto pick = [](const ir::Dims& dims, int d) { return dims[static_cast<std::size_t>(d)]; };
  Sizes sizes{pick(input.type.dims, attrs.input_batch),
              pick(input.type.dims, attrs.input_feature),
              pick(kernel.type.dims, attrs.kernel_input_feature),
              pick(kernel.type.dims, attrs.kernel_output_feature),
              {},
              {},
              {}};
  for (std::size_t d = 0; d < attrs.window.size(); ++d) {
    sizes.input_spatial.push_back(pick(input.type.dims, attrs.input_spatial[d]));
    sizes.kernel_spatial.push_back(pick(kernel.type.dims, attrs.kernel_spatial[d]));
    sizes.result_spatial.push_back(pick(type.dims, attrs.output_spatial[d]));
  }
  const auto sorted_input = permuted(input, input_order);
  const auto sorted_kernel = permuted(kernel, kernel_order);

  ir::Dims sorted_dims, target_strides;
  const ir::Dims result_strides = ir::row_major_strides(type.dims);
  for (const int d : result_order) {
    sorted_dims.push_back(pick(type.dims, d));
    target_strides.push_back(result_strides[static_cast<std::size_t>(d)]);
  }
  Tensor sorted_result(ir::TensorType{dtype, sorted_dims});
  dispatch_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    convolve(attrs, sizes, reinterpret_cast<const T*>(sorted_input.data()),
             reinterpret_cast<const T*>(sorted_kernel.data()), sorted_result.as<T>().data());
  });
  Tensor storage;
  const Tensor& rounded = with_dtype(sorted_result, type.dtype, storage);
  Tensor result(type);
  strided_copy(sorted_dims, rounded.bytes.data(), ir::row_major_strides(sorted_dims), result.bytes.data(),
               target_strides, ir::dtype_bytes(type.dtype));
  return one_result(std::move(result));
}

}  // namespace rhino::kernels::reference
