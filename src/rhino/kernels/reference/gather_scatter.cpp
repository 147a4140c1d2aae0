// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include <rhino/kernels/reference/op_context.hpp>
#include <rhino/kernels/reference/reducers.hpp>
#include <rhino/kernels/reference/region.hpp>
#include <rhino/kernels/reference/strided.hpp>

namespace rhino::kernels::reference {
namespace {

bool contains(const std::vector<int>& list, std::size_t dimension) {
  return std::find(list.begin(), list.end(), static_cast<int>(dimension)) != list.end();
}

/// Reads index vectors out of the indices operand of gather and scatter.
class IndexVectors {
 public:
  IndexVectors(const Tensor& indices, int index_vector_dim, const std::vector<int>& index_map,
               const std::vector<int>& operand_batching_dims, const std::vector<int>& indices_batching_dims)
      : indices_(indices),
        index_map_(index_map),
        operand_batching_dims_(operand_batching_dims),
        indices_batching_dims_(indices_batching_dims) {
    const ir::Dims strides = ir::row_major_strides(indices.type.dims);
    for (std::size_t d = 0; d < indices.type.dims.size(); ++d) {
      if (static_cast<int>(d) == index_vector_dim) {
        vector_stride_ = strides[d];
      } else {
        position_of_dim_.resize(d + 1, 0);
        position_of_dim_[d] = batch_dims_.size();
        batch_dims_.push_back(indices.type.dims[d]);
        batch_strides_.push_back(strides[d]);
      }
    }
  }

  /// Sizes of the indices operand without the index vector dimension.
  const ir::Dims& batch_dims() const { return batch_dims_; }

  /// Start position in the operand (all dimensions, unclamped) that belongs to a batch position.
  void read(const ir::Dims& batch, ir::Dims& start) const {
    std::fill(start.begin(), start.end(), 0);
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < batch.size(); ++d)
      offset += batch[d] * batch_strides_[d];
    for (std::size_t i = 0; i < index_map_.size(); ++i)
      start[static_cast<std::size_t>(index_map_[i])] =
          index_element(indices_, offset + static_cast<std::int64_t>(i) * vector_stride_);
    for (std::size_t i = 0; i < operand_batching_dims_.size(); ++i)
      start[static_cast<std::size_t>(operand_batching_dims_[i])] =
          batch[position_of_dim_[static_cast<std::size_t>(indices_batching_dims_[i])]];
  }

 private:
  const Tensor& indices_;
  const std::vector<int>& index_map_;
  const std::vector<int>& operand_batching_dims_;
  const std::vector<int>& indices_batching_dims_;
  std::int64_t vector_stride_ = 0;
  std::vector<std::size_t> position_of_dim_;
  ir::Dims batch_dims_;
  ir::Dims batch_strides_;
};

}  // namespace

std::vector<Tensor> run_gather(const OpContext& context) {
  const auto& attrs = context.attrs<ir::GatherAttrs>();
  const Tensor& operand = context.operand(0);
  Tensor result(context.result_type());
  if (result.bytes.empty()) return one_result(std::move(result));
  const IndexVectors vectors(context.operand(1), attrs.index_vector_dim, attrs.start_index_map,
                             attrs.operand_batching_dims, attrs.start_indices_batching_dims);
  const ir::Dims operand_strides = ir::row_major_strides(operand.type.dims);
  const ir::Dims result_strides = ir::row_major_strides(result.type.dims);

  // The slice without its collapsed and batching dimensions, and where it goes in the result.
  ir::Dims box, source_strides, target_strides, batch_strides;
  for (std::size_t d = 0; d < operand.type.dims.size(); ++d) {
    if (contains(attrs.collapsed_slice_dims, d) || contains(attrs.operand_batching_dims, d)) continue;
    target_strides.push_back(result_strides[static_cast<std::size_t>(attrs.offset_dims[box.size()])]);
    box.push_back(attrs.slice_sizes[d]);
    source_strides.push_back(operand_strides[d]);
  }
  for (std::size_t d = 0; d < result.type.dims.size(); ++d)
    if (!contains(attrs.offset_dims, d)) batch_strides.push_back(result_strides[d]);

  const std::size_t width = ir::dtype_bytes(operand.type.dtype);
  const bool single = std::all_of(box.begin(), box.end(), [](std::int64_t size) { return size == 1; });
  ir::Dims start(operand.type.dims.size());
  for (Odometer batch(vectors.batch_dims()); !batch.done(); batch.next()) {
    vectors.read(batch.index(), start);
    std::int64_t source = 0, target = 0;
    for (std::size_t d = 0; d < start.size(); ++d)
      source += std::clamp<std::int64_t>(start[d], 0, operand.type.dims[d] - attrs.slice_sizes[d]) * operand_strides[d];
    for (std::size_t d = 0; d < batch_strides.size(); ++d)
      target += batch[d] * batch_strides[d];
    const std::byte* from = operand.bytes.data() + static_cast<std::size_t>(source) * width;
    std::byte* to = result.bytes.data() + static_cast<std::size_t>(target) * width;
    if (single)
      std::memcpy(to, from, width);
    else
      strided_copy(box, from, source_strides, to, target_strides, width);
  }
  return one_result(std::move(result));
}

