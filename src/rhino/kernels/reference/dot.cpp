// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <rhino/kernels/reference/element.hpp>
#include <rhino/kernels/reference/op_context.hpp>
#include <rhino/kernels/reference/strided.hpp>

namespace rhino::kernels::reference {
namespace {

using Dimensions = std::vector<int>;

Dimensions free_dimensions(int rank, const Dimensions& batch, const Dimensions& contracting) {
  Dimensions free;
  for (int d = 0; d < rank; ++d)
    if (std::find(batch.begin(), batch.end(), d) == batch.end() &&
        std::find(contracting.begin(), contracting.end(), d) == contracting.end())
      free.push_back(d);
  return free;
}

/// A row-major copy with the dimensions in the order of the three lists.
std::vector<std::byte> permuted(const Tensor& tensor, const Dimensions& first, const Dimensions& second,
                                const Dimensions& third) {
  const ir::Dims strides = ir::row_major_strides(tensor.type.dims);
  ir::Dims box, source_strides;
  for (const Dimensions* list : {&first, &second, &third})
    for (const int d : *list) {
      box.push_back(tensor.type.dims[static_cast<std::size_t>(d)]);
      source_strides.push_back(strides[static_cast<std::size_t>(d)]);
    }
  std::vector<std::byte> result(tensor.bytes.size());
  strided_copy(box, tensor.bytes.data(), source_strides, result.data(), ir::row_major_strides(box),
               ir::dtype_bytes(tensor.type.dtype));
  return result;
}

std::int64_t size_of(const Tensor& tensor, const Dimensions& dimensions) {
  std::int64_t size = 1;
  for (const int d : dimensions)
    size *= tensor.type.dims[static_cast<std::size_t>(d)];
  return size;
}

/// result[b, m, n] = sum over k, in order, of lhs[b, m, k] * rhs[b, k, n], in the arithmetic of T.
template <class T>
void multiply_batches(const T* lhs, const T* rhs, T* result, std::int64_t batches, std::int64_t rows,
                      std::int64_t depth, std::int64_t columns) {
  for (std::int64_t b = 0; b < batches; ++b)
    for (std::int64_t m = 0; m < rows; ++m) {
      T* out = result + (b * rows + m) * columns;
      const T* a = lhs + (b * rows + m) * depth;
      for (std::int64_t k = 0; k < depth; ++k) {
        const T factor = a[k];
        const T* row = rhs + (b * depth + k) * columns;
        for (std::int64_t n = 0; n < columns; ++n)
          out[n] = AddOp::apply<T>(out[n], MultiplyOp::apply<T>(factor, row[n]));
      }
    }
}

}  // namespace

std::vector<Tensor> run_dot_general(const OpContext& context) {
  const auto& attrs = context.attrs<ir::DotGeneralAttrs>();
  const ir::TensorType& type = context.result_type();
  // 16-bit floats are multiplied and summed in f32 and rounded once; everything else in the element type of the result.
  const bool small = type.dtype == ir::DType::F16 || type.dtype == ir::DType::BF16;
  const ir::DType dtype = small ? ir::DType::F32 : type.dtype;
  Tensor lhs_storage, rhs_storage;
  const Tensor& lhs = with_dtype(context.operand(0), dtype, lhs_storage);
  const Tensor& rhs = with_dtype(context.operand(1), dtype, rhs_storage);
  const Dimensions lhs_free = free_dimensions(lhs.type.rank(), attrs.lhs_batch, attrs.lhs_contracting);
  const Dimensions rhs_free = free_dimensions(rhs.type.rank(), attrs.rhs_batch, attrs.rhs_contracting);
  const auto lhs_matrix = permuted(lhs, attrs.lhs_batch, lhs_free, attrs.lhs_contracting);
  const auto rhs_matrix = permuted(rhs, attrs.rhs_batch, attrs.rhs_contracting, rhs_free);
  Tensor result(ir::TensorType{dtype, type.dims});
  dispatch_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    multiply_batches(reinterpret_cast<const T*>(lhs_matrix.data()), reinterpret_cast<const T*>(rhs_matrix.data()),
                     result.as<T>().data(), size_of(lhs, attrs.lhs_batch), size_of(lhs, lhs_free),
                     size_of(lhs, attrs.lhs_contracting), size_of(rhs, rhs_free));
  });
  if (!small) return one_result(std::move(result));
  Tensor rounded;
  with_dtype(result, type.dtype, rounded);
  return one_result(std::move(rounded));
}

}  // namespace rhino::kernels::reference
