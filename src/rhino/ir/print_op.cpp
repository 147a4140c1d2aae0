// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/ir/print.hpp>

// Ops that StableHLO prints in a form of their own.

namespace rhino::ir {
namespace {

constexpr std::array<std::string_view, 6> comparison_names{"EQ", "NE", "GE", "GT", "LE", "LT"};
constexpr std::array<std::string_view, 5> comparison_type_names{"", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
constexpr std::array<std::string_view, 3> rng_names{"DEFAULT", "THREE_FRY", "PHILOX"};

template <class... Args>
void append(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

template <class List>
std::string bracketed(const List& list) {
  return fmt::format("[{}]", fmt::join(list, ", "));
}

bool has_generic_form_only(const Op& op) {
  switch (op.kind) {
    case OpKind::Gather:
    case OpKind::Scatter:
    case OpKind::ReduceWindow:
    case OpKind::SelectAndScatter:
    case OpKind::Sort:
    case OpKind::Case:
    case OpKind::AllGather:
    case OpKind::AllReduce:
    case OpKind::AllToAll:
    case OpKind::CollectiveBroadcast:
    case OpKind::CollectivePermute:
    case OpKind::ReduceScatter:
      return true;
    case OpKind::While:
    case OpKind::OptimizationBarrier:
      return op.operands.empty();
    case OpKind::CustomCall:
      return op.as<CustomCallAttrs>().target == "interpreter.run_parallel";
    default:
      return false;
  }
}

}  // namespace

void Printer::print_operands(const Op& op, const ValueNames& names, std::string_view separator) {
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    if (i != 0) out_ += separator;
    out_ += names[op.operands[i]];
  }
}

void Printer::print_operand_types(const Function& function, const Op& op) {
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    if (i != 0) out_ += ", ";
    out_ += to_string(function.type(op.operands[i]));
  }
}

void Printer::print_result_types(const Function& function, const Op& op) {
  const bool parentheses = op.results.size() != 1;
  if (parentheses) out_ += '(';
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    if (i != 0) out_ += ", ";
    out_ += to_string(function.type(op.results[i]));
  }
  if (parentheses) out_ += ')';
}

void Printer::print_functional_type(const Function& function, const Op& op) {
  out_ += " : (";
  print_operand_types(function, op);
  out_ += ") -> ";
  print_result_types(function, op);
}

void Printer::print_constant(const Literal& literal) {
  const std::int64_t count = literal.type().elements();
  if (single_line_ && !literal.is_splat() && count > 8) {
    out_ += "dense<..>";
  } else if (!literal.is_splat() && count > options_.resource_threshold) {
    const std::string name = fmt::format("constant_{}", resources_.size());
    resources_.push_back({name, literal});
    append(out_, "dense_resource<{}>", name);
  } else {
    out_ += "dense<";
    print_elements(out_, literal);
    out_ += '>';
  }
  append(out_, " : {}", to_string(literal.type()));
}

void Printer::print_convolution(const ConvolutionAttrs& attrs) {
  const auto numbers = [&](std::string_view first_name, int first, std::string_view second_name, int second,
                           const std::vector<int>& spatial) {
    std::vector<std::string> entries(spatial.size() + 2);
    entries[static_cast<std::size_t>(first)] = first_name;
    entries[static_cast<std::size_t>(second)] = second_name;
    for (std::size_t i = 0; i < spatial.size(); ++i)
      entries[static_cast<std::size_t>(spatial[i])] = std::to_string(i);
    return bracketed(entries);
  };
  append(out_, " dim_numbers = {}x{}->{}, window = {{",
         numbers("b", attrs.input_batch, "f", attrs.input_feature, attrs.input_spatial),
         numbers("i", attrs.kernel_input_feature, "o", attrs.kernel_output_feature, attrs.kernel_spatial),
         numbers("b", attrs.output_batch, "f", attrs.output_feature, attrs.output_spatial));
  const WindowDim neutral;
  std::string_view separator;
  const auto list = [&](std::string_view name, auto differs, auto text_of) {
    std::vector<std::string> texts;
    bool any = false;
    for (const WindowDim& w : attrs.window) {
      any = any || differs(w);
      texts.push_back(text_of(w));
    }
    if (!any) return;
    append(out_, "{}{} = {}", separator, name, bracketed(texts));
    separator = ", ";
  };
  list(
      "stride", [&](const WindowDim& w) { return w.stride != neutral.stride; },
      [](const WindowDim& w) { return std::to_string(w.stride); });
  list(
      "pad", [&](const WindowDim& w) { return w.pad_low != 0 || w.pad_high != 0; },
      [](const WindowDim& w) { return fmt::format("[{}, {}]", w.pad_low, w.pad_high); });
  list(
      "lhs_dilate", [&](const WindowDim& w) { return w.base_dilation != 1; },
      [](const WindowDim& w) { return std::to_string(w.base_dilation); });
  list(
      "rhs_dilate", [&](const WindowDim& w) { return w.window_dilation != 1; },
      [](const WindowDim& w) { return std::to_string(w.window_dilation); });
  list(
      "reverse", [&](const WindowDim& w) { return w.reversal; },
      [](const WindowDim& w) { return std::string(w.reversal ? "true" : "false"); });
  append(out_, "}} {{batch_group_count = {} : i64, feature_group_count = {} : i64}}", attrs.batch_group_count,
         attrs.feature_group_count);
}

