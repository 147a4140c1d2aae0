// SPDX-License-Identifier: Apache-2.0
#include <rhino/ad/gradient.hpp>

#include <rhino/ad/reverse.hpp>
#include <rhino/base/error.hpp>

namespace rhino::ad {

using ir::ValueId;

namespace {

void check_value(const ir::Function& function, ValueId value, const char* what) {
  RHINO_ASSERT(value.valid() && value.index() < function.values.size(), "a value of {} does not belong to @{}", what,
               function.name);
}

}  // namespace

std::vector<ValueId> vjp(ir::Program& program, ir::FunctionId function, std::span<const ValueId> outputs,
                         std::span<const ValueId> cotangents, std::span<const ValueId> wrt,
                         std::span<const ValueId> stopped) {
  {
    const ir::Function& f = program.function(function);
    RHINO_CHECK(outputs.size() == cotangents.size(), "gradient: {} outputs, but {} cotangents", outputs.size(),
                cotangents.size());
    for (std::size_t i = 0; i < wrt.size(); ++i) {
      check_value(f, wrt[i], "wrt");
      RHINO_CHECK(ir::is_float(f.type(wrt[i]).dtype), "gradient: value {} to differentiate for is {}, expected floats",
                  i, to_string(f.type(wrt[i])));
    }
    for (const ValueId value : stopped)
      check_value(f, value, "stopped");
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      check_value(f, outputs[i], "outputs");
      if (!cotangents[i].valid()) continue;
      check_value(f, cotangents[i], "cotangents");
      RHINO_CHECK(f.type(cotangents[i]) == f.type(outputs[i]), "gradient: the cotangent of output {} is {}, expected {}",
                  i, to_string(f.type(cotangents[i])), to_string(f.type(outputs[i])));
    }
  }
  Reverse pass(program, function, wrt, stopped);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (cotangents[i].valid()) pass.seed(outputs[i], cotangents[i]);
  pass.run();
  ir::Builder b(program, function);
  std::vector<ValueId> gradients;
  for (const ValueId value : wrt) {
    ValueId gradient = pass.gradient(value);
    if (!gradient.valid()) gradient = b.full(b.type(value), 0);
    gradients.push_back(gradient);
  }
  return gradients;
}

std::vector<ValueId> gradient(ir::Program& program, ir::FunctionId function, ValueId loss,
                              std::span<const ValueId> wrt, std::span<const ValueId> stopped) {
  check_value(program.function(function), loss, "loss");
  const ir::TensorType type = program.function(function).type(loss);
  RHINO_CHECK(ir::is_float(type.dtype) && type.rank() == 0, "gradient: the loss is {}, expected a floating scalar",
              to_string(type));
  ir::Builder b(program, function);
  const ValueId one = b.scalar(type.dtype, 1);
  return vjp(program, function, std::span(&loss, 1), std::span(&one, 1), wrt, stopped);
}

}  // namespace rhino::ad
