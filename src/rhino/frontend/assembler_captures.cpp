// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <rhino/frontend/assembler.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::frontend {
namespace {

/// Constants up to this many stored bytes are copied into a region instead of being carried along: loop bounds and
/// steps stay visible as constants in the loop.
constexpr std::size_t max_copied_constant = 4096;
/// Most ops that are copied into a reducer for one captured value.
constexpr int max_copied_ops = 256;

bool is_small_constant(const ir::Op* op) {
  return op != nullptr && op->kind == ir::OpKind::Constant &&
         op->as<ir::ConstantAttrs>().value.stored_bytes().size() <= max_copied_constant;
}

bool is_pure(const ir::Op& op) {
  return op.regions.empty() && op.kind != ir::OpKind::CustomCall && !ir::is_collective(op.kind);
}

const Bound* find_local(const Scope& scope, const OperandUse& use) {
  const auto found = scope.names.find(use.name);
  if (found == scope.names.end() || use.number >= found->second.size()) return nullptr;
  const Bound& bound = found->second[use.number];
  return bound.present() ? &bound : nullptr;
}

}  // namespace

Bound Assembler::resolve(Scope& scope, const OperandUse& use, const SyntaxOp& op) {
  std::vector<Scope*> path;  // scopes that lack the name, innermost first
  Scope* at = &scope;
  const Bound* found = nullptr;
  while (at != nullptr && (found = find_local(*at, use)) == nullptr) {
    path.push_back(at);
    at = at->parent;
  }
  if (found == nullptr) {
    const std::string suffix = use.number == 0 ? "" : fmt::format("#{}", use.number);
    source_.fail(use.position, op.shown(), fmt::format("%{}{} is not defined here", use.name, suffix));
  }
  Bound bound = *found;
  for (auto inner = path.rbegin(); inner != path.rend(); ++inner) {
    bound = capture(**inner, bound, use, op);
    std::vector<Bound>& group = (*inner)->names[use.name];
    if (group.size() <= use.number) group.resize(use.number + 1);
    group[use.number] = bound;
  }
  return bound;
}

Bound Assembler::capture(Scope& scope, const Bound& bound, const OperandUse& use, const SyntaxOp& op) {
  Bound result;
  result.is_tuple = bound.is_tuple;
  if (bound.is_tuple) {
    for (const Bound& element : bound.elements)
      result.elements.push_back(capture(scope, element, use, op));
  } else {
    result.value = capture_value(scope, bound.value, use, op);
  }
  return result;
}

ir::ValueId Assembler::capture_value(Scope& scope, ir::ValueId outer, const OperandUse& use, const SyntaxOp& op) {
  const bool constant = is_small_constant(program_.function(scope.parent->function).producer(outer));
  if (constant || scope.policy == CapturePolicy::ByCopy) {
    int budget = max_copied_ops;
    return copy_into(scope, outer, budget, use, op);
  }
  std::vector<ir::ValueId>& list = scope.captures->outer;
  std::size_t index = 0;
  while (index < list.size() && list[index] != outer)
    ++index;
  if (index == list.size()) list.push_back(outer);
  complete_captures(scope);
  return scope.captured_params[index];
}

void Assembler::complete_captures(Scope& scope) {
  const std::vector<ir::ValueId>& list = scope.captures->outer;
  while (scope.captured_params.size() < list.size()) {
    ir::TensorType type = program_.function(scope.parent->function).type(list[scope.captured_params.size()]);
    scope.captured_params.push_back(program_.function(scope.function).add_param(std::move(type)));
  }
}

/// Copies the op that computes `outer`, and what it needs, to the end of the region. The recursion is bounded by the
/// budget of ops.
ir::ValueId Assembler::copy_into(Scope& scope, ir::ValueId outer, int& budget, const OperandUse& use,
                                 const SyntaxOp& op) {
  const ir::Function& from = program_.function(scope.parent->function);
  const ir::Op* producer = from.producer(outer);
  if (producer == nullptr || !is_pure(*producer) || --budget < 0)
    source_.unsupported(
        use.position, op.shown(),
        fmt::format("the region uses %{} of its surroundings, which is not computed from constants", use.name),
        "pass it into the computation as an operand (reducers and comparators may use constants only)");
  const std::uint32_t result_index = from.value(outer).result_index;
  ir::Op copied = *producer;  // adding to the program invalidates the pointer
  std::vector<ir::ValueId> operands;
  for (const ir::ValueId operand : copied.operands)
    operands.push_back(copy_into(scope, operand, budget, use, op));
  std::vector<ir::TensorType> types;
  for (const ir::ValueId value : copied.results)
    types.push_back(program_.function(scope.parent->function).type(value));
  ir::Function& to = program_.function(scope.function);
  const ir::OpId id =
      to.append(copied.kind, std::move(copied.attrs), std::move(operands), std::move(types), {}, copied.location);
  return to.op(id).results[result_index];
}

Scope Assembler::lower_region(Scope& parent, const SyntaxRegion& region, CapturePolicy policy, Captures* captures,
                              std::string_view purpose) {
  Scope scope;
  scope.parent = &parent;
  scope.function = new_function(purpose);
  scope.policy = policy;
  scope.captures = captures;
  for (const SyntaxParam& param : region.params)
    bind_param(scope, param);
  lower_ops(scope, region, purpose);
  return scope;
}

Bound Assembler::elided_constant(Scope& scope, std::string_view name, const ir::TensorType& type, const SyntaxOp& op) {
  constexpr std::string_view prefix = "elided constant ";  // no name of the text has blanks
  Scope* root = &scope;
  while (root->parent != nullptr)
    root = root->parent;
  elided_names_.push_back(std::string(prefix) + std::string(name));
  OperandUse use;
  use.name = elided_names_.back();
  use.position = op.position;
  if (root->names.contains(use.name)) {
    const auto known = root->names.find(use.name);
    elided_names_.pop_back();
    use.name = known->first;  // this one lives on
  } else {
    std::vector<Bound> bound(1);
    bound[0].value = program_.function(root->function).add_param(type);
    root->names.emplace(use.name, std::move(bound));
    states_[current_function_].elided.push_back({use.name.substr(prefix.size()), type});
  }
  return resolve(scope, use, op);
}

}  // namespace rhino::frontend
