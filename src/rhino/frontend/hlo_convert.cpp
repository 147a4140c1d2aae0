// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>

#include <fmt/format.h>

#include <rhino/frontend/hlo_parser.hpp>
#include <rhino/frontend/hlo_values.hpp>
#include <rhino/frontend/literal_parser.hpp>
#include <rhino/frontend/hlo_text.hpp>

namespace rhino::frontend {

namespace {

using Kind = AttributeValue::Kind;
using Integers = std::vector<std::int64_t>;

/// Attributes that do not change what an instruction computes.
constexpr std::array<std::string_view, 20> ignored_attributes = {"metadata",
                                                                 "backend_config",
                                                                 "origin",
                                                                 "operand_precision",
                                                                 "algorithm",
                                                                 "statistics",
                                                                 "control-predecessors",
                                                                 "api_version",
                                                                 "operand_layout_constraints",
                                                                 "output_to_operand_aliasing",
                                                                 "is_composite",
                                                                 "custom_call_schedule",
                                                                 "mapped",
                                                                 "schedule",
                                                                 "original_value",
                                                                 "execution_thread",
                                                                 "result_accuracy",
                                                                 "raw_backend_config_str",
                                                                 "custom_call_has_side_effect",
                                                                 "constrain_layout"};

/// Builds the StableHLO attributes of one instruction out of its HLO attributes.
class Converter {
 public:
  Converter(const HloInstruction& instruction, const Source& source, std::unordered_set<std::string>& storage)
      : hlo_(instruction), source_(source), storage_(storage), used_(instruction.attributes.size(), false) {}

  SyntaxOp run() {
    op_.opcode = hlo_.opcode;
    op_.position = hlo_.position;
    op_.line = hlo_.line;
    op_.operands = hlo_.operands;
    op_.results.push_back({hlo_.name, 1, hlo_.position});
    op_.location.name = hlo_op_name(hlo_);
    if (op_.location.name.empty()) op_.location.name = std::string(hlo_.name);
    set_result_types();
    refuse_optimised();
    convert();
    notes();
    finish();
    return std::move(op_);
  }

 private:
  [[noreturn]] void fail(std::string_view message) const { source_.fail(hlo_.position, op_.shown(), message); }
  [[noreturn]] void unsupported(std::string_view what, std::string_view remedy) const {
    source_.unsupported(hlo_.position, op_.shown(), what, remedy);
  }

  void set_result_types() {
    if (!hlo_.has_shape) fail("the shape of this instruction is missing");
    constexpr std::array<std::string_view, 15> several = {"reduce",
                                                          "reduce-window",
                                                          "sort",
                                                          "scatter",
                                                          "topk",
                                                          "rng-bit-generator",
                                                          "batch-norm-training",
                                                          "batch-norm-grad",
                                                          "custom-call",
                                                          "all-reduce",
                                                          "all-gather",
                                                          "reduce-scatter",
                                                          "all-to-all",
                                                          "collective-permute",
                                                          "collective-broadcast"};
    for (const std::string_view opcode : several)
      op_.tuple_result = op_.tuple_result || opcode == hlo_.opcode;
    op_.tuple_result = op_.tuple_result && hlo_.shape.kind == SyntaxType::Kind::Tuple;
    op_.result_types = op_.tuple_result ? hlo_.shape.results : std::vector<SyntaxType>{hlo_.shape};
  }

  void refuse_optimised() {
    const std::string_view opcode = hlo_.opcode;
    if (opcode == "fusion" || opcode == "bitcast" || opcode.starts_with("async-") || opcode.ends_with("-start") ||
        opcode.ends_with("-done"))
      unsupported("this HLO is optimised for one backend", kOptimisedRemedy);
  }

  std::string_view stored(std::string text) { return *storage_.insert(std::move(text)).first; }

