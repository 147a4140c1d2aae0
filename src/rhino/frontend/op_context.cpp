// SPDX-License-Identifier: Apache-2.0
#include <rhino/frontend/op_context.hpp>

#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

namespace rhino::frontend {

using Kind = AttributeValue::Kind;

namespace {

/// Longest list of integers that an attribute may hold; splats of huge types are refused before they are written out.
constexpr std::int64_t max_list = std::int64_t{1} << 24;

/// Attributes that say nothing about the result: layouts, precision of the fast units, declared behaviour.
constexpr std::array<std::string_view, 14> harmless_attributes = {"precision_config",
                                                                  "precision",
                                                                  "operand_layouts",
                                                                  "result_layouts",
                                                                  "output_operand_aliases",
                                                                  "api_version",
                                                                  "known_expanding_dimensions",
                                                                  "known_nonexpanding_dimensions",
                                                                  "xla_shape",
                                                                  "sharding",
                                                                  "result_accuracy",
                                                                  "no_inline",
                                                                  "algorithm",
                                                                  "version"};

/// Folds the few ops that shape arithmetic consists of.
class IntegerFolder {
 public:
  explicit IntegerFolder(const ir::Function& function) : function_(function) {}

  bool fold(ir::ValueId value, std::vector<std::int64_t>& result, int depth = 0) {
    if (depth > 64 || --budget_ < 0) return false;
    const ir::Op* op = function_.producer(value);
    if (op == nullptr || function_.type(value).elements() > 4096) return false;
    const std::int64_t elements = function_.type(value).elements();
    switch (op->kind) {
      case ir::OpKind::Constant: {
        const ir::Literal& literal = op->as<ir::ConstantAttrs>().value;
        result.clear();
        for (std::int64_t i = 0; i < elements; ++i)
          result.push_back(literal.element_as_int(i));
        return true;
      }
      case ir::OpKind::Convert:
      case ir::OpKind::Reshape:
        return fold(op->operands[0], result, depth + 1);
      case ir::OpKind::BroadcastInDim:
        if (!fold(op->operands[0], result, depth + 1) || result.size() != 1) return false;
        result.assign(static_cast<std::size_t>(elements), result[0]);
        return true;
      case ir::OpKind::Concatenate: {
        if (function_.type(value).rank() != 1) return false;
        std::vector<std::int64_t> all, part;
        for (const ir::ValueId operand : op->operands) {
          if (!fold(operand, part, depth + 1)) return false;
          all.insert(all.end(), part.begin(), part.end());
        }
        result = std::move(all);
        return true;
      }
      case ir::OpKind::Add:
      case ir::OpKind::Subtract:
      case ir::OpKind::Multiply: {
        std::vector<std::int64_t> right;
        if (!fold(op->operands[0], result, depth + 1) || !fold(op->operands[1], right, depth + 1)) return false;
        for (std::size_t i = 0; i < result.size(); ++i) {
          std::int64_t& left = result[i];
          const bool overflow = op->kind == ir::OpKind::Add        ? __builtin_add_overflow(left, right[i], &left)
                                : op->kind == ir::OpKind::Subtract ? __builtin_sub_overflow(left, right[i], &left)
                                                                   : __builtin_mul_overflow(left, right[i], &left);
          if (overflow) return false;
        }
        return true;
      }
      default:
        return false;
    }
  }

