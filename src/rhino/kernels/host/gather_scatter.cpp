// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <rhino/kernels/host/index.hpp>
#include <rhino/kernels/host/loops.hpp>
#include <rhino/kernels/host/odometer.hpp>
#include <rhino/kernels/host/op_kernels.hpp>
#include <rhino/kernels/host/region.hpp>
#include <rhino/kernels/host/strided_copy.hpp>

namespace rhino::kernels::host {

namespace {

bool contains(const std::vector<int>& list, std::size_t d) {
  return std::find(list.begin(), list.end(), static_cast<int>(d)) != list.end();
}

/// What gather and scatter have in common: index vectors that say where in the large operand a window starts.
struct IndexedWindows {
  ir::DType index_dtype = ir::DType::I32;
  ir::Dims batch;                  ///< one index vector per index of this shape
  ir::Dims index_strides;          ///< of `batch` in the index tensor
  ir::Dims moving_strides;         ///< of `batch` in the result of gather, the updates of scatter
  ir::Dims batching_strides;       ///< of `batch` in the large operand (batching dimensions)
  struct Component {
    std::int64_t step = 0;         ///< in the index tensor
    std::int64_t stride = 0;       ///< in the large operand
    std::int64_t highest = 0;      ///< last start with which the window lies inside
    std::size_t dim = 0;           ///< of the large operand
  };
  std::vector<Component> components;
  ir::Dims window, window_large_strides, window_moving_strides;  ///< the window's dimensions that both tensors have
  std::vector<std::size_t> window_dims;                          ///< their dimensions of the large operand
  ir::Dims large_dims;
  std::int64_t width = 4;

  /// `moving_window_dims`: dimensions of the moving tensor that are the window's; `sizes`: window per dimension of the large
  /// operand; `dropped`: its dimensions that the moving tensor lacks.
  IndexedWindows(const ir::TensorType& large, const ir::TensorType& indices, const ir::TensorType& moving,
                 const std::vector<int>& moving_window_dims, const std::vector<int>& dropped,
                 const std::vector<int>& batching, const std::vector<int>& indices_batching, const std::vector<int>& map,
                 int index_vector_dim, const ir::Dims& sizes)
      : index_dtype(indices.dtype), large_dims(large.dims), width(static_cast<std::int64_t>(ir::dtype_bytes(large.dtype))) {
    const ir::Dims large_strides = ir::row_major_strides(large.dims), moving_strides_all = ir::row_major_strides(moving.dims),
                   index_strides_all = ir::row_major_strides(indices.dims);
    const auto vector_dim = static_cast<std::size_t>(index_vector_dim);
    for (std::size_t d = 0; d < indices.dims.size(); ++d) {
      if (d == vector_dim) continue;
      batch.push_back(indices.dims[d]);
      index_strides.push_back(index_strides_all[d]);
      std::int64_t stride = 0;
      for (std::size_t i = 0; i < indices_batching.size(); ++i) {
        if (static_cast<std::size_t>(indices_batching[i]) == d) stride = large_strides[static_cast<std::size_t>(batching[i])];
      }
      batching_strides.push_back(stride);
    }
    for (std::size_t d = 0; d < moving.dims.size(); ++d) {
      if (!contains(moving_window_dims, d)) moving_strides.push_back(moving_strides_all[d]);
      else window_moving_strides.push_back(moving_strides_all[d]);
    }
    for (std::size_t i = 0; i < map.size(); ++i) {
      const auto d = static_cast<std::size_t>(map[i]);
      const std::int64_t step = vector_dim < indices.dims.size() ? index_strides_all[vector_dim] : 0;
      components.push_back({static_cast<std::int64_t>(i) * step, large_strides[d], large.dims[d] - sizes[d], d});
    }
    for (std::size_t d = 0; d < large.dims.size(); ++d) {
      if (contains(dropped, d) || contains(batching, d)) continue;
      window.push_back(sizes[d]);
      window_dims.push_back(d);
      window_large_strides.push_back(large_strides[d]);
    }
  }

  /// Elements that lie together in both tensors if the whole window is one such row, else 0.
  std::int64_t row() const {
    std::int64_t size = 1;
    for (std::size_t d = window.size(); d-- > 0;) {
      if (window[d] == 1) continue;
      if (window_large_strides[d] != size || window_moving_strides[d] != size) return 0;
      size *= window[d];
    }
    return size;
  }
};

class GatherKernel final : public Kernel {
 public:
  explicit GatherKernel(IndexedWindows windows)
      : windows_(std::move(windows)),
        row_(windows_.row()),
        copy_(windows_.window, windows_.window_large_strides, windows_.window_moving_strides, windows_.width) {}