  // What the text has.
  const HloAttribute* find(std::string_view key) {
    for (std::size_t i = 0; i < hlo_.attributes.size(); ++i) {
      if (hlo_.attributes[i].key != key) continue;
      used_[i] = true;
      return &hlo_.attributes[i];
    }
    return nullptr;
  }
  std::string_view text(std::string_view key) {
    const HloAttribute* attribute = find(key);
    if (attribute == nullptr) fail(fmt::format("the attribute '{}' is missing", key));
    return attribute->value;
  }
  Integers parse_integers(std::string_view value) const {
    auto all = parse_hlo_integers(value);
    if (!all) fail(fmt::format("{} is not a list of integers", in_quotes(value)));
    return std::move(*all);
  }
  Integers integers(std::string_view key) { return parse_integers(text(key)); }
  Integers integers_or_none(std::string_view key) {
    const HloAttribute* attribute = find(key);
    return attribute == nullptr ? Integers() : parse_integers(attribute->value);
  }
  std::int64_t integer_or(std::string_view key, std::int64_t value) {
    const Integers all = integers_or_none(key);
    if (all.size() > 1) fail(fmt::format("the attribute '{}' must be one integer", key));
    return all.empty() ? value : all[0];
  }
  bool boolean_or(std::string_view key, bool value) {
    const HloAttribute* attribute = find(key);
    return attribute == nullptr ? value : attribute->value == "true" || attribute->value == "1";
  }
  std::string_view computation_name(std::string_view value) const {
    while (!value.empty() && (value.front() == '%' || value.front() == ' ' || value.front() == ','))
      value.remove_prefix(1);
    return value;
  }

  // What StableHLO calls it.
  AttributeValue& add(std::string_view key, Kind kind) {
    Attribute attribute;
    attribute.key = key;
    attribute.value.kind = kind;
    attribute.value.position = hlo_.position;
    op_.attributes.push_back(std::move(attribute));
    return op_.attributes.back().value;
  }
  void add_integers(std::string_view key, Integers values) { add(key, Kind::Integers).integers = std::move(values); }
  void add_integer(std::string_view key, std::int64_t value) { add(key, Kind::Integer).integer = value; }
  void add_bool(std::string_view key, bool value) { add(key, Kind::Bool).integer = value; }
  void add_word(std::string_view key, std::string_view word) { add(key, Kind::Word).text = word; }
  void add_number(std::string_view key, double value) { add(key, Kind::Float).number = value; }
  static void add_field(AttributeValue& dict, std::string_view key, Integers values) {
    Attribute attribute;
    attribute.key = key;
    attribute.value.kind = Kind::Integers;
    attribute.value.integers = std::move(values);
    dict.fields.push_back(std::move(attribute));
  }
  void use_computations(std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys)
      op_.computations.push_back(computation_name(text(key)));
  }
  void rename(std::string_view name) { op_.name = name; }

  void convert();
  bool convert_shape_op(std::string_view opcode);
  bool convert_index_op(std::string_view opcode);
  bool convert_reduction(std::string_view opcode);
  bool convert_control(std::string_view opcode);
  bool convert_collective(std::string_view opcode);
  void convert_constant();
  void convert_dot();
  void convert_convolution();
  void convert_slice();
  void convert_pad();
  void convert_groups(std::string_view from, std::string_view to);
  void convert_batch_norm();
  void window_attributes(bool convolution);
  Integers window_field(std::string_view window, std::string_view key) const;
  void notes();
  void finish() const;