 private:
  const ir::Function& function_;
  int budget_ = 4096;
};

}  // namespace

OpContext::OpContext(Assembler& the_assembler, Scope& the_scope, const SyntaxOp& the_op,
                     std::vector<Bound> the_operands)
    : assembler(the_assembler),
      scope(the_scope),
      op(the_op),
      operands(std::move(the_operands)),
      builder(the_assembler.program(), the_scope.function),
      used_(the_op.attributes.size(), false) {
  builder.set_location({op.line, assembler.location_name(op.location)});
}

void OpContext::fail(std::string_view message) const { assembler.source().fail(op.position, op.shown(), message); }

void OpContext::unsupported(std::string_view what, std::string_view remedy) const {
  assembler.source().unsupported(op.position, op.shown(), what, remedy);
}

ir::ValueId OpContext::operand(std::size_t index) const {
  if (index >= operands.size()) fail(fmt::format("operand {} is missing", index));
  if (operands[index].is_tuple) fail(fmt::format("operand {} is a tuple, but a tensor is needed", index));
  return operands[index].value;
}

std::vector<ir::ValueId> OpContext::values_widened(ir::FunctionId region,
                                                   const std::function<int(std::size_t)>& parameter_of) {
  std::vector<ir::ValueId> widened = values();
  const auto params = assembler.program().function(region).param_types();
  for (std::size_t i = 0; i < widened.size(); ++i) {
    const int parameter = parameter_of(i);
    if (parameter < 0 || static_cast<std::size_t>(parameter) >= params.size()) continue;
    const ir::DType from = type(widened[i]).dtype, to = params[static_cast<std::size_t>(parameter)].dtype;
    const bool same_sort = (ir::is_float(from) && ir::is_float(to)) ||
                           (ir::is_signed_int(from) && ir::is_signed_int(to)) ||
                           (ir::is_unsigned_int(from) && ir::is_unsigned_int(to));
    if (same_sort && ir::dtype_bits(to) > ir::dtype_bits(from)) widened[i] = builder.convert(widened[i], to);
  }
  return widened;
}

std::vector<ir::ValueId> OpContext::values() const {
  std::vector<ir::ValueId> all;
  for (const Bound& operand : operands)
    flatten(operand, all);
  return all;
}

ir::TensorType OpContext::type(ir::ValueId value) const {
  return assembler.program().function(scope.function).type(value);
}

const ir::TensorType& OpContext::result_type(std::size_t index) const {
  if (index >= op.result_types.size()) fail(fmt::format("the type of result {} is missing", index));
  if (op.result_types[index].kind != SyntaxType::Kind::Tensor) fail(fmt::format("result {} must be a tensor", index));
  return op.result_types[index].tensor;
}

std::vector<ir::TensorType> OpContext::result_types() const {
  std::vector<ir::TensorType> types;
  for (std::size_t i = 0; i < op.result_types.size(); ++i)
    types.push_back(result_type(i));
  return types;
}

void OpContext::expect_operands(std::size_t count) const {
  if (operands.size() != count) fail(fmt::format("has {} operands, but needs {}", operands.size(), count));
}

void OpContext::expect_regions(std::size_t count) const {
  const std::size_t given = op.computations.empty() ? op.regions.size() : op.computations.size();
  if (given != count) fail(fmt::format("has {} regions, but needs {}", given, count));
}

const AttributeValue* OpContext::find(Keys keys) {
  for (std::size_t i = 0; i < op.attributes.size(); ++i) {
    for (const std::string_view key : keys) {
      if (op.attributes[i].key != key) continue;
      used_[i] = true;
      return &op.attributes[i].value.resolved();
    }
  }
  return nullptr;
}

const AttributeValue& OpContext::require(Keys keys) {
  const AttributeValue* value = find(keys);
  if (value == nullptr) fail(fmt::format("the attribute '{}' is missing", *keys.begin()));
  return *value;
}

std::vector<std::int64_t> OpContext::integers_of(const AttributeValue& given) const {
  const AttributeValue& value = given.resolved();
  switch (value.kind) {
    case Kind::Integers:
      return value.integers;
    case Kind::Integer:
    case Kind::Bool:
      return {value.integer};
    case Kind::Literal: {
      const std::int64_t count = value.literal.type().elements();
      if (count > max_list) fail("a list of integers in an attribute is too long");
      std::vector<std::int64_t> all(static_cast<std::size_t>(count));
      for (std::int64_t i = 0; i < count; ++i)
        all[static_cast<std::size_t>(i)] = value.literal.element_as_int(i);
      return all;
    }
    case Kind::List: {
      std::vector<std::int64_t> all;
      for (const AttributeValue& item : value.items) {
        const auto part = integers_of(item);
        all.insert(all.end(), part.begin(), part.end());
      }
      return all;
    }
    default:
      assembler.source().fail(value.position, op.shown(), "expected a list of integers");
  }
}

std::vector<int> OpContext::dims_of(const AttributeValue& value) const {
  std::vector<int> all;
  for (const std::int64_t dim : integers_of(value)) {
    if (dim < -1 || dim > 1024) fail(fmt::format("{} is not a dimension", dim));
    all.push_back(static_cast<int>(dim));
  }
  return all;
}

std::vector<std::int64_t> OpContext::integers(Keys keys) { return integers_of(require(keys)); }

std::vector<std::int64_t> OpContext::integers_or(Keys keys, std::size_t count, std::int64_t value) {
  const AttributeValue* found = find(keys);
  if (found == nullptr) return std::vector<std::int64_t>(count, value);
  std::vector<std::int64_t> all = integers_of(*found);
  if (all.size() != count)
    fail(fmt::format("the attribute '{}' has {} values, but needs {}", *keys.begin(), all.size(), count));
  return all;
}

std::vector<int> OpContext::dims(Keys keys) { return dims_of(require(keys)); }

std::vector<int> OpContext::dims_or_empty(Keys keys) {
  const AttributeValue* found = find(keys);
  return found == nullptr ? std::vector<int>() : dims_of(*found);
}

std::int64_t OpContext::integer(Keys keys) {
  const AttributeValue& value = require(keys);
  const auto all = integers_of(value);
  if (all.size() != 1) fail(fmt::format("the attribute '{}' must be one integer", *keys.begin()));
  return all[0];
}

std::int64_t OpContext::integer_or(Keys keys, std::int64_t value) { return has(keys) ? integer(keys) : value; }

bool OpContext::boolean_or(Keys keys, bool value) {
  const AttributeValue* found = find(keys);
  if (found == nullptr) return value;
  if (found->kind == Kind::Unit) return true;
  if (found->kind != Kind::Bool && found->kind != Kind::Integer)
    fail(fmt::format("the attribute '{}' must be true or false", *keys.begin()));
  return found->integer != 0;
}

double OpContext::number(Keys keys) {
  const AttributeValue& value = require(keys);
  if (value.kind != Kind::Float && value.kind != Kind::Integer)
    fail(fmt::format("the attribute '{}' must be a number", *keys.begin()));
  if (value.text.starts_with("0x"))  // the bits of a 32-bit float
    return std::bit_cast<float>(static_cast<std::uint32_t>(value.integer));
  return value.number;
}

std::string OpContext::word(Keys keys) {
  const AttributeValue& value = require(keys);
  if (value.kind == Kind::String || value.kind == Kind::Symbol) return value.string;
  if (value.kind == Kind::Word) return std::string(value.text);
  fail(fmt::format("the attribute '{}' must be a name", *keys.begin()));
}

std::string OpContext::word_or(Keys keys, std::string_view value) {
  return has(keys) ? word(keys) : std::string(value);
}

ir::Literal OpContext::literal(Keys keys) {
  const AttributeValue& value = require(keys);
  if (value.kind != Kind::Literal) fail(fmt::format("the attribute '{}' must be a literal", *keys.begin()));
  return value.literal;
}

void OpContext::finish() const {
  for (std::size_t i = 0; i < used_.size(); ++i) {
    const std::string_view key = op.attributes[i].key;
    if (used_[i] || key.find('.') != std::string_view::npos) continue;
    if (std::find(harmless_attributes.begin(), harmless_attributes.end(), key) != harmless_attributes.end()) continue;
    assembler.source().fail(op.attributes[i].value.position, op.shown(),
                            fmt::format("unknown attribute {}", in_quotes(key)));
  }
}

ir::FunctionId OpContext::region_by_copy(std::size_t index, std::string_view purpose) {
  if (!op.computations.empty()) {
    const ir::FunctionId function = assembler.callee(op.computations.at(index), op);
    if (!assembler.elided_constants_of(function).empty())
      fail(fmt::format("the computation {} has an elided constant, which cannot become an input there",
                       in_quotes(op.computations[index])));
    return function;
  }
  if (index >= op.regions.size()) fail(fmt::format("region {} is missing", index));
  return assembler.lower_region(scope, op.regions[index], CapturePolicy::ByCopy, nullptr, purpose).function;
}

std::vector<std::int64_t> OpContext::constant_integers(ir::ValueId value, std::string_view what) const {
  std::vector<std::int64_t> result;
  if (!IntegerFolder(assembler.program().function(scope.function)).fold(value, result))
    unsupported(fmt::format("dynamic shapes are not supported ({} is not a constant)", what),
                "export the program with concrete sizes for every dimension");
  return result;
}

}  // namespace rhino::frontend
