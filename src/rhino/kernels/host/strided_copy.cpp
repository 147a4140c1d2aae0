// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/host/strided_copy.hpp>

#include <algorithm>
#include <cstring>

#include <rhino/kernels/host/loops.hpp>
#include <rhino/kernels/host/odometer.hpp>

namespace rhino::kernels::host {

StridedCopy::StridedCopy(const ir::Dims& shape, const ir::Dims& in_strides, std::int64_t width)
    : StridedCopy(shape, in_strides, ir::row_major_strides(shape), width) {}

StridedCopy::StridedCopy(const ir::Dims& out_shape, const ir::Dims& in_strides, const ir::Dims& out_strides, std::int64_t width)
    : width_(width) {
  // Drop dimensions of size 1 and merge neighbours that both sides walk as one.
  ir::Dims shape, in, out;
  for (std::size_t d = 0; d < out_shape.size(); ++d) {
    empty_ = empty_ || out_shape[d] == 0;
    if (out_shape[d] == 1) continue;
    if (!shape.empty() && in.back() == in_strides[d] * out_shape[d] && out.back() == out_strides[d] * out_shape[d]) {
      shape.back() *= out_shape[d];
      in.back() = in_strides[d];
      out.back() = out_strides[d];
    } else {
      shape.push_back(out_shape[d]);
      in.push_back(in_strides[d]);
      out.push_back(out_strides[d]);
    }
  }
  if (shape.empty()) return;
  row_ = shape.back();
  row_in_ = in.back();
  row_out_ = out.back();
  shape.pop_back();
  in.pop_back();
  out.pop_back();
  if (row_in_ != 1 && row_out_ == 1) {
    const auto unit = std::find(in.begin(), in.end(), 1);
    if (unit != in.end()) {
      const auto d = unit - in.begin();
      columns_ = shape[static_cast<std::size_t>(d)];
      columns_out_ = out[static_cast<std::size_t>(d)];
      shape.erase(shape.begin() + d);
      in.erase(in.begin() + d);
      out.erase(out.begin() + d);
    }
  }
  shape_ = std::move(shape);
  in_strides_ = std::move(in);
  out_strides_ = std::move(out);
}

void StridedCopy::run_row(const std::byte* from, std::byte* to) const {
  const auto copy = [&]<class T>(T) {
    const T* x = reinterpret_cast<const T*>(from);
    T* y = reinterpret_cast<T*>(to);
    for (std::int64_t i = 0; i < row_; ++i) y[i * row_out_] = x[i * row_in_];
  };
  switch (width_) {
    case 1: return copy(std::uint8_t{});
    case 2: return copy(std::uint16_t{});
    case 4: return copy(std::uint32_t{});
    default: return copy(std::uint64_t{});
  }
}

void StridedCopy::run(const void* from, void* to) const {
  if (empty_) return;
  const auto* in = static_cast<const std::byte*>(from);
  auto* out = static_cast<std::byte*>(to);
  for (Odometer<2> at(shape_, {&in_strides_, &out_strides_}); !at.done(); at.next()) {
    const std::byte* x = in + at.offset(0) * width_;
    std::byte* y = out + at.offset(1) * width_;
    if (columns_ > 0) {
      loops().transpose(static_cast<int>(width_), x, row_in_, y, columns_out_, row_, columns_);
    } else if (row_in_ == 1 && row_out_ == 1) {
      std::memcpy(y, x, static_cast<std::size_t>(row_ * width_));
    } else {
      run_row(x, y);
    }
  }
}

}  // namespace rhino::kernels::host