void Printer::print_compare(const Function& function, const Op& op, const ValueNames& names) {
  const auto& attrs = op.as<CompareAttrs>();
  append(out_, "  {}, ", comparison_names[static_cast<std::size_t>(attrs.direction)]);
  print_operands(op, names);
  if (attrs.type != ComparisonType::Default)
    append(out_, ",  {}", comparison_type_names[static_cast<std::size_t>(attrs.type)]);
  print_functional_type(function, op);
}

void Printer::print_reduce(const Function& function, const Op& op, const ValueNames& names, int indent) {
  const Function& reducer = program_.function(op.regions[0]);
  const std::size_t count = op.results.size();
  out_ += '(';
  for (std::size_t i = 0; i < count; ++i)
    append(out_, "{}{} init: {}{}", i == 0 ? "" : "(", names[op.operands[i]], names[op.operands[count + i]],
           i + 1 == count ? ")" : "), ");
  const bool compact = classify_reducer(reducer) != ReducerKind::Other && reducer.ops[0].operands == reducer.params;
  if (compact) append(out_, " applies {}", qualified_op_name(reducer.ops[0].kind));
  append(out_, " across dimensions = {}", bracketed(op.as<ReduceAttrs>().dimensions));
  print_functional_type(function, op);
  if (compact) return;
  if (single_line_) {
    out_ += " reducer {..}";
    return;
  }
  std::vector<std::string> arguments(2 * count);
  out_ += '\n';
  indent_line(indent + 1);
  out_ += "reducer";
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::size_t at : {i, count + i})
      arguments[at] = fmt::format("%arg{}", next_argument_++);
    const std::string type = to_string(reducer.type(reducer.params[i]));
    append(out_, "({}: {}, {}: {}) ", arguments[i], type, arguments[count + i], type);
  }
  out_ += " {\n";
  print_block(reducer, region_names(reducer, arguments), indent + 2);
  indent_line(indent);
  out_ += '}';
}

void Printer::print_while(const Function& function, const Op& op, const ValueNames& names, int indent) {
  std::vector<std::string> arguments(op.operands.size());
  out_ += '(';
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    arguments[i] = fmt::format("%iterArg_{}", next_argument_++);
    append(out_, "{}{} = {}", i == 0 ? "" : ", ", arguments[i], names[op.operands[i]]);
  }
  out_ += ") : ";
  print_operand_types(function, op);
  if (single_line_) {
    out_ += " cond {..} do {..}";
    return;
  }
  out_ += '\n';
  indent_line(indent + 1);
  out_ += "cond {\n";
  const Function& condition = program_.function(op.regions[0]);
  print_block(condition, region_names(condition, arguments), indent + 2);
  indent_line(indent);
  out_ += "} do {\n";
  const Function& body = program_.function(op.regions[1]);
  print_block(body, region_names(body, arguments), indent + 2);
  indent_line(indent);
  out_ += '}';
}

void Printer::print_custom_call(const Function& function, const Op& op, const ValueNames& names) {
  const auto& attrs = op.as<CustomCallAttrs>();
  if (attrs.target == "interpreter.probe") {
    out_ += "interpreter.probe ";
    print_operands(op, names);
    out_ += ", probe_id = ";
    print_quoted(out_, attrs.backend_config);
    out_ += " : ";
    print_operand_types(function, op);
    return;
  }
  out_ += "stablehlo.custom_call ";
  print_symbol(out_, attrs.target);
  out_ += '(';
  print_operands(op, names);
  out_ += ')';
  std::string_view separator = " {";
  const auto attribute = [&] {
    out_ += separator;
    separator = ", ";
  };
  if (!attrs.backend_config.empty()) {
    attribute();
    out_ += "backend_config = ";
    print_quoted(out_, attrs.backend_config);
  }
  if (!op.regions.empty()) {
    attribute();
    out_ += "called_computations = [";
    for (std::size_t i = 0; i < op.regions.size(); ++i) {
      if (i != 0) out_ += ", ";
      print_symbol(out_, symbol_of(op.regions[i]));
    }
    out_ += ']';
  }
  if (attrs.has_side_effect) {
    attribute();
    out_ += "has_side_effect = true";
  }
  if (separator == ", ") out_ += '}';
  print_functional_type(function, op);
}

