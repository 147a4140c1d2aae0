// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <rhino/base/error.hpp>
#include <rhino/ir/types.hpp>

namespace rhino::kernels::host {

/// Walks all indices of `shape`, last dimension fastest, and keeps the offsets of up to `Count` strided tensors.
template <std::size_t Count>
class Odometer {
 public:
  /// `strides[i]` has one stride per dimension of `shape`; both must outlive the odometer.
  Odometer(const ir::Dims& shape, const std::array<const ir::Dims*, Count>& strides) : shape_(shape), strides_(strides) {
    RHINO_ASSERT(shape.size() <= index_.size(), "rank {} is more than a kernel can walk", shape.size());
    for (std::int64_t size : shape) done_ = done_ || size == 0;
  }
  bool done() const { return done_; }
  std::int64_t offset(std::size_t i) const { return offset_[i]; }
  void next() {
    for (std::size_t d = shape_.size(); d-- > 0;) {
      for (std::size_t i = 0; i < Count; ++i) offset_[i] += (*strides_[i])[d];
      if (++index_[d] < shape_[d]) return;
      for (std::size_t i = 0; i < Count; ++i) offset_[i] -= (*strides_[i])[d] * shape_[d];
      index_[d] = 0;
    }
    done_ = true;
  }

 private:
  const ir::Dims& shape_;
  std::array<const ir::Dims*, Count> strides_;
  std::array<std::int64_t, 64> index_{};
  std::array<std::int64_t, Count> offset_{};
  bool done_ = false;
};

}  // namespace rhino::kernels::host
