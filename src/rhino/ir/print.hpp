// SPDX-License-Identifier: Apache-2.0
#pragma once

// Internal to ir/: the parts of the StableHLO printer.

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <rhino/ir/text.hpp>

namespace rhino::ir {

/// Appends the content of `dense<..>` for a literal, without the brackets: `1`, `[1, 2]`, `"0x.."`, nothing if empty.
/// Floats read back bit by bit, also by a reader that goes through double.
void print_elements(std::string& out, const Literal& literal);

/// Appends one element of a literal.
void print_element(std::string& out, const Literal& literal, std::int64_t index);

/// Appends `"0x.."` with the bytes in hexadecimal.
void print_blob(std::string& out, std::span<const std::byte> bytes, std::string_view prefix = {});

/// Appends a text in double quotes, escaped as MLIR does.
void print_quoted(std::string& out, std::string_view text);

/// Appends `@name`, quoted where needed.
void print_symbol(std::string& out, std::string_view name);

/// Names of the values of one function while it is printed.
class ValueNames {
 public:
  explicit ValueNames(const Function& function) : names_(function.values.size()) {}
  /// For messages: parameters and other values are called by their number.
  static ValueNames by_number(const Function& function) {
    ValueNames names;
    names.numbered_ = &function;
    return names;
  }

  void set(ValueId id, std::string name) { names_[id.index()] = std::move(name); }
  std::string operator[](ValueId id) const {
    if (numbered_ == nullptr) return names_[id.index()];
    const Value& value = numbered_->value(id);
    return value.producer.valid() ? "%" + std::to_string(id.index()) : "%arg" + std::to_string(value.result_index);
  }

 private:
  ValueNames() = default;
  std::vector<std::string> names_;
  const Function* numbered_ = nullptr;
};

/// Writes ops and functions to one string.
class Printer {
 public:
  Printer(const Program& program, const PrintOptions& options) : program_(program), options_(options) {}

  void print_module();
  /// One line without regions; `names` has a name for every value used.
  void print_single(const Function& function, const Op& op, const ValueNames& names);

  std::string take_text() { return std::move(out_); }
  std::vector<NamedLiteral> take_resources() { return std::move(resources_); }

 private:
  // print_module.cpp
  void print_function(FunctionId id);
  void print_ops(const Function& function, ValueNames& names, int indent);
  void print_return(std::string_view keyword, const Function& function, const ValueNames& names, int indent);
  void print_notes(const Notes& notes);
  void print_resource_section();
  const std::string& symbol_of(FunctionId id);
  std::string fresh_value() { return "%" + std::to_string(next_value_++); }
  void name_results(const Op& op, ValueNames& names);
  void indent_line(int indent) { out_.append(static_cast<std::size_t>(indent), ' '); }

  // print_op.cpp
  /// The op from its name on, without results on the left and without the line end.
  void print_body(const Function& function, const Op& op, const ValueNames& names, int indent);
  /// What follows the operands of an op whose operands come first.
  void print_attributes_and_types(const Function& function, const Op& op);
  void print_operands(const Op& op, const ValueNames& names, std::string_view separator = ", ");
  void print_operand_types(const Function& function, const Op& op);
  void print_result_types(const Function& function, const Op& op);
  /// ` : (operands) -> results`
  void print_functional_type(const Function& function, const Op& op);
  void print_convolution(const ConvolutionAttrs& attrs);
  void print_compare(const Function& function, const Op& op, const ValueNames& names);
  void print_reduce(const Function& function, const Op& op, const ValueNames& names, int indent);
  void print_while(const Function& function, const Op& op, const ValueNames& names, int indent);
  void print_custom_call(const Function& function, const Op& op, const ValueNames& names);
  void print_constant(const Literal& literal);

  // print_generic.cpp
  void print_generic(const Function& function, const Op& op, const ValueNames& names, int indent);
  /// Names for the values of a region whose parameters are called `arguments`.
  ValueNames region_names(const Function& region, const std::vector<std::string>& arguments) const;
  /// The ops of a region and its return, each on a line.
  void print_block(const Function& region, ValueNames names, int indent);
  /// ` ({ .. }, { .. })`
  void print_generic_regions(const Op& op, const ValueNames& names, int indent);

  const Program& program_;
  PrintOptions options_;
  bool single_line_ = false;  ///< for messages: no regions, short constants
  std::string out_;
  int next_value_ = 0;
  int next_argument_ = 0;
  std::vector<NamedLiteral> resources_;
  std::unordered_map<std::uint32_t, std::string> symbols_;  ///< of functions that the text declares, by function index
  std::unordered_map<std::string, int> used_symbols_;
  std::vector<FunctionId> queue_;  ///< functions to declare, in order
};

}  // namespace rhino::ir
