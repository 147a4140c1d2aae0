// SPDX-License-Identifier: Apache-2.0
#pragma once

// Internal to ir/: what the passes share.

#include <vector>

#include <rhino/ir/program.hpp>

namespace rhino::ir {

/// Builds the new form of a function op by op, in order, while it remembers what became of each old value.
/// Takes the old function apart: attributes are moved out of ops that are copied.
class Rewriter {
 public:
  explicit Rewriter(Function& old);

  /// New value for an old one.
  ValueId mapped(ValueId old_value) const { return image_[old_value.index()]; }
  std::vector<ValueId> mapped(const std::vector<ValueId>& old_values) const;
  /// From now on `new_value` stands for `old_value`.
  void replace(ValueId old_value, ValueId new_value) { image_[old_value.index()] = new_value; }

  /// Appends an old op on the new values of its operands, and maps its results.
  void copy(Op& op);
  /// Appends the ops of `callee` with `arguments` (new values) as its parameters; returns what its results became. Ops
  /// without a location get `location`.
  std::vector<ValueId> splice(const Function& callee, const std::vector<ValueId>& arguments, const Location& location);

  Function& result() { return new_; }
  const TensorType& type(ValueId new_value) const { return new_.type(new_value); }
  /// Maps the results and gives the new function.
  Function finish();

 private:
  Function& old_;
  Function new_;
  std::vector<ValueId> image_;
};

/// Function indices such that every callee and region comes before the functions that refer to it.
/// Throws InputError if a function reaches itself.
std::vector<std::size_t> callees_first(const Program& program);

/// For each function whether it contains an op that must run even if its results are unused.
std::vector<bool> functions_with_effects(const Program& program);
bool has_effects(const Op& op, const std::vector<bool>& effects_of_functions);

/// Drops the functions that the entry does not reach and renumbers the others, in their order.
void drop_unreachable_functions(Program& program);

}  // namespace rhino::ir
