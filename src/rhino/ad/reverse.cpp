// SPDX-License-Identifier: Apache-2.0
#include <rhino/ad/reverse.hpp>

#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include <rhino/ad/gradient.hpp>
#include <rhino/base/error.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::ad {

using ir::OpKind;
using ir::TensorType;
using ir::ValueId;

namespace {

ir::Location gradient_location(const ir::Location& forward, OpKind kind) {
  const std::string& scope = forward.name;
  return {forward.line, (scope.empty() ? std::string(ir::op_name(kind)) : scope) + "/gradient"};
}

/// Marks in `active` (as long as the list of values) what depends on what is marked already, but for
/// the `stopped` values.
void spread_activity(const ir::Program& program, const ir::Function& function, std::vector<bool>& active,
                     std::span<const ValueId> stopped = {}) {
  const std::unordered_set<ValueId> barred(stopped.begin(), stopped.end());
  for (const ValueId value : stopped)
    active[value.index()] = false;
  std::vector<bool> operands;
  for (const ir::Op& op : function.ops) {
    operands.assign(op.operands.size(), false);
    bool any = false;
    for (std::size_t i = 0; i < op.operands.size(); ++i)
      if (active[op.operands[i].index()]) any = operands[i] = true;
    if (!any) continue;
    const std::vector<bool> results = active_results(program, function, op, operands);
    for (std::size_t i = 0; i < results.size(); ++i)
      if (results[i] && !barred.contains(op.results[i])) active[op.results[i].index()] = true;
  }
}

std::vector<bool> active_function_results(const ir::Program& program, const ir::Function& function,
                                          const std::vector<bool>& active_params) {
  const std::vector<bool> values = active_values(program, function, active_params);
  std::vector<bool> results;
  for (const ValueId result : function.results)
    results.push_back(values[result.index()]);
  return results;
}

}  // namespace

std::vector<bool> active_values(const ir::Program& program, const ir::Function& function,
                                const std::vector<bool>& active_params) {
  std::vector<bool> active(function.values.size(), false);
  for (std::size_t i = 0; i < function.params.size(); ++i)
    active[function.params[i].index()] = active_params[i];
  spread_activity(program, function, active);
  return active;
}

std::vector<bool> active_results(const ir::Program& program, const ir::Function& function, const ir::Op& op,
                                 const std::vector<bool>& active_operands) {
  std::vector<bool> results(op.results.size(), false);
  if (differentiability(op.kind) == Differentiability::Zero) return results;
  switch (op.kind) {
    case OpKind::Call:
      return active_function_results(program, program.function(op.regions[0]), active_operands);
    case OpKind::Case: {
      const std::vector<bool> params(active_operands.begin() + 1, active_operands.end());
      for (const ir::FunctionId branch : op.regions) {
        const auto of_branch = active_function_results(program, program.function(branch), params);
        for (std::size_t i = 0; i < results.size(); ++i)
          if (of_branch[i]) results[i] = true;
      }
      return results;
    }
    case OpKind::While: {
      results = active_operands;
      for (bool changed = true; changed;) {
        changed = false;
        const auto after = active_function_results(program, program.function(op.regions[1]), results);
        for (std::size_t i = 0; i < results.size(); ++i)
          if (after[i] && !results[i]) changed = results[i] = true;
      }
      return results;
    }
    case OpKind::Sort:
    case OpKind::OptimizationBarrier:
      return active_operands;
    default:
      for (std::size_t i = 0; i < results.size(); ++i)
        results[i] = ir::is_float(function.type(op.results[i]).dtype);
      return results;
  }
}

Reverse::Reverse(ir::Program& program, ir::FunctionId function, std::span<const ValueId> wrt,
                 std::span<const ValueId> stopped)
    : function_(function), b_(program, function), op_count_(b_.function().ops.size()), active_(b_.function().values.size(), false) {
  gradients_.resize(active_.size());
  for (const ValueId value : wrt)
    active_[value.index()] = true;
  spread_activity(program, b_.function(), active_, stopped);
}

void Reverse::seed(ValueId value, ValueId cotangent) {
  if (active(value)) gradients_[value.index()].dense.push_back(cotangent);
}

void Reverse::run() {
  for (std::size_t i = op_count_; i-- > 0;) {
    const ir::Op& op = b_.function().ops[i];
    bool wanted = false;
    bool reached = false;
    for (const ValueId operand : op.operands)
      wanted = wanted || active(operand);
    for (const ValueId result : op.results)
      reached = reached || (result.index() < gradients_.size() && !gradients_[result.index()].empty());
    if (!wanted || !reached) continue;
    locate(gradient_location(op.location, op.kind));
    const RuleFunction function = rule_of(op.kind);
    Rule rule(*this, i);
    if (function == nullptr) rule.refuse("it has no rule");
    function(rule);
  }
  locate({});
  place_inserted_ops();
}

ValueId Reverse::gradient(ValueId value) { return total(value); }

