// SPDX-License-Identifier: Apache-2.0
// Ops that only move elements: transpose, slices, concatenation, padding, reversal, updates of a part.
#include <algorithm>
#include <cstring>

#include <rhino/kernels/host/index.hpp>
#include <rhino/kernels/host/op_kernels.hpp>
#include <rhino/kernels/host/strided_copy.hpp>

namespace rhino::kernels::host {

namespace {

std::int64_t width_of(const ir::TensorType& type) { return static_cast<std::int64_t>(ir::dtype_bytes(type.dtype)); }

/// Parts of operands copied to places in the result, after the result was filled with an element (pad) or not.
class CopiesKernel final : public Kernel {
 public:
  struct Part {
    StridedCopy copy;
    std::size_t operand = 0;
    std::int64_t from = 0, to = 0;  ///< first elements
  };
  CopiesKernel(const ir::TensorType& result, std::vector<Part> parts, int filler = -1)
      : parts_(std::move(parts)), elements_(result.elements()), width_(width_of(result)), filler_(filler) {}

  void run(std::span<const void* const> operands, std::span<void* const> results, void*) const override {
    auto* out = static_cast<std::byte*>(results[0]);
    if (filler_ >= 0) fill(out, operands[static_cast<std::size_t>(filler_)], width_, elements_);
    for (const Part& part : parts_) {
      part.copy.run(static_cast<const std::byte*>(operands[part.operand]) + part.from * width_, out + part.to * width_);
    }
  }

