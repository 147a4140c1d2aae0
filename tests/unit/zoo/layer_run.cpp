// SPDX-License-Identifier: Apache-2.0
#include "layer_run.hpp"

#include <cmath>
#include <limits>

#include <rhino/base/hash.hpp>
#include <rhino/base/random.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/kernels/reference/interpreter.hpp>
#include <rhino/zoo/training.hpp>

namespace rhino::zoo {

using Value = kernels::reference::Tensor;

namespace {

Value to_value(const ir::TensorType& type, const Numbers& values) {
  Value tensor(type);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (type.dtype == ir::DType::F64) tensor.as<double>()[i] = values[i];
    if (type.dtype == ir::DType::I32) tensor.as<std::int32_t>()[i] = static_cast<std::int32_t>(values[i]);
    if (type.dtype == ir::DType::U8) tensor.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(values[i]);
  }
  return tensor;
}

Numbers to_numbers(const Value& tensor) {
  const ir::Literal literal = tensor.to_literal();
  Numbers numbers;
  for (std::int64_t i = 0; i < tensor.type.elements(); ++i)
    numbers.push_back(literal.element_as_double(i));
  return numbers;
}

}  // namespace

Tensor LayerRun::ids(const std::string& name, const ir::Dims& dims, const std::vector<std::int32_t>& values) {
  set(name, Numbers(values.begin(), values.end()));
  return b.batch(name, {ir::DType::I32, dims});
}

std::vector<Numbers> LayerRun::run(const std::vector<Tensor>& outputs) {
  std::vector<ir::ValueId> results;
  for (const Tensor& output : outputs)
    results.push_back(b.use(output));
  Settings settings(common_defaults());
  settings.set("mode=evaluate");
  BuiltModel model = finish_step(b, b.scalar(ir::DType::F32, 0), settings);
  model.program.entry().results = results;
  ir::verify(model.program);
  ir::promote_floats_to_f64(model.program);
  const ir::Function& main = model.program.entry();
  std::vector<Value> arguments;
  for (std::size_t i = 0; i < main.params.size(); ++i) {
    const ir::ParamInfo& info = model.signature.params[i];
    const ir::TensorType& type = main.type(main.params[i]);
    Numbers& values = values_[info.path];
    if (values.empty()) {
      const RandomStream stream{hash64(info.path), 0};
      const bool counter = info.role == ir::ParamRole::State && info.kind == ir::StateKind::Step;
      for (std::int64_t e = 0; e < type.elements(); ++e)
        values.push_back(counter ? 0 : 2 * stream.uniform(static_cast<std::uint64_t>(e)) - 1);
    }
    arguments.push_back(to_value(type, values));
  }
  std::vector<Numbers> numbers;
  for (const Value& result : kernels::reference::run(model.program, model.program.main, std::move(arguments)))
    numbers.push_back(to_numbers(result));
  return numbers;
}

double difference(const Numbers& a, const Numbers& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double off = std::abs(a[i] - b[i]);
    largest = off <= largest ? largest : off;  // a NaN counts as the largest
  }
  return largest;
}

}  // namespace rhino::zoo
