// SPDX-License-Identifier: Apache-2.0
#pragma once

// Internal to ad/: the reverse pass over one function, and what a rule sees of it.

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <rhino/ir/builder.hpp>

namespace rhino::ad {

/// Adds a sparse contribution onto a tensor of the operand's type and returns the sum; an invalid `base` stands for zeros.
/// It runs after the rule that made it is gone.
using Onto = std::function<ir::ValueId(ir::Builder& b, ir::ValueId base)>;

/// One reverse pass. Use: construct, seed(), run(), gradient().
class Reverse {
 public:
  /// Looks which values depend on `wrt` other than through `stopped`. Ops that are appended to the function later are not part of the pass.
  Reverse(ir::Program& program, ir::FunctionId function, std::span<const ir::ValueId> wrt,
          std::span<const ir::ValueId> stopped = {});

  /// Whether `value` depends on `wrt` through floating values.
  bool active(ir::ValueId value) const { return value.index() < active_.size() && active_[value.index()]; }

  /// Adds `cotangent` to the gradient of `value`.
  void seed(ir::ValueId value, ir::ValueId cotangent);

  /// Runs the rules of all ops from the last to the first, then puts inserted ops in place.
  void run();

  /// Gradient of a value of `wrt`; an invalid id where it is zero for every input. Call after run().
  ir::ValueId gradient(ir::ValueId value);

 private:
  friend class Rule;
  struct Gradient {
    std::vector<ir::ValueId> dense;
    std::vector<std::pair<Onto, ir::Location>> sparse;
    ir::ValueId total;
    bool empty() const { return dense.empty() && sparse.empty() && !total.valid(); }
  };

  ir::ValueId total(ir::ValueId value);
  ir::ValueId sum(std::vector<ir::ValueId> terms);
  void locate(ir::Location location);
  void place_inserted_ops();

  ir::FunctionId function_;
  ir::Builder b_;
  ir::Location location_;   // that b_ has
  std::size_t op_count_;  // of the forward pass
  std::vector<bool> active_;
  std::vector<Gradient> gradients_;
  std::vector<std::pair<std::size_t, ir::Op>> inserted_;  // op goes before the op at this position
  std::map<std::pair<ir::ReducerKind, ir::DType>, ir::FunctionId> reducers_;
};

/// What a rule sees of the op that it differentiates, and where it leaves what it made. `b` appends ops that are located at
/// the forward op.
class Rule {
 public:
  Rule(Reverse& pass, std::size_t position);

  ir::Builder& b;
  const ir::Op op;  ///< a copy: the list of ops grows under the rule

  ir::Program& program() { return b.program(); }
  ir::FunctionId function() const { return pass_.function_; }
  std::size_t operand_count() const { return op.operands.size(); }
  ir::ValueId operand(std::size_t i) const { return op.operands[i]; }
  ir::ValueId result(std::size_t i = 0) const { return op.results[i]; }
  /// By value: references into the function do not survive the next op.
  ir::TensorType type(ir::ValueId value) { return b.type(value); }

  /// Whether a gradient is wanted for operand `i`.
  bool needs(std::size_t i) const { return pass_.active(op.operands[i]); }
  /// Gradient of result `i`; an invalid id if nothing depends on it.
  ir::ValueId cotangent(std::size_t i = 0) const { return cotangents_[i]; }
  /// The same, with zeros written out.
  ir::ValueId cotangent_or_zeros(std::size_t i);

  /// Adds a tensor of the operand's type to the gradient of operand `i`.
  void add(std::size_t i, ir::ValueId gradient);
  /// Adds something sparse to the gradient of operand `i`.
  void add_onto(std::size_t i, Onto onto);

  // Short forms for mathematics.
  ir::ValueId zeros(const ir::TensorType& type) { return b.full(type, 0); }
  /// A constant of the type of `like`.
  ir::ValueId constant(double value, ir::ValueId like) { return b.full(type(like), value); }
  ir::ValueId plus(ir::ValueId x, ir::ValueId y) { return b(ir::OpKind::Add, x, y); }
  ir::ValueId minus(ir::ValueId x, ir::ValueId y) { return b(ir::OpKind::Subtract, x, y); }
  ir::ValueId times(ir::ValueId x, ir::ValueId y) { return b(ir::OpKind::Multiply, x, y); }
  ir::ValueId times(ir::ValueId x, double y) { return times(x, constant(y, x)); }
  ir::ValueId over(ir::ValueId x, ir::ValueId y) { return b(ir::OpKind::Divide, x, y); }
  ir::ValueId negative(ir::ValueId x) { return b(ir::OpKind::Negate, x); }
  ir::ValueId equal(ir::ValueId x, ir::ValueId y) { return b.compare(x, y, ir::Comparison::Eq); }
  ir::ValueId where(ir::ValueId predicate, ir::ValueId x, ir::ValueId y) { return b.select(predicate, x, y); }
  /// `x` where the predicate (a scalar or of x's shape) holds, else 0.
  ir::ValueId keep_where(ir::ValueId predicate, ir::ValueId x) { return where(predicate, x, constant(0, x)); }
  /// Sum, maximum .. over `dimensions`; the value itself if there are none.
  ir::ValueId reduce(ir::ValueId x, ir::ReducerKind kind, std::vector<int> dimensions);
  ir::ValueId sum(ir::ValueId x, std::vector<int> dimensions) {
    return reduce(x, ir::ReducerKind::Add, std::move(dimensions));
  }
  ir::ValueId sum_all(ir::ValueId x);
  /// The well-known reducer as a function of the program; one per kind and type.
  ir::FunctionId reducer(ir::ReducerKind kind, ir::DType dtype);

  /// Throws InputError that names the op and its location.
  [[noreturn]] void refuse(const std::string& why) const;

  // For control flow, whose forward op changes.
  /// The op itself, in the function. The reference does not survive the next op that is appended.
  ir::Op& forward_op();
  /// Appends a result to the forward op.
  ir::ValueId add_forward_result(ir::TensorType type);
  /// A constant before the forward op.
  ir::ValueId insert_constant_before(ir::Literal value);

 private:
  Reverse& pass_;
  std::size_t position_;
  std::vector<ir::ValueId> cotangents_;
};

using RuleFunction = void (*)(Rule&);
/// Rule of an op kind; nullptr if it is Zero or Refused.
RuleFunction rule_of(ir::OpKind kind);

/// For each result of `op` whether it depends, through floating values, on the operands that are marked.
std::vector<bool> active_results(const ir::Program& program, const ir::Function& function, const ir::Op& op,
                                 const std::vector<bool>& active_operands);
/// The same for the values of a function of which the parameters in `active_params` are marked.
std::vector<bool> active_values(const ir::Program& program, const ir::Function& function,
                                const std::vector<bool>& active_params);

}  // namespace rhino::ad
