// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>

#include <rhino/frontend/op_context.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::frontend {
namespace {

using ir::OpKind;

std::string_view bare(std::string_view name) {
  if (name.starts_with("stablehlo.")) return name.substr(10);
  if (name.starts_with("mhlo.")) return name.substr(5);
  return name;
}

/// Kind of an elementwise op without attributes, also for `mhlo.erf` and the like, which are chlo ops here.
std::optional<OpKind> plain_kind(std::string_view name) {
  const std::string_view spelling = bare(name);
  auto kind = ir::op_kind_from_name(spelling);
  if (!kind && spelling.size() != name.size()) kind = ir::op_kind_from_name("chlo." + std::string(spelling));
  if (!kind && spelling.starts_with("chlo.")) kind = ir::op_kind_from_name(spelling.substr(5));
  return kind;
}

std::vector<Bound> read_plain(OpContext& context) {
  const auto kind = plain_kind(context.op.name);
  RHINO_ASSERT(kind.has_value());
  return results(context.builder.add(*kind, context.values()));
}

std::vector<Bound> read_convert(OpContext& context) {
  context.expect_operands(1);
  return results(context.builder.add(OpKind::Convert, context.values(), ir::ConvertAttrs{context.result_type().dtype}));
}

std::vector<Bound> read_bitcast_convert(OpContext& context) {
  context.expect_operands(1);
  return results(
      context.builder.add(OpKind::BitcastConvert, context.values(), ir::ConvertAttrs{context.result_type().dtype}));
}

std::vector<Bound> read_identity(OpContext& context) { return context.operands; }

/// "e5m10" or two attributes.
std::vector<Bound> read_reduce_precision(OpContext& context) {
  ir::ReducePrecisionAttrs attrs;
  if (context.has({"format"})) {
    const std::string format = context.word({"format"});
    const std::size_t m = format.find('m');
    const auto number = [&](std::string_view digits) {
      int value = 0;
      if (digits.empty() || digits.size() > 3) context.fail("the format must look like e5m10");
      for (const char c : digits) {
        if (c < '0' || c > '9') context.fail("the format must look like e5m10");
        value = value * 10 + (c - '0');
      }
      return value;
    };
    if (format.empty() || format[0] != 'e' || m == std::string::npos) context.fail("the format must look like e5m10");
    attrs.exponent_bits = number(std::string_view(format).substr(1, m - 1));
    attrs.mantissa_bits = number(std::string_view(format).substr(m + 1));
  } else {
    attrs.exponent_bits = static_cast<int>(context.integer({"exponent_bits"}));
    attrs.mantissa_bits = static_cast<int>(context.integer({"mantissa_bits"}));
  }
  return results(context.builder.add(OpKind::ReducePrecision, context.values(), attrs));
}

ir::Comparison comparison(OpContext& context, std::string_view word) {
  constexpr std::array<std::pair<std::string_view, ir::Comparison>, 6> words = {{{"EQ", ir::Comparison::Eq},
                                                                                 {"NE", ir::Comparison::Ne},
                                                                                 {"GE", ir::Comparison::Ge},
                                                                                 {"GT", ir::Comparison::Gt},
                                                                                 {"LE", ir::Comparison::Le},
                                                                                 {"LT", ir::Comparison::Lt}}};
  for (const auto& [name, value] : words)
    if (name == word) return value;
  context.fail(fmt::format("{} is not a comparison (EQ, NE, GE, GT, LE, LT)", in_quotes(word)));
}

ir::ComparisonType comparison_type(OpContext& context, std::string_view word) {
  if (word == "FLOAT") return ir::ComparisonType::Float;
  if (word == "TOTALORDER") return ir::ComparisonType::TotalOrder;
  if (word == "SIGNED") return ir::ComparisonType::Signed;
  if (word == "UNSIGNED") return ir::ComparisonType::Unsigned;
  if (word == "NOTYPE" || word.empty()) return ir::ComparisonType::Default;
  context.fail(fmt::format("{} is not a type of comparison", in_quotes(word)));
}

ir::CompareAttrs compare_attrs(OpContext& context) {
  return {comparison(context, context.word({"comparison_direction"})),
          comparison_type(context, context.word_or({"compare_type"}, ""))};
}

std::vector<Bound> read_compare(OpContext& context) {
  return results(context.builder.add(OpKind::Compare, context.values(), compare_attrs(context)));
}

std::vector<Bound> read_square(OpContext& context) {
  const ir::ValueId x = context.operand(0);
  return results(context.builder(OpKind::Multiply, x, x));
}

std::vector<Bound> read_infinity_test(OpContext& context) {
  ir::ValueId x = context.operand(0);
  const ir::TensorType type = context.type(x);
  if (!ir::is_float(type.dtype)) context.fail("the operand must be of a floating type");
  const std::string_view name = context.op.name;
  if (name == "chlo.is_inf") x = context.builder(OpKind::Abs, x);
  const double infinity = name == "chlo.is_neg_inf" ? -HUGE_VAL : HUGE_VAL;
  return results(context.builder.compare(x, context.builder.full(type, infinity), ir::Comparison::Eq));
}

std::vector<Bound> read_constant_like(OpContext& context) {
  const ir::TensorType type = context.operand_type(0);
  const AttributeValue& value = context.require({"value"});
  if (value.kind == AttributeValue::Kind::Integer)
    return results(context.builder.constant(ir::Literal::splat_int(type, value.integer)));
  return results(context.builder.full(type, context.number({"value"})));
}

/// chlo.broadcast_<op>: operands are spread to the shape of the result first. Dimensions are aligned at the end, or the
/// smaller operand's go where broadcast_dimensions says.
std::vector<Bound> read_broadcasting(OpContext& context) {
  std::string_view name = context.op.name.substr(std::string_view("chlo.broadcast_").size());
  auto kind = ir::op_kind_from_name(name);
  if (!kind) kind = ir::op_kind_from_name("chlo." + std::string(name));
  if (!kind) context.fail("unknown op");
  const ir::TensorType& result = context.result_type();
  const auto explicit_dims = context.dims_or_empty({"broadcast_dimensions"});
  const bool is_explicit = context.has({"broadcast_dimensions"});
  const auto spread = [&](ir::ValueId value) {
    const ir::TensorType type = context.type(value);
    if (type.dims == result.dims) return value;
    if (type.rank() > result.rank()) context.fail("an operand has more dimensions than the result");
    std::vector<int> dims;
    for (int i = 0; i < type.rank(); ++i)
      dims.push_back(result.rank() - type.rank() + i);
    if (is_explicit && type.rank() < result.rank()) {
      if (explicit_dims.size() != type.dims.size()) context.fail("broadcast_dimensions does not match the operands");
      dims = explicit_dims;
    }
    return context.builder.broadcast(value, result.dims, dims);
  };
  std::vector<ir::ValueId> operands;
  for (const ir::ValueId value : context.values()) {
    const bool scalar_allowed =
        (*kind == OpKind::Select && operands.empty()) || (*kind == OpKind::Clamp && operands.size() != 1);
    operands.push_back(scalar_allowed && context.type(value).rank() == 0 ? value : spread(value));
  }
  if (*kind == OpKind::Compare) return results(context.builder.add(*kind, operands, compare_attrs(context)));
  return results(context.builder.add(*kind, operands));
}

}  // namespace

void add_elementwise_readers(OpReaders& readers) {
#define RHINO_OP(Kind, spelling, Attrs, infer, factors, cost)                       \
  if (std::is_same_v<ir::Attrs, ir::NoAttrs> && ir::is_elementwise(OpKind::Kind)) { \
    readers[spelling] = read_plain;                                                 \
    if (std::string_view(spelling).starts_with("chlo."))                            \
      readers.try_emplace(std::string_view(spelling).substr(5), read_plain);        \
  }
#include <rhino/ir/op_list.def>
#undef RHINO_OP
  readers["chlo.tan"] = read_plain;
  readers["convert"] = read_convert;
  readers["bitcast_convert"] = read_bitcast_convert;
  readers["reduce_precision"] = read_reduce_precision;
  readers["compare"] = read_compare;
  readers["copy"] = read_identity;
  readers["chlo.square"] = read_square;
  readers["chlo.is_inf"] = readers["chlo.is_pos_inf"] = readers["chlo.is_neg_inf"] = read_infinity_test;
  readers["chlo.constant_like"] = read_constant_like;
  readers["chlo.conj"] = read_identity;
  readers["chlo.broadcast_*"] = read_broadcasting;
}

}  // namespace rhino::frontend