  void run(std::span<const void* const> operands, std::span<void* const> results, void*) const override {
    switch (row_ == 1 ? windows_.width : 0) {
      case 4: return copy_elements<std::uint32_t>(operands, results[0]);
      case 8: return copy_elements<std::uint64_t>(operands, results[0]);
      default: break;
    }
    each(operands, [&](std::int64_t from, std::int64_t to) {
      const auto* x = static_cast<const std::byte*>(operands[0]) + from * windows_.width;
      auto* y = static_cast<std::byte*>(results[0]) + to * windows_.width;
      if (row_ > 0) std::memcpy(y, x, static_cast<std::size_t>(row_ * windows_.width));
      else copy_.run(x, y);
    });
  }

 private:
  template <class T>
  void copy_elements(std::span<const void* const> operands, void* result) const {
    each(operands, [x = static_cast<const T*>(operands[0]), y = static_cast<T*>(result)](std::int64_t from, std::int64_t to) {
      y[to] = x[from];
    });
  }

  template <class Body>
  void each(std::span<const void* const> operands, Body body) const {
    const IndexedWindows& w = windows_;
    for (Odometer<3> at(w.batch, {&w.index_strides, &w.moving_strides, &w.batching_strides}); !at.done(); at.next()) {
      std::int64_t from = at.offset(2);
      for (const auto& component : w.components) {
        const std::int64_t index = index_at(w.index_dtype, operands[1], at.offset(0) + component.step);
        from += std::clamp<std::int64_t>(index, 0, component.highest) * component.stride;
      }
      body(from, at.offset(1));
    }
  }

  IndexedWindows windows_;
  std::int64_t row_;
  StridedCopy copy_;
};

/// Scatter by a well-known combiner (`combine`), or of the updates as they are. Elements that lie outside are skipped.
class ScatterKernel final : public Kernel {
 public:
  ScatterKernel(IndexedWindows windows, Loop combine, std::int64_t bytes)
      : windows_(std::move(windows)), combine_(combine), bytes_(bytes), row_(windows_.row()) {
    if (row_ > 0) {
      inner_ = row_;
      return;
    }
    outer_ = windows_.window, outer_large_ = windows_.window_large_strides, outer_moving_ = windows_.window_moving_strides;
    if (outer_large_.back() == 1 && outer_moving_.back() == 1) {
      inner_ = outer_.back();
      outer_.pop_back(), outer_large_.pop_back(), outer_moving_.pop_back();
    }
  }

  void run(std::span<const void* const> operands, std::span<void* const> results, void*) const override {
    const IndexedWindows& w = windows_;
    if (results[0] != operands[0]) std::memcpy(results[0], operands[0], static_cast<std::size_t>(bytes_));
    for (Odometer<3> at(w.batch, {&w.index_strides, &w.moving_strides, &w.batching_strides}); !at.done(); at.next()) {
      std::int64_t to = at.offset(2);
      bool inside = true;
      for (const auto& component : w.components) {
        const std::int64_t index = index_at(w.index_dtype, operands[1], at.offset(0) + component.step);
        inside = inside && index >= 0 && index <= component.highest;
        if (!inside) break;
        to += index * component.stride;
      }
      if (!inside) {
        update_part(operands, at.offset(0), at.offset(1), at.offset(2), results[0]);
        continue;
      }
      const auto* x = static_cast<const std::byte*>(operands[2]) + at.offset(1) * w.width;
      auto* y = static_cast<std::byte*>(results[0]) + to * w.width;
      if (row_ > 0) {
        update(x, y);
        continue;
      }
      for (Odometer<2> part(outer_, {&outer_moving_, &outer_large_}); !part.done(); part.next()) {
        update(x + part.offset(0) * w.width, y + part.offset(1) * w.width);
      }
    }
  }

 private:
  void update(const std::byte* from, std::byte* to) const { update(from, to, inner_); }

  void update(const std::byte* from, std::byte* to, std::int64_t count) const {
    if (combine_ != nullptr) combine_({{to, from, nullptr}, to, count});
    else std::memcpy(to, from, static_cast<std::size_t>(count * windows_.width));
  }

