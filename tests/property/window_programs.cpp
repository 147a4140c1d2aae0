// SPDX-License-Identifier: Apache-2.0
#include "window_programs.hpp"

#include <algorithm>
#include <numeric>

namespace rhino::test {

using ir::Builder;
using ir::Dims;
using ir::DType;
using ir::OpKind;
using ir::ValueId;
using ir::WindowDim;

std::int64_t random_size(Random& random, std::int64_t largest) {
  if (random.chance(0.05)) return 1;
  return random.integer(2, largest);
}

Dims random_dims(Random& random, int lowest_rank, int highest_rank, std::int64_t largest) {
  Dims dims(static_cast<std::size_t>(random.integer(lowest_rank, highest_rank)));
  for (auto& size : dims) size = random_size(random, largest);
  return dims;
}

RandomReducer random_reducer(Builder& b, Random& random) {
  using ir::ReducerKind;
  RandomReducer result{{}, random.pick(std::vector<ReducerKind>{ReducerKind::Add, ReducerKind::Add, ReducerKind::Maximum,
                                                               ReducerKind::Minimum, ReducerKind::Multiply, ReducerKind::And,
                                                               ReducerKind::Or, ReducerKind::Xor}),
                       DType::F64};
  const bool bits = result.kind == ReducerKind::And || result.kind == ReducerKind::Or || result.kind == ReducerKind::Xor;
  if (bits) result.dtype = random.chance(0.5) ? DType::I1 : DType::I32;
  else if (random.chance(0.25)) result.dtype = DType::I32;
  result.function = ir::make_reducer(b.program(), result.kind, result.dtype);
  return result;
}

namespace {

std::int64_t window_outputs(const WindowDim& w, std::int64_t in) {
  const std::int64_t base = (in == 0 ? 0 : (in - 1) * w.base_dilation + 1) + w.pad_low + w.pad_high;
  const std::int64_t extent = (w.size - 1) * w.window_dilation + 1;
  return base < extent ? 0 : (base - extent) / w.stride + 1;
}

/// A window over `in` elements with at least one output.
WindowDim random_window(Random& random, std::int64_t in, std::int64_t largest_size, bool dilated) {
  for (int attempt = 0; attempt < 50; ++attempt) {
    WindowDim w;
    w.size = random.integer(1, largest_size);
    w.stride = random.chance(0.5) ? 1 : random.integer(1, 3);
    w.pad_low = random.chance(0.4) ? 0 : random.integer(0, 2);
    w.pad_high = random.chance(0.4) ? 0 : random.integer(0, 2);
    if (dilated && random.chance(0.3)) w.base_dilation = random.integer(2, 3);
    if (dilated && random.chance(0.3)) w.window_dilation = random.integer(2, 3);
    if (random.chance(0.2)) {  // disjoint chunks
      w = WindowDim{};
      w.size = in % 2 == 0 ? 2 : in % 3 == 0 ? 3 : 1;
      w.stride = w.size;
    }
    if (window_outputs(w, in) >= 1) return w;
  }
  return {};
}

std::vector<int> random_order(Random& random, int n) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(i) - 1))]);
  }
  return order;
}

/// Index values are drawn as small integers by the caller; a few of them lie outside of every dimension.
DType index_type(Random& random) { return random.pick(std::vector<DType>{DType::I32, DType::I64, DType::U32, DType::U64, DType::I8}); }

}  // namespace

ValueId make_convolution(Builder& b, Random& random) {
  ir::ConvolutionAttrs attrs;
  const int spatial = static_cast<int>(random.integer(1, 2));
  const DType dtype = DType::F64;
  attrs.result_dtype = dtype;
  const auto assign = [&](int& first, int& second, std::vector<int>& rest) {
    const std::vector<int> order = random_order(random, spatial + 2);
    first = order[0];
    second = order[1];
    rest.assign(order.begin() + 2, order.end());
  };
  assign(attrs.input_batch, attrs.input_feature, attrs.input_spatial);
  assign(attrs.kernel_input_feature, attrs.kernel_output_feature, attrs.kernel_spatial);
  assign(attrs.output_batch, attrs.output_feature, attrs.output_spatial);
  const std::int64_t batch = random.integer(1, 4), channels = random.integer(1, 5), filters = random.integer(1, 5);
  const std::int64_t groups = random.integer(2, 4);
  if (random.chance(0.3)) attrs.feature_group_count = groups;
  else if (random.chance(0.2)) attrs.batch_group_count = groups;
  Dims input(static_cast<std::size_t>(spatial + 2)), kernel = input;
  const auto at = [](Dims& dims, int d) -> std::int64_t& { return dims[static_cast<std::size_t>(d)]; };
  at(input, attrs.input_batch) = batch * attrs.batch_group_count;
  at(input, attrs.input_feature) = channels * attrs.feature_group_count;
  at(kernel, attrs.kernel_input_feature) = channels;
  at(kernel, attrs.kernel_output_feature) = filters * attrs.feature_group_count * attrs.batch_group_count;
  for (int s = 0; s < spatial; ++s) {
    const std::int64_t in = random.integer(1, 9);
    WindowDim w;
    const std::int64_t form = random.integer(0, 5);
    if (form == 0) {  // gradient of a kernel: a window as large as the image, few outputs
      w.size = in;
      w.pad_low = random.integer(0, 1);
      w.pad_high = random.integer(0, 1);
      if (random.chance(0.3)) w.stride = 2;
    } else if (form == 1 && in > 2) {  // the same for a strided convolution
      w.window_dilation = 2;
      w.size = (in + 1) / 2;
      w.pad_low = random.integer(0, 1);
    } else {
      w = random_window(random, in, 4, true);
    }
    w.reversal = random.chance(0.3);
    attrs.window.push_back(w);
    at(input, attrs.input_spatial[static_cast<std::size_t>(s)]) = in;
    at(kernel, attrs.kernel_spatial[static_cast<std::size_t>(s)]) = w.size;
  }
  const ValueId image = b.param({dtype, input});
  return b.add(OpKind::Convolution, {image, b.param({dtype, kernel})}, attrs);
}

