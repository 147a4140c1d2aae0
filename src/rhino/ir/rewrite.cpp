// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/rewrite.hpp>

#include <rhino/base/error.hpp>

namespace rhino::ir {

Rewriter::Rewriter(Function& old) : old_(old), image_(old.values.size()) {
  new_.name = old.name;
  new_.ops.reserve(old.ops.size());
  new_.values.reserve(old.values.size());
  for (const ValueId param : old.params)
    replace(param, new_.add_param(old.type(param)));
  new_.param_notes = std::move(old.param_notes);
  new_.result_notes = std::move(old.result_notes);
}

std::vector<ValueId> Rewriter::mapped(const std::vector<ValueId>& old_values) const {
  std::vector<ValueId> result;
  result.reserve(old_values.size());
  for (const ValueId value : old_values)
    result.push_back(mapped(value));
  return result;
}

void Rewriter::copy(Op& op) {
  std::vector<TensorType> types;
  types.reserve(op.results.size());
  for (const ValueId result : op.results)
    types.push_back(old_.type(result));
  const OpId id = new_.append(op.kind, std::move(op.attrs), mapped(op.operands), std::move(types),
                              std::move(op.regions), std::move(op.location));
  Op& copied = new_.ops[id.index()];
  copied.notes = std::move(op.notes);
  for (std::size_t i = 0; i < op.results.size(); ++i)
    replace(op.results[i], copied.results[i]);
}

std::vector<ValueId> Rewriter::splice(const Function& callee, const std::vector<ValueId>& arguments,
                                      const Location& location) {
  std::vector<ValueId> image(callee.values.size());
  for (std::size_t i = 0; i < arguments.size(); ++i)
    image[callee.params[i].index()] = arguments[i];
  for (const Op& op : callee.ops) {
    std::vector<ValueId> operands;
    operands.reserve(op.operands.size());
    for (const ValueId operand : op.operands)
      operands.push_back(image[operand.index()]);
    std::vector<TensorType> types;
    types.reserve(op.results.size());
    for (const ValueId result : op.results)
      types.push_back(callee.type(result));
    const bool placed = op.location.line != 0 || !op.location.name.empty();
    const OpId id = new_.append(op.kind, op.attrs, std::move(operands), std::move(types), op.regions,
                                placed ? op.location : location);
    Op& copied = new_.ops[id.index()];
    copied.notes = op.notes;
    for (std::size_t i = 0; i < op.results.size(); ++i)
      image[op.results[i].index()] = copied.results[i];
  }
  std::vector<ValueId> results;
  results.reserve(callee.results.size());
  for (const ValueId result : callee.results)
    results.push_back(image[result.index()]);
  return results;
}

Function Rewriter::finish() {
  new_.results = mapped(old_.results);
  return std::move(new_);
}

std::vector<std::size_t> callees_first(const Program& program) {
  const std::size_t count = program.functions.size();
  std::vector<std::vector<std::size_t>> callers(count);
  std::vector<std::size_t> open(count, 0);
  for (std::size_t f = 0; f < count; ++f) {
    for (const Op& op : program.functions[f].ops) {
      for (const FunctionId callee : op.regions) {
        callers[callee.index()].push_back(f);
        ++open[f];
      }
    }
  }
  std::vector<std::size_t> order;
  order.reserve(count);
  for (std::size_t f = 0; f < count; ++f)
    if (open[f] == 0) order.push_back(f);
  for (std::size_t next = 0; next < order.size(); ++next)
    for (const std::size_t caller : callers[order[next]])
      if (--open[caller] == 0) order.push_back(caller);
  RHINO_CHECK(order.size() == count, "the program is recursive, which Rhino cannot run");
  return order;
}

std::vector<bool> functions_with_effects(const Program& program) {
  std::vector<bool> effects(program.functions.size(), false);
  for (const std::size_t f : callees_first(program)) {
    for (const Op& op : program.functions[f].ops) {
      if (!has_effects(op, effects)) continue;
      effects[f] = true;
      break;
    }
  }
  return effects;
}

bool has_effects(const Op& op, const std::vector<bool>& effects_of_functions) {
  if (op.kind == OpKind::CustomCall && op.as<CustomCallAttrs>().has_side_effect) return true;
  for (const FunctionId region : op.regions)
    if (effects_of_functions[region.index()]) return true;
  return false;
}

void drop_unreachable_functions(Program& program) {
  const std::size_t count = program.functions.size();
  std::vector<bool> reached(count, false);
  std::vector<std::size_t> queue{program.main.index()};
  reached[program.main.index()] = true;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    for (const Op& op : program.functions[queue[next]].ops) {
      for (const FunctionId callee : op.regions) {
        if (reached[callee.index()]) continue;
        reached[callee.index()] = true;
        queue.push_back(callee.index());
      }
    }
  }
  if (queue.size() == count) return;
  std::vector<FunctionId> image(count);
  std::vector<Function> kept;
  kept.reserve(queue.size());
  for (std::size_t f = 0; f < count; ++f) {
    if (!reached[f]) continue;
    image[f] = FunctionId(kept.size());
    kept.push_back(std::move(program.functions[f]));
  }
  program.functions = std::move(kept);
  program.main = image[program.main.index()];
  for (Function& function : program.functions)
    for (Op& op : function.ops)
      for (FunctionId& region : op.regions)
        region = image[region.index()];
}

}  // namespace rhino::ir
