// SPDX-License-Identifier: Apache-2.0
#include <rhino/frontend/assembler.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <rhino/frontend/op_context.hpp>

namespace rhino::frontend {
namespace {

bool is_return(std::string_view name) {
  return name == "return" || name == "func.return" || name == "stablehlo.return" || name == "mhlo.return";
}

/// Names of the functions that an op refers to.
void collect_symbols(const AttributeValue& value, std::vector<std::string_view>& symbols) {
  if (value.kind == AttributeValue::Kind::Symbol) symbols.push_back(value.string);
  for (const AttributeValue& item : value.items)
    collect_symbols(item, symbols);
}

bool names_functions(std::string_view key) {
  return key == "callee" || key == "decomposition" || key == "called_computations" || key == "programs" ||
         key == "infeed";
}

void collect_callees(const SyntaxRegion& region, std::vector<std::string_view>& symbols) {
  for (const SyntaxOp& op : region.ops) {
    const bool custom_call = op.name.ends_with("custom_call");  // its own target is no function of the module
    for (const Attribute& attribute : op.attributes)
      if (names_functions(attribute.key) && !(custom_call && attribute.key == "callee"))
        collect_symbols(attribute.value, symbols);
    symbols.insert(symbols.end(), op.computations.begin(), op.computations.end());
    for (const SyntaxRegion& inner : op.regions)
      collect_callees(inner, symbols);
  }
}

std::string note_text(const AttributeValue& given) {
  const AttributeValue& value = given.resolved();
  if (value.kind == AttributeValue::Kind::String) return value.string;
  if (value.kind == AttributeValue::Kind::Integer) return std::to_string(value.integer);
  return std::string(value.written);
}

ir::Notes notes_of(const std::vector<Attribute>& attributes) {
  ir::Notes notes;
  for (const Attribute& attribute : attributes)
    notes.emplace_back(attribute.key, note_text(attribute.value));
  return notes;
}

}  // namespace

std::string SyntaxOp::shown() const {
  if (opcode.empty()) return std::string(name);
  return results.empty() ? std::string(opcode) : fmt::format("{} ({})", results[0].name, opcode);
}

void flatten(const Bound& bound, std::vector<ir::ValueId>& values) {
  if (!bound.is_tuple) {
    values.push_back(bound.value);
    return;
  }
  for (const Bound& element : bound.elements)
    flatten(element, values);
}

ir::Program Assembler::run() {
  program_.name = module_.name;
  if (module_.functions.empty()) source_.fail(0, {}, "this text has no function");
  declare_functions();
  choose_entry();
  lower_functions();
  return std::move(program_);
}

void Assembler::declare_functions() {
  states_.resize(module_.functions.size());
  for (std::size_t i = 0; i < module_.functions.size(); ++i) {
    const SyntaxFunction& function = module_.functions[i];
    if (!function_index_.emplace(function.name, i).second)
      source_.fail(function.position, "func.func", fmt::format("there are two functions {}", in_quotes(function.name)));
    states_[i].id = program_.add_function(function.name);
  }
}

/// Callees first, so that calls know the result types; iterative, since the depth of calls comes from the input.
void Assembler::lower_functions() {
  struct Pending {
    std::size_t function;
    std::vector<std::size_t> callees;
    std::size_t next = 0;
  };
  using Progress = FunctionState::Progress;
  const auto pending = [&](std::size_t index) {
    std::vector<std::string_view> symbols;
    collect_callees(module_.functions[index].body, symbols);
    Pending result{index, {}, 0};
    for (const std::string_view symbol : symbols)
      if (const auto found = function_index_.find(symbol); found != function_index_.end())
        result.callees.push_back(found->second);
    states_[index].progress = Progress::Waiting;
    return result;
  };
  for (std::size_t first = 0; first < states_.size(); ++first) {
    if (states_[first].progress != Progress::Untouched) continue;
    std::vector<Pending> stack;
    stack.push_back(pending(first));
    while (!stack.empty()) {
      Pending& top = stack.back();
      if (top.next == top.callees.size()) {
        lower_function(top.function);
        states_[top.function].progress = Progress::Done;
        stack.pop_back();
        continue;
      }
      const std::size_t callee = top.callees[top.next++];
      if (states_[callee].progress == Progress::Waiting) {
        const SyntaxFunction& function = module_.functions[callee];
        source_.unsupported(
            function.position, "func.func",
            fmt::format("the function {} calls itself, and recursion is not supported", in_quotes(function.name)),
            "use a while loop");
      }
      if (states_[callee].progress == Progress::Untouched) stack.push_back(pending(callee));
    }
  }
}

Bound Assembler::add_params(ir::FunctionId function, const SyntaxType& type) {
  Bound result;
  if (type.kind == SyntaxType::Kind::Tensor) {
    result.value = program_.function(function).add_param(type.tensor);
    return result;
  }
  RHINO_ASSERT(type.kind == SyntaxType::Kind::Tuple);
  result.is_tuple = true;
  for (const SyntaxType& element : type.results)
    result.elements.push_back(add_params(function, element));
  return result;
}

void Assembler::bind_param(Scope& scope, const SyntaxParam& param) {
  const auto check_kind = [&](const auto& self, const SyntaxType& type) -> void {
    if (type.kind == SyntaxType::Kind::Scalar || type.kind == SyntaxType::Kind::Function)
      source_.fail(param.position, {}, "a parameter must be a tensor");
    for (const SyntaxType& element : type.results)
      self(self, element);
  };
  check_kind(check_kind, param.type);
  Bound bound = add_params(scope.function, param.type);
  if (param.name.empty()) return;
  std::vector<Bound> all;
  all.push_back(std::move(bound));
  if (!scope.names.emplace(param.name, std::move(all)).second)
    source_.fail(param.position, {}, fmt::format("%{} is defined twice", param.name));
}

void Assembler::note_params(const SyntaxFunction& syntax, ir::FunctionId id, std::span<const std::size_t> counts) {
  ir::Function& function = program_.function(id);
  const std::vector<ir::Notes> from_body = std::exchange(function.param_notes, {});  // sharding of parameters
  const auto& params = syntax.body.params;
  for (std::size_t i = 0; i < params.size(); ++i) {
    ir::Notes notes = notes_of(params[i].attributes);
    if (std::string name = location_name(params[i].location); !name.empty()) notes.emplace_back("loc", std::move(name));
    function.param_notes.insert(function.param_notes.end(), counts[i], notes);
  }
  for (const ElidedConstant& elided : states_[current_function_].elided)
    function.param_notes.push_back({{"loc", std::string(elided.name)}, {"rhino.elided_constant", "true"}});
  RHINO_ASSERT(function.param_notes.size() == function.params.size());
  for (std::size_t i = 0; i < from_body.size(); ++i)
    function.param_notes[i].insert(function.param_notes[i].end(), from_body[i].begin(), from_body[i].end());
  for (const auto& attributes : syntax.result_attributes)
    function.result_notes.push_back(notes_of(attributes));
  function.result_notes.resize(function.results.size());
  const auto all_empty = [](const std::vector<ir::Notes>& all) {
    return std::all_of(all.begin(), all.end(), [](const ir::Notes& notes) { return notes.empty(); });
  };
  if (all_empty(function.param_notes)) function.param_notes.clear();
  if (all_empty(function.result_notes)) function.result_notes.clear();
}

void Assembler::lower_function(std::size_t index) {
  const SyntaxFunction& syntax = module_.functions[index];
  const ir::FunctionId id = states_[index].id;
  current_function_ = index;
  Scope scope;
  scope.function = id;
  std::vector<std::size_t> counts;  // parameters that each written parameter became
  for (const SyntaxParam& param : syntax.body.params) {
    const std::size_t before = program_.function(id).params.size();
    bind_param(scope, param);
    counts.push_back(program_.function(id).params.size() - before);
  }
  const std::string subject = fmt::format("func.func @{}", syntax.name);
  if (!syntax.has_body)
    source_.unsupported(syntax.position, subject, "a function without body is not supported",
                        "export the whole program as one module");
  lower_ops(scope, syntax.body, subject);
  std::size_t at = 0;
  const ir::Function& function = program_.function(id);
  const auto check_result = [&](const auto& self, const SyntaxType& type) -> void {
    if (type.kind == SyntaxType::Kind::Tuple) {
      for (const SyntaxType& element : type.results)
        self(self, element);
      return;
    }
    if (at >= function.results.size() || type.kind != SyntaxType::Kind::Tensor ||
        function.type(function.results[at]) != type.tensor)
      source_.fail(syntax.position, subject,
                   fmt::format("what is returned as result {} is not of the declared type", at));
    ++at;
  };
  for (const SyntaxType& type : syntax.result_types)
    check_result(check_result, type);
  if (at != function.results.size())
    source_.fail(syntax.position, subject, "more is returned than the function declares as results");
  note_params(syntax, id, counts);
}

void Assembler::lower_ops(Scope& scope, const SyntaxRegion& region, std::string_view subject) {
  for (std::size_t i = 0; i < region.ops.size(); ++i) {
    const SyntaxOp& op = region.ops[i];
    if (!is_return(op.name)) {
      lower_op(scope, op);
      continue;
    }
    if (i + 1 != region.ops.size())
      source_.fail(region.ops[i + 1].position, op.shown(), "there are ops after the return");
    lower_return(scope, op);
    return;
  }
  source_.fail(region.position, subject, "there is no return at the end");
}

void Assembler::lower_return(Scope& scope, const SyntaxOp& op) {
  std::vector<Bound> operands;
  for (const OperandUse& use : op.operands)
    operands.push_back(resolve(scope, use, op));
  check_operand_types(scope, op, operands);
  std::vector<ir::ValueId> values;
  for (const Bound& operand : operands)
    flatten(operand, values);
  program_.function(scope.function).results = std::move(values);
}

bool Assembler::matches(ir::FunctionId function, const Bound& bound, const SyntaxType& type) const {
  if (!bound.is_tuple)
    return type.kind == SyntaxType::Kind::Tensor && program_.function(function).type(bound.value) == type.tensor;
  if (type.kind != SyntaxType::Kind::Tuple || type.results.size() != bound.elements.size()) return false;
  for (std::size_t i = 0; i < bound.elements.size(); ++i)
    if (!matches(function, bound.elements[i], type.results[i])) return false;
  return true;
}

void Assembler::check_operand_types(const Scope& scope, const SyntaxOp& op, const std::vector<Bound>& operands) const {
  if (op.operand_types.size() != operands.size()) return;  // this spelling does not give them
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (matches(scope.function, operands[i], op.operand_types[i])) continue;
    const bool tensors = !operands[i].is_tuple && op.operand_types[i].kind == SyntaxType::Kind::Tensor;
    source_.fail(op.operands[i].position, op.shown(),
                 tensors ? fmt::format("operand {} (%{}) is {}, but the type of the op says {}", i, op.operands[i].name,
                                       ir::to_string(program_.function(scope.function).type(operands[i].value)),
                                       ir::to_string(op.operand_types[i].tensor))
                         : fmt::format("operand {} (%{}) is not of the type that the op says", i, op.operands[i].name));
  }
}

