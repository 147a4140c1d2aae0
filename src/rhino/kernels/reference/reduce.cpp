// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <rhino/kernels/reference/op_context.hpp>
#include <rhino/kernels/reference/reducers.hpp>
#include <rhino/kernels/reference/region.hpp>
#include <rhino/kernels/reference/strided.hpp>

namespace rhino::kernels::reference {
namespace {

/// The shape of a reduction with neighbouring dimensions of one sort merged: the input as a box whose every dimension
/// is either reduced (stride 0 in the result) or kept.
struct ReductionShape {
  ir::Dims dims;
  ir::Dims result_strides;
};

ReductionShape reduction_shape(const ir::Dims& dims, const std::vector<int>& reduced) {
  ir::Dims strides(dims.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (std::find(reduced.begin(), reduced.end(), static_cast<int>(d)) != reduced.end()) continue;
    strides[d] = stride;
    stride *= dims[d];
  }
  ReductionShape shape;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    const bool both_reduced = !shape.dims.empty() && shape.result_strides.back() == 0 && strides[d] == 0;
    const bool both_kept =
        !shape.dims.empty() && strides[d] != 0 && shape.result_strides.back() == strides[d] * dims[d];
    if (both_reduced || both_kept) {
      shape.dims.back() *= dims[d];
      shape.result_strides.back() = strides[d];
    } else {
      shape.dims.push_back(dims[d]);
      shape.result_strides.push_back(strides[d]);
    }
  }
  return shape;
}

/// Adds the elements up one by one in row-major order of the input.
template <class Operation, class T>
void reduce_in_order(const ReductionShape& shape, const T* input, T* result) {
  if (shape.dims.empty()) {
    *result = Operation::template apply<T>(*result, *input);
    return;
  }
  const std::int64_t row = shape.dims.back();
  const bool row_reduced = shape.result_strides.back() == 0;
  const ir::Dims outer(shape.dims.begin(), shape.dims.end() - 1);
  for (Odometer place(outer); !place.done(); place.next()) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < outer.size(); ++d)
      offset += place[d] * shape.result_strides[d];
    T* out = result + offset;
    if (row_reduced) {
      T sum = *out;
      for (std::int64_t i = 0; i < row; ++i)
        sum = Operation::template apply<T>(sum, input[i]);
      *out = sum;
    } else {
      for (std::int64_t i = 0; i < row; ++i)
        out[i] = Operation::template apply<T>(out[i], input[i]);
    }
    input += row;
  }
}

/// Several inputs or an unusual reducer: the region is applied to all kept positions at once, one reduced position
/// after the other.
void reduce_by_region(const OpContext& context, const std::vector<const Tensor*>& inputs,
                      std::vector<Tensor>& results) {
  const auto& reduced = context.attrs<ir::ReduceAttrs>().dimensions;
  const ir::Dims& dims = inputs[0]->type.dims;
  const ir::Dims strides = ir::row_major_strides(dims);
  ir::Dims box, source_strides;
  std::int64_t steps = 1, kept = 1;
  for (const bool take_reduced : {true, false})
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const bool is_reduced = std::find(reduced.begin(), reduced.end(), static_cast<int>(d)) != reduced.end();
      if (is_reduced != take_reduced) continue;
      box.push_back(dims[d]);
      source_strides.push_back(strides[d]);
      (is_reduced ? steps : kept) *= dims[d];
    }
  const std::size_t n = inputs.size();
  std::vector<std::vector<std::byte>> sorted(n);
  for (std::size_t i = 0; i < n; ++i) {
    sorted[i].resize(inputs[i]->bytes.size());
    strided_copy(box, inputs[i]->bytes.data(), source_strides, sorted[i].data(), ir::row_major_strides(box),
                 ir::dtype_bytes(inputs[i]->type.dtype));
  }
  ScalarRegion region(context.program, context.op.regions[0], context.options);
  std::vector<const std::byte*> arguments(2 * n);
  std::vector<std::byte*> outputs(n);
  for (std::size_t i = 0; i < n; ++i) {
    outputs[i] = results[i].bytes.data();
    arguments[i] = outputs[i];
  }
  for (std::int64_t step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < n; ++i)
      arguments[n + i] =
          sorted[i].data() + static_cast<std::size_t>(step * kept) * ir::dtype_bytes(inputs[i]->type.dtype);
    region.apply(arguments, outputs, kept);
  }
}

}  // namespace

std::vector<Tensor> run_reduce(const OpContext& context) {
  const std::size_t n = context.operands.size() / 2;
  std::vector<Tensor> storage(2 * n), results;
  std::vector<const Tensor*> inputs(n);
  for (std::size_t i = 0; i < n; ++i) {
    Tensor& result = results.emplace_back(context.result_type(i));
    inputs[i] = &with_dtype(context.operand(i), result.type.dtype, storage[i]);
    const Tensor& init = with_dtype(context.operand(n + i), result.type.dtype, storage[n + i]);
    const std::size_t width = ir::dtype_bytes(result.type.dtype);
    for (std::size_t at = 0; at < result.bytes.size(); at += width)
      std::memcpy(result.bytes.data() + at, init.bytes.data(), width);
  }
  if (inputs[0]->bytes.empty()) return results;
  const auto kind =
      n == 1 ? ir::classify_reducer(context.program.function(context.op.regions[0])) : ir::ReducerKind::Other;
  const bool direct = dispatch_reducer(kind, results[0].type.dtype, [&]<class Operation, class T>() {
    reduce_in_order<Operation, T>(reduction_shape(inputs[0]->type.dims, context.attrs<ir::ReduceAttrs>().dimensions),
                                  inputs[0]->as<T>().data(), results[0].as<T>().data());
  });
  if (!direct) reduce_by_region(context, inputs, results);
  return results;
}

}  // namespace rhino::kernels::reference