void Printer::print_body(const Function& function, const Op& op, const ValueNames& names, int indent) {
  if (has_generic_form_only(op)) return print_generic(function, op, names, indent);
  if (op.kind == OpKind::CustomCall) return print_custom_call(function, op, names);
  if (op.kind == OpKind::Call) {
    out_ += "func.call ";
    print_symbol(out_, symbol_of(op.regions[0]));
    out_ += '(';
    print_operands(op, names);
    out_ += ')';
    return print_functional_type(function, op);
  }

  out_ += qualified_op_name(op.kind);
  const auto same_type = [&] { append(out_, " : {}", to_string(function.type(op.results[0]))); };
  switch (op.kind) {
    case OpKind::Compare:
      return print_compare(function, op, names);
    case OpKind::Reduce:
      return print_reduce(function, op, names, indent);
    case OpKind::While:
      return print_while(function, op, names, indent);
    case OpKind::Constant:
      out_ += ' ';
      return print_constant(op.as<ConstantAttrs>().value);
    case OpKind::Iota:
      append(out_, " dim = {}", op.as<IotaAttrs>().dimension);
      return same_type();
    case OpKind::PartitionId:
    case OpKind::ReplicaId:
      return same_type();
    case OpKind::TopK: {
      const auto& attrs = op.as<TopKAttrs>();
      append(out_, "({}, k = {}){} : {} -> ", names[op.operands[0]], attrs.k, attrs.largest ? "" : " {largest = false}",
             to_string(function.type(op.operands[0])));
      return print_result_types(function, op);
    }
    case OpKind::Convolution:
      out_ += '(';
      print_operands(op, names);
      out_ += ')';
      print_convolution(op.as<ConvolutionAttrs>());
      return print_functional_type(function, op);
    default:
      break;
  }

  out_ += ' ';
  print_operands(op, names);
  print_attributes_and_types(function, op);
}

void Printer::print_attributes_and_types(const Function& function, const Op& op) {
  const auto same_type = [&] { append(out_, " : {}", to_string(function.type(op.results[0]))); };
  switch (op.kind) {
    case OpKind::Convert:
    case OpKind::BitcastConvert:
    case OpKind::IsFinite:
    case OpKind::Reshape:
    case OpKind::DynamicUpdateSlice:
      return print_functional_type(function, op);
    case OpKind::ReducePrecision: {
      const auto& attrs = op.as<ReducePrecisionAttrs>();
      append(out_, ", format = e{}m{}", attrs.exponent_bits, attrs.mantissa_bits);
      return same_type();
    }
    case OpKind::Select:
      append(out_, " : {}, {}", to_string(function.type(op.operands[0])), to_string(function.type(op.results[0])));
      return;
    case OpKind::Clamp:
      if (function.type(op.operands[0]) != function.type(op.results[0]) ||
          function.type(op.operands[2]) != function.type(op.results[0]))
        return print_functional_type(function, op);
      return same_type();
    case OpKind::BroadcastInDim:
      append(out_, ", dims = {}", bracketed(op.as<BroadcastInDimAttrs>().dimensions));
      return print_functional_type(function, op);
    case OpKind::Transpose:
      append(out_, ", dims = {}", bracketed(op.as<DimensionsAttrs>().dimensions));
      return print_functional_type(function, op);
    case OpKind::Reverse:
      append(out_, ", dims = {}", bracketed(op.as<DimensionsAttrs>().dimensions));
      return same_type();
    case OpKind::Concatenate:
      append(out_, ", dim = {}", op.as<DimensionAttrs>().dimension);
      return print_functional_type(function, op);
    case OpKind::Slice: {
      const auto& attrs = op.as<SliceAttrs>();
      out_ += " [";
      for (std::size_t i = 0; i < attrs.start.size(); ++i) {
        append(out_, "{}{}:{}", i == 0 ? "" : ", ", attrs.start[i], attrs.limit[i]);
        if (attrs.stride[i] != 1) append(out_, ":{}", attrs.stride[i]);
      }
      out_ += ']';
      return print_functional_type(function, op);
    }
    case OpKind::Pad: {
      const auto& attrs = op.as<PadAttrs>();
      append(out_, ", low = {}, high = {}, interior = {}", bracketed(attrs.low), bracketed(attrs.high),
             bracketed(attrs.interior));
      return print_functional_type(function, op);
    }
    case OpKind::DynamicSlice:
      append(out_, ", sizes = {}", bracketed(op.as<DynamicSliceAttrs>().slice_sizes));
      return print_functional_type(function, op);
    case OpKind::DotGeneral: {
      const auto& attrs = op.as<DotGeneralAttrs>();
      if (!attrs.lhs_batch.empty())
        append(out_, ", batching_dims = {} x {}", bracketed(attrs.lhs_batch), bracketed(attrs.rhs_batch));
      append(out_, ", contracting_dims = {} x {}", bracketed(attrs.lhs_contracting), bracketed(attrs.rhs_contracting));
      return print_functional_type(function, op);
    }
    case OpKind::RngBitGenerator:
      append(out_, ", algorithm =  {}", rng_names[static_cast<std::size_t>(op.as<RngBitGeneratorAttrs>().algorithm)]);
      return print_functional_type(function, op);
    case OpKind::OptimizationBarrier:
      out_ += " : ";
      return print_operand_types(function, op);
    default:
      break;
  }

  RHINO_ASSERT(is_elementwise(op.kind), "no text form for {}", op_name(op.kind));
  if (!op_name(op.kind).starts_with("chlo.")) return same_type();
  out_ += " : ";
  print_operand_types(function, op);
  out_ += " -> ";
  print_result_types(function, op);
}

}  // namespace rhino::ir
