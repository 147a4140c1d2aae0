// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <rhino/base/error.hpp>
#include <rhino/kernels/reference/element.hpp>
#include <rhino/kernels/reference/elementwise.hpp>
#include <rhino/kernels/reference/interpreter.hpp>
#include <rhino/kernels/reference/op_context.hpp>

namespace rhino::kernels::reference {

Tensor::Tensor(ir::TensorType tensor_type)
    : type(std::move(tensor_type)), bytes(static_cast<std::size_t>(type.bytes())) {}

Tensor::Tensor(const ir::Literal& literal) : type(literal.type()), bytes(literal.expanded_bytes()) {}

ir::Literal Tensor::to_literal() const { return ir::Literal(type, bytes); }

std::string describe(const ir::Op& op) {
  std::string text(ir::op_name(op.kind));
  if (op.location.line != 0) text += fmt::format(" at line {}", op.location.line);
  if (!op.location.name.empty()) text += fmt::format(" ({})", op.location.name);
  return text;
}

const Tensor& with_dtype(const Tensor& tensor, ir::DType dtype, Tensor& storage) {
  if (tensor.type.dtype == dtype) return tensor;
  storage = Tensor(ir::TensorType{dtype, tensor.type.dims});
  ElementwiseCall call;
  call.dtype = tensor.type.dtype;
  call.result_dtype = dtype;
  call.inputs[0] = tensor.bytes.data();
  call.output = storage.bytes.data();
  call.count = tensor.type.elements();
  convert_kernel(call);
  return storage;
}

std::int64_t index_element(const Tensor& tensor, std::int64_t i) {
  return dispatch_dtype(tensor.type.dtype, [&]<class T>(std::type_identity<T>) -> std::int64_t {
    if constexpr (std::is_integral_v<T>) {
      const T value = tensor.as<T>()[static_cast<std::size_t>(i)];
      if constexpr (std::is_same_v<T, std::uint64_t>) {
        if (value > static_cast<std::uint64_t>(INT64_MAX)) return INT64_MAX;
      }
      return static_cast<std::int64_t>(value);
    } else {
      RHINO_FAIL(InputError, "indices must be integers, not {}", ir::dtype_name(tensor.type.dtype));
    }
  });
}

}  // namespace rhino::kernels::reference
