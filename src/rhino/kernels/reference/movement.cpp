// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <rhino/kernels/reference/element.hpp>
#include <rhino/kernels/reference/op_context.hpp>
#include <rhino/kernels/reference/strided.hpp>

namespace rhino::kernels::reference {
namespace {

std::size_t width_of(const Tensor& tensor) { return ir::dtype_bytes(tensor.type.dtype); }

/// Sum of start_k * stride_k.
std::int64_t offset_of(const ir::Dims& start, const ir::Dims& strides) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < start.size(); ++d) offset += start[d] * strides[d];
  return offset;
}

/// Start indices of a dynamic slice, moved so that the slice lies inside the operand.
ir::Dims clamped_starts(const OpContext& context, std::size_t first, const ir::Dims& dims, const ir::Dims& sizes) {
  ir::Dims start(dims.size());
  for (std::size_t d = 0; d < dims.size(); ++d)
    start[d] = std::clamp<std::int64_t>(index_element(context.operand(first + d), 0), 0, dims[d] - sizes[d]);
  return start;
}

}  // namespace

std::vector<Tensor> run_bitcast_convert(const OpContext& context) {
  // Elements are little-endian and row-major, so splitting or joining the last dimension is the identity on memory.
  Tensor result(context.result_type());
  const Tensor& operand = context.operand(0);
  RHINO_ASSERT(result.bytes.size() == operand.bytes.size());
  RHINO_CHECK(operand.type.dtype != ir::DType::I1 || result.type.dtype == ir::DType::I1,
              "{}: i1 cannot be reinterpreted as {}", describe(context.op), ir::dtype_name(result.type.dtype));
  std::copy(operand.bytes.begin(), operand.bytes.end(), result.bytes.begin());
  return one_result(std::move(result));
}

std::vector<Tensor> run_broadcast_in_dim(const OpContext& context) {
  const auto& attrs = context.attrs<ir::BroadcastInDimAttrs>();
  const Tensor& operand = context.operand(0);
  Tensor result(context.result_type());
  const ir::Dims operand_strides = ir::row_major_strides(operand.type.dims);
  ir::Dims source_strides(result.type.dims.size(), 0);
  for (std::size_t d = 0; d < attrs.dimensions.size(); ++d)
    if (operand.type.dims[d] != 1) source_strides[static_cast<std::size_t>(attrs.dimensions[d])] = operand_strides[d];
  strided_copy(result.type.dims, operand.bytes.data(), source_strides, result.bytes.data(),
               ir::row_major_strides(result.type.dims), width_of(operand));
  return one_result(std::move(result));
}

std::vector<Tensor> run_concatenate(const OpContext& context) {
  const auto dimension = static_cast<std::size_t>(context.attrs<ir::DimensionAttrs>().dimension);
  Tensor result(context.result_type());
  const ir::Dims strides = ir::row_major_strides(result.type.dims);
  const std::size_t width = width_of(result);
  std::int64_t position = 0;
  for (const Tensor* operand : context.operands) {
    strided_copy(operand->type.dims, operand->bytes.data(), ir::row_major_strides(operand->type.dims),
                 result.bytes.data() + static_cast<std::size_t>(position * strides[dimension]) * width, strides, width);
    position += operand->type.dims[dimension];
  }
  return one_result(std::move(result));
}

std::vector<Tensor> run_dynamic_slice(const OpContext& context) {
  const auto& attrs = context.attrs<ir::DynamicSliceAttrs>();
  const Tensor& operand = context.operand(0);
  const ir::Dims start = clamped_starts(context, 1, operand.type.dims, attrs.slice_sizes);
  Tensor result(context.result_type());
  const ir::Dims strides = ir::row_major_strides(operand.type.dims);
  const std::size_t width = width_of(operand);
  strided_copy(result.type.dims, operand.bytes.data() + static_cast<std::size_t>(offset_of(start, strides)) * width,
               strides, result.bytes.data(), ir::row_major_strides(result.type.dims), width);
  return one_result(std::move(result));
}

std::vector<Tensor> run_dynamic_update_slice(const OpContext& context) {
  Tensor result = context.operand(0);
  const Tensor& update = context.operand(1);
  const ir::Dims start = clamped_starts(context, 2, result.type.dims, update.type.dims);
  const ir::Dims strides = ir::row_major_strides(result.type.dims);
  const std::size_t width = width_of(result);
  strided_copy(update.type.dims, update.bytes.data(), ir::row_major_strides(update.type.dims),
               result.bytes.data() + static_cast<std::size_t>(offset_of(start, strides)) * width, strides, width);
  return one_result(std::move(result));
}

