// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <rhino/frontend/assembler.hpp>

namespace rhino::frontend {

/// One op of the text with its operands resolved: what a reader needs to build the op. Attributes are asked for by any
/// of their spellings (generic name first, then the pretty keyword); those that nobody asked for are reported at the
/// end, so that nothing is ignored silently.
class OpContext {
 public:
  using Keys = std::initializer_list<std::string_view>;

  OpContext(Assembler& assembler, Scope& scope, const SyntaxOp& op, std::vector<Bound> operands);

  Assembler& assembler;
  Scope& scope;
  const SyntaxOp& op;
  std::vector<Bound> operands;
  ir::Builder builder;

  std::size_t operand_count() const { return operands.size(); }
  ir::ValueId operand(std::size_t index) const;
  /// All operands, tuples taken apart.
  std::vector<ir::ValueId> values() const;
  /// values(), each converted to the element type of the region parameter `parameter_of(i)` (negative: none) where that
  /// is a wider type of the same sort: reducers may work in wider types than their inputs, the IR's do not.
  std::vector<ir::ValueId> values_widened(ir::FunctionId region, const std::function<int(std::size_t)>& parameter_of);
  ir::TensorType type(ir::ValueId value) const;
  ir::TensorType operand_type(std::size_t index) const { return type(operand(index)); }
  /// Type that the text gives a result.
  const ir::TensorType& result_type(std::size_t index = 0) const;
  std::vector<ir::TensorType> result_types() const;
  void expect_operands(std::size_t count) const;
  void expect_regions(std::size_t count) const;

  bool has(Keys keys) { return find(keys) != nullptr; }
  const AttributeValue* find(Keys keys);
  const AttributeValue& require(Keys keys);
  /// A flat list of integers, from any of the spellings of one; nested lists are flattened.
  std::vector<std::int64_t> integers(Keys keys);
  std::vector<std::int64_t> integers_or(Keys keys, std::size_t count, std::int64_t value);
  std::vector<int> dims(Keys keys);
  std::vector<int> dims_or_empty(Keys keys);
  std::int64_t integer(Keys keys);
  std::int64_t integer_or(Keys keys, std::int64_t value);
  bool boolean_or(Keys keys, bool value);
  double number(Keys keys);
  /// An enumerator or a string.
  std::string word(Keys keys);
  std::string word_or(Keys keys, std::string_view value);
  std::vector<std::int64_t> integers_of(const AttributeValue& value) const;
  std::vector<int> dims_of(const AttributeValue& value) const;
  ir::Literal literal(Keys keys);
  void ignore(Keys keys) {
    for (const std::string_view key : keys)
      find({key});
  }
  /// Fails if an attribute was not asked for.
  void finish() const;

  /// A region with constants of the surroundings copied in.
  ir::FunctionId region_by_copy(std::size_t index, std::string_view purpose);
  /// Integers that a value is known to have at import, by folding the constants it is computed from.
  std::vector<std::int64_t> constant_integers(ir::ValueId value, std::string_view what) const;

  [[noreturn]] void fail(std::string_view message) const;
  [[noreturn]] void unsupported(std::string_view what, std::string_view remedy) const;

 private:
  std::vector<bool> used_;
};

using OpReader = std::vector<Bound> (*)(OpContext&);
using OpReaders = std::unordered_map<std::string_view, OpReader>;

// The readers, by name without the `stablehlo.` prefix (other dialects with theirs).
void add_elementwise_readers(OpReaders& readers);
void add_shape_readers(OpReaders& readers);
void add_dynamic_shape_readers(OpReaders& readers);
void add_contraction_readers(OpReaders& readers);
void add_index_readers(OpReaders& readers);
void add_window_readers(OpReaders& readers);
void add_control_readers(OpReaders& readers);
void add_collective_readers(OpReaders& readers);
void add_composite_readers(OpReaders& readers);
void add_custom_call_readers(OpReaders& readers);
void add_check_readers(OpReaders& readers);

/// The reader of an op as spelled ("stablehlo.add", "mhlo.add", "chlo.erf"); nullptr if there is none.
OpReader find_reader(std::string_view name);

inline Bound bound(ir::ValueId value) {
  Bound result;
  result.value = value;
  return result;
}
inline std::vector<Bound> results(ir::ValueId value) {
  std::vector<Bound> all;
  all.push_back(bound(value));
  return all;
}
inline std::vector<Bound> results(const std::vector<ir::ValueId>& values) {
  std::vector<Bound> all;
  all.reserve(values.size());
  for (const ir::ValueId value : values)
    all.push_back(bound(value));
  return all;
}

}  // namespace rhino::frontend
