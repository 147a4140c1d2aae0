// SPDX-License-Identifier: Apache-2.0
// Shape and reduction of ir::Graph.
#include <rhino/ir/graph.hpp>

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <rhino/base/error.hpp>

namespace rhino::ir {

Tensor Graph::broadcast(const Tensor& x, Dims dims) {
  if (x.dims() == dims) return x;
  const std::size_t rank = x.dims().size();
  bool fits = rank <= dims.size();
  std::vector<int> placed(rank);
  for (std::size_t i = 0; fits && i < rank; ++i) {
    placed[i] = static_cast<int>(dims.size() - rank + i);
    const std::int64_t size = x.dims()[i];
    fits = size == 1 || size == dims[dims.size() - rank + i];
  }
  if (!fits) fail(fmt::format("{} cannot be broadcast to {}", to_string(x.type()), to_string(dims)));
  return add(OpKind::BroadcastInDim, {x}, BroadcastInDimAttrs{std::move(dims), std::move(placed)});
}

Tensor Graph::reshape(const Tensor& x, Dims dims) {
  const auto rest = std::find(dims.begin(), dims.end(), -1);
  if (rest != dims.end()) {
    *rest = 1;
    const std::int64_t known = TensorType{x.dtype(), dims}.elements();
    if (known <= 0 || x.type().elements() % known != 0)
      fail(fmt::format("{} cannot be reshaped to rows of {}", to_string(x.type()), known));
    *rest = x.type().elements() / known;
  }
  return x.dims() == dims ? x : add(OpKind::Reshape, {x}, ReshapeAttrs{std::move(dims)});
}

Tensor Graph::transpose(const Tensor& x, std::vector<int> permutation) {
  if (std::is_sorted(permutation.begin(), permutation.end()) && static_cast<int>(permutation.size()) == x.rank())
    return x;
  return add(OpKind::Transpose, {x}, DimensionsAttrs{std::move(permutation)});
}

Tensor Graph::expand(const Tensor& x, int dimension) {
  Dims dims = x.dims();
  const int place = dimension < 0 ? dimension + x.rank() + 1 : dimension;
  if (place < 0 || place > x.rank())
    fail(fmt::format("{} has no place {} for a dimension", to_string(x.type()), dimension));
  dims.insert(dims.begin() + place, 1);
  return reshape(x, std::move(dims));
}

Tensor Graph::slice(const Tensor& x, int dimension, std::int64_t start, std::int64_t limit, std::int64_t stride) {
  const auto d = static_cast<std::size_t>(dimension_of(x, dimension));
  SliceAttrs attrs{Dims(x.dims().size(), 0), x.dims(), Dims(x.dims().size(), 1)};
  if (start == 0 && limit == x.dims()[d] && stride == 1) return x;
  attrs.start[d] = start;
  attrs.limit[d] = limit;
  attrs.stride[d] = stride;
  return add(OpKind::Slice, {x}, std::move(attrs));
}

std::vector<Tensor> Graph::split(const Tensor& x, int dimension, int parts) {
  const std::int64_t size = x.dim(dimension);
  if (parts < 1 || size % parts != 0)
    fail(fmt::format("dimension {} of {} does not split into {} parts", dimension, to_string(x.type()), parts));
  std::vector<Tensor> pieces;
  for (int i = 0; i < parts; ++i)
    pieces.push_back(slice(x, dimension, i * (size / parts), (i + 1) * (size / parts)));
  return pieces;
}

Tensor Graph::concatenate(const std::vector<Tensor>& parts, int dimension) {
  RHINO_ASSERT(!parts.empty());
  return parts.size() == 1 ? parts[0]
                           : add(OpKind::Concatenate, parts, DimensionAttrs{dimension_of(parts[0], dimension)});
}

Tensor Graph::pad(const Tensor& x, int dimension, std::int64_t low, std::int64_t high, double value) {
  if (low == 0 && high == 0) return x;
  const auto d = static_cast<std::size_t>(dimension_of(x, dimension));
  PadAttrs attrs{Dims(x.dims().size(), 0), Dims(x.dims().size(), 0), Dims(x.dims().size(), 0)};
  attrs.low[d] = low;
  attrs.high[d] = high;
  return add(OpKind::Pad, {x, scalar(x.dtype(), value)}, std::move(attrs));
}

Tensor Graph::element(const Tensor& x, const Tensor& index) {
  if (x.rank() == 0) fail("a scalar has no elements to choose from");
  std::vector<Tensor> operands{x, index};
  if (x.rank() > 1) operands.resize(static_cast<std::size_t>(x.rank()) + 1, scalar_int(index.dtype(), 0));
  Dims sizes = x.dims();
  const Dims rest(sizes.begin() + 1, sizes.end());
  sizes[0] = 1;
  return reshape(add(OpKind::DynamicSlice, operands, DynamicSliceAttrs{std::move(sizes)}), rest);
}

Tensor Graph::reduce(ReducerKind kind, const Tensor& x, std::vector<int> dimensions, bool keep) {
  if (dimensions.empty()) {
    dimensions.resize(static_cast<std::size_t>(x.rank()));
    std::iota(dimensions.begin(), dimensions.end(), 0);
  }
  Dims kept = x.dims();
  for (int& dimension : dimensions) {
    dimension = dimension_of(x, dimension);
    kept[static_cast<std::size_t>(dimension)] = 1;
  }
  std::sort(dimensions.begin(), dimensions.end());
  const Tensor start = constant(reducer_identity(kind, x.dtype()));
  const Tensor result = add(OpKind::Reduce, {x, start}, ReduceAttrs{std::move(dimensions)}, {reducer(kind, x.dtype())});
  return keep ? reshape(result, std::move(kept)) : result;
}

Tensor Graph::sum(const Tensor& x, std::vector<int> dimensions, bool keep) {
  return reduce(ReducerKind::Add, x, std::move(dimensions), keep);
}

Tensor Graph::mean(const Tensor& x, std::vector<int> dimensions, bool keep) {
  const Tensor total = sum(x, std::move(dimensions), keep);
  return total / static_cast<double>(x.type().elements() / total.type().elements());
}

Tensor Graph::max(const Tensor& x, std::vector<int> dimensions, bool keep) {
  return reduce(ReducerKind::Maximum, x, std::move(dimensions), keep);
}

Tensor Graph::cumulative_sum(const Tensor& x, int dimension) {
  const auto d = static_cast<std::size_t>(dimension_of(x, dimension));
  ReduceWindowAttrs attrs{std::vector<WindowDim>(x.dims().size())};
  attrs.window[d].size = x.dims()[d];
  attrs.window[d].pad_low = x.dims()[d] - 1;
  return add(OpKind::ReduceWindow, {x, scalar(x.dtype(), 0)}, std::move(attrs), {reducer(ReducerKind::Add, x.dtype())});
}

Tensor Graph::softmax(const Tensor& x, int dimension) {
  const Tensor powers = exp(x - max(x, {dimension}, true));
  return powers / sum(powers, {dimension}, true);
}

Tensor Graph::log_sum_exp(const Tensor& x, int dimension, bool keep) {
  const Tensor largest = max(x, {dimension}, true);
  const Tensor result = largest + log(sum(exp(x - largest), {dimension}, true));
  Dims dims = x.dims();
  dims.erase(dims.begin() + dimension_of(x, dimension));
  return keep ? result : reshape(result, std::move(dims));
}

Tensor Graph::take(const Tensor& table, const Tensor& indices) {
  if (table.rank() == 0) fail("a table of rank 0 has no rows");
  GatherAttrs attrs;
  for (int d = 1; d < table.rank(); ++d)
    attrs.offset_dims.push_back(indices.rank() + d - 1);
  attrs.collapsed_slice_dims = {0};
  attrs.start_index_map = {0};
  attrs.index_vector_dim = indices.rank();
  attrs.slice_sizes = table.dims();
  attrs.slice_sizes[0] = 1;
  return add(OpKind::Gather, {table, indices}, std::move(attrs));
}

Tensor Graph::take_batched(const Tensor& x, const Tensor& indices) {
  if (x.rank() < 2 || indices.rank() != 2 || x.dim(0) != indices.dim(0))
    fail(fmt::format("rows {} of {} per batch", to_string(indices.type()), to_string(x.type())));
  GatherAttrs attrs;
  for (int d = 2; d < x.rank(); ++d)
    attrs.offset_dims.push_back(d);
  attrs.collapsed_slice_dims = {1};
  attrs.operand_batching_dims = {0};
  attrs.start_indices_batching_dims = {0};
  attrs.start_index_map = {1};
  attrs.index_vector_dim = 2;
  attrs.slice_sizes = x.dims();
  attrs.slice_sizes[0] = attrs.slice_sizes[1] = 1;
  return add(OpKind::Gather, {x, indices}, std::move(attrs));
}

Tensor Graph::pick(const Tensor& x, const Tensor& indices) {
  const int batch = indices.rank();
  Dims expected = indices.dims();
  if (x.rank() > 0) expected.push_back(x.dim(-1));
  if (x.dims() != expected || x.rank() != batch + 1)
    fail(fmt::format("{} does not give one position for each row of {}", to_string(indices.type()),
                     to_string(x.type())));
  GatherAttrs attrs;
  attrs.operand_batching_dims.resize(static_cast<std::size_t>(batch));
  std::iota(attrs.operand_batching_dims.begin(), attrs.operand_batching_dims.end(), 0);
  attrs.start_indices_batching_dims = attrs.operand_batching_dims;
  attrs.collapsed_slice_dims = attrs.start_index_map = {batch};
  attrs.index_vector_dim = batch;
  attrs.slice_sizes.assign(static_cast<std::size_t>(batch) + 1, 1);
  return add(OpKind::Gather, {x, indices}, std::move(attrs));
}

std::pair<Tensor, Tensor> Graph::top_k(const Tensor& x, std::int64_t k) {
  const std::vector<Tensor> results = add_multi(OpKind::TopK, {x}, TopKAttrs{k, true});
  return {results[0], results[1]};
}

std::vector<Tensor> Graph::sort(const std::vector<Tensor>& keys_and_values, int dimension) {
  const FunctionId less = program_->add_function("less");
  Builder comparator(*program_, less);
  std::vector<ValueId> params;
  for (const Tensor& operand : keys_and_values)
    for (int side = 0; side < 2; ++side)
      params.push_back(comparator.param({operand.dtype(), {}}));
  comparator.set_results({comparator.compare(params[0], params[1], Comparison::Lt)});
  return add_multi(OpKind::Sort, keys_and_values, SortAttrs{dimension_of(keys_and_values.at(0), dimension), true},
                   {less});
}

Tensor Graph::one_hot(const Tensor& indices, std::int64_t size, DType dtype) {
  Dims dims = indices.dims();
  dims.push_back(size);
  const Tensor numbers = iota({indices.dtype(), std::move(dims)}, indices.rank());
  return convert(equal(expand(indices, -1), numbers), dtype);
}

}  // namespace rhino::ir