  const HloInstruction& hlo_;
  const Source& source_;
  std::unordered_set<std::string>& storage_;
  std::vector<bool> used_;
  SyntaxOp op_;
};

void Converter::notes() {
  const auto note = [&](std::string_view from, std::string_view to) {
    if (const HloAttribute* attribute = find(from)) add(to, Kind::String).string = std::string(attribute->value);
  };
  note("sharding", "mhlo.sharding");
  note("frontend_attributes", "mhlo.frontend_attributes");
}

void Converter::finish() const {
  for (std::size_t i = 0; i < used_.size(); ++i) {
    if (used_[i]) continue;
    const HloAttribute& attribute = hlo_.attributes[i];
    bool ignored = false;
    for (const std::string_view key : ignored_attributes)
      ignored = ignored || key == attribute.key;
    if (!ignored)
      source_.fail(attribute.position, op_.shown(), fmt::format("unknown attribute {}", in_quotes(attribute.key)));
  }
}

void Converter::convert() {
  const std::string_view opcode = hlo_.opcode;
  std::string name = "stablehlo.";
  for (const char c : opcode)
    name += c == '-' ? '_' : c;
  op_.name = stored(std::move(name));
  if (opcode == "constant") return convert_constant();
  if (opcode == "dot") return convert_dot();
  if (opcode == "convolution") return convert_convolution();
  if (opcode.starts_with("batch-norm-")) return convert_batch_norm();
  if (convert_shape_op(opcode) || convert_index_op(opcode) || convert_reduction(opcode) || convert_control(opcode))
    return;
  convert_collective(opcode);
}

void Converter::convert_constant() {
  const LiteralPlace place{source_, hlo_.opcode, hlo_.position};
  if (hlo_.shape.kind != SyntaxType::Kind::Tensor)
    unsupported("constants of tuples are not supported", "give each element its own constant");
  if (hlo_.payload.find("...") != std::string_view::npos) {
    AttributeValue& value = add("value", Kind::Resource);
    value.text = "__elided__";
    return;
  }
  add("value", Kind::Literal).literal = parse_hlo_literal(hlo_.payload, hlo_.shape.tensor, place);
}

bool Converter::convert_shape_op(std::string_view opcode) {
  if (opcode == "broadcast") {
    rename("stablehlo.broadcast_in_dim");
    add_integers("broadcast_dimensions", integers("dimensions"));
  } else if (opcode == "transpose") {
    add_integers("permutation", integers("dimensions"));
  } else if (opcode == "reverse") {
    add_integers("dimensions", integers("dimensions"));
  } else if (opcode == "concatenate") {
    add_integers("dimension", integers("dimensions"));
  } else if (opcode == "iota") {
    add_integer("iota_dimension", integer_or("iota_dimension", 0));
  } else if (opcode == "slice") {
    convert_slice();
  } else if (opcode == "pad") {
    convert_pad();
  } else if (opcode == "reshape") {
    find("inferred_dimension");
  } else if (opcode == "compare") {
    add_word("comparison_direction", text("direction"));
    if (const HloAttribute* type = find("type")) add_word("compare_type", type->value);
  } else if (opcode == "reduce-precision") {
    add_integer("exponent_bits", integer_or("exponent_bits", 0));
    add_integer("mantissa_bits", integer_or("mantissa_bits", 0));
  } else if (opcode == "get-dimension-size") {
    add_integers("dimension", integers("dimensions"));
  } else if (opcode == "get-tuple-element") {
    add_integer("index", integer_or("index", -1));
  } else if (opcode == "opt-barrier") {
    rename("stablehlo.optimization_barrier");
  } else if (opcode == "add-dependency" || opcode == "domain" || opcode == "copy") {
    if (op_.operands.size() > 1) op_.operands.resize(1);
    find("domain");
    rename("stablehlo.copy");
  } else {
    return false;
  }
  return true;
}

/// `{[0:4:2], [1:3]}`
void Converter::convert_slice() {
  const std::string_view value = text("slice");
  Integers start, limit, stride;
  for (std::size_t open = value.find('['); open != std::string_view::npos; open = value.find('[', open + 1)) {
    const std::size_t close = value.find(']', open);
    if (close == std::string_view::npos) fail("the slice is malformed");
    const Integers range = parse_integers(value.substr(open, close - open));
    if (range.size() != 2 && range.size() != 3) fail("a range of a slice is start:limit or start:limit:stride");
    start.push_back(range[0]);
    limit.push_back(range[1]);
    stride.push_back(range.size() == 3 ? range[2] : 1);
  }
  add_integers("start_indices", std::move(start));
  add_integers("limit_indices", std::move(limit));
  add_integers("strides", std::move(stride));
}

/// `0_1x2_-1_1`: low_high[_interior] per dimension.
void Converter::convert_pad() {
  Integers low, high, interior;
  if (hlo_.shape.kind == SyntaxType::Kind::Tensor && !hlo_.shape.tensor.dims.empty()) {
    const std::string_view value = text("padding");
    for (std::size_t at = 0; at <= value.size();) {
      const std::size_t end = std::min(value.find('x', at), value.size());
      const Integers numbers = parse_integers(value.substr(at, end - at));
      if (numbers.size() != 2 && numbers.size() != 3) fail("the padding must look like 0_1x0_0");
      low.push_back(numbers[0]);
      high.push_back(numbers[1]);
      interior.push_back(numbers.size() == 3 ? numbers[2] : 0);
      at = end + 1;
    }
  } else {
    find("padding");
  }
  add_integers("edge_padding_low", std::move(low));
  add_integers("edge_padding_high", std::move(high));
  add_integers("interior_padding", std::move(interior));
}

void Converter::convert_dot() {
  rename("stablehlo.dot_general");
  AttributeValue& dict = add("dot_dimension_numbers", Kind::Dict);
  add_field(dict, "lhs_batching_dimensions", integers_or_none("lhs_batch_dims"));
  add_field(dict, "rhs_batching_dimensions", integers_or_none("rhs_batch_dims"));
  add_field(dict, "lhs_contracting_dimensions", integers_or_none("lhs_contracting_dims"));
  add_field(dict, "rhs_contracting_dimensions", integers_or_none("rhs_contracting_dims"));
}

Integers Converter::window_field(std::string_view window, std::string_view key) const {
  return parse_integers(hlo_window_field(window, key));
}

void Converter::window_attributes(bool convolution) {
  const HloAttribute* attribute = find("window");
  const std::string_view window = attribute == nullptr ? std::string_view() : attribute->value;
  const auto copy = [&](std::string_view from, std::string_view to) {
    if (Integers values = window_field(window, from); !values.empty()) add_integers(to, std::move(values));
  };
  if (!convolution) add_integers("window_dimensions", window_field(window, "size"));
  copy("stride", "window_strides");
  copy("pad", "padding");
  copy("lhs_dilate", convolution ? "lhs_dilation" : "base_dilations");
  copy("rhs_dilate", convolution ? "rhs_dilation" : "window_dilations");
  if (convolution) copy("rhs_reversal", "window_reversal");
}

/// `dim_labels=b01f_01io->b01f`
void Converter::convert_convolution() {
  window_attributes(true);
  const std::string_view labels = text("dim_labels");
  const std::size_t first = labels.find('_');
  const std::size_t second = labels.find("->");
  if (first == std::string_view::npos || second == std::string_view::npos || second < first)
    fail("dim_labels must look like b01f_01io->b01f");
  AttributeValue& dict = add("dimension_numbers", Kind::Dict);
  const auto part = [&](std::string_view text, char a, std::string_view a_key, char b, std::string_view b_key,
                        std::string_view spatial_key) {
    Integers spatial(text.size() < 2 ? 0 : text.size() - 2, -1);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto place = static_cast<std::int64_t>(i);
      const auto digit = static_cast<std::size_t>(text[i] - '0');
      if (text[i] == a)
        add_field(dict, a_key, {place});
      else if (text[i] == b)
        add_field(dict, b_key, {place});
      else if (text[i] >= '0' && digit < spatial.size())
        spatial[digit] = place;
      else
        fail(fmt::format("{} are not the labels of a convolution", in_quotes(labels)));
    }
    for (const std::int64_t place : spatial)
      if (place < 0) fail(fmt::format("{} are not the labels of a convolution", in_quotes(labels)));
    add_field(dict, spatial_key, std::move(spatial));
  };
  part(labels.substr(0, first), 'b', "input_batch_dimension", 'f', "input_feature_dimension",
       "input_spatial_dimensions");
  part(labels.substr(first + 1, second - first - 1), 'i', "kernel_input_feature_dimension", 'o',
       "kernel_output_feature_dimension", "kernel_spatial_dimensions");
  part(labels.substr(second + 2), 'b', "output_batch_dimension", 'f', "output_feature_dimension",
       "output_spatial_dimensions");
  add_integer("feature_group_count", integer_or("feature_group_count", 1));
  add_integer("batch_group_count", integer_or("batch_group_count", 1));
}

