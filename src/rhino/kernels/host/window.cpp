// SPDX-License-Identifier: Apache-2.0
// Windows over tensors: pooling, running sums, and the gradient of max-pooling.
#include <algorithm>
#include <cstring>

#include <rhino/kernels/host/index.hpp>
#include <rhino/kernels/host/loops.hpp>
#include <rhino/kernels/host/odometer.hpp>
#include <rhino/kernels/host/op_kernels.hpp>
#include <rhino/kernels/host/region.hpp>

namespace rhino::kernels::host {

namespace {

bool is_whole(const ir::WindowDim& w) { return w == ir::WindowDim{}; }

/// A window as it moves over the outer dimensions, each position standing for a row: the trailing dimensions that the window
/// does not touch.
struct WindowShape {
  std::vector<ir::WindowDim> window;
  ir::Dims in, out, sizes, in_strides, out_strides;  ///< of the outer dimensions, strides in elements
  std::int64_t row = 1;

  WindowShape(const std::vector<ir::WindowDim>& all, const ir::Dims& in_dims, const ir::Dims& out_dims) : window(all) {
    const ir::Dims in_all = ir::row_major_strides(in_dims), out_all = ir::row_major_strides(out_dims);
    while (!window.empty() && is_whole(window.back())) {
      row *= in_dims[window.size() - 1];
      window.pop_back();
    }
    for (std::size_t d = 0; d < window.size(); ++d) {
      in.push_back(in_dims[d]);
      out.push_back(out_dims[d]);
      sizes.push_back(window[d].size);
      in_strides.push_back(in_all[d]);
      out_strides.push_back(out_all[d]);
    }
  }
  /// Offset of the input element that window position `at` of result position `place` reads in the first `dims` dimensions;
  /// -1 outside.
  std::int64_t offset(const std::vector<std::int64_t>& place, const std::vector<std::int64_t>& at, std::size_t dims) const {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < dims; ++d) {
      const std::int64_t i = place[d] * window[d].stride + at[d] * window[d].window_dilation - window[d].pad_low;
      if (i < 0 || i >= in[d]) return -1;
      offset += i * in_strides[d];
    }
    return offset;
  }
};

/// Next index of a row-major walk; false at the end.
bool advance(std::vector<std::int64_t>& index, const ir::Dims& shape, std::size_t dims) {
  for (std::size_t d = dims; d-- > 0;) {
    if (++index[d] < shape[d]) return true;
    index[d] = 0;
  }
  return false;
}

/// reduce_window by a well-known reducer that starts at its identity.
class ReduceWindowKernel final : public Kernel {
 public:
  ReduceWindowKernel(WindowShape shape, Loop loop, std::int64_t elements, std::int64_t width)
      : shape_(std::move(shape)), loop_(loop), elements_(elements), width_(width) {
    // Narrow rows: windows move along the last windowed dimension a whole line at a time.
    along_line_ = shape_.row == 1;
  }

  std::int64_t workspace_bytes() const override { return along_line_ ? shape_.out.back() * width_ : 0; }

  void run(std::span<const void* const> operands, std::span<void* const> results, void* workspace) const override {
    const auto* in = static_cast<const std::byte*>(operands[0]);
    auto* out = static_cast<std::byte*>(results[0]);
    fill(out, operands[1], width_, elements_);
    const std::size_t dims = shape_.window.size() - (along_line_ ? 1 : 0);
    std::vector<std::int64_t> place(dims, 0), at(dims, 0);
    do {
      std::int64_t to = 0;
      for (std::size_t d = 0; d < dims; ++d) to += place[d] * shape_.out_strides[d];
      do {
        const std::int64_t from = shape_.offset(place, at, dims);
        if (from < 0) continue;
        if (along_line_) line(in + from * width_, out + to * width_, static_cast<std::byte*>(workspace));
        else combine(out + to * width_, in + from * width_, shape_.row);
      } while (advance(at, shape_.sizes, dims));
    } while (advance(place, shape_.out, dims));
  }

 private:
  void combine(std::byte* to, const std::byte* from, std::int64_t count) const { loop_({{to, from, nullptr}, to, count}); }

