// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <rhino/ir/builder.hpp>
#include <rhino/kernels/reference/element.hpp>
#include <rhino/kernels/reference/interpreter.hpp>

namespace rhino::kernels::reference::test {

inline constexpr ir::DType f32 = ir::DType::F32;
inline constexpr ir::DType i32 = ir::DType::I32;
inline constexpr float nan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float inf = std::numeric_limits<float>::infinity();

/// Element type that stores a C++ type.
template <class T>
constexpr ir::DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>)
    return ir::DType::I1;
  else if constexpr (std::is_same_v<T, std::int8_t>)
    return ir::DType::I8;
  else if constexpr (std::is_same_v<T, std::int16_t>)
    return ir::DType::I16;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return ir::DType::I32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return ir::DType::I64;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return ir::DType::U8;
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return ir::DType::U16;
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return ir::DType::U32;
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return ir::DType::U64;
  else if constexpr (std::is_same_v<T, Half>)
    return ir::DType::F16;
  else if constexpr (std::is_same_v<T, Bfloat16>)
    return ir::DType::BF16;
  else if constexpr (std::is_same_v<T, float>)
    return ir::DType::F32;
  else
    return ir::DType::F64;
}

template <class T>
Tensor tensor(ir::Dims dims, std::vector<T> values) {
  Tensor result(ir::TensorType{dtype_of<T>(), std::move(dims)});
  EXPECT_EQ(result.type.elements(), static_cast<std::int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    result.as<T>()[i] = values[i];
  return result;
}

template <class T>
Tensor vector(std::vector<T> values) {
  const auto size = static_cast<std::int64_t>(values.size());
  return tensor<T>({size}, std::move(values));
}

template <class T>
Tensor scalar(T value) {
  return tensor<T>({}, {value});
}

template <class T>
std::vector<T> values(const Tensor& tensor) {
  EXPECT_EQ(tensor.type.dtype, dtype_of<T>());
  const auto span = tensor.as<T>();
  return std::vector<T>(span.begin(), span.end());
}

/// Elements of a 16-bit float tensor as float.
inline std::vector<float> floats(const Tensor& tensor) {
  std::vector<float> result;
  for (std::int64_t i = 0; i < tensor.type.elements(); ++i)
    result.push_back(static_cast<float>(tensor.to_literal().element_as_double(i)));
  return result;
}

/// A program of one op; regions can be added to `program` before.
class OpRunner {
 public:
  ir::Program program;

  /// A region `(params) -> results` built by `build(builder, params)`.
  template <class Build>
  ir::FunctionId region(std::vector<ir::TensorType> params, Build build) {
    const ir::FunctionId id = program.add_function("region" + std::to_string(program.functions.size()));
    ir::Builder builder(program, id);
    std::vector<ir::ValueId> values;
    for (auto& type : params)
      values.push_back(builder.param(type));
    std::vector<ir::ValueId> results = build(builder, values);
    builder.set_results(std::move(results));
    return id;
  }

  /// Checks (by inference) and runs one op on the operands through a whole program.
  std::vector<Tensor> run_multi(ir::OpKind kind, std::vector<Tensor> operands, ir::Attributes attrs = ir::NoAttrs{},
                                std::vector<ir::FunctionId> regions = {}, const RunOptions& options = {}) {
    const ir::FunctionId main = program.add_function("main" + std::to_string(program.functions.size()));
    ir::Builder builder(program, main);
    std::vector<ir::ValueId> params;
    for (const Tensor& operand : operands)
      params.push_back(builder.param(operand.type));
    builder.set_results(builder.add_multi(kind, params, std::move(attrs), std::move(regions)));
    program.main = main;
    return reference::run(program, main, std::move(operands), options);
  }

  Tensor run(ir::OpKind kind, std::vector<Tensor> operands, ir::Attributes attrs = ir::NoAttrs{},
             std::vector<ir::FunctionId> regions = {}) {
    return run_multi(kind, std::move(operands), std::move(attrs), std::move(regions)).at(0);
  }
};

/// One op without regions.
inline Tensor run(ir::OpKind kind, std::vector<Tensor> operands, ir::Attributes attrs = ir::NoAttrs{}) {
  return OpRunner().run(kind, std::move(operands), std::move(attrs));
}

inline ir::TensorType scalar_type(ir::DType dtype) { return ir::TensorType{dtype, {}}; }

}  // namespace rhino::kernels::reference::test