std::vector<ValueId> make_reduce_window(Builder& b, Random& random) {
  const Dims dims = random_dims(random, 1, 3, 10);
  ir::ReduceWindowAttrs attrs;
  for (const std::int64_t in : dims) attrs.window.push_back(random.chance(0.3) ? WindowDim{} : random_window(random, in, 4, true));
  const RandomReducer reducer = random_reducer(b, random);
  const ValueId value = b.param({reducer.dtype, dims});
  const ValueId init = random.chance(0.5) ? b.param({reducer.dtype, {}}) : b.constant(ir::reducer_identity(reducer.kind, reducer.dtype));
  return b.add_multi(OpKind::ReduceWindow, {value, init}, attrs, {reducer.function});
}

ValueId make_select_and_scatter(Builder& b, Random& random) {
  const Dims dims = random_dims(random, 1, 3, 10);
  ir::SelectAndScatterAttrs attrs;
  Dims source;
  for (const std::int64_t in : dims) {
    attrs.window.push_back(random.chance(0.3) ? WindowDim{} : random_window(random, in, 3, false));
    // Every window must hold an element.
    attrs.window.back().pad_low = std::min(attrs.window.back().pad_low, attrs.window.back().size - 1);
    attrs.window.back().pad_high = std::min(attrs.window.back().pad_high, attrs.window.back().size - 1);
    if (window_outputs(attrs.window.back(), in) < 1) attrs.window.back() = WindowDim{};
    source.push_back(window_outputs(attrs.window.back(), in));
  }
  const ir::FunctionId select = b.program().add_function("select");
  Builder s(b.program(), select);
  const ValueId x = s.param({DType::F64, {}}), y = s.param({DType::F64, {}});
  s.set_results({s.compare(x, y, random.chance(0.7) ? ir::Comparison::Ge : ir::Comparison::Lt)});
  const ir::ReducerKind kind = random.chance(0.7) ? ir::ReducerKind::Add : ir::ReducerKind::Maximum;
  const ir::FunctionId scatter = ir::make_reducer(b.program(), kind, DType::F64);
  const ValueId operand = b.param({DType::F64, dims}), values = b.param({DType::F64, source});
  return b.add(OpKind::SelectAndScatter, {operand, values, b.param({DType::F64, {}})}, attrs, {select, scatter});
}

ValueId make_dynamic_slice(Builder& b, Random& random) {
  const Dims dims = random_dims(random, 1, 3, 9);
  ir::DynamicSliceAttrs attrs;
  const DType dtype = random.pick(std::vector<DType>{DType::F64, DType::I32, DType::I1});
  std::vector<ValueId> operands{b.param({dtype, dims})};
  const DType index = index_type(random);
  for (const std::int64_t size : dims) {
    attrs.slice_sizes.push_back(random.chance(0.3) ? size : random.chance(0.4) ? 1 : random.integer(1, size));
    operands.push_back(b.param({index, {}}));
  }
  return b.add(OpKind::DynamicSlice, operands, attrs);
}

ValueId make_dynamic_update_slice(Builder& b, Random& random) {
  const Dims dims = random_dims(random, 1, 3, 9);
  Dims update;
  for (const std::int64_t size : dims) update.push_back(random.chance(0.3) ? size : random.integer(1, size));
  const DType dtype = random.pick(std::vector<DType>{DType::F64, DType::I32, DType::I1});
  const DType index = index_type(random);
  std::vector<ValueId> operands{b.param({dtype, dims}), b.param({dtype, update})};
  for (std::size_t d = 0; d < dims.size(); ++d) operands.push_back(b.param({index, {}}));
  return b.add(OpKind::DynamicUpdateSlice, operands);
}