void Assembler::lower_op(Scope& scope, const SyntaxOp& op) {
  const OpReader reader = find_reader(op.name);
  if (reader == nullptr) {
    source_.unsupported(op.position, op.shown(), "this op is not supported",
                        "see the table of supported ops in the README, or replace it before the export");
  }
  std::vector<Bound> operands;
  operands.reserve(op.operands.size());
  for (const OperandUse& use : op.operands)
    operands.push_back(resolve(scope, use, op));
  check_operand_types(scope, op, operands);
  const std::size_t ops_before = program_.function(scope.function).ops.size();
  std::vector<Bound> results;
  try {
    OpContext context(*this, scope, op, std::move(operands));
    results = reader(context);
    context.finish();
  } catch (const ImportError&) {
    throw;
  } catch (const InputError& error) {
    // The builder names line and op too; ours is the full position.
    std::string_view message = error.what();
    for (const std::string& prefix :
         {fmt::format("line {}: ", op.line), location_name(op.location) + ": ", std::string(op.name) + ": "})
      if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
    source_.fail(op.position, op.shown(), message);
  }
  std::vector<ir::Op>& ops = program_.function(scope.function).ops;
  if (ops.size() > ops_before)
    for (const Attribute& attribute : op.attributes)
      if (attribute.key.find('.') != std::string_view::npos)
        ops.back().notes.emplace_back(attribute.key, note_text(attribute.value));
  bind_results(scope, op, std::move(results));
}

