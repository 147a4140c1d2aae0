// SPDX-License-Identifier: Apache-2.0
#pragma once

// Internal to frontend/: what the converters of ONNX ops share.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <rhino/frontend/onnx.hpp>
#include <rhino/frontend/onnx_model.hpp>
#include <rhino/ir/graph.hpp>

namespace rhino::frontend::onnx {

using ir::Dims;
using ir::DType;
using ir::Literal;
using ir::OpKind;
using ir::Tensor;

/// Values of the graph by their names in the file, and which of the program's values are known at import.
class Values {
 public:
  Values(OnnxTarget& target, const ir::OpEvaluator& evaluate) : target_(target), evaluate_(evaluate) {}

  /// Defines a name; false if it is defined already.
  bool define(const std::string& name, const Tensor& value) { return by_name_.try_emplace(name, value).second; }
  const Tensor* find(const std::string& name) const;
  std::optional<Literal> known(const Tensor& value) const;

  /// Evaluates the ops that were built since the last call, where all their operands are known. Throws InputError for a
  /// value that is too large to exist.
  void evaluate_new_ops();

 private:
  OnnxTarget& target_;
  const ir::OpEvaluator& evaluate_;
  std::map<std::string, Tensor, std::less<>> by_name_;
  std::unordered_map<ir::ValueId, Literal> known_;
  std::size_t seen_ops_ = 0;
  std::int64_t budget_ = std::int64_t{1} << 27;  ///< elements that may still be evaluated
};

/// One node while it is converted: its operands, attributes and results.
class Context {
 public:
  /// `weights` by their names in the file.
  Context(const Node& node, std::int64_t opset, Values& values, const std::map<std::string, OnnxWeight>& weights,
          OnnxTarget& target);

  ir::Graph& g;  ///< what it is built into
  const std::int64_t opset;
  OnnxTarget& target() { return target_; }
  const std::string& op() const { return node_.op; }

  // Operands.
  std::size_t inputs() const { return node_.inputs.size(); }
  bool has(std::size_t input) const { return input < node_.inputs.size() && !node_.inputs[input].empty(); }
  const std::string& name(std::size_t input) const { return node_.inputs.at(input); }
  Tensor in(std::size_t input) const;
  std::vector<Tensor> all() const;
  std::optional<Literal> known(std::size_t input) const { return values_.known(in(input)); }
  /// Values that must be known at import; `what` is for the message ("shape").
  Literal constant(std::size_t input, const char* what) const;
  std::vector<std::int64_t> integers(std::size_t input, const char* what) const;
  double number(std::size_t input, const char* what) const;  ///< of one element

  // Attributes.
  bool has(std::string_view attribute) const { return node_.attributes.contains(attribute); }
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  double real(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, const char* otherwise) const;
  std::vector<std::int64_t> integers(std::string_view name) const;  ///< empty where absent
  const Attribute* attribute(std::string_view name) const;
  /// Integers that moved from an attribute to an input; nullopt where the node has neither.
  std::optional<std::vector<std::int64_t>> integers(std::string_view attribute, std::size_t input) const;

  // Dimensions.
  /// A dimension of a rank that may count from the end.
  int dimension(std::int64_t axis, int rank) const;
  std::vector<int> dimensions(const std::vector<std::int64_t>& axes, int rank) const;
  /// Throws if a tensor of these sizes cannot exist.
  void check_dims(const Dims& dims) const;

  // Results.
  std::size_t outputs() const { return node_.outputs.size(); }
  bool wants(std::size_t output) const { return output < node_.outputs.size() && !node_.outputs[output].empty(); }
  void out(std::size_t output, const Tensor& value);
  void out(const Tensor& value) { out(0, value); }
  void refuse_output(std::size_t output) const;  ///< throws if the graph uses it
  /// Whether the batch norm whose statistics are operand `input` uses those of the batch.
  bool learns(std::size_t input) const;
  /// Next value of the statistics that are operand `input`; nothing if that is no weight.
  void keep(std::size_t input, const Tensor& next);

  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void unsupported(const std::string& what) const;

 private:
  const Node& node_;
  Values& values_;
  const std::map<std::string, OnnxWeight>& weights_;
  OnnxTarget& target_;
};

using Converter = void (*)(Context&);
using ConverterTable = std::map<std::string_view, Converter>;

// Each file of converters adds its own.
void add_elementwise_converters(ConverterTable& table);
void add_shape_converters(ConverterTable& table);
void add_index_converters(ConverterTable& table);
void add_contraction_converters(ConverterTable& table);
void add_window_converters(ConverterTable& table);
void add_reduction_converters(ConverterTable& table);

}  // namespace rhino::frontend::onnx