namespace {

/// What gather and scatter share: which dimensions of the indexed tensor are what.
struct Indexing {
  Dims operand;                 ///< shape of the indexed tensor
  Dims indices;                 ///< shape of the index tensor
  Dims batch;                   ///< indices without the index vector
  Dims slice;                   ///< extent of a slice in every dimension
  std::vector<int> batching, index_batching, dropped, mapped;
  int vector_dim = 0;
};

Indexing random_indexing(Random& random) {
  Indexing ix;
  const int rank = static_cast<int>(random.integer(1, 3));
  ix.batch = random_dims(random, 0, 2);
  std::vector<int> batch_order = random_order(random, static_cast<int>(ix.batch.size()));
  std::vector<int> free;
  for (int d = 0; d < rank; ++d) {
    if (!batch_order.empty() && random.chance(0.2)) {
      ix.batching.push_back(d);
      ix.index_batching.push_back(batch_order.back());
      ix.operand.push_back(ix.batch[static_cast<std::size_t>(batch_order.back())]);
      batch_order.pop_back();
      ix.slice.push_back(1);
      continue;
    }
    ix.operand.push_back(random_size(random, 9));
    const std::int64_t form = random.integer(0, 9);
    if (form < 5) {  // one row
      ix.slice.push_back(1);
      ix.mapped.push_back(d);
      if (random.chance(0.8)) ix.dropped.push_back(d);
    } else if (form < 8) {  // all of it
      ix.slice.push_back(ix.operand.back());
      if (random.chance(0.2)) ix.mapped.push_back(d);
    } else {  // part of it
      ix.slice.push_back(random.integer(1, ix.operand.back()));
      if (random.chance(0.8)) ix.mapped.push_back(d);
    }
  }
  for (std::size_t i = ix.mapped.size(); i > 1; --i) {
    std::swap(ix.mapped[i - 1], ix.mapped[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(i) - 1))]);
  }
  // The batching dimensions of the indices count with the index vector in place.
  ix.vector_dim = static_cast<int>(random.integer(0, static_cast<std::int64_t>(ix.batch.size())));
  ix.indices = ix.batch;
  if (ix.mapped.size() == 1 && random.chance(0.3)) {
    ix.vector_dim = static_cast<int>(ix.batch.size());
  } else {
    ix.indices.insert(ix.indices.begin() + ix.vector_dim, static_cast<std::int64_t>(ix.mapped.size()));
    for (int& d : ix.index_batching) d += d >= ix.vector_dim ? 1 : 0;
  }
  return ix;
}

/// Slices' dimensions placed at random among the batch dimensions of a result or of updates.
std::vector<int> place_window(const Indexing& ix, Random& random, Dims& shape) {
  Dims window;
  for (std::size_t d = 0; d < ix.operand.size(); ++d) {
    const auto has = [&](const std::vector<int>& list) { return std::find(list.begin(), list.end(), static_cast<int>(d)) != list.end(); };
    if (!has(ix.batching) && !has(ix.dropped)) window.push_back(ix.slice[d]);
  }
  const int rank = static_cast<int>(window.size() + ix.batch.size());
  std::vector<int> order = random_order(random, rank);
  std::vector<int> placed(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(window.size()));
  std::sort(placed.begin(), placed.end());
  std::size_t next_window = 0, next_batch = 0;
  for (int d = 0; d < rank; ++d) {
    const bool in_window = std::find(placed.begin(), placed.end(), d) != placed.end();
    shape.push_back(in_window ? window[next_window++] : ix.batch[next_batch++]);
  }
  return placed;
}

}  // namespace

ValueId make_gather(Builder& b, Random& random) {
  const Indexing ix = random_indexing(random);
  ir::GatherAttrs attrs;
  Dims shape;
  attrs.offset_dims = place_window(ix, random, shape);
  attrs.collapsed_slice_dims = ix.dropped;
  attrs.operand_batching_dims = ix.batching;
  attrs.start_indices_batching_dims = ix.index_batching;
  attrs.start_index_map = ix.mapped;
  attrs.index_vector_dim = ix.vector_dim;
  attrs.slice_sizes = ix.slice;
  const DType dtype = random.pick(std::vector<DType>{DType::F64, DType::I32, DType::I1});
  const ValueId operand = b.param({dtype, ix.operand});
  return b.add(OpKind::Gather, {operand, b.param({index_type(random), ix.indices})}, attrs);
}

ValueId make_scatter(Builder& b, Random& random) {
  const Indexing ix = random_indexing(random);
  ir::ScatterAttrs attrs;
  Dims shape;
  attrs.update_window_dims = place_window(ix, random, shape);
  attrs.inserted_window_dims = ix.dropped;
  attrs.input_batching_dims = ix.batching;
  attrs.scatter_indices_batching_dims = ix.index_batching;
  attrs.scatter_dims_to_operand_dims = ix.mapped;
  attrs.index_vector_dim = ix.vector_dim;
  const RandomReducer reducer = random_reducer(b, random);
  ir::FunctionId update = reducer.function;
  if (random.chance(0.2)) {  // the last one wins
    update = b.program().add_function("replace");
    Builder r(b.program(), update);
    r.param({reducer.dtype, {}});
    const ValueId next = r.param({reducer.dtype, {}});
    r.set_results({next});
  }
  const ValueId input = b.param({reducer.dtype, ix.operand}), indices = b.param({index_type(random), ix.indices});
  return b.add(OpKind::Scatter, {input, indices, b.param({reducer.dtype, shape})}, attrs, {update});
}

}  // namespace rhino::test
