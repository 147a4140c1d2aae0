// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/ir/print.hpp>

// Ops that StableHLO prints in MLIR's generic form: "name"(operands) <{attributes}> ({regions}) : type.

namespace rhino::ir {
namespace {

/// Attributes as they are printed: name and value, in order.
class AttributeList {
 public:
  void add(std::string_view name, std::string_view value) { texts_.push_back(fmt::format("{} = {}", name, value)); }
  void add_flag(std::string_view name, bool value) {
    if (value) add(name, "true");
  }
  void add_unit(std::string_view name) { texts_.emplace_back(name); }

  /// `array<i64: 1, 2>`, left out if every entry equals `neutral`.
  void add_array(std::string_view name, const Dims& values, std::optional<std::int64_t> neutral = std::nullopt) {
    if (neutral && std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v == *neutral; })) return;
    add(name, values.empty() ? "array<i64>" : fmt::format("array<i64: {}>", fmt::join(values, ", ")));
  }

  std::string text() const { return fmt::format("{}", fmt::join(texts_, ", ")); }
  bool empty() const { return texts_.empty(); }

 private:
  std::vector<std::string> texts_;
};

/// `#stablehlo.gather<offset_dims = [1], ..>` without empty lists and zeros.
class DimensionNumbers {
 public:
  explicit DimensionNumbers(std::string_view name) : name_(name) {}
  void add(std::string_view name, const std::vector<int>& list) {
    if (!list.empty()) texts_.push_back(fmt::format("{} = [{}]", name, fmt::join(list, ", ")));
  }
  void add(std::string_view name, int value) {
    if (value != 0) texts_.push_back(fmt::format("{} = {}", name, value));
  }
  std::string text() const { return fmt::format("#stablehlo.{}<{}>", name_, fmt::join(texts_, ", ")); }

 private:
  std::string_view name_;
  std::vector<std::string> texts_;
};

std::string groups_text(const std::shared_ptr<const ReplicaGroups>& groups) {
  if (!groups || groups->empty()) return "dense<> : tensor<0x0xi64>";
  std::size_t width = 0;
  for (const auto& group : *groups)
    width = std::max(width, group.size());
  std::string rows;
  for (auto group : *groups) {
    group.resize(width, -1);  // short groups are filled up
    rows += fmt::format("{}[{}]", rows.empty() ? "" : ", ", fmt::join(group, ", "));
  }
  return fmt::format("dense<[{}]> : tensor<{}x{}xi64>", rows, groups->size(), width);
}

void add_window(AttributeList& list, const std::vector<WindowDim>& window) {
  const auto collect = [&](auto member) {
    Dims values;
    for (const WindowDim& w : window)
      values.push_back(w.*member);
    return values;
  };
  list.add_array("base_dilations", collect(&WindowDim::base_dilation), 1);
  const bool padded =
      std::any_of(window.begin(), window.end(), [](const WindowDim& w) { return w.pad_low != 0 || w.pad_high != 0; });
  if (padded) {
    std::string rows;
    for (const WindowDim& w : window)
      rows += fmt::format("{}[{}, {}]", rows.empty() ? "" : ", ", w.pad_low, w.pad_high);
    list.add("padding", fmt::format("dense<[{}]> : tensor<{}x2xi64>", rows, window.size()));
  }
  list.add_array("window_dilations", collect(&WindowDim::window_dilation), 1);
  list.add_array("window_dimensions", collect(&WindowDim::size));
  list.add_array("window_strides", collect(&WindowDim::stride), 1);
}

void add_collective(AttributeList& list, const Op& op) {
  const auto& attrs = op.as<CollectiveAttrs>();
  // These ops tell the modes apart by the channel alone.
  const bool by_channel =
      op.kind == OpKind::AllToAll || op.kind == OpKind::CollectiveBroadcast || op.kind == OpKind::CollectivePermute;
  switch (op.kind) {
    case OpKind::AllGather:
      list.add("all_gather_dim", fmt::format("{} : i64", attrs.dimension));
      break;
    default:
      break;
  }
  // The channel type of the examples in the StableHLO specification: device to device.
  if (attrs.mode != GroupMode::CrossReplica)
    list.add("channel_handle",
             fmt::format("#stablehlo.channel_handle<handle = {}, type = 1>", std::max<std::int64_t>(attrs.channel, 1)));
  if (op.kind == OpKind::AllToAll) list.add("concat_dimension", fmt::format("{} : i64", attrs.concat_dimension));
  list.add(op.kind == OpKind::CollectivePermute ? "source_target_pairs" : "replica_groups", groups_text(attrs.groups));
  if (op.kind == OpKind::ReduceScatter) list.add("scatter_dimension", fmt::format("{} : i64", attrs.dimension));
  if (op.kind == OpKind::AllToAll) {
    list.add("split_count", fmt::format("{} : i64", attrs.group_size));
    list.add("split_dimension", fmt::format("{} : i64", attrs.dimension));
  }
  if (attrs.mode == GroupMode::FlattenedIds && !by_channel) list.add_unit("use_global_device_ids");
}

