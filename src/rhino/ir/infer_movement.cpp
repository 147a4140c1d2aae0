// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/infer.hpp>

// Ops that create or move data. Constraints follow the StableHLO specification, section "Ops".

namespace rhino::ir::infer {

Types infer_constant(const InferContext& context) {
  check_operand_count(context, 0);
  const Literal& value = attributes<ConstantAttrs>(context).value;
  RHINO_OP_CHECK(value.type().elements() == 0 || !value.stored_bytes().empty(), "the constant has no value");
  return {value.type()};
}

Types infer_iota(const InferContext& context) {
  check_operand_count(context, 0);
  const auto& attrs = attributes<IotaAttrs>(context);
  RHINO_OP_CHECK(attrs.type.dtype != DType::I1, "the result is {}, expected integers or floats", to_string(attrs.type));
  check_dimension(context, "iota_dimension", attrs.dimension, attrs.type.rank());
  return {attrs.type};
}

Types infer_broadcast_in_dim(const InferContext& context) {
  check_operand_count(context, 1);
  const auto& attrs = attributes<BroadcastInDimAttrs>(context);
  const TensorType& operand = context.operands[0];
  check_length(context, "broadcast_dimensions", attrs.dimensions.size(), operand.dims.size());
  check_dimension_list(context, "broadcast_dimensions", attrs.dimensions, static_cast<int>(attrs.result_dims.size()));
  for (std::size_t i = 0; i < operand.dims.size(); ++i) {
    const std::int64_t target = attrs.result_dims[static_cast<std::size_t>(attrs.dimensions[i])];
    RHINO_OP_CHECK(operand.dims[i] == 1 || operand.dims[i] == target,
                   "dimension {} of operand {} has size {}, expected 1 or {} (dimension {} of the result {})", i,
                   to_string(operand), operand.dims[i], target, attrs.dimensions[i], to_string(attrs.result_dims));
  }
  return {{operand.dtype, attrs.result_dims}};
}

Types infer_concatenate(const InferContext& context) {
  check_operand_count_at_least(context, 1);
  const auto& attrs = attributes<DimensionAttrs>(context);
  TensorType result = context.operands[0];
  check_dimension(context, "dimension", attrs.dimension, result.rank());
  const auto along = static_cast<std::size_t>(attrs.dimension);
  for (std::size_t i = 1; i < context.operands.size(); ++i) {
    TensorType other = context.operands[i];
    bool fits = other.dims.size() == result.dims.size();
    if (fits) {
      const std::int64_t size = other.dims[along];
      other.dims[along] = result.dims[along];
      fits = other == result;
      result.dims[along] = checked_add(result.dims[along], size);
    }
    RHINO_OP_CHECK(fits, "operand {} is {}, expected {} but for dimension {}", i, to_string(context.operands[i]),
                   to_string(context.operands[0]), attrs.dimension);
  }
  return {result};
}

Types infer_dynamic_slice(const InferContext& context) {
  check_operand_count_at_least(context, 1);
  const auto& attrs = attributes<DynamicSliceAttrs>(context);
  const TensorType& operand = context.operands[0];
  check_operand_count(context, 1 + operand.dims.size());
  check_scalar_indices(context, 1);
  check_length(context, "slice_sizes", attrs.slice_sizes.size(), operand.dims.size());
  for (std::size_t i = 0; i < operand.dims.size(); ++i)
    RHINO_OP_CHECK(attrs.slice_sizes[i] >= 0 && attrs.slice_sizes[i] <= operand.dims[i],
                   "slice size {} of dimension {} is not in [0, {}] (operand {})", attrs.slice_sizes[i], i,
                   operand.dims[i], to_string(operand));
  return {{operand.dtype, attrs.slice_sizes}};
}

Types infer_dynamic_update_slice(const InferContext& context) {
  check_operand_count_at_least(context, 2);
  const TensorType& operand = context.operands[0];
  const TensorType& update = context.operands[1];
  check_operand_count(context, 2 + operand.dims.size());
  check_scalar_indices(context, 2);
  RHINO_OP_CHECK(update.dtype == operand.dtype && update.dims.size() == operand.dims.size(),
                 "operand 1 (update) is {}, expected rank {} and elements of {}", to_string(update), operand.rank(),
                 dtype_name(operand.dtype));
  for (std::size_t i = 0; i < operand.dims.size(); ++i)
    RHINO_OP_CHECK(update.dims[i] <= operand.dims[i], "operand 1 (update) is {}, larger than the operand {}",
                   to_string(update), to_string(operand));
  return {operand};
}

Types infer_pad(const InferContext& context) {
  check_operand_count(context, 2);
  const auto& attrs = attributes<PadAttrs>(context);
  TensorType result = context.operands[0];
  RHINO_OP_CHECK(context.operands[1] == (TensorType{result.dtype, {}}),
                 "operand 1 (padding value) is {}, expected a scalar of {}", to_string(context.operands[1]),
                 dtype_name(result.dtype));
  check_length(context, "edge_padding_low", attrs.low.size(), result.dims.size());
  check_length(context, "edge_padding_high", attrs.high.size(), result.dims.size());
  check_length(context, "interior_padding", attrs.interior.size(), result.dims.size());
  for (std::size_t i = 0; i < result.dims.size(); ++i) {
    RHINO_OP_CHECK(attrs.interior[i] >= 0, "interior padding {} of dimension {} is negative", attrs.interior[i], i);
    const std::int64_t gaps = result.dims[i] > 0 ? result.dims[i] - 1 : 0;
    std::int64_t size = checked_add(result.dims[i], checked_multiply(gaps, attrs.interior[i]));
    size = checked_add(checked_add(size, attrs.low[i]), attrs.high[i]);
    RHINO_OP_CHECK(size >= 0, "dimension {} of {} would have size {} after padding", i, to_string(context.operands[0]),
                   size);
    result.dims[i] = size;
  }
  return {result};
}

Types infer_reshape(const InferContext& context) {
  check_operand_count(context, 1);
  const TensorType result{context.operands[0].dtype, attributes<ReshapeAttrs>(context).result_dims};
  check_type(context, result, "result type");
  RHINO_OP_CHECK(result.elements() == context.operands[0].elements(),
                 "the result {} has {} elements, but the operand {} has {}", to_string(result), result.elements(),
                 to_string(context.operands[0]), context.operands[0].elements());
  return {result};
}

Types infer_reverse(const InferContext& context) {
  check_operand_count(context, 1);
  check_dimension_list(context, "dimensions", attributes<DimensionsAttrs>(context).dimensions,
                       context.operands[0].rank());
  return {context.operands[0]};
}

Types infer_slice(const InferContext& context) {
  check_operand_count(context, 1);
  const auto& attrs = attributes<SliceAttrs>(context);
  TensorType result = context.operands[0];
  check_length(context, "start_indices", attrs.start.size(), result.dims.size());
  check_length(context, "limit_indices", attrs.limit.size(), result.dims.size());
  check_length(context, "strides", attrs.stride.size(), result.dims.size());
  for (std::size_t i = 0; i < result.dims.size(); ++i) {
    RHINO_OP_CHECK(attrs.stride[i] >= 1, "stride {} of dimension {} is not positive", attrs.stride[i], i);
    RHINO_OP_CHECK(attrs.start[i] >= 0 && attrs.start[i] <= attrs.limit[i] && attrs.limit[i] <= result.dims[i],
                   "slice {}:{} of dimension {} is not within [0, {}] (operand {})", attrs.start[i], attrs.limit[i], i,
                   result.dims[i], to_string(context.operands[0]));
    result.dims[i] = ceil_div(attrs.limit[i] - attrs.start[i], attrs.stride[i]);
  }
  return {result};
}

Types infer_transpose(const InferContext& context) {
  check_operand_count(context, 1);
  const auto& permutation = attributes<DimensionsAttrs>(context).dimensions;
  const TensorType& operand = context.operands[0];
  check_length(context, "permutation", permutation.size(), operand.dims.size());
  check_dimension_list(context, "permutation", permutation, operand.rank());
  TensorType result{operand.dtype, {}};
  for (const int dimension : permutation)
    result.dims.push_back(operand.dims[static_cast<std::size_t>(dimension)]);
  return {result};
}

Types infer_identity(const InferContext& context) {
  if (context.kind != OpKind::OptimizationBarrier) {
    check_operand_count(context, 1);
    const auto& attrs = attributes<CollectiveAttrs>(context);
    if (attrs.groups) {
      for (const auto& group : *attrs.groups) {
        RHINO_OP_CHECK(context.kind != OpKind::CollectivePermute || group.size() == 2,
                       "source_target_pairs has an entry of {} numbers, expected pairs", group.size());
        for (const std::int64_t id : group)
          RHINO_OP_CHECK(id >= 0, "device number {} is negative", id);
      }
    }
  }
  return {context.operands.begin(), context.operands.end()};
}

}  // namespace rhino::ir::infer
