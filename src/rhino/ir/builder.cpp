// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/builder.hpp>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::ir {

std::vector<ValueId> Builder::add_multi(OpKind kind, std::vector<ValueId> operands, Attributes attrs,
                                        std::vector<FunctionId> regions) {
  std::vector<TensorType> operand_types;
  operand_types.reserve(operands.size());
  for (const ValueId operand : operands) {
    RHINO_ASSERT(operand.valid() && operand.index() < function().values.size(),
                 "an operand of {} does not belong to @{}", op_name(kind), function().name);
    operand_types.push_back(type(operand));
  }
  std::vector<TensorType> result_types;
  try {
    result_types = infer_result_types({*program_, kind, attrs, operand_types, regions});
  } catch (const InputError& error) {
    std::string where;
    if (location_.line != 0) where += fmt::format("line {}: ", location_.line);
    if (!location_.name.empty()) where += fmt::format("{}: ", location_.name);
    RHINO_FAIL(InputError, "{}{}", where, error.what());
  }
  const OpId op = function().append(kind, std::move(attrs), std::move(operands), std::move(result_types),
                                    std::move(regions), location_);
  return function().op(op).results;
}

ValueId Builder::add(OpKind kind, std::vector<ValueId> operands, Attributes attrs, std::vector<FunctionId> regions) {
  const std::vector<ValueId> results = add_multi(kind, std::move(operands), std::move(attrs), std::move(regions));
  RHINO_ASSERT(results.size() == 1, "{} has {} results where one is expected", op_name(kind), results.size());
  return results[0];
}

ValueId Builder::constant(Literal literal) { return add(OpKind::Constant, {}, ConstantAttrs{std::move(literal)}); }

ValueId Builder::scalar(DType dtype, double value) { return constant(Literal::splat({dtype, {}}, value)); }

ValueId Builder::scalar_int(DType dtype, std::int64_t value) {
  return constant(Literal::splat_int({dtype, {}}, value));
}

ValueId Builder::full(TensorType type, double value) { return constant(Literal::splat(std::move(type), value)); }

ValueId Builder::broadcast(ValueId operand, Dims result_dims, std::vector<int> dimensions) {
  return add(OpKind::BroadcastInDim, {operand}, BroadcastInDimAttrs{std::move(result_dims), std::move(dimensions)});
}

ValueId Builder::reshape(ValueId operand, Dims dims) {
  return add(OpKind::Reshape, {operand}, ReshapeAttrs{std::move(dims)});
}

ValueId Builder::transpose(ValueId operand, std::vector<int> permutation) {
  return add(OpKind::Transpose, {operand}, DimensionsAttrs{std::move(permutation)});
}

ValueId Builder::convert(ValueId operand, DType dtype) { return add(OpKind::Convert, {operand}, ConvertAttrs{dtype}); }

ValueId Builder::slice(ValueId operand, Dims start, Dims limit, Dims stride) {
  if (stride.empty()) stride.assign(start.size(), 1);
  return add(OpKind::Slice, {operand}, SliceAttrs{std::move(start), std::move(limit), std::move(stride)});
}

ValueId Builder::pad(ValueId operand, ValueId padding, Dims low, Dims high, Dims interior) {
  if (interior.empty()) interior.assign(low.size(), 0);
  return add(OpKind::Pad, {operand, padding}, PadAttrs{std::move(low), std::move(high), std::move(interior)});
}

ValueId Builder::concatenate(std::vector<ValueId> operands, int dimension) {
  return add(OpKind::Concatenate, std::move(operands), DimensionAttrs{dimension});
}

ValueId Builder::iota(TensorType type, int dimension) {
  return add(OpKind::Iota, {}, IotaAttrs{std::move(type), dimension});
}

ValueId Builder::compare(ValueId lhs, ValueId rhs, Comparison direction, ComparisonType type) {
  return add(OpKind::Compare, {lhs, rhs}, CompareAttrs{direction, type});
}

ValueId Builder::select(ValueId predicate, ValueId on_true, ValueId on_false) {
  return add(OpKind::Select, {predicate, on_true, on_false});
}

ValueId Builder::dynamic_slice(ValueId operand, std::vector<ValueId> starts, Dims sizes) {
  std::vector<ValueId> operands{operand};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return add(OpKind::DynamicSlice, std::move(operands), DynamicSliceAttrs{std::move(sizes)});
}

ValueId Builder::reduce(ValueId operand, ReducerKind reducer, std::vector<int> dimensions) {
  const DType dtype = type(operand).dtype;
  const ValueId init = constant(reducer_identity(reducer, dtype));
  const FunctionId region = make_reducer(*program_, reducer, dtype);
  return add(OpKind::Reduce, {operand, init}, ReduceAttrs{std::move(dimensions)}, {region});
}

}  // namespace rhino::ir
