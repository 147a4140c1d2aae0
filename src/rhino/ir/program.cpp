// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/program.hpp>

#include <rhino/base/error.hpp>

namespace rhino::ir {

// Compiled once here: each of these is long, and most files hold ops.
Op::Op() = default;
Op::Op(const Op& other) = default;
Op::Op(Op&& other) noexcept = default;
Op& Op::operator=(const Op& other) = default;
Op& Op::operator=(Op&& other) noexcept = default;
Op::~Op() = default;
Function::Function() = default;
Function::Function(const Function& other) = default;
Function::Function(Function&& other) noexcept = default;
Function& Function::operator=(const Function& other) = default;
Function& Function::operator=(Function&& other) noexcept = default;
Function::~Function() = default;
Program::Program() = default;
Program::Program(const Program& other) = default;
Program::Program(Program&& other) noexcept = default;
Program& Program::operator=(const Program& other) = default;
Program& Program::operator=(Program&& other) noexcept = default;
Program::~Program() = default;

const Op* Function::producer(ValueId id) const {
  const OpId op_id = value(id).producer;
  return op_id.valid() ? &ops[op_id.index()] : nullptr;
}

std::vector<TensorType> Function::param_types() const {
  std::vector<TensorType> types;
  types.reserve(params.size());
  for (const ValueId id : params)
    types.push_back(type(id));
  return types;
}

std::vector<TensorType> Function::result_types() const {
  std::vector<TensorType> types;
  types.reserve(results.size());
  for (const ValueId id : results)
    types.push_back(type(id));
  return types;
}

ValueId Function::add_param(TensorType type) {
  const ValueId id(values.size());
  values.push_back({std::move(type), OpId(), static_cast<std::uint32_t>(params.size())});
  params.push_back(id);
  if (!param_notes.empty()) param_notes.emplace_back();
  return id;
}

OpId Function::append(OpKind kind, Attributes attrs, std::vector<ValueId> operands,
                      std::vector<TensorType> result_types, std::vector<FunctionId> regions, Location location) {
  const OpId id(ops.size());
  Op op;
  op.kind = kind;
  op.attrs = std::move(attrs);
  op.operands = std::move(operands);
  op.regions = std::move(regions);
  op.location = std::move(location);
  op.results.reserve(result_types.size());
  for (TensorType& type : result_types) {
    op.results.emplace_back(values.size());
    values.push_back({std::move(type), id, static_cast<std::uint32_t>(op.results.size() - 1)});
  }
  ops.push_back(std::move(op));
  return id;
}

FunctionId Program::find(std::string_view name) const {
  for (std::size_t i = 0; i < functions.size(); ++i)
    if (functions[i].name == name) return FunctionId(i);
  return FunctionId();
}

FunctionId Program::add_function(std::string name) {
  const FunctionId id(functions.size());
  functions.emplace_back();
  functions.back().name = std::move(name);
  return id;
}

std::vector<std::vector<std::pair<OpId, std::uint32_t>>> value_uses(const Function& function) {
  std::vector<std::vector<std::pair<OpId, std::uint32_t>>> uses(function.values.size());
  for (std::size_t i = 0; i < function.ops.size(); ++i) {
    const auto& operands = function.ops[i].operands;
    for (std::size_t j = 0; j < operands.size(); ++j)
      uses[operands[j].index()].emplace_back(OpId(i), static_cast<std::uint32_t>(j));
  }
  return uses;
}

}  // namespace rhino::ir