void Assembler::bind_results(Scope& scope, const SyntaxOp& op, std::vector<Bound> results) {
  if (!op.name.starts_with("check.") && op.result_types.size() == results.size()) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (matches(scope.function, results[i], op.result_types[i])) continue;
      if (results[i].is_tuple || op.result_types[i].kind != SyntaxType::Kind::Tensor)
        source_.fail(op.position, op.shown(), fmt::format("result {} is not of the type that the op says", i));
      source_.fail(op.position, op.shown(),
                   fmt::format("result {} is {}, but the type of the op says {}", i,
                               ir::to_string(program_.function(scope.function).type(results[i].value)),
                               ir::to_string(op.result_types[i].tensor)));
    }
  } else if (!op.name.starts_with("check.")) {
    source_.fail(op.position, op.shown(),
                 fmt::format("this op has {} results, but its type lists {}", results.size(), op.result_types.size()));
  }
  if (op.tuple_result) {
    Bound tuple;
    tuple.is_tuple = true;
    tuple.elements = std::move(results);
    results.assign(1, std::move(tuple));
  }
  if (op.results.empty()) return;
  std::size_t next = 0;
  for (const ResultName& name : op.results) {
    if (name.count > results.size() - next)
      source_.fail(name.position, op.shown(), fmt::format("this op has only {} results", results.size()));
    std::vector<Bound> group(results.begin() + static_cast<std::ptrdiff_t>(next),
                             results.begin() + static_cast<std::ptrdiff_t>(next + name.count));
    next += name.count;
    if (!scope.names.emplace(name.name, std::move(group)).second)
      source_.fail(name.position, op.shown(), fmt::format("%{} is defined twice", name.name));
  }
  if (next != results.size())
    source_.fail(op.position, op.shown(),
                 fmt::format("this op has {} results, but {} are named", results.size(), next));
}