  void line(const std::byte* in, std::byte* out, std::byte* gathered) const {
    const ir::WindowDim& w = shape_.window.back();
    for (std::int64_t k = 0; k < w.size; ++k) {
      // Results o with 0 <= o * stride + shift < size.
      const std::int64_t shift = k * w.window_dilation - w.pad_low, size = shape_.in.back();
      const std::int64_t first = shift >= 0 ? 0 : (-shift + w.stride - 1) / w.stride;
      const std::int64_t last = size - 1 - shift < 0 ? -1 : std::min(shape_.out.back() - 1, (size - 1 - shift) / w.stride);
      if (last < first) continue;
      const std::int64_t count = last - first + 1;
      const std::byte* from = in + (first * w.stride + shift) * width_;
      if (w.stride != 1) {
        for (std::int64_t i = 0; i < count; ++i) {
          std::memcpy(gathered + i * width_, from + i * w.stride * width_, static_cast<std::size_t>(width_));
        }
        from = gathered;
      }
      combine(out + first * width_, from, count);
    }
  }

  WindowShape shape_;
  Loop loop_;
  std::int64_t elements_, width_;
  bool along_line_ = false;
};

/// A window that reaches from a position to one end of its dimension: running sums, one op per element.
class ScanKernel final : public Kernel {
 public:
  ScanKernel(std::int64_t outer, std::int64_t size, std::int64_t row, bool backwards, Loop loop, std::int64_t width)
      : outer_(outer), size_(size), row_bytes_(row * width), row_(row), backwards_(backwards), loop_(loop) {}

  void run(std::span<const void* const> operands, std::span<void* const> results, void*) const override {
    for (std::int64_t o = 0; o < outer_; ++o) {
      const auto* in = static_cast<const std::byte*>(operands[0]) + o * size_ * row_bytes_;
      auto* out = static_cast<std::byte*>(results[0]) + o * size_ * row_bytes_;
      const std::int64_t start = backwards_ ? size_ - 1 : 0, step = backwards_ ? -row_bytes_ : row_bytes_;
      in += start * row_bytes_;
      out += start * row_bytes_;
      std::memcpy(out, in, static_cast<std::size_t>(row_bytes_));
      for (std::int64_t i = 1; i < size_; ++i) {
        in += step;
        loop_({{out, in, nullptr}, out + step, row_});
        out += step;
      }
    }
  }

 private:
  std::int64_t outer_, size_, row_bytes_, row_;
  bool backwards_;
  Loop loop_;
};

std::unique_ptr<Kernel> make_scan(const OpContext& context, const std::vector<ir::WindowDim>& window, Loop loop, std::int64_t width) {
  const ir::Dims& dims = context.operand(0).dims;
  std::size_t scanned = dims.size();
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (is_whole(window[d])) continue;
    if (scanned != dims.size()) return nullptr;
    scanned = d;
  }
  if (scanned == dims.size()) return nullptr;
  const ir::WindowDim& w = window[scanned];
  const std::int64_t n = dims[scanned];
  if (w.size != n || w.stride != 1 || w.window_dilation != 1 || w.base_dilation != 1 || n < 2) return nullptr;
  const bool forward = w.pad_low == n - 1 && w.pad_high == 0, backward = w.pad_high == n - 1 && w.pad_low == 0;
  if (!forward && !backward) return nullptr;
  std::int64_t outer = 1, row = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) (d < scanned ? outer : row) *= d == scanned ? 1 : dims[d];
  return std::make_unique<ScanKernel>(outer, n, row, backward, loop, width);
}

/// Gradient of max-pooling: each source element goes to the first element of its window that no later one beats.
template <class T, class Keeps>
class SelectAndScatterKernel final : public Kernel {
 public:
  SelectAndScatterKernel(WindowShape shape, std::int64_t elements) : shape_(std::move(shape)), elements_(elements) {}

  std::int64_t workspace_bytes() const override { return best_bytes() + shape_.row * static_cast<std::int64_t>(sizeof(std::int64_t)); }

  void run(std::span<const void* const> operands, std::span<void* const> results, void* workspace) const override {
    const T* in = static_cast<const T*>(operands[0]);
    const T* source = static_cast<const T*>(operands[1]);
    T* out = static_cast<T*>(results[0]);
    fill(out, operands[2], sizeof(T), elements_);
    T* best = static_cast<T*>(workspace);
    auto* chosen = reinterpret_cast<std::int64_t*>(static_cast<std::byte*>(workspace) + best_bytes());
    const std::int64_t row = shape_.row;
    const std::size_t dims = shape_.window.size();
    std::vector<std::int64_t> place(dims, 0), at(dims, 0);
    do {
      bool any = false;
      do {
        const std::int64_t from = shape_.offset(place, at, dims);
        if (from < 0) continue;
        const T* x = in + from;
        if (!any) {
          any = true;
          for (std::int64_t r = 0; r < row; ++r) best[r] = x[r], chosen[r] = from;
          continue;
        }
        for (std::int64_t r = 0; r < row; ++r) {
          const bool keeps = Keeps::apply(best[r], x[r]);
          best[r] = keeps ? best[r] : x[r];
          chosen[r] = keeps ? chosen[r] : from;
        }
      } while (advance(at, shape_.sizes, dims));
      if (any) {
        for (std::int64_t r = 0; r < row; ++r) out[chosen[r] + r] += source[r];
      }
      source += row;
    } while (advance(place, shape_.out, dims));
  }

