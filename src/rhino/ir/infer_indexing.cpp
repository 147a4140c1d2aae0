// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/infer.hpp>

// gather and scatter. Constraints follow the StableHLO specification, section "Ops". Both share one picture: an index
// tensor whose dimensions but `index_vector_dim` are batch dimensions, and windows ("slices") of the operand.

namespace rhino::ir::infer {
namespace {

/// Dimension lists of gather, or the lists of scatter that play the same part.
struct IndexingLists {
  const std::vector<int>& window_dims;     // offset_dims, update_window_dims
  const std::vector<int>& collapsed_dims;  // collapsed_slice_dims, inserted_window_dims
  const std::vector<int>& operand_batching;
  const std::vector<int>& indices_batching;
  const std::vector<int>& index_map;  // start_index_map, scatter_dims_to_operand_dims
  int index_vector_dim;
  std::string_view window_name, collapsed_name, operand_batching_name, indices_batching_name, map_name;
};

/// Checks the lists against the operand and index types; `windowed_rank` is the rank of the gather result or of the
/// scatter updates. Returns the sizes of the batch dimensions of the index tensor.
Dims check_indexing(const InferContext& context, const IndexingLists& lists, const TensorType& operand,
                    const TensorType& indices, int windowed_rank) {
  RHINO_OP_CHECK(is_integer(indices.dtype), "the indices are {}, expected integers", to_string(indices));
  RHINO_OP_CHECK(lists.index_vector_dim >= 0 && lists.index_vector_dim <= indices.rank(),
                 "index_vector_dim is {}, expected one in [0, {}]", lists.index_vector_dim, indices.rank());
  check_sorted_dimension_list(context, lists.window_name, lists.window_dims, windowed_rank);
  check_sorted_dimension_list(context, lists.collapsed_name, lists.collapsed_dims, operand.rank());
  check_sorted_dimension_list(context, lists.operand_batching_name, lists.operand_batching, operand.rank());
  check_dimension_list(context, lists.indices_batching_name, lists.indices_batching, indices.rank());
  check_dimension_list(context, lists.map_name, lists.index_map, operand.rank());
  for (const int dimension : lists.operand_batching) {
    RHINO_OP_CHECK(!contains(lists.collapsed_dims, dimension), "dimension {} is in both {} and {}", dimension,
                   lists.collapsed_name, lists.operand_batching_name);
    RHINO_OP_CHECK(!contains(lists.index_map, dimension), "dimension {} is in both {} and {}", dimension,
                   lists.map_name, lists.operand_batching_name);
  }
  RHINO_OP_CHECK(!contains(lists.indices_batching, lists.index_vector_dim), "index_vector_dim {} is also in {}",
                 lists.index_vector_dim, lists.indices_batching_name);
  check_length(context, lists.indices_batching_name, lists.indices_batching.size(), lists.operand_batching.size());
  for (std::size_t i = 0; i < lists.operand_batching.size(); ++i) {
    const std::int64_t operand_size = operand.dims[static_cast<std::size_t>(lists.operand_batching[i])];
    const std::int64_t indices_size = indices.dims[static_cast<std::size_t>(lists.indices_batching[i])];
    RHINO_OP_CHECK(operand_size == indices_size,
                   "batching dimension {} of the operand {} and {} of the indices {} differ in size",
                   lists.operand_batching[i], to_string(operand), lists.indices_batching[i], to_string(indices));
  }
  const std::int64_t vector_size =
      lists.index_vector_dim == indices.rank() ? 1 : indices.dims[static_cast<std::size_t>(lists.index_vector_dim)];
  check_length(context, lists.map_name, lists.index_map.size(), static_cast<std::size_t>(vector_size));
  const std::size_t covered = lists.window_dims.size() + lists.collapsed_dims.size() + lists.operand_batching.size();
  RHINO_OP_CHECK(covered == operand.dims.size(),
                 "{}, {} and {} have {} entries together, expected {} (rank of the operand {})", lists.window_name,
                 lists.collapsed_name, lists.operand_batching_name, covered, operand.rank(), to_string(operand));
  Dims batch;
  for (int i = 0; i < indices.rank(); ++i)
    if (i != lists.index_vector_dim) batch.push_back(indices.dims[static_cast<std::size_t>(i)]);
  return batch;
}

}  // namespace

Types infer_gather(const InferContext& context) {
  check_operand_count(context, 2);
  const auto& attrs = attributes<GatherAttrs>(context);
  const TensorType& operand = context.operands[0];
  const TensorType& indices = context.operands[1];
  const int batch_rank = indices.rank() - (attrs.index_vector_dim < indices.rank() ? 1 : 0);
  const int result_rank = batch_rank + static_cast<int>(attrs.offset_dims.size());
  const Dims batch = check_indexing(
      context,
      {attrs.offset_dims, attrs.collapsed_slice_dims, attrs.operand_batching_dims, attrs.start_indices_batching_dims,
       attrs.start_index_map, attrs.index_vector_dim, "offset_dims", "collapsed_slice_dims", "operand_batching_dims",
       "start_indices_batching_dims", "start_index_map"},
      operand, indices, result_rank);
  check_length(context, "slice_sizes", attrs.slice_sizes.size(), operand.dims.size());
  Dims window;
  for (int i = 0; i < operand.rank(); ++i) {
    const std::int64_t size = attrs.slice_sizes[static_cast<std::size_t>(i)];
    RHINO_OP_CHECK(size >= 0 && size <= operand.dims[static_cast<std::size_t>(i)],
                   "slice size {} of dimension {} is not in [0, {}] (operand {})", size, i,
                   operand.dims[static_cast<std::size_t>(i)], to_string(operand));
    if (contains(attrs.collapsed_slice_dims, i) || contains(attrs.operand_batching_dims, i)) {
      RHINO_OP_CHECK(size <= 1, "slice size of the collapsed or batching dimension {} is {}, expected at most 1", i,
                     size);
    } else {
      window.push_back(size);
    }
  }
  TensorType result{operand.dtype, {}};
  std::size_t next_window = 0;
  std::size_t next_batch = 0;
  for (int i = 0; i < result_rank; ++i)
    result.dims.push_back(contains(attrs.offset_dims, i) ? window[next_window++] : batch[next_batch++]);
  return {result};
}

Types infer_scatter(const InferContext& context) {
  check_operand_count_at_least(context, 3);
  RHINO_OP_CHECK(context.operands.size() % 2 == 1, "expected inputs, indices and as many updates, got {} operands",
                 context.operands.size());
  const std::size_t count = context.operands.size() / 2;
  const auto& attrs = attributes<ScatterAttrs>(context);
  const TensorType& input = context.operands[0];
  const TensorType& indices = context.operands[count];
  const TensorType& update = context.operands[count + 1];
  Types scalars;
  for (std::size_t i = 0; i < count; ++i) {
    const TensorType& other = context.operands[i];
    RHINO_OP_CHECK(other.dims == input.dims, "operand {} (input {}) is {}, expected the shape {}", i, i,
                   to_string(other), to_string(input.dims));
    const TensorType& its_update = context.operands[count + 1 + i];
    RHINO_OP_CHECK(its_update.dtype == other.dtype && its_update.dims == update.dims,
                   "operand {} (update {}) is {}, expected {}", count + 1 + i, i, to_string(its_update),
                   to_string(TensorType{other.dtype, update.dims}));
    scalars.push_back({other.dtype, {}});
  }
  const Dims batch =
      check_indexing(context,
                     {attrs.update_window_dims, attrs.inserted_window_dims, attrs.input_batching_dims,
                      attrs.scatter_indices_batching_dims, attrs.scatter_dims_to_operand_dims, attrs.index_vector_dim,
                      "update_window_dims", "inserted_window_dims", "input_batching_dims",
                      "scatter_indices_batching_dims", "scatter_dims_to_operand_dims"},
                     input, indices, update.rank());
  RHINO_OP_CHECK(
      update.dims.size() == batch.size() + attrs.update_window_dims.size(),
      "the updates are {}, expected rank {} ({} batch dimensions of the indices {} and {} window dimensions)",
      to_string(update), batch.size() + attrs.update_window_dims.size(), batch.size(), to_string(indices),
      attrs.update_window_dims.size());
  Dims bounds;
  for (int i = 0; i < input.rank(); ++i)
    if (!contains(attrs.inserted_window_dims, i) && !contains(attrs.input_batching_dims, i))
      bounds.push_back(input.dims[static_cast<std::size_t>(i)]);
  std::size_t next_window = 0;
  std::size_t next_batch = 0;
  for (int i = 0; i < update.rank(); ++i) {
    const std::int64_t size = update.dims[static_cast<std::size_t>(i)];
    if (contains(attrs.update_window_dims, i)) {
      RHINO_OP_CHECK(size <= bounds[next_window], "dimension {} of the updates {} is larger than {} (input {})", i,
                     to_string(update), bounds[next_window], to_string(input));
      ++next_window;
    } else {
      RHINO_OP_CHECK(size == batch[next_batch], "dimension {} of the updates {} is not {} (indices {})", i,
                     to_string(update), batch[next_batch], to_string(indices));
      ++next_batch;
    }
  }
  Types params = scalars;
  params.insert(params.end(), scalars.begin(), scalars.end());
  check_region(context, 0, "update computation", params, scalars);
  return {context.operands.begin(), context.operands.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace rhino::ir::infer