ir::FunctionId Assembler::callee(std::string_view name, const SyntaxOp& op) {
  const auto found = function_index_.find(name);
  if (found == function_index_.end())
    source_.fail(op.position, op.shown(), fmt::format("there is no function {}", in_quotes(name)));
  return states_[found->second].id;
}

const std::vector<ElidedConstant>& Assembler::elided_constants_of(ir::FunctionId function) const {
  return states_[function.index()].elided;  // functions of the text come first, in order
}

ir::FunctionId Assembler::new_function(std::string_view purpose) {
  return program_.add_function(fmt::format("{}.{}", purpose, ++region_count_));
}

std::string Assembler::location_name(const SyntaxLocation& location) const {
  const SyntaxLocation* at = &location;
  for (int hops = 0; hops < 64; ++hops) {
    if (!at->name.empty()) return at->name;
    if (at->alias.empty()) return {};
    const auto found = module_.location_aliases.find(at->alias);
    if (found == module_.location_aliases.end()) return {};
    at = &found->second;
  }
  return {};
}

void Assembler::choose_entry() {
  const auto main = function_index_.find(module_.entry.empty() ? "main" : std::string_view(module_.entry));
  if (main != function_index_.end()) {
    program_.main = states_[main->second].id;
    return;
  }
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (!module_.functions[i].is_public) continue;
    program_.main = states_[i].id;
    return;
  }
  program_.main = states_[0].id;
}

}  // namespace rhino::frontend
