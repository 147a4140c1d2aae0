// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rhino/base/ids.hpp>
#include <rhino/ir/attributes.hpp>
#include <rhino/ir/types.hpp>

namespace rhino::ir {

/// The op kinds, in the order of op_list.def.
enum class OpKind : std::uint8_t {
#define RHINO_OP(Kind, spelling, Attrs, infer, factors, cost) Kind,
#include <rhino/ir/op_list.def>
#undef RHINO_OP
};

/// Number of op kinds.
inline constexpr int op_kind_count = 0
#define RHINO_OP(Kind, spelling, Attrs, infer, factors, cost) +1
#include <rhino/ir/op_list.def>
#undef RHINO_OP
    ;

/// Spelling without the `stablehlo.` prefix ("add", "chlo.erf").
std::string_view op_name(OpKind kind);

using ValueId = Id<struct ValueTag>;        ///< a value of one Function
using OpId = Id<struct OpTag>;              ///< position in Function::ops
using FunctionId = Id<struct FunctionTag>;  ///< position in Program::functions

/// Where an op came from, for messages.
struct Location {
  std::uint32_t line = 0;  ///< 1-based line of the imported text; 0 if the op was built by code
  std::string name;        ///< scope path such as "jit(step)/block3/attention/dot_general"; may be empty
  bool operator==(const Location&) const = default;
};

/// Free-form facts that the importer keeps but that do not change the meaning (sharding annotations, metadata).
using Notes = std::vector<std::pair<std::string, std::string>>;

/// One SSA value: a parameter of its function (invalid `producer`) or a result of an op.
struct Value {
  TensorType type;
  OpId producer;                   ///< invalid for parameters
  std::uint32_t result_index = 0;  ///< which result of `producer`; for a parameter its position
};

/// One operation. Operands always come from earlier ops or parameters of the same function.
struct Op {
  OpKind kind = OpKind::Constant;
  Attributes attrs;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  std::vector<FunctionId> regions;  ///< reducer, comparator, loop condition and body, branches, callee
  Location location;
  Notes notes;

  Op();
  Op(const Op& other);
  Op(Op&& other) noexcept;
  Op& operator=(const Op& other);
  Op& operator=(Op&& other) noexcept;
  ~Op();

  template <class Attrs>
  const Attrs& as() const {
    return std::get<Attrs>(attrs);
  }
};

/// A straight-line list of ops in an executable order (every operand is defined before its use).
struct Function {
  std::string name;
  std::vector<ValueId> params;
  std::vector<ValueId> results;
  std::vector<Op> ops;
  std::vector<Value> values;
  std::vector<Notes> param_notes;   ///< one per parameter (name, aliasing, sharding ..); may be empty altogether
  std::vector<Notes> result_notes;  ///< one per result; may be empty altogether

  Function();
  Function(const Function& other);
  Function(Function&& other) noexcept;
  Function& operator=(const Function& other);
  Function& operator=(Function&& other) noexcept;
  ~Function();

  const Value& value(ValueId id) const { return values[id.index()]; }
  const TensorType& type(ValueId id) const { return values[id.index()].type; }
  const Op& op(OpId id) const { return ops[id.index()]; }
  /// Producer of a value, or nullptr for a parameter.
  const Op* producer(ValueId id) const;
  std::vector<TensorType> param_types() const;
  std::vector<TensorType> result_types() const;

  ValueId add_param(TensorType type);
  /// Appends an op whose result types are given (no checks: see Builder for checked construction).
  OpId append(OpKind kind, Attributes attrs, std::vector<ValueId> operands, std::vector<TensorType> result_types,
              std::vector<FunctionId> regions = {}, Location location = {});
};

/// A tensor program in StableHLO's vocabulary and semantics, static shapes, flat SSA. Regions of StableHLO are functions of
/// their own; values that a region captures from outside are explicit: `while` carries them unchanged through the loop,
/// `case` passes them to every branch, reducers and comparators own copies of captured constants.
struct Program {
  std::string name;
  std::vector<Function> functions;
  FunctionId main;

  Program();
  Program(const Program& other);
  Program(Program&& other) noexcept;
  Program& operator=(const Program& other);
  Program& operator=(Program&& other) noexcept;
  ~Program();

  Function& function(FunctionId id) { return functions[id.index()]; }
  const Function& function(FunctionId id) const { return functions[id.index()]; }
  Function& entry() { return functions[main.index()]; }
  const Function& entry() const { return functions[main.index()]; }
  /// A function by name; invalid id if there is none.
  FunctionId find(std::string_view name) const;
  FunctionId add_function(std::string name);
};

/// Structural equality: same functions reachable from main in order of first use, same ops, attributes and types.
/// Names of functions, locations and notes do not count.
bool equivalent(const Program& a, const Program& b);

/// Uses of every value of a function: `uses[v]` lists (op, operand position); results of the function are not listed.
std::vector<std::vector<std::pair<OpId, std::uint32_t>>> value_uses(const Function& function);

/// What a reducer region computes, when it is one of the well-known kinds on its two scalars.
enum class ReducerKind : std::uint8_t { Add, Multiply, Maximum, Minimum, And, Or, Xor, Other };
ReducerKind classify_reducer(const Function& reducer);

/// A function `(a, b) -> a op b` on scalars of `dtype`, appended to `program`. `kind` must not be `Other`.
FunctionId make_reducer(Program& program, ReducerKind kind, DType dtype);

/// The identity element of a reduction (0, 1, -inf or lowest, +inf or highest, all ones, 0).
Literal reducer_identity(ReducerKind kind, DType dtype);

}  // namespace rhino::ir
