// SPDX-License-Identifier: Apache-2.0
#include <rhino/frontend/onnx_context.hpp>

#include <fmt/format.h>

#include <rhino/frontend/import.hpp>
#include <rhino/frontend/source.hpp>

namespace rhino::frontend::onnx {
namespace {

/// Larger values are left to the program: what is needed at import are shapes, positions and masks.
constexpr std::int64_t kMostKnownElements = std::int64_t{1} << 21;
/// Elements that no value may have: counts of bytes and of work stay within 64 bits.
constexpr std::int64_t kMostElements = std::int64_t{1} << 44;

bool too_large(const Dims& dims) {
  std::int64_t elements = 1;
  for (const std::int64_t size : dims)
    if (size < 0 || __builtin_mul_overflow(elements, size, &elements) || elements > kMostElements) return true;
  return false;
}

}  // namespace

const Tensor* Values::find(const std::string& name) const {
  const auto place = by_name_.find(name);
  return place == by_name_.end() ? nullptr : &place->second;
}

std::optional<Literal> Values::known(const Tensor& value) const {
  const auto place = known_.find(value.id());
  return place == known_.end() ? std::nullopt : std::optional(place->second);
}

void Values::evaluate_new_ops() {
  const ir::Program& program = target_.graph().program();
  const ir::Function& function = program.function(target_.graph().function());
  for (; seen_ops_ < function.ops.size(); ++seen_ops_) {
    const ir::Op& op = function.ops[seen_ops_];
    std::int64_t elements = 0;
    for (const ir::ValueId result : op.results) {
      const ir::TensorType& type = function.type(result);
      RHINO_CHECK(!too_large(type.dims), "a value would have the shape {}", ir::to_string(type.dims));
      elements += type.elements();
    }
    if (op.kind == OpKind::Constant) {
      known_.emplace(op.results[0], op.as<ir::ConstantAttrs>().value);
      continue;
    }
    if (elements > kMostKnownElements || elements > budget_ || !evaluate_) continue;
    std::vector<Literal> operands;
    for (const ir::ValueId operand : op.operands) {
      const auto place = known_.find(operand);
      if (place == known_.end() || place->second.type().elements() > kMostKnownElements) break;
      operands.push_back(place->second);
      elements += place->second.type().elements();
    }
    if (operands.size() != op.operands.size()) continue;
    budget_ -= elements;
    const std::vector<Literal> results = evaluate_(program, op, operands);
    for (std::size_t i = 0; i < results.size(); ++i)
      known_.emplace(op.results[i], results[i]);
  }
}

Context::Context(const Node& node, std::int64_t opset_of_model, Values& values,
                 const std::map<std::string, OnnxWeight>& weights, OnnxTarget& target)
    : g(target.graph()), opset(opset_of_model), node_(node), values_(values), weights_(weights), target_(target) {}

Tensor Context::in(std::size_t input) const {
  if (!has(input)) fail(fmt::format("input {} is missing", input));
  const Tensor* value = values_.find(node_.inputs[input]);
  if (!value)
    fail(fmt::format("its input {} is not defined before it; nodes must be sorted and without cycles",
                     frontend::in_quotes(node_.inputs[input])));
  return *value;
}

std::vector<Tensor> Context::all() const {
  std::vector<Tensor> result;
  for (std::size_t i = 0; i < inputs(); ++i)
    result.push_back(in(i));
  if (result.empty()) fail("it has no inputs");
  return result;
}

Literal Context::constant(std::size_t input, const char* what) const {
  std::optional<Literal> value = known(input);
  if (!value)
    unsupported(fmt::format("its {} ({}) is computed from data; shapes must be fixed at import", what,
                            frontend::in_quotes(node_.inputs[input])));
  return *value;
}

std::vector<std::int64_t> Context::integers(std::size_t input, const char* what) const {
  const Literal value = constant(input, what);
  if (!ir::is_integer(value.type().dtype) || value.type().rank() > 1)
    fail(fmt::format("its {} is a {}, but should be a list of integers", what, ir::to_string(value.type())));
  std::vector<std::int64_t> result(static_cast<std::size_t>(value.type().elements()));
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = value.element_as_int(static_cast<std::int64_t>(i));
  return result;
}

double Context::number(std::size_t input, const char* what) const {
  const Literal value = constant(input, what);
  if (value.type().elements() != 1)
    fail(fmt::format("its {} is a {}, but should be one number", what, ir::to_string(value.type())));
  return value.element_as_double(0);
}

const Attribute* Context::attribute(std::string_view name) const {
  const auto place = node_.attributes.find(name);
  return place == node_.attributes.end() ? nullptr : &place->second;
}

std::int64_t Context::integer(std::string_view name, std::int64_t otherwise) const {
  const Attribute* found = attribute(name);
  if (!found) return otherwise;
  if (found->kind != Attribute::Kind::Int) fail(fmt::format("attribute '{}' is no integer", name));
  return found->integer;
}

double Context::real(std::string_view name, double otherwise) const {
  const Attribute* found = attribute(name);
  if (!found) return otherwise;
  if (found->kind != Attribute::Kind::Float) fail(fmt::format("attribute '{}' is no number", name));
  return found->number;
}

std::string Context::text(std::string_view name, const char* otherwise) const {
  const Attribute* found = attribute(name);
  if (!found) return otherwise;
  if (found->kind != Attribute::Kind::String) fail(fmt::format("attribute '{}' is no text", name));
  return found->text;
}

std::vector<std::int64_t> Context::integers(std::string_view name) const {
  const Attribute* found = attribute(name);
  if (!found) return {};
  if (found->kind != Attribute::Kind::Ints) fail(fmt::format("attribute '{}' is no list of integers", name));
  return found->integers;
}

std::optional<std::vector<std::int64_t>> Context::integers(std::string_view attribute, std::size_t input) const {
  if (has(attribute)) return integers(attribute);
  if (has(input)) return integers(input, std::string(attribute).c_str());
  return std::nullopt;
}

int Context::dimension(std::int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank) fail(fmt::format("there is no dimension {} among {}", axis, rank));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::vector<int> Context::dimensions(const std::vector<std::int64_t>& axes, int rank) const {
  std::vector<int> result;
  std::vector<bool> seen(static_cast<std::size_t>(rank));
  for (const std::int64_t axis : axes) {
    result.push_back(dimension(axis, rank));
    if (seen[static_cast<std::size_t>(result.back())]) fail(fmt::format("dimension {} is named twice", axis));
    seen[static_cast<std::size_t>(result.back())] = true;
  }
  return result;
}

void Context::check_dims(const Dims& dims) const {
  if (too_large(dims)) fail(fmt::format("its result would have the shape {}", ir::to_string(dims)));
}

void Context::out(std::size_t output, const Tensor& value) {
  if (!wants(output)) return;
  if (!values_.define(node_.outputs[output], value))
    fail(fmt::format("its result {} is defined already", frontend::in_quotes(node_.outputs[output])));
}

void Context::refuse_output(std::size_t output) const {
  if (wants(output)) unsupported(fmt::format("its result {} ({})", output, frontend::in_quotes(node_.outputs[output])));
}

bool Context::learns(std::size_t input) const {
  if (!target_.training()) return integer("training_mode", 0) != 0;
  const auto place = weights_.find(name(input));
  return place == weights_.end() || target_.learns(place->second);
}

void Context::keep(std::size_t input, const Tensor& next) {
  const auto place = weights_.find(name(input));
  if (place != weights_.end()) target_.set_next(place->second, next);
}

void Context::fail(const std::string& message) const { RHINO_FAIL(ImportError, "{}", message); }

void Context::unsupported(const std::string& what) const { RHINO_FAIL(UnsupportedError, "not supported: {}", what); }

}  // namespace rhino::frontend::onnx