 private:
  std::vector<Part> parts_;
  std::int64_t elements_, width_;
  int filler_;
};

std::unique_ptr<Kernel> one_copy(const OpContext& context, const ir::Dims& in_strides, std::int64_t from) {
  std::vector<CopiesKernel::Part> parts;
  parts.push_back({StridedCopy(context.result().dims, in_strides, width_of(context.result())), 0, from, 0});
  return std::make_unique<CopiesKernel>(context.result(), std::move(parts));
}

std::unique_ptr<Kernel> make_transpose(const OpContext& context) {
  const ir::Dims strides = ir::row_major_strides(context.operand(0).dims);
  ir::Dims permuted;
  for (int d : context.op.as<ir::DimensionsAttrs>().dimensions) permuted.push_back(strides[static_cast<std::size_t>(d)]);
  return one_copy(context, permuted, 0);
}

std::unique_ptr<Kernel> make_reverse(const OpContext& context) {
  ir::Dims strides = ir::row_major_strides(context.operand(0).dims);
  std::int64_t from = 0;
  for (int dimension : context.op.as<ir::DimensionsAttrs>().dimensions) {
    const auto d = static_cast<std::size_t>(dimension);
    from += (context.operand(0).dims[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  if (context.result().elements() == 0) from = 0;
  return one_copy(context, strides, from);
}

std::unique_ptr<Kernel> make_slice(const OpContext& context) {
  const auto& attrs = context.op.as<ir::SliceAttrs>();
  ir::Dims strides = ir::row_major_strides(context.operand(0).dims);
  std::int64_t from = 0;
  for (std::size_t d = 0; d < strides.size(); ++d) {
    from += attrs.start[d] * strides[d];
    strides[d] *= attrs.stride[d];
  }
  return one_copy(context, strides, from);
}

std::unique_ptr<Kernel> make_broadcast(const OpContext& context) {
  const auto& attrs = context.op.as<ir::BroadcastInDimAttrs>();
  const ir::TensorType& in = context.operand(0);
  const ir::Dims in_strides = ir::row_major_strides(in.dims);
  ir::Dims strides(context.result().dims.size(), 0);
  for (std::size_t d = 0; d < in.dims.size(); ++d) {
    if (in.dims[d] != 1) strides[static_cast<std::size_t>(attrs.dimensions[d])] = in_strides[d];
  }
  return one_copy(context, strides, 0);
}

std::unique_ptr<Kernel> make_concatenate(const OpContext& context) {
  const auto dimension = static_cast<std::size_t>(context.op.as<ir::DimensionAttrs>().dimension);
  const ir::Dims out_strides = ir::row_major_strides(context.result().dims);
  std::vector<CopiesKernel::Part> parts;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < context.op.operands.size(); ++i) {
    const ir::TensorType& part = context.operand(i);
    parts.push_back({StridedCopy(part.dims, ir::row_major_strides(part.dims), out_strides, width_of(part)), i, 0,
                     start * out_strides[dimension]});
    start += part.dims[dimension];
  }
  return std::make_unique<CopiesKernel>(context.result(), std::move(parts));
}

std::unique_ptr<Kernel> make_pad(const OpContext& context) {
  const auto& attrs = context.op.as<ir::PadAttrs>();
  const ir::TensorType &in = context.operand(0), &out = context.result();
  const ir::Dims in_strides = ir::row_major_strides(in.dims);
  ir::Dims shape, out_strides = ir::row_major_strides(out.dims);
  CopiesKernel::Part part{StridedCopy({0}, {0}, width_of(out)), 0, 0, 0};
  for (std::size_t d = 0; d < in.dims.size(); ++d) {
    // Elements i with 0 <= low + i * step < size; negative padding cuts some off.
    const std::int64_t step = attrs.interior[d] + 1, low = attrs.low[d];
    const std::int64_t first = low >= 0 ? 0 : (-low + step - 1) / step;
    const std::int64_t last = out.dims[d] - 1 - low < 0 ? -1 : std::min(in.dims[d] - 1, (out.dims[d] - 1 - low) / step);
    shape.push_back(std::max<std::int64_t>(0, last - first + 1));
    part.from += first * in_strides[d];
    part.to += (low + first * step) * out_strides[d];
    out_strides[d] *= step;
  }
  std::vector<CopiesKernel::Part> parts;
  if (std::find(shape.begin(), shape.end(), 0) == shape.end()) {
    part.copy = StridedCopy(shape, in_strides, out_strides, width_of(out));
    parts.push_back(part);
  }
  return std::make_unique<CopiesKernel>(out, std::move(parts), 1);
}

std::unique_ptr<Kernel> make_bitcast(const OpContext& context) {
  if (context.operand(0).bytes() != context.result().bytes()) return nullptr;
  std::vector<CopiesKernel::Part> parts;
  const ir::TensorType bytes{ir::DType::U8, {context.result().bytes()}};
  parts.push_back({StridedCopy(bytes.dims, {1}, 1), 0, 0, 0});
  return std::make_unique<CopiesKernel>(bytes, std::move(parts));
}

/// dynamic_slice: the part that starts at run-time indices, which are clamped so that it lies inside.
class DynamicSliceKernel final : public Kernel {
 public:
  explicit DynamicSliceKernel(const OpContext& context)
      : start_(context, 1, context.operand(0).dims, context.result().dims),
        width_(width_of(context.result())),
        copy_(context.result().dims, ir::row_major_strides(context.operand(0).dims), width_) {}

  void run(std::span<const void* const> operands, std::span<void* const> results, void*) const override {
    copy_.run(static_cast<const std::byte*>(operands[0]) + start_.offset(operands) * width_, results[0]);
  }

 private:
  StartIndices start_;
  std::int64_t width_;
  StridedCopy copy_;
};

/// dynamic_update_slice; writes only the part if the result lies over the operand.
class DynamicUpdateSliceKernel final : public Kernel {
 public:
  explicit DynamicUpdateSliceKernel(const OpContext& context)
      : start_(context, 2, context.operand(0).dims, context.operand(1).dims),
        bytes_(context.result().bytes()),
        width_(width_of(context.result())),
        copy_(context.operand(1).dims, ir::row_major_strides(context.operand(1).dims),
              ir::row_major_strides(context.result().dims), width_) {}

  void run(std::span<const void* const> operands, std::span<void* const> results, void*) const override {
    if (results[0] != operands[0]) std::memcpy(results[0], operands[0], static_cast<std::size_t>(bytes_));
    copy_.run(operands[1], static_cast<std::byte*>(results[0]) + start_.offset(operands) * width_);
  }

 private:
  StartIndices start_;
  std::int64_t bytes_, width_;
  StridedCopy copy_;
};

}  // namespace

std::unique_ptr<Kernel> make_movement_kernel(const OpContext& context) {
  switch (context.op.kind) {
    case ir::OpKind::Transpose: return make_transpose(context);
    case ir::OpKind::Reverse: return make_reverse(context);
    case ir::OpKind::Slice: return make_slice(context);
    case ir::OpKind::BroadcastInDim: return make_broadcast(context);
    case ir::OpKind::Concatenate: return make_concatenate(context);
    case ir::OpKind::Pad: return make_pad(context);
    case ir::OpKind::BitcastConvert: return make_bitcast(context);
    case ir::OpKind::DynamicSlice: return std::make_unique<DynamicSliceKernel>(context);
    case ir::OpKind::DynamicUpdateSlice: return std::make_unique<DynamicUpdateSliceKernel>(context);
    default: return nullptr;
  }
}

}  // namespace rhino::kernels::host
