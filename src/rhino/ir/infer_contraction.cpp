// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/infer.hpp>

// dot_general and convolution. Constraints follow the StableHLO specification, section "Ops".

namespace rhino::ir::infer {
namespace {

std::int64_t size_of(const TensorType& type, int dimension) { return type.dims[static_cast<std::size_t>(dimension)]; }

/// Both floats or both integers (booleans count as integers); the element types may differ in width.
void check_factor_types(const InferContext& context, DType result) {
  const DType lhs = context.operands[0].dtype;
  const DType rhs = context.operands[1].dtype;
  RHINO_OP_CHECK(is_float(lhs) == is_float(rhs), "lhs has elements of {} and rhs of {}, expected one kind",
                 dtype_name(lhs), dtype_name(rhs));
  RHINO_OP_CHECK(is_float(lhs) == is_float(result), "elements of {} cannot be accumulated as {}", dtype_name(lhs),
                 dtype_name(result));
}

void check_disjoint(const InferContext& context, std::string_view side, const std::vector<int>& batch,
                    const std::vector<int>& contracting, int rank) {
  std::vector<int> both = batch;
  both.insert(both.end(), contracting.begin(), contracting.end());
  check_dimension_list(context, side, both, rank);
}

}  // namespace

Types infer_dot_general(const InferContext& context) {
  check_operand_count(context, 2);
  const auto& attrs = attributes<DotGeneralAttrs>(context);
  const TensorType& lhs = context.operands[0];
  const TensorType& rhs = context.operands[1];
  check_factor_types(context, attrs.result_dtype);
  check_length(context, "rhs_batching_dimensions", attrs.rhs_batch.size(), attrs.lhs_batch.size());
  check_length(context, "rhs_contracting_dimensions", attrs.rhs_contracting.size(), attrs.lhs_contracting.size());
  check_disjoint(context, "the list of batching and contracting dimensions of lhs", attrs.lhs_batch,
                 attrs.lhs_contracting, lhs.rank());
  check_disjoint(context, "the list of batching and contracting dimensions of rhs", attrs.rhs_batch,
                 attrs.rhs_contracting, rhs.rank());
  TensorType result{attrs.result_dtype, {}};
  for (std::size_t i = 0; i < attrs.lhs_batch.size(); ++i) {
    RHINO_OP_CHECK(size_of(lhs, attrs.lhs_batch[i]) == size_of(rhs, attrs.rhs_batch[i]),
                   "batching dimension {} of lhs {} and {} of rhs {} differ in size", attrs.lhs_batch[i],
                   to_string(lhs), attrs.rhs_batch[i], to_string(rhs));
    result.dims.push_back(size_of(lhs, attrs.lhs_batch[i]));
  }
  for (std::size_t i = 0; i < attrs.lhs_contracting.size(); ++i)
    RHINO_OP_CHECK(size_of(lhs, attrs.lhs_contracting[i]) == size_of(rhs, attrs.rhs_contracting[i]),
                   "contracting dimension {} of lhs {} and {} of rhs {} differ in size", attrs.lhs_contracting[i],
                   to_string(lhs), attrs.rhs_contracting[i], to_string(rhs));
  for (int i = 0; i < lhs.rank(); ++i)
    if (!contains(attrs.lhs_batch, i) && !contains(attrs.lhs_contracting, i)) result.dims.push_back(size_of(lhs, i));
  for (int i = 0; i < rhs.rank(); ++i)
    if (!contains(attrs.rhs_batch, i) && !contains(attrs.rhs_contracting, i)) result.dims.push_back(size_of(rhs, i));
  return {result};
}

Types infer_convolution(const InferContext& context) {
  check_operand_count(context, 2);
  const auto& attrs = attributes<ConvolutionAttrs>(context);
  const TensorType& lhs = context.operands[0];
  const TensorType& rhs = context.operands[1];
  check_factor_types(context, attrs.result_dtype);
  const std::size_t spatial = attrs.window.size();
  RHINO_OP_CHECK(lhs.dims.size() == spatial + 2, "operand 0 (lhs) is {}, expected rank {} for {} spatial dimensions",
                 to_string(lhs), spatial + 2, spatial);
  RHINO_OP_CHECK(rhs.dims.size() == spatial + 2, "operand 1 (rhs) is {}, expected rank {} for {} spatial dimensions",
                 to_string(rhs), spatial + 2, spatial);
  const auto check_numbers = [&](std::string_view name, int first, int second, std::vector<int> rest) {
    check_length(context, name, rest.size(), spatial);
    rest.push_back(first);
    rest.push_back(second);
    check_dimension_list(context, name, rest, static_cast<int>(spatial) + 2);
  };
  check_numbers("input dimension numbers", attrs.input_batch, attrs.input_feature, attrs.input_spatial);
  check_numbers("kernel dimension numbers", attrs.kernel_input_feature, attrs.kernel_output_feature,
                attrs.kernel_spatial);
  check_numbers("output dimension numbers", attrs.output_batch, attrs.output_feature, attrs.output_spatial);
  check_window(context, attrs.window, true);

  const std::int64_t groups = attrs.feature_group_count;
  const std::int64_t batch_groups = attrs.batch_group_count;
  RHINO_OP_CHECK(groups >= 1, "feature_group_count is {}, expected at least 1", groups);
  RHINO_OP_CHECK(batch_groups >= 1, "batch_group_count is {}, expected at least 1", batch_groups);
  RHINO_OP_CHECK(groups == 1 || batch_groups == 1, "feature_group_count {} and batch_group_count {} are both above 1",
                 groups, batch_groups);
  const std::int64_t batch = size_of(lhs, attrs.input_batch);
  const std::int64_t features = size_of(lhs, attrs.input_feature);
  const std::int64_t out_features = size_of(rhs, attrs.kernel_output_feature);
  RHINO_OP_CHECK(batch % batch_groups == 0, "batch size {} is not a multiple of batch_group_count {}", batch,
                 batch_groups);
  RHINO_OP_CHECK(features % groups == 0, "{} input features are not a multiple of feature_group_count {}", features,
                 groups);
  RHINO_OP_CHECK(size_of(rhs, attrs.kernel_input_feature) == features / groups,
                 "the kernel {} has {} input features, expected {} (lhs {}, feature_group_count {})", to_string(rhs),
                 size_of(rhs, attrs.kernel_input_feature), features / groups, to_string(lhs), groups);
  RHINO_OP_CHECK(out_features % groups == 0, "{} output features are not a multiple of feature_group_count {}",
                 out_features, groups);
  RHINO_OP_CHECK(out_features % batch_groups == 0, "{} output features are not a multiple of batch_group_count {}",
                 out_features, batch_groups);

  TensorType result{attrs.result_dtype, Dims(spatial + 2)};
  result.dims[static_cast<std::size_t>(attrs.output_batch)] = batch / batch_groups;
  result.dims[static_cast<std::size_t>(attrs.output_feature)] = out_features;
  for (std::size_t i = 0; i < spatial; ++i) {
    RHINO_OP_CHECK(attrs.window[i].size == size_of(rhs, attrs.kernel_spatial[i]),
                   "window dimension {} has size {}, but the kernel {} has {}", i, attrs.window[i].size, to_string(rhs),
                   size_of(rhs, attrs.kernel_spatial[i]));
    result.dims[static_cast<std::size_t>(attrs.output_spatial[i])] =
        window_positions(size_of(lhs, attrs.input_spatial[i]), attrs.window[i]);
  }
  return {result};
}

}  // namespace rhino::ir::infer
