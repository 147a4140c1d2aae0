// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/program.hpp>

namespace rhino::ir {
namespace {

ReducerKind reducer_kind_of(OpKind kind) {
  switch (kind) {
    case OpKind::Add:
      return ReducerKind::Add;
    case OpKind::Multiply:
      return ReducerKind::Multiply;
    case OpKind::Maximum:
      return ReducerKind::Maximum;
    case OpKind::Minimum:
      return ReducerKind::Minimum;
    case OpKind::And:
      return ReducerKind::And;
    case OpKind::Or:
      return ReducerKind::Or;
    case OpKind::Xor:
      return ReducerKind::Xor;
    default:
      return ReducerKind::Other;
  }
}

OpKind op_kind_of(ReducerKind kind) {
  switch (kind) {
    case ReducerKind::Add:
      return OpKind::Add;
    case ReducerKind::Multiply:
      return OpKind::Multiply;
    case ReducerKind::Maximum:
      return OpKind::Maximum;
    case ReducerKind::Minimum:
      return OpKind::Minimum;
    case ReducerKind::And:
      return OpKind::And;
    case ReducerKind::Or:
      return OpKind::Or;
    case ReducerKind::Xor:
      return OpKind::Xor;
    case ReducerKind::Other:
      break;
  }
  RHINO_ASSERT(false, "there is no op for a reducer of kind Other");
  return OpKind::Add;
}

std::int64_t lowest_int(DType dtype) {
  if (!is_signed_int(dtype)) return 0;
  return std::numeric_limits<std::int64_t>::min() >> (64 - dtype_bits(dtype));
}

std::int64_t highest_int(DType dtype) {
  if (is_signed_int(dtype)) return std::numeric_limits<std::int64_t>::max() >> (64 - dtype_bits(dtype));
  // Unsigned and boolean: all ones; 64 bits wrap to -1, the same bits.
  return static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - dtype_bits(dtype)));
}

}  // namespace

ReducerKind classify_reducer(const Function& reducer) {
  if (reducer.params.size() != 2 || reducer.results.size() != 1 || reducer.ops.size() != 1) return ReducerKind::Other;
  const Op& op = reducer.ops.front();
  if (op.operands.size() != 2 || op.results.size() != 1 || op.results[0] != reducer.results[0])
    return ReducerKind::Other;
  const ValueId a = reducer.params[0];
  const ValueId b = reducer.params[1];
  const bool combines_both =
      (op.operands[0] == a && op.operands[1] == b) || (op.operands[0] == b && op.operands[1] == a);
  if (!combines_both || reducer.type(a).rank() != 0 || reducer.type(a) != reducer.type(b)) return ReducerKind::Other;
  return reducer_kind_of(op.kind);
}

FunctionId make_reducer(Program& program, ReducerKind kind, DType dtype) {
  const OpKind op_kind = op_kind_of(kind);
  const FunctionId id =
      program.add_function(fmt::format("{}_{}_{}", op_name(op_kind), dtype_name(dtype), program.functions.size()));
  Function& function = program.function(id);
  const TensorType scalar{dtype, {}};
  const ValueId a = function.add_param(scalar);
  const ValueId b = function.add_param(scalar);
  const OpId op = function.append(op_kind, NoAttrs{}, {a, b}, {scalar});
  function.results = {function.op(op).results[0]};
  return id;
}

Literal reducer_identity(ReducerKind kind, DType dtype) {
  const TensorType scalar{dtype, {}};
  switch (kind) {
    case ReducerKind::Add:
    case ReducerKind::Or:
    case ReducerKind::Xor:
      return Literal::splat_int(scalar, 0);
    case ReducerKind::Multiply:
      return Literal::splat_int(scalar, 1);
    case ReducerKind::Maximum:
      if (is_float(dtype)) return Literal::splat(scalar, -std::numeric_limits<double>::infinity());
      return Literal::splat_int(scalar, lowest_int(dtype));
    case ReducerKind::Minimum:
      if (is_float(dtype)) return Literal::splat(scalar, std::numeric_limits<double>::infinity());
      return Literal::splat_int(scalar, highest_int(dtype));
    case ReducerKind::And:
      return Literal::splat_int(scalar, dtype == DType::I1 ? 1 : -1);
    case ReducerKind::Other:
      break;
  }
  RHINO_ASSERT(false, "a reducer of kind Other has no known identity");
  return {};
}

}  // namespace rhino::ir