 private:
  std::int64_t best_bytes() const { return (shape_.row * static_cast<std::int64_t>(sizeof(T)) + 63) / 64 * 64; }

  WindowShape shape_;
  std::int64_t elements_;
};

struct KeepsGreaterEqual {
  template <class T>
  static bool apply(T kept, T next) {
    return kept >= next;
  }
};
struct KeepsGreater {
  template <class T>
  static bool apply(T kept, T next) {
    return kept > next;
  }
};
struct KeepsLessEqual {
  template <class T>
  static bool apply(T kept, T next) {
    return kept <= next;
  }
};
struct KeepsLess {
  template <class T>
  static bool apply(T kept, T next) {
    return kept < next;
  }
};

template <class T>
std::unique_ptr<Kernel> make_select_and_scatter_of(ir::Comparison keeps, WindowShape shape, std::int64_t elements) {
  switch (keeps) {
    case ir::Comparison::Ge: return std::make_unique<SelectAndScatterKernel<T, KeepsGreaterEqual>>(std::move(shape), elements);
    case ir::Comparison::Gt: return std::make_unique<SelectAndScatterKernel<T, KeepsGreater>>(std::move(shape), elements);
    case ir::Comparison::Le: return std::make_unique<SelectAndScatterKernel<T, KeepsLessEqual>>(std::move(shape), elements);
    case ir::Comparison::Lt: return std::make_unique<SelectAndScatterKernel<T, KeepsLess>>(std::move(shape), elements);
    default: return nullptr;
  }
}

}  // namespace

std::unique_ptr<Kernel> make_reduce_window_kernel(const OpContext& context) {
  if (context.op.results.size() != 1) return nullptr;
  const ir::DType dtype = context.operand(0).dtype;
  if (context.result().dtype != dtype || context.result().elements() == 0) return nullptr;
  const ir::ReducerKind kind = ir::classify_reducer(context.program.function(context.op.regions[0]));
  const auto op = reducer_op(kind);
  if (!op || !is_identity(context, 1, kind)) return nullptr;
  const Loop loop = loops().find({*op, dtype, dtype});
  if (loop == nullptr) return nullptr;
  const auto& window = context.op.as<ir::ReduceWindowAttrs>().window;
  const auto width = static_cast<std::int64_t>(ir::dtype_bytes(dtype));
  if (auto scan = make_scan(context, window, loop, width)) return scan;
  for (const ir::WindowDim& w : window) {
    if (w.base_dilation != 1) return nullptr;
  }
  WindowShape shape(window, context.operand(0).dims, context.result().dims);
  if (shape.window.empty()) return nullptr;
  return std::make_unique<ReduceWindowKernel>(std::move(shape), loop, context.result().elements(), width);
}

std::unique_ptr<Kernel> make_select_and_scatter_kernel(const OpContext& context) {
  const ir::DType dtype = context.result().dtype;
  if (context.operand(0).dtype != dtype || context.operand(1).dtype != dtype || context.operand(2).dtype != dtype) return nullptr;
  if (context.operand(0).elements() == 0 || context.operand(1).elements() == 0) return nullptr;
  const auto keeps = comparison_of(context.program.function(context.op.regions[0]));
  if (!keeps || ir::classify_reducer(context.program.function(context.op.regions[1])) != ir::ReducerKind::Add) return nullptr;
  WindowShape shape(context.op.as<ir::SelectAndScatterAttrs>().window, context.operand(0).dims, context.operand(1).dims);
  const std::int64_t elements = context.result().elements();
  if (dtype == ir::DType::F32) return make_select_and_scatter_of<float>(*keeps, std::move(shape), elements);
  if (dtype == ir::DType::F64) return make_select_and_scatter_of<double>(*keeps, std::move(shape), elements);
  return nullptr;
}

}  // namespace rhino::kernels::host