bool Converter::convert_index_op(std::string_view opcode) {
  if (opcode == "gather") {
    AttributeValue& dict = add("dimension_numbers", Kind::Dict);
    for (const std::string_view key : {"offset_dims", "collapsed_slice_dims", "operand_batching_dims",
                                       "start_indices_batching_dims", "start_index_map", "index_vector_dim"})
      add_field(dict, key, integers_or_none(key));
    add_integers("slice_sizes", integers("slice_sizes"));
    add_bool("indices_are_sorted", boolean_or("indices_are_sorted", false));
  } else if (opcode == "scatter") {
    AttributeValue& dict = add("scatter_dimension_numbers", Kind::Dict);
    for (const std::string_view key :
         {"update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims",
          "scatter_dims_to_operand_dims", "index_vector_dim"})
      add_field(dict, key, integers_or_none(key));
    add_bool("indices_are_sorted", boolean_or("indices_are_sorted", false));
    add_bool("unique_indices", boolean_or("unique_indices", false));
    use_computations({"to_apply"});
  } else if (opcode == "dynamic-slice") {
    add_integers("slice_sizes", integers("dynamic_slice_sizes"));
  } else if (opcode == "sort") {
    add_integers("dimension", integers("dimensions"));
    add_bool("is_stable", boolean_or("is_stable", false));
    use_computations({"to_apply"});
  } else if (opcode == "topk") {
    add_integer("k", integer_or("k", 0));
    add_bool("largest", boolean_or("largest", true));
    find("to_apply");
  } else {
    return false;
  }
  return true;
}