std::vector<Tensor> run_iota(const OpContext& context) {
  const auto dimension = static_cast<std::size_t>(context.attrs<ir::IotaAttrs>().dimension);
  Tensor result(context.result_type());
  const ir::Dims& dims = result.type.dims;
  const std::int64_t size = dims[dimension], inner = ir::row_major_strides(dims)[dimension];
  dispatch_dtype(result.type.dtype, [&]<class T>(std::type_identity<T>) {
    const auto out = result.as<T>();
    const auto count = static_cast<std::int64_t>(out.size());
    for (std::int64_t start = 0; start < count; start += inner) {
      const T value = convert_element<T, std::int64_t>((start / inner) % size);
      std::fill_n(out.begin() + start, inner, value);
    }
  });
  return one_result(std::move(result));
}

std::vector<Tensor> run_pad(const OpContext& context) {
  const auto& attrs = context.attrs<ir::PadAttrs>();
  const Tensor& operand = context.operand(0);
  Tensor result(context.result_type());
  const std::size_t width = width_of(operand);
  const ir::Dims zeros(result.type.dims.size(), 0);
  const ir::Dims result_strides = ir::row_major_strides(result.type.dims);
  strided_copy(result.type.dims, context.operand(1).bytes.data(), zeros, result.bytes.data(), result_strides, width);

  // Of each dimension copy the elements i with 0 <= low + i (interior + 1) < size of the result.
  const ir::Dims operand_strides = ir::row_major_strides(operand.type.dims);
  ir::Dims box(operand.type.dims.size()), target_strides(box.size());
  std::int64_t source = 0, target = 0;
  for (std::size_t d = 0; d < box.size(); ++d) {
    const std::int64_t step = attrs.interior[d] + 1, low = attrs.low[d], size = result.type.dims[d];
    const std::int64_t first = low >= 0 ? 0 : (-low + step - 1) / step;
    const std::int64_t reach = size - low;  // i * step < reach
    const std::int64_t end = std::min(operand.type.dims[d], reach <= 0 ? 0 : (reach + step - 1) / step);
    if (first >= end) return one_result(std::move(result));
    box[d] = end - first;
    source += first * operand_strides[d];
    target += (low + first * step) * result_strides[d];
    target_strides[d] = step * result_strides[d];
  }
  strided_copy(box, operand.bytes.data() + static_cast<std::size_t>(source) * width, operand_strides,
               result.bytes.data() + static_cast<std::size_t>(target) * width, target_strides, width);
  return one_result(std::move(result));
}

std::vector<Tensor> run_reshape(const OpContext& context) {
  Tensor result;
  result.type = context.result_type();
  result.bytes = context.operand(0).bytes;
  return one_result(std::move(result));
}

std::vector<Tensor> run_reverse(const OpContext& context) {
  const Tensor& operand = context.operand(0);
  Tensor result(context.result_type());
  if (result.bytes.empty()) return one_result(std::move(result));
  ir::Dims source_strides = ir::row_major_strides(operand.type.dims);
  std::int64_t offset = 0;
  for (const int dimension : context.attrs<ir::DimensionsAttrs>().dimensions) {
    const auto d = static_cast<std::size_t>(dimension);
    offset += (operand.type.dims[d] - 1) * source_strides[d];
    source_strides[d] = -source_strides[d];
  }
  const std::size_t width = width_of(operand);
  strided_copy(result.type.dims, operand.bytes.data() + static_cast<std::size_t>(offset) * width, source_strides,
               result.bytes.data(), ir::row_major_strides(result.type.dims), width);
  return one_result(std::move(result));
}

std::vector<Tensor> run_slice(const OpContext& context) {
  const auto& attrs = context.attrs<ir::SliceAttrs>();
  const Tensor& operand = context.operand(0);
  Tensor result(context.result_type());
  if (result.bytes.empty()) return one_result(std::move(result));
  const ir::Dims operand_strides = ir::row_major_strides(operand.type.dims);
  ir::Dims source_strides(operand_strides.size());
  for (std::size_t d = 0; d < source_strides.size(); ++d)
    source_strides[d] = operand_strides[d] * (attrs.stride.empty() ? 1 : attrs.stride[d]);
  const std::size_t width = width_of(operand);
  strided_copy(result.type.dims,
               operand.bytes.data() + static_cast<std::size_t>(offset_of(attrs.start, operand_strides)) * width,
               source_strides, result.bytes.data(), ir::row_major_strides(result.type.dims), width);
  return one_result(std::move(result));
}

std::vector<Tensor> run_transpose(const OpContext& context) {
  const auto& permutation = context.attrs<ir::DimensionsAttrs>().dimensions;
  const Tensor& operand = context.operand(0);
  Tensor result(context.result_type());
  const ir::Dims operand_strides = ir::row_major_strides(operand.type.dims);
  ir::Dims source_strides(permutation.size());
  for (std::size_t d = 0; d < permutation.size(); ++d)
    source_strides[d] = operand_strides[static_cast<std::size_t>(permutation[d])];
  strided_copy(result.type.dims, operand.bytes.data(), source_strides, result.bytes.data(),
               ir::row_major_strides(result.type.dims), width_of(operand));
  return one_result(std::move(result));
}

}  // namespace rhino::kernels::reference
