// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/reference/evaluate.hpp>

#include <rhino/ir/op_info.hpp>
#include <rhino/kernels/reference/interpreter.hpp>

namespace rhino::kernels::reference {

std::vector<ir::Literal> evaluate(const ir::Program& program, const ir::Op& op, const std::vector<ir::Literal>& operands) {
  ir::Function function;
  std::vector<ir::TensorType> types;
  std::vector<ir::ValueId> params;
  std::vector<Tensor> values;
  for (const ir::Literal& operand : operands) {
    types.push_back(operand.type());
    params.push_back(function.add_param(operand.type()));
    values.emplace_back(operand);
  }
  const auto result_types = ir::infer_result_types({program, op.kind, op.attrs, types, op.regions});
  const ir::OpId id = function.append(op.kind, op.attrs, params, result_types, op.regions, op.location);
  std::vector<const Tensor*> pointers;
  for (const Tensor& value : values) pointers.push_back(&value);
  std::vector<ir::Literal> results;
  for (const Tensor& result : run_op(program, function, function.op(id), pointers)) results.push_back(result.to_literal());
  return results;
}

}  // namespace rhino::kernels::reference