ValueId Reverse::total(ValueId value) {
  Gradient& gradient = gradients_[value.index()];
  if (gradient.empty()) return {};
  if (gradient.total.valid()) gradient.dense.push_back(gradient.total);
  ValueId total = sum(std::exchange(gradient.dense, {}));
  const ir::Location here = location_;
  for (const auto& [onto, location] : std::exchange(gradient.sparse, {})) {
    locate(location);
    total = onto(b_, total);
  }
  locate(here);
  gradient.total = total;
  return total;
}

ValueId Reverse::sum(std::vector<ValueId> terms) {
  if (terms.empty()) return {};
  // Pairwise, for a rounding error that grows with the logarithm of the count.
  for (std::size_t stride = 1; stride < terms.size(); stride *= 2)
    for (std::size_t i = 0; i + stride < terms.size(); i += 2 * stride)
      terms[i] = b_(OpKind::Add, terms[i], terms[i + stride]);
  return terms[0];
}

void Reverse::locate(ir::Location location) {
  location_ = std::move(location);
  b_.set_location(location_);
}

void Reverse::place_inserted_ops() {
  if (inserted_.empty()) return;
  // The pass went backwards, so positions descend.
  std::vector<ir::Op> ops;
  ir::Function& function = b_.function();
  ops.reserve(function.ops.size() + inserted_.size());
  for (std::size_t i = 0; i < function.ops.size(); ++i) {
    for (; !inserted_.empty() && inserted_.back().first == i; inserted_.pop_back())
      ops.push_back(std::move(inserted_.back().second));
    ops.push_back(std::move(function.ops[i]));
  }
  function.ops = std::move(ops);
  for (std::size_t i = 0; i < function.ops.size(); ++i)
    for (const ValueId result : function.ops[i].results)
      function.values[result.index()].producer = ir::OpId(i);
}

Rule::Rule(Reverse& pass, std::size_t position)
    : b(pass.b_), op(pass.b_.function().ops[position]), pass_(pass), position_(position) {
  cotangents_.reserve(op.results.size());
  for (const ValueId result : op.results)
    cotangents_.push_back(pass.total(result));
}

ValueId Rule::cotangent_or_zeros(std::size_t i) {
  return cotangents_[i].valid() ? cotangents_[i] : zeros(type(op.results[i]));
}

void Rule::add(std::size_t i, ValueId gradient) {
  RHINO_ASSERT(type(gradient) == type(op.operands[i]), "gradient of operand {} of {} is {}, expected {}", i,
               ir::op_name(op.kind), to_string(type(gradient)), to_string(type(op.operands[i])));
  if (needs(i)) pass_.gradients_[op.operands[i].index()].dense.push_back(gradient);
}

void Rule::add_onto(std::size_t i, Onto onto) {
  if (needs(i)) pass_.gradients_[op.operands[i].index()].sparse.emplace_back(std::move(onto), pass_.location_);
}

ValueId Rule::reduce(ValueId x, ir::ReducerKind kind, std::vector<int> dimensions) {
  if (dimensions.empty()) return x;
  const ir::DType dtype = type(x).dtype;
  const ValueId init = b.constant(ir::reducer_identity(kind, dtype));
  return b.add(OpKind::Reduce, {x, init}, ir::ReduceAttrs{std::move(dimensions)}, {reducer(kind, dtype)});
}

ValueId Rule::sum_all(ValueId x) {
  std::vector<int> all;
  for (int i = 0; i < type(x).rank(); ++i)
    all.push_back(i);
  return sum(x, std::move(all));
}

ir::FunctionId Rule::reducer(ir::ReducerKind kind, ir::DType dtype) {
  ir::FunctionId& id = pass_.reducers_[{kind, dtype}];
  if (!id.valid()) id = ir::make_reducer(program(), kind, dtype);
  return id;
}

void Rule::refuse(const std::string& why) const {
  std::string where = op.location.name.empty() ? "" : fmt::format(" at {}", op.location.name);
  if (op.location.line != 0) where += fmt::format(" (line {})", op.location.line);
  RHINO_FAIL(InputError, "cannot differentiate {}{}: {}", ir::qualified_op_name(op.kind), where, why);
}

ir::Op& Rule::forward_op() { return b.function().ops[position_]; }

ValueId Rule::add_forward_result(TensorType type) {
  ir::Function& function = b.function();
  ir::Op& forward = function.ops[position_];
  const ValueId id(function.values.size());
  function.values.push_back({std::move(type), ir::OpId(position_), static_cast<std::uint32_t>(forward.results.size())});
  forward.results.push_back(id);
  return id;
}

ValueId Rule::insert_constant_before(ir::Literal value) {
  ir::Function& function = b.function();
  const ValueId id(function.values.size());
  function.values.push_back({value.type(), ir::OpId(position_), 0});
  ir::Op constant;
  constant.attrs = ir::ConstantAttrs{std::move(value)};
  constant.results = {id};
  constant.location = forward_op().location;
  pass_.inserted_.emplace_back(position_, std::move(constant));
  return id;
}

}  // namespace rhino::ad
