// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/infer.hpp>

#include <algorithm>

// Control flow, random numbers, collectives and foreign calls.

namespace rhino::ir::infer {
namespace {

Types operand_types(const InferContext& context) { return {context.operands.begin(), context.operands.end()}; }

enum class GroupSizes : bool { Any, Equal };

/// No number occurs in two groups, and groups are of `group_size` numbers each where the result type depends on it.
const CollectiveAttrs& check_groups(const InferContext& context, GroupSizes sizes = GroupSizes::Equal) {
  const auto& attrs = attributes<CollectiveAttrs>(context);
  RHINO_OP_CHECK(attrs.group_size >= 1, "the group size is {}, expected at least 1", attrs.group_size);
  if (!attrs.groups) {
    RHINO_OP_CHECK(attrs.group_size == 1, "a group size of {} without replica groups", attrs.group_size);
    return attrs;
  }
  std::vector<std::int64_t> ids;
  for (const auto& group : *attrs.groups) {
    RHINO_OP_CHECK(sizes == GroupSizes::Any || static_cast<std::int64_t>(group.size()) == attrs.group_size,
                   "a replica group has {} members, expected {} in each", group.size(), attrs.group_size);
    ids.insert(ids.end(), group.begin(), group.end());
  }
  if (!std::is_sorted(ids.begin(), ids.end())) std::sort(ids.begin(), ids.end());
  RHINO_OP_CHECK(ids.empty() || ids.front() >= 0, "device number {} is negative", ids.front());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  RHINO_OP_CHECK(twice == ids.end(), "device number {} is in two replica groups", *twice);
  return attrs;
}

}  // namespace

Types infer_rng_bit_generator(const InferContext& context) {
  check_operand_count(context, 1);
  const auto& attrs = attributes<RngBitGeneratorAttrs>(context);
  const TensorType& state = context.operands[0];
  RHINO_OP_CHECK(state.dtype == DType::U64 && state.rank() == 1,
                 "operand 0 (initial state) is {}, expected a vector of ui64", to_string(state));
  const std::int64_t words = state.dims[0];
  switch (attrs.algorithm) {
    case RngAlgorithm::Default:
    case RngAlgorithm::Philox:
      RHINO_OP_CHECK(words == 2 || words == 3, "operand 0 (initial state) is {}, expected 2 or 3 words",
                     to_string(state));
      break;
    case RngAlgorithm::ThreeFry:
      RHINO_OP_CHECK(words == 2, "operand 0 (initial state) is {}, expected 2 words", to_string(state));
      break;
  }
  RHINO_OP_CHECK(attrs.type.dtype != DType::I1, "the result is {}, expected integers or floats", to_string(attrs.type));
  return {state, attrs.type};
}

Types infer_call(const InferContext& context) {
  const Function& callee = context.program.function(context.regions[0]);
  check_region(context, 0, "callee", operand_types(context), callee.result_types());
  return callee.result_types();
}

Types infer_case_of(const InferContext& context) {
  check_operand_count_at_least(context, 1);
  RHINO_OP_CHECK(context.operands[0] == (TensorType{DType::I32, {}}), "operand 0 (index) is {}, expected tensor<i32>",
                 to_string(context.operands[0]));
  const Types params(context.operands.begin() + 1, context.operands.end());
  const Types results = context.program.function(context.regions[0]).result_types();
  for (std::size_t i = 0; i < context.regions.size(); ++i)
    check_region(context, i, "branch " + std::to_string(i), params, results);
  return results;
}

Types infer_while_loop(const InferContext& context) {
  const Types carried = operand_types(context);
  check_region(context, 0, "loop condition", carried, {{DType::I1, {}}});
  check_region(context, 1, "loop body", carried, carried);
  return carried;
}

Types infer_all_gather(const InferContext& context) {
  check_operand_count_at_least(context, 1);
  const CollectiveAttrs& attrs = check_groups(context);
  Types results = operand_types(context);
  for (TensorType& type : results) {
    check_dimension(context, "all_gather_dim", attrs.dimension, type.rank());
    std::int64_t& size = type.dims[static_cast<std::size_t>(attrs.dimension)];
    size = checked_multiply(size, attrs.group_size);
  }
  return results;
}

Types infer_all_reduce(const InferContext& context) {
  check_operand_count_at_least(context, 1);
  check_groups(context, GroupSizes::Any);
  for (const TensorType& type : context.operands) {
    const TensorType scalar{type.dtype, {}};
    check_region(context, 0, "reducer", {scalar, scalar}, {scalar});
  }
  return operand_types(context);
}

Types infer_reduce_scatter(const InferContext& context) {
  check_operand_count(context, 1);
  const CollectiveAttrs& attrs = check_groups(context);
  TensorType type = context.operands[0];
  check_dimension(context, "scatter_dimension", attrs.dimension, type.rank());
  std::int64_t& size = type.dims[static_cast<std::size_t>(attrs.dimension)];
  RHINO_OP_CHECK(size % attrs.group_size == 0, "dimension {} of {} is not a multiple of the group size {}",
                 attrs.dimension, to_string(context.operands[0]), attrs.group_size);
  size /= attrs.group_size;
  const TensorType scalar{type.dtype, {}};
  check_region(context, 0, "reducer", {scalar, scalar}, {scalar});
  return {type};
}

Types infer_all_to_all(const InferContext& context) {
  check_operand_count_at_least(context, 1);
  const CollectiveAttrs& attrs = check_groups(context);
  Types results = operand_types(context);
  for (TensorType& type : results) {
    check_dimension(context, "split_dimension", attrs.dimension, type.rank());
    check_dimension(context, "concat_dimension", attrs.concat_dimension, type.rank());
    std::int64_t& split = type.dims[static_cast<std::size_t>(attrs.dimension)];
    RHINO_OP_CHECK(split % attrs.group_size == 0, "dimension {} of the operand has size {}, not a multiple of {}",
                   attrs.dimension, split, attrs.group_size);
    split /= attrs.group_size;
    std::int64_t& concat = type.dims[static_cast<std::size_t>(attrs.concat_dimension)];
    concat = checked_multiply(concat, attrs.group_size);
  }
  return results;
}

Types infer_device_id(const InferContext& context) {
  check_operand_count(context, 0);
  return {{DType::U32, {}}};
}

Types infer_custom_call(const InferContext& context) {
  const auto& attrs = attributes<CustomCallAttrs>(context);
  RHINO_OP_CHECK(!attrs.target.empty(), "the call target has no name");
  return attrs.result_types;
}

}  // namespace rhino::ir::infer
