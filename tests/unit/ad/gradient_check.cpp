// SPDX-License-Identifier: Apache-2.0
#include "gradient_check.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include <rhino/ad/gradient.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::ad::test {

using ir::DType;
using ir::Dims;
using ir::OpKind;
using ir::ValueId;
using kernels::reference::Tensor;

Dims Random::dims(int rank, std::int64_t largest) {
  Dims dims;
  for (int i = 0; i < rank; ++i)
    dims.push_back(integer(1, largest));
  return dims;
}

std::vector<int> Random::permutation(int count) {
  std::vector<int> list(static_cast<std::size_t>(count));
  std::iota(list.begin(), list.end(), 0);
  std::shuffle(list.begin(), list.end(), engine_);
  return list;
}

Tensor Random::tensor(const Dims& dims, double low, double high) {
  Tensor tensor(ir::TensorType{DType::F64, dims});
  for (double& x : tensor.as<double>())
    x = real(low, high);
  return tensor;
}

ValueId Random::indices(ir::Builder& b, Dims dims, std::int64_t low, std::int64_t high, DType dtype) {
  Tensor tensor(ir::TensorType{DType::I64, std::move(dims)});
  for (std::int64_t& x : tensor.as<std::int64_t>())
    x = integer(low, high);
  return b.convert(b.constant(tensor.to_literal()), dtype);
}

namespace {

/// Sum of all elements of the floating outputs, each times a random weight.
ValueId weighted_sum(ir::Builder& b, Random& random, const std::vector<ValueId>& outputs) {
  ValueId loss = b.scalar(DType::F64, 0);
  for (const ValueId output : outputs) {
    const ir::TensorType type = b.type(output);
    if (!ir::is_float(type.dtype)) continue;
    const ValueId weighted =
        b(OpKind::Multiply, output, b.constant(random.tensor(type.dims, -1, 1).to_literal()));
    std::vector<int> all(type.dims.size());
    std::iota(all.begin(), all.end(), 0);
    loss = b(OpKind::Add, loss, b.reduce(weighted, ir::ReducerKind::Add, all));
  }
  return loss;
}

}  // namespace

void check_gradient(Random& random, const std::vector<Dims>& inputs, const Build& build, const CheckOptions& options) {
  std::vector<Tensor> tensors;
  for (const Dims& dims : inputs)
    tensors.push_back(random.tensor(dims, options.low, options.high));
  check_gradient_at(random, std::move(tensors), build, options);
}

void check_gradient_at(Random& random, std::vector<Tensor> inputs, const Build& build, const CheckOptions& options) {
  ir::Program program;
  const ir::FunctionId main = program.add_function("main");
  program.main = main;
  ir::Builder b(program, main);
  std::vector<ValueId> params;
  for (const Tensor& input : inputs)
    params.push_back(b.param(input.type));
  const ValueId loss = weighted_sum(b, random, build(b, params));
  b.set_results({loss});
  const ir::Program forward = program;
  const auto gradients = gradient(program, main, loss, params);
  b.set_results(gradients);
  ASSERT_NO_THROW(ir::verify(program));
  const std::vector<Tensor> got = kernels::reference::run(program, main, inputs);

  const auto loss_at = [&] { return kernels::reference::run(forward, main, inputs)[0].as<double>()[0]; };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    double scale = 1;
    for (const double x : got[i].as<double>())
      scale = std::max(scale, std::fabs(x));
    for (std::size_t j = 0; j < inputs[i].as<double>().size(); ++j) {
      const double x = inputs[i].as<double>()[j];
      inputs[i].as<double>()[j] = x + options.step;
      const double above = loss_at();
      inputs[i].as<double>()[j] = x - options.step;
      const double below = loss_at();
      inputs[i].as<double>()[j] = x;
      const double want = (above - below) / (2 * options.step);
      ASSERT_NEAR(got[i].as<double>()[j], want, options.tolerance * scale)
          << "element " << j << " of the gradient for input " << i << " (" << to_string(inputs[i].type) << ")";
    }
  }
}

std::vector<Tensor> gradients_at(const std::vector<Tensor>& inputs,
                                 const std::function<ValueId(ir::Builder&, const std::vector<ValueId>&)>& loss) {
  ir::Program program;
  program.main = program.add_function("main");
  ir::Builder b(program, program.main);
  std::vector<ValueId> params;
  for (const Tensor& input : inputs)
    params.push_back(b.param(input.type));
  b.set_results(gradient(program, program.main, loss(b, params), params));
  ir::verify(program);
  return kernels::reference::run(program, program.main, inputs);
}

Tensor vector(std::vector<double> values) {
  Tensor tensor(ir::TensorType{DType::F64, {static_cast<std::int64_t>(values.size())}});
  std::copy(values.begin(), values.end(), tensor.as<double>().begin());
  return tensor;
}

std::vector<double> values(const Tensor& tensor) {
  const auto span = tensor.as<double>();
  return {span.begin(), span.end()};
}

}  // namespace rhino::ad::test