bool Converter::convert_reduction(std::string_view opcode) {
  if (opcode == "reduce") {
    add_integers("dimensions", integers("dimensions"));
    use_computations({"to_apply"});
  } else if (opcode == "reduce-window") {
    window_attributes(false);
    use_computations({"to_apply"});
  } else if (opcode == "select-and-scatter") {
    window_attributes(false);
    use_computations({"select", "scatter"});
  } else if (opcode == "map") {
    add_integers("dimensions", integers_or_none("dimensions"));
    use_computations({"to_apply"});
  } else {
    return false;
  }
  return true;
}

bool Converter::convert_control(std::string_view opcode) {
  if (opcode == "call") {
    add("callee", Kind::Symbol).string = std::string(computation_name(text("to_apply")));
  } else if (opcode == "while") {
    use_computations({"condition", "body"});
  } else if (opcode == "conditional") {
    rename("hlo.conditional");
    if (const HloAttribute* branches = find("branch_computations")) {
      std::string_view list = branches->value;
      while (!list.empty()) {
        const std::size_t end = std::min(list.find_first_of(",{}"), list.size());
        std::string_view name = computation_name(list.substr(0, end));
        while (!name.empty() && name.back() == ' ')
          name.remove_suffix(1);
        if (!name.empty()) op_.computations.push_back(name);
        list.remove_prefix(std::min(end + 1, list.size()));
      }
    } else {
      use_computations({"true_computation", "false_computation"});
    }
  } else if (opcode == "rng-bit-generator") {
    const std::string_view algorithm = text("algorithm");
    add_word("rng_algorithm", algorithm == "rng_three_fry" ? "THREE_FRY"
                              : algorithm == "rng_philox"  ? "PHILOX"
                                                           : "DEFAULT");
  } else if (opcode == "rng") {
    find("distribution");
  } else if (opcode == "custom-call") {
    std::string_view target = text("custom_call_target");
    if (target.size() >= 2 && target.front() == '"') target = target.substr(1, target.size() - 2);
    add("call_target_name", Kind::String).string = std::string(target);
    find("called_computations");
    find("to_apply");
  } else {
    return false;
  }
  return true;
}

void Converter::convert_batch_norm() {
  double epsilon = 0;
  const std::string_view value = text("epsilon");
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), epsilon);
  if (error != std::errc() || end != value.data() + value.size()) fail("'epsilon' is not a number");
  add_number("epsilon", epsilon);
  add_integer("feature_index", integer_or("feature_index", 0));
}

void Converter::convert_groups(std::string_view from, std::string_view to) {
  const HloAttribute* attribute = find(from);
  if (attribute == nullptr) return;
  const auto groups = parse_hlo_groups(attribute->value);
  if (!groups) fail(fmt::format("{} are not groups of devices", in_quotes(attribute->value)));
  AttributeValue& list = add(to, Kind::List);
  for (const Integers& group : *groups) {
    AttributeValue item;
    item.kind = Kind::Integers;
    item.integers = group;
    list.items.push_back(std::move(item));
  }
}

bool Converter::convert_collective(std::string_view opcode) {
  const bool reduces = opcode == "all-reduce" || opcode == "reduce-scatter";
  if (!reduces && opcode != "all-gather" && opcode != "all-to-all" && opcode != "collective-broadcast" &&
      opcode != "collective-permute")
    return false;
  if (opcode == "collective-permute")
    convert_groups("source_target_pairs", "source_target_pairs");
  else
    convert_groups("replica_groups", "replica_groups");
  add_integer("channel_id", integer_or("channel_id", 0));
  const bool global = boolean_or("use_global_device_ids", false);
  if (reduces || opcode == "all-gather") add_bool("use_global_device_ids", global);
  if (reduces) use_computations({"to_apply"});
  const Integers dims = integers_or_none("dimensions");
  if (opcode == "all-to-all") {
    if (dims.size() != 1) unsupported("all-to-all of a tuple is not supported", "use the form with one array");
    add_integer("split_dimension", dims[0]);
    add_integer("concat_dimension", dims[0]);
  }
  if (opcode == "all-gather") add_integers("all_gather_dim", dims);
  if (opcode == "reduce-scatter") add_integers("scatter_dimension", dims);
  return true;
}

}  // namespace

SyntaxOp convert_instruction(const HloInstruction& instruction, const Source& source,
                             std::unordered_set<std::string>& storage) {
  return Converter(instruction, source, storage).run();
}

}  // namespace rhino::frontend
