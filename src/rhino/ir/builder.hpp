// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include <rhino/ir/program.hpp>

namespace rhino::ir {

/// Appends checked ops to one function of a Program. Result types are inferred; a wrong operand throws InputError with the
/// current scope in the message. Does not own the program, which must outlive it.
class Builder {
 public:
  Builder(Program& program, FunctionId function) : program_(&program), function_(function) {}

  Program& program() { return *program_; }
  Function& function() { return program_->function(function_); }
  const TensorType& type(ValueId value) { return function().type(value); }

  ValueId param(TensorType type) { return function().add_param(std::move(type)); }
  void set_results(std::vector<ValueId> results) { function().results = std::move(results); }

  /// Location given to the ops that follow.
  void set_location(Location location) { location_ = std::move(location); }

  /// An op with one result.
  ValueId add(OpKind kind, std::vector<ValueId> operands, Attributes attrs = NoAttrs{}, std::vector<FunctionId> regions = {});
  /// An op with any number of results.
  std::vector<ValueId> add_multi(OpKind kind, std::vector<ValueId> operands, Attributes attrs = NoAttrs{},
                                 std::vector<FunctionId> regions = {});

  // Short forms used all over the passes.
  ValueId constant(Literal literal);
  ValueId scalar(DType dtype, double value);
  ValueId scalar_int(DType dtype, std::int64_t value);
  /// A constant of a whole shape with one value.
  ValueId full(TensorType type, double value);
  ValueId broadcast(ValueId operand, Dims result_dims, std::vector<int> dimensions);
  /// A scalar spread over `dims`.
  ValueId broadcast_scalar(ValueId scalar, Dims dims) { return broadcast(scalar, std::move(dims), {}); }
  ValueId reshape(ValueId operand, Dims dims);
  ValueId transpose(ValueId operand, std::vector<int> permutation);
  ValueId convert(ValueId operand, DType dtype);
  ValueId slice(ValueId operand, Dims start, Dims limit, Dims stride = {});
  ValueId pad(ValueId operand, ValueId padding, Dims low, Dims high, Dims interior = {});
  ValueId concatenate(std::vector<ValueId> operands, int dimension);
  ValueId iota(TensorType type, int dimension);
  ValueId compare(ValueId lhs, ValueId rhs, Comparison direction, ComparisonType type = ComparisonType::Default);
  ValueId select(ValueId predicate, ValueId on_true, ValueId on_false);
  ValueId dynamic_slice(ValueId operand, std::vector<ValueId> starts, Dims sizes);
  /// Reduction with a well-known reducer over `dimensions`, starting at its identity.
  ValueId reduce(ValueId operand, ReducerKind reducer, std::vector<int> dimensions);

  ValueId operator()(OpKind kind, ValueId a) { return add(kind, {a}); }
  ValueId operator()(OpKind kind, ValueId a, ValueId b) { return add(kind, {a, b}); }

 private:
  Program* program_;
  FunctionId function_;
  Location location_;
};

}  // namespace rhino::ir
