// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <rhino/frontend/op_context.hpp>

namespace rhino::frontend {
namespace {

using ir::OpKind;

std::vector<Bound> read_dot_general(OpContext& context) {
  context.expect_operands(2);
  ir::DotGeneralAttrs attrs;
  if (const AttributeValue* numbers = context.find({"dot_dimension_numbers"})) {
    if (numbers->kind != AttributeValue::Kind::Dict) context.fail("the dimension numbers are malformed");
    const auto field = [&](std::string_view key) {
      const AttributeValue* value = find_attribute(numbers->fields, key);
      return value == nullptr ? std::vector<int>() : context.dims_of(*value);
    };
    attrs.lhs_batch = field("lhs_batching_dimensions");
    attrs.rhs_batch = field("rhs_batching_dimensions");
    attrs.lhs_contracting = field("lhs_contracting_dimensions");
    attrs.rhs_contracting = field("rhs_contracting_dimensions");
  } else {
    const auto pair = [&](std::string_view key, std::vector<int>& lhs, std::vector<int>& rhs) {
      const AttributeValue* value = context.find({key});
      if (value == nullptr) return;
      if (value->kind != AttributeValue::Kind::List || value->items.size() != 2)
        context.fail(fmt::format("'{}' must look like [0] x [1]", key));
      lhs = context.dims_of(value->items[0]);
      rhs = context.dims_of(value->items[1]);
    };
    pair("batching_dims", attrs.lhs_batch, attrs.rhs_batch);
    pair("contracting_dims", attrs.lhs_contracting, attrs.rhs_contracting);
  }
  attrs.result_dtype = context.result_type().dtype;
  return results(context.builder.add(OpKind::DotGeneral, context.values(), std::move(attrs)));
}

/// The old `dot`: last dimension of the left with the first of the right.
std::vector<Bound> read_dot(OpContext& context) {
  context.expect_operands(2);
  const int rank = context.operand_type(0).rank();
  if (rank == 0) context.fail("the operands need a dimension to contract");
  ir::DotGeneralAttrs attrs;
  attrs.lhs_contracting = {rank - 1};
  attrs.rhs_contracting = {0};
  attrs.result_dtype = context.result_type().dtype;
  return results(context.builder.add(OpKind::DotGeneral, context.values(), std::move(attrs)));
}

/// The labels of "ab,bc->ac".
struct Equation {
  std::string lhs, rhs, result;
};

Equation parse_equation(OpContext& context, bool unary) {
  const std::string text = context.word({"einsum_config"});
  Equation equation;
  std::string* part = &equation.lhs;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == ',' && part == &equation.lhs && !unary) {
      part = &equation.rhs;
    } else if (c == '-' && i + 1 < text.size() && text[i + 1] == '>' && part != &equation.result) {
      part = &equation.result;
      ++i;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      if (part->find(c) != std::string::npos)
        context.unsupported(
            fmt::format("the equation {} with a label twice in one operand is not supported", in_quotes(text)),
            "write the diagonal as a gather");
      *part += c;
    } else {
      context.unsupported(fmt::format("the equation {} is not supported", in_quotes(text)), "write it as dot_general");
    }
  }
  return equation;
}

/// Dimensions of `from` in the order of `to`; every label of `to` must occur.
std::vector<int> permutation(OpContext& context, const std::string& from, const std::string& to) {
  std::vector<int> order;
  for (const char label : to) {
    const std::size_t at = from.find(label);
    if (at == std::string::npos) context.fail(fmt::format("the label '{}' of the result is in no operand", label));
    order.push_back(static_cast<int>(at));
  }
  return order;
}

/// Sums over the labels of a value that `keep` says are not wanted.
template <class Keep>
ir::ValueId sum_others(OpContext& context, ir::ValueId value, std::string& labels, const Keep& keep) {
  if (static_cast<std::size_t>(context.type(value).rank()) != labels.size())
    context.fail("the equation does not fit the rank of an operand");
  std::vector<int> dims;
  std::string kept;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (keep(labels[i]))
      kept += labels[i];
    else
      dims.push_back(static_cast<int>(i));
  }
  labels = std::move(kept);
  return dims.empty() ? value : context.builder.reduce(value, ir::ReducerKind::Add, dims);
}

ir::ValueId transposed(OpContext& context, ir::ValueId value, const std::vector<int>& order) {
  return std::is_sorted(order.begin(), order.end()) ? value : context.builder.transpose(value, order);
}

std::vector<Bound> read_einsum(OpContext& context) {
  context.expect_operands(2);
  Equation equation = parse_equation(context, false);
  const auto in = [](const std::string& labels, char label) { return labels.find(label) != std::string::npos; };
  const std::string rhs_labels = equation.rhs;
  const ir::ValueId lhs = sum_others(context, context.operand(0), equation.lhs,
                                     [&](char c) { return in(rhs_labels, c) || in(equation.result, c); });
  const ir::ValueId rhs = sum_others(context, context.operand(1), equation.rhs,
                                     [&](char c) { return in(equation.lhs, c) || in(equation.result, c); });
  ir::DotGeneralAttrs attrs;
  std::string batch, free;
  for (std::size_t i = 0; i < equation.lhs.size(); ++i) {
    const char label = equation.lhs[i];
    const std::size_t other = equation.rhs.find(label);
    if (other == std::string::npos) {
      free += label;
    } else if (in(equation.result, label)) {
      batch += label;
      attrs.lhs_batch.push_back(static_cast<int>(i));
      attrs.rhs_batch.push_back(static_cast<int>(other));
    } else {
      attrs.lhs_contracting.push_back(static_cast<int>(i));
      attrs.rhs_contracting.push_back(static_cast<int>(other));
    }
  }
  for (const char label : equation.rhs)
    if (!in(equation.lhs, label)) free += label;
  attrs.result_dtype = context.result_type().dtype;
  const ir::ValueId product = context.builder.add(OpKind::DotGeneral, {lhs, rhs}, std::move(attrs));
  return results(transposed(context, product, permutation(context, batch + free, equation.result)));
}

std::vector<Bound> read_unary_einsum(OpContext& context) {
  context.expect_operands(1);
  Equation equation = parse_equation(context, true);
  const ir::ValueId summed = sum_others(context, context.operand(0), equation.lhs,
                                        [&](char c) { return equation.result.find(c) != std::string::npos; });
  return results(transposed(context, summed, permutation(context, equation.lhs, equation.result)));
}

}  // namespace

void add_contraction_readers(OpReaders& readers) {
  readers["dot_general"] = read_dot_general;
  readers["dot"] = read_dot;
  readers["einsum"] = read_einsum;
  readers["unary_einsum"] = read_unary_einsum;
}

}  // namespace rhino::frontend
