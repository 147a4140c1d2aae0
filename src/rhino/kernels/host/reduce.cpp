// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <rhino/kernels/host/loops.hpp>
#include <rhino/kernels/host/odometer.hpp>
#include <rhino/kernels/host/op_kernels.hpp>

namespace rhino::kernels::host {

namespace {

/// Reduction of one tensor by a well-known reducer. Dimensions are merged into alternating kept and reduced ones; then
/// either the innermost is reduced (rows), or it is kept and the one before it is reduced (rows into a row).
class ReduceKernel final : public Kernel {
 public:
  ReduceKernel(const OpContext& context, ReduceLoops loops) : loops_(loops) {
    const ir::TensorType& type = context.operand(0);
    width_ = static_cast<std::int64_t>(ir::dtype_bytes(type.dtype));
    results_ = context.result().elements();
    empty_ = type.elements() == 0;
    std::vector<bool> reduced(type.dims.size(), false);
    for (int d : context.op.as<ir::ReduceAttrs>().dimensions) reduced[static_cast<std::size_t>(d)] = true;
    std::vector<bool> flags;
    ir::Dims shape;
    for (std::size_t d = 0; d < type.dims.size(); ++d) {
      if (type.dims[d] == 1) continue;
      if (!shape.empty() && flags.back() == reduced[d]) {
        shape.back() *= type.dims[d];
      } else {
        shape.push_back(type.dims[d]);
        flags.push_back(reduced[d]);
      }
    }
    ir::Dims in = ir::row_major_strides(shape), out(shape.size(), 0);
    std::int64_t stride = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (flags[d]) continue;
      out[d] = stride;
      stride *= shape[d];
    }
    if (shape.empty()) {
      shape = {1}, in = {1}, out = {0};
      flags = {true};
    }
    inner_reduced_ = flags.back();
    count_ = shape.back();
    if (!inner_reduced_ && shape.size() > 1) {
      rows_ = shape[shape.size() - 2];
      shape.pop_back(), in.pop_back(), out.pop_back();
    }
    shape.pop_back(), in.pop_back(), out.pop_back();
    shape_ = std::move(shape), in_strides_ = std::move(in), out_strides_ = std::move(out);
  }

  void run(std::span<const void* const> operands, std::span<void* const> results, void*) const override {
    const auto* in = static_cast<const std::byte*>(operands[0]);
    auto* out = static_cast<std::byte*>(results[0]);
    for (std::int64_t i = 0; i < results_; ++i) std::memcpy(out + i * width_, operands[1], static_cast<std::size_t>(width_));
    if (empty_) return;
    for (Odometer<2> at(shape_, {&in_strides_, &out_strides_}); !at.done(); at.next()) {
      const std::byte* x = in + at.offset(0) * width_;
      std::byte* y = out + at.offset(1) * width_;
      if (inner_reduced_) loops_.row(x, count_, y);
      else loops_.rows(x, rows_, count_, count_, y);
    }
  }

 private:
  ReduceLoops loops_;
  std::int64_t width_ = 4, results_ = 1;
  bool empty_ = false, inner_reduced_ = true;
  std::int64_t count_ = 1, rows_ = 1;
  ir::Dims shape_, in_strides_, out_strides_;
};

}  // namespace

std::unique_ptr<Kernel> make_reduce_kernel(const OpContext& context) {
  if (context.op.results.size() != 1) return nullptr;
  if (context.result().dtype != context.operand(0).dtype) return nullptr;
  const ir::ReducerKind kind = ir::classify_reducer(context.program.function(context.op.regions[0]));
  if (kind == ir::ReducerKind::Other) return nullptr;
  const ReduceLoops found = loops().find_reduce(kind, context.operand(0).dtype);
  if (found.row == nullptr) return nullptr;
  return std::make_unique<ReduceKernel>(context, found);
}

}  // namespace rhino::kernels::host