  /// A window of which some or all elements lie outside, element by element.
  void update_part(std::span<const void* const> operands, std::int64_t index_at_batch, std::int64_t from, std::int64_t to,
                   void* result) const {
    const IndexedWindows& w = windows_;
    ir::Dims start(w.large_dims.size(), 0);
    for (const auto& component : w.components) {
      const std::int64_t index = index_at(w.index_dtype, operands[1], index_at_batch + component.step);
      if (index < -w.large_dims[component.dim] || index >= w.large_dims[component.dim]) return;  // no window reaches inside
      start[component.dim] = index;
      to += index * component.stride;
    }
    for (std::size_t d = 0; d < start.size(); ++d) {
      const bool in_window = std::find(w.window_dims.begin(), w.window_dims.end(), d) != w.window_dims.end();
      if (!in_window && start[d] < 0) return;
    }
    ir::Dims index(w.window.size(), 0);
    for (Odometer<2> part(w.window, {&w.window_moving_strides, &w.window_large_strides}); !part.done(); part.next()) {
      bool inside = true;
      for (std::size_t d = 0; d < index.size(); ++d) {
        const std::int64_t i = start[w.window_dims[d]] + index[d];
        inside = inside && i >= 0 && i < w.large_dims[w.window_dims[d]];
      }
      if (inside) {
        update(static_cast<const std::byte*>(operands[2]) + (from + part.offset(0)) * w.width,
               static_cast<std::byte*>(result) + (to + part.offset(1)) * w.width, 1);
      }
      for (std::size_t d = index.size(); d-- > 0;) {
        if (++index[d] < w.window[d]) break;
        index[d] = 0;
      }
    }
  }

  IndexedWindows windows_;
  Loop combine_;
  std::int64_t bytes_, row_, inner_ = 1;
  ir::Dims outer_, outer_large_, outer_moving_;
};

}  // namespace

std::unique_ptr<Kernel> make_gather_kernel(const OpContext& context) {
  const auto& attrs = context.op.as<ir::GatherAttrs>();
  if (context.result().elements() == 0) return nullptr;
  return std::make_unique<GatherKernel>(IndexedWindows(
      context.operand(0), context.operand(1), context.result(), attrs.offset_dims, attrs.collapsed_slice_dims,
      attrs.operand_batching_dims, attrs.start_indices_batching_dims, attrs.start_index_map, attrs.index_vector_dim,
      attrs.slice_sizes));
}

std::unique_ptr<Kernel> make_scatter_kernel(const OpContext& context) {
  if (context.op.operands.size() != 3) return nullptr;
  const ir::TensorType &large = context.operand(0), &indices = context.operand(1), &updates = context.operand(2);
  if (updates.dtype != large.dtype || context.result().dtype != large.dtype) return nullptr;
  if (large.elements() == 0 || updates.elements() == 0) return nullptr;
  const auto& attrs = context.op.as<ir::ScatterAttrs>();
  const ir::Function& region = context.program.function(context.op.regions[0]);
  Loop combine = nullptr;
  if (returns_second(region)) {
    // The last update of an element wins, in the order of the updates tensor: ours only if its windows come last.
    const auto first = updates.dims.size() - attrs.update_window_dims.size();
    for (int d : attrs.update_window_dims) {
      if (static_cast<std::size_t>(d) < first) return nullptr;
    }
  } else {
    const auto op = reducer_op(ir::classify_reducer(region));
    if (!op) return nullptr;
    combine = loops().find({*op, large.dtype, large.dtype});
    if (combine == nullptr) return nullptr;
  }
  // Window sizes per dimension of the large operand: 1 where the updates lack it.
  ir::Dims sizes(large.dims.size(), 1);
  std::size_t next = 0;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (contains(attrs.inserted_window_dims, d) || contains(attrs.input_batching_dims, d)) continue;
    sizes[d] = updates.dims[static_cast<std::size_t>(attrs.update_window_dims[next++])];
  }
  return std::make_unique<ScatterKernel>(
      IndexedWindows(large, indices, updates, attrs.update_window_dims, attrs.inserted_window_dims, attrs.input_batching_dims,
                     attrs.scatter_indices_batching_dims, attrs.scatter_dims_to_operand_dims, attrs.index_vector_dim, sizes),
      combine, large.bytes());
}

}  // namespace rhino::kernels::host
