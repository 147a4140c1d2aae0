// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/infer.hpp>

// Reductions, windows, sorting. Constraints follow the StableHLO specification, section "Ops". Reducers whose types are
// wider than those of the inputs are not part of the IR: an importer converts the inputs first.

namespace rhino::ir::infer {
namespace {

TensorType scalar_of(const TensorType& type) { return {type.dtype, {}}; }

/// Inputs of one shape, then one scalar init value for each, then a reducer over all of them. Returns the input count.
std::size_t check_reduction(const InferContext& context) {
  check_operand_count_at_least(context, 2);
  RHINO_OP_CHECK(context.operands.size() % 2 == 0, "expected as many init values as inputs, got {} operands in all",
                 context.operands.size());
  const std::size_t count = context.operands.size() / 2;
  Types params;
  for (std::size_t i = 0; i < count; ++i) {
    const TensorType& input = context.operands[i];
    RHINO_OP_CHECK(input.dims == context.operands[0].dims, "operand {} (input {}) is {}, expected the shape {}", i, i,
                   to_string(input), to_string(context.operands[0].dims));
    const TensorType& init = context.operands[count + i];
    RHINO_OP_CHECK(init == scalar_of(input), "operand {} (init value {}) is {}, expected {}", count + i, i,
                   to_string(init), to_string(scalar_of(input)));
    params.push_back(init);
  }
  const Types results = params;
  params.insert(params.end(), results.begin(), results.end());
  check_region(context, 0, "reducer", params, results);
  return count;
}

}  // namespace

Types infer_reduce(const InferContext& context) {
  const std::size_t count = check_reduction(context);
  const auto& dimensions = attributes<ReduceAttrs>(context).dimensions;
  const TensorType& input = context.operands[0];
  check_dimension_list(context, "dimensions", dimensions, input.rank());
  std::vector<bool> reduced(input.dims.size(), false);
  for (const int dimension : dimensions)
    reduced[static_cast<std::size_t>(dimension)] = true;
  Dims dims;
  for (std::size_t i = 0; i < input.dims.size(); ++i)
    if (!reduced[i]) dims.push_back(input.dims[i]);
  Types results;
  for (std::size_t i = 0; i < count; ++i)
    results.push_back({context.operands[i].dtype, dims});
  return results;
}

Types infer_reduce_window(const InferContext& context) {
  const std::size_t count = check_reduction(context);
  const auto& window = attributes<ReduceWindowAttrs>(context).window;
  const TensorType& input = context.operands[0];
  check_length(context, "window", window.size(), input.dims.size());
  check_window(context, window, true);
  Dims dims;
  for (std::size_t i = 0; i < window.size(); ++i)
    dims.push_back(window_positions(input.dims[i], window[i]));
  Types results;
  for (std::size_t i = 0; i < count; ++i)
    results.push_back({context.operands[i].dtype, dims});
  return results;
}

Types infer_select_and_scatter(const InferContext& context) {
  check_operand_count(context, 3);
  const TensorType& operand = context.operands[0];
  const TensorType& source = context.operands[1];
  const auto& window = attributes<SelectAndScatterAttrs>(context).window;
  check_length(context, "window", window.size(), operand.dims.size());
  check_window(context, window, false);
  TensorType expected{operand.dtype, {}};
  for (std::size_t i = 0; i < window.size(); ++i)
    expected.dims.push_back(window_positions(operand.dims[i], window[i]));
  RHINO_OP_CHECK(source == expected, "operand 1 (source) is {}, expected {} (positions of the window over {})",
                 to_string(source), to_string(expected), to_string(operand));
  const TensorType scalar = scalar_of(operand);
  RHINO_OP_CHECK(context.operands[2] == scalar, "operand 2 (init value) is {}, expected {}",
                 to_string(context.operands[2]), to_string(scalar));
  check_region(context, 0, "select function", {scalar, scalar}, {{DType::I1, {}}});
  check_region(context, 1, "scatter function", {scalar, scalar}, {scalar});
  return {operand};
}

Types infer_sort(const InferContext& context) {
  check_operand_count_at_least(context, 1);
  const TensorType& first = context.operands[0];
  check_dimension(context, "dimension", attributes<SortAttrs>(context).dimension, first.rank());
  Types params;
  for (std::size_t i = 0; i < context.operands.size(); ++i) {
    RHINO_OP_CHECK(context.operands[i].dims == first.dims, "operand {} is {}, expected the shape {}", i,
                   to_string(context.operands[i]), to_string(first.dims));
    params.push_back(scalar_of(context.operands[i]));
    params.push_back(scalar_of(context.operands[i]));
  }
  check_region(context, 0, "comparator", params, {{DType::I1, {}}});
  return {context.operands.begin(), context.operands.end()};
}

Types infer_top_k(const InferContext& context) {
  check_operand_count(context, 1);
  const TensorType& operand = context.operands[0];
  const std::int64_t k = attributes<TopKAttrs>(context).k;
  RHINO_OP_CHECK(operand.rank() >= 1, "operand 0 is a scalar, expected at least rank 1");
  RHINO_OP_CHECK(operand.dtype != DType::I1, "operand 0 is {}, expected integers or floats", to_string(operand));
  RHINO_OP_CHECK(k >= 0 && k <= operand.dims.back(), "k = {} is not in [0, {}] (operand {})", k, operand.dims.back(),
                 to_string(operand));
  TensorType values = operand;
  values.dims.back() = k;
  return {values, {DType::I32, values.dims}};
}

}  // namespace rhino::ir::infer