AttributeList generic_attributes(const Op& op) {
  AttributeList list;
  switch (op.kind) {
    case OpKind::Gather: {
      const auto& attrs = op.as<GatherAttrs>();
      DimensionNumbers numbers("gather");
      numbers.add("offset_dims", attrs.offset_dims);
      numbers.add("collapsed_slice_dims", attrs.collapsed_slice_dims);
      numbers.add("operand_batching_dims", attrs.operand_batching_dims);
      numbers.add("start_indices_batching_dims", attrs.start_indices_batching_dims);
      numbers.add("start_index_map", attrs.start_index_map);
      numbers.add("index_vector_dim", attrs.index_vector_dim);
      list.add("dimension_numbers", numbers.text());
      list.add_flag("indices_are_sorted", attrs.indices_are_sorted);
      list.add_array("slice_sizes", attrs.slice_sizes);
      break;
    }
    case OpKind::Scatter: {
      const auto& attrs = op.as<ScatterAttrs>();
      list.add_flag("indices_are_sorted", attrs.indices_are_sorted);
      DimensionNumbers numbers("scatter");
      numbers.add("update_window_dims", attrs.update_window_dims);
      numbers.add("inserted_window_dims", attrs.inserted_window_dims);
      numbers.add("input_batching_dims", attrs.input_batching_dims);
      numbers.add("scatter_indices_batching_dims", attrs.scatter_indices_batching_dims);
      numbers.add("scatter_dims_to_operand_dims", attrs.scatter_dims_to_operand_dims);
      numbers.add("index_vector_dim", attrs.index_vector_dim);
      list.add("scatter_dimension_numbers", numbers.text());
      list.add_flag("unique_indices", attrs.unique_indices);
      break;
    }
    case OpKind::ReduceWindow:
      add_window(list, op.as<ReduceWindowAttrs>().window);
      break;
    case OpKind::SelectAndScatter:
      add_window(list, op.as<SelectAndScatterAttrs>().window);
      break;
    case OpKind::Sort: {
      const auto& attrs = op.as<SortAttrs>();
      list.add("dimension", fmt::format("{} : i64", attrs.dimension));
      list.add_flag("is_stable", attrs.is_stable);
      break;
    }
    case OpKind::AllGather:
    case OpKind::AllReduce:
    case OpKind::AllToAll:
    case OpKind::CollectiveBroadcast:
    case OpKind::CollectivePermute:
    case OpKind::ReduceScatter:
      add_collective(list, op);
      break;
    case OpKind::While:
    case OpKind::OptimizationBarrier:
      break;
    default:
      RHINO_ASSERT(false, "no generic text form for {}", op_name(op.kind));
  }
  return list;
}

}  // namespace

ValueNames Printer::region_names(const Function& region, const std::vector<std::string>& arguments) const {
  RHINO_ASSERT(region.params.size() == arguments.size());
  ValueNames names(region);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    names.set(region.params[i], arguments[i]);
  return names;
}

void Printer::print_block(const Function& region, ValueNames names, int indent) {
  print_ops(region, names, indent);
  print_return("stablehlo.return", region, names, indent);
}

void Printer::print_generic_regions(const Op& op, const ValueNames& names, int indent) {
  if (single_line_) {
    for (std::size_t i = 0; i < op.regions.size(); ++i)
      out_ += i == 0 ? " ({..}" : ", {..}";
    if (!op.regions.empty()) out_ += ')';
    return;
  }
  for (std::size_t i = 0; i < op.regions.size(); ++i) {
    const Function& region = program_.function(op.regions[i]);
    out_ += i == 0 ? " ({\n" : ", {\n";
    std::vector<std::string> arguments;
    if (op.kind == OpKind::Case) {
      // Branches have no arguments: they use the values of their surroundings by name.
      for (std::size_t j = 1; j < op.operands.size(); ++j)
        arguments.push_back(names[op.operands[j]]);
    } else if (!region.params.empty()) {
      indent_line(indent);
      out_ += "^bb0(";
      for (std::size_t j = 0; j < region.params.size(); ++j) {
        arguments.push_back(fmt::format("%arg{}", next_argument_++));
        out_ += fmt::format("{}{}: {}", j == 0 ? "" : ", ", arguments.back(), to_string(region.type(region.params[j])));
      }
      out_ += "):\n";
    }
    print_block(region, region_names(region, arguments), indent + 2);
    indent_line(indent);
    out_ += '}';
  }
  if (!op.regions.empty()) out_ += ')';
}

void Printer::print_generic(const Function& function, const Op& op, const ValueNames& names, int indent) {
  if (op.kind == OpKind::CustomCall) {
    // The StableHLO interpreter's op for programs that run side by side; backend_config is "rows x columns" of its
    // grid.
    const std::string& grid = op.as<CustomCallAttrs>().backend_config;
    const std::size_t by = grid.find('x');
    const std::size_t columns =
        by == std::string::npos ? op.regions.size() : std::strtoull(grid.c_str() + by + 1, nullptr, 10);
    out_ += "\"interpreter.run_parallel\"(";
    print_operands(op, names);
    out_ += ") {programs = [";
    for (std::size_t i = 0; i < op.regions.size(); ++i) {
      const bool row_start = columns == 0 || i % columns == 0;
      if (row_start) out_ += i == 0 ? "[" : "], [";
      if (!row_start) out_ += ", ";
      print_symbol(out_, symbol_of(op.regions[i]));
    }
    out_ += op.regions.empty() ? "]}" : "]]}";
    return print_functional_type(function, op);
  }
  out_ += '"';
  out_ += qualified_op_name(op.kind);
  out_ += "\"(";
  if (op.kind == OpKind::Case) {
    out_ += names[op.operands[0]] + ')';
    print_generic_regions(op, names, indent);
    out_ += fmt::format(" : ({}) -> ", to_string(function.type(op.operands[0])));
    return print_result_types(function, op);
  }
  print_operands(op, names);
  out_ += ')';
  const AttributeList list = generic_attributes(op);
  if (!list.empty()) out_ += fmt::format(" <{{{}}}>", list.text());
  print_generic_regions(op, names, indent);
  print_functional_type(function, op);
}

}  // namespace rhino::ir