namespace {

/// One element of the updates and the element of the result that it goes to.
struct Update {
  std::size_t to, from;
};
using Updates = std::vector<Update>;

/// Calls `visit` with the updates inside the operand, one window at a time, in row-major order of the scatter dimensions,
/// then of the window dimensions.
void for_each_window(const ir::ScatterAttrs& attrs, const Tensor& indices, const ir::Dims& operand_dims,
                     const ir::Dims& update_dims, const std::function<void(const Updates&)>& visit) {
  const IndexVectors vectors(indices, attrs.index_vector_dim, attrs.scatter_dims_to_operand_dims,
                             attrs.input_batching_dims, attrs.scatter_indices_batching_dims);
  const ir::Dims operand_strides = ir::row_major_strides(operand_dims);
  const ir::Dims update_strides = ir::row_major_strides(update_dims);
  ir::Dims box, box_update_strides, batch_strides;
  std::vector<std::size_t> box_dims;  // operand dimension of each window dimension
  for (std::size_t d = 0; d < operand_dims.size(); ++d) {
    if (contains(attrs.inserted_window_dims, d) || contains(attrs.input_batching_dims, d)) continue;
    const auto update_dim = static_cast<std::size_t>(attrs.update_window_dims[box_dims.size()]);
    box.push_back(update_dims[update_dim]);
    box_update_strides.push_back(update_strides[update_dim]);
    box_dims.push_back(d);
  }
  for (std::size_t d = 0; d < update_dims.size(); ++d)
    if (!contains(attrs.update_window_dims, d)) batch_strides.push_back(update_strides[d]);

  ir::Dims start(operand_dims.size()), extent(operand_dims.size(), 1);
  for (std::size_t w = 0; w < box.size(); ++w)
    extent[box_dims[w]] = box[w];
  Updates updates;
  for (Odometer batch(vectors.batch_dims()); !batch.done(); batch.next()) {
    vectors.read(batch.index(), start);
    bool all_inside = true, some_inside = true;
    for (std::size_t d = 0; d < start.size(); ++d) {
      all_inside = all_inside && start[d] >= 0 && start[d] <= operand_dims[d] - extent[d];
      some_inside = some_inside && start[d] < operand_dims[d] && start[d] > -extent[d];
    }
    if (!some_inside) continue;
    std::int64_t update_base = 0, result_base = 0;
    for (std::size_t d = 0; d < batch_strides.size(); ++d)
      update_base += batch[d] * batch_strides[d];
    for (std::size_t d = 0; d < start.size(); ++d)
      result_base += start[d] * operand_strides[d];
    updates.clear();
    for (Odometer window(box); !window.done(); window.next()) {
      std::int64_t to = result_base, from = update_base;
      bool inside = true;
      for (std::size_t w = 0; w < box.size(); ++w) {
        to += window[w] * operand_strides[box_dims[w]];
        from += window[w] * box_update_strides[w];
        if (!all_inside) {
          const std::int64_t at = start[box_dims[w]] + window[w];
          inside = inside && at >= 0 && at < operand_dims[box_dims[w]];
        }
      }
      if (inside) updates.push_back({static_cast<std::size_t>(to), static_cast<std::size_t>(from)});
    }
    visit(updates);
  }
}

/// True if the update computation returns its updates: `scatter` that sets.
bool is_assignment(const ir::Function& function, std::size_t n) {
  if (function.results.size() != n || function.params.size() != 2 * n) return false;
  for (std::size_t i = 0; i < n; ++i)
    if (function.results[i] != function.params[n + i]) return false;
  return true;
}

}  // namespace

std::vector<Tensor> run_scatter(const OpContext& context) {
  const auto& attrs = context.attrs<ir::ScatterAttrs>();
  const std::size_t n = context.op.results.size();
  const Tensor& indices = context.operand(n);
  std::vector<Tensor> results, storage(n);
  std::vector<const Tensor*> updates(n);
  for (std::size_t i = 0; i < n; ++i) {
    const ir::DType dtype = context.result_type(i).dtype;
    Tensor converted;
    const Tensor& input = with_dtype(context.operand(i), dtype, converted);
    if (&input == &converted)
      results.push_back(std::move(converted));
    else
      results.push_back(input);
    updates[i] = &with_dtype(context.operand(n + 1 + i), dtype, storage[i]);
  }
  if (updates[0]->bytes.empty() || results[0].bytes.empty()) return results;
  const ir::FunctionId computation = context.op.regions[0];
  const ir::Function& function = context.program.function(computation);
  const ir::Dims operand_dims = results[0].type.dims, update_dims = updates[0]->type.dims;

  if (is_assignment(function, n)) {
    for (std::size_t i = 0; i < n; ++i)
      dispatch_width(results[i].type.dtype, [&]<class T>(std::type_identity<T>) {
        T* out = results[i].as<T>().data();
        const T* update = updates[i]->as<T>().data();
        for_each_window(attrs, indices, operand_dims, update_dims, [&](const Updates& window) {
          for (const auto& [to, from] : window) out[to] = update[from];
        });
      });
    return results;
  }
  const auto kind = n == 1 ? ir::classify_reducer(function) : ir::ReducerKind::Other;
  const bool direct = dispatch_reducer(kind, results[0].type.dtype, [&]<class Operation, class T>() {
    T* out = results[0].as<T>().data();
    const T* update = updates[0]->as<T>().data();
    for_each_window(attrs, indices, operand_dims, update_dims, [&](const Updates& window) {
      for (const auto& [to, from] : window) out[to] = Operation::template apply<T>(out[to], update[from]);
    });
  });
  if (direct) return results;

  ScalarRegion region(context.program, computation, context.options);
  std::vector<const std::byte*> arguments(2 * n);
  std::vector<std::byte*> outputs(n);
  for_each_window(attrs, indices, operand_dims, update_dims, [&](const Updates& window) {
    for (const auto& [to, from] : window) {
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t width = ir::dtype_bytes(results[i].type.dtype);
        outputs[i] = results[i].bytes.data() + to * width;
        arguments[i] = outputs[i];
        arguments[n + i] = updates[i]->bytes.data() + from * width;
      }
      region.apply(arguments, outputs, 1);
    }
  });
  return results;
}

}  // namespace rhino::kernels::reference
