// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <rhino/ir/types.hpp>

namespace rhino::kernels::reference {

/// Copies a box of elements: element (i_0, .., i_r) from `source + sum i_k source_strides[k]` to
/// `target + sum i_k target_strides[k]`, all in elements of `element_bytes` bytes. Strides may be zero (broadcast) or
/// negative (reverse). Source and target must not overlap.
void strided_copy(const ir::Dims& box, const std::byte* source, const ir::Dims& source_strides, std::byte* target,
                  const ir::Dims& target_strides, std::size_t element_bytes);

/// Steps an index vector through a box in row-major order.
class Odometer {
 public:
  /// Starts at all zeros; `dims` must outlive this object.
  explicit Odometer(const ir::Dims& dims) : dims_(dims), index_(dims.size(), 0) {
    for (const auto size : dims)
      done_ = done_ || size == 0;
  }
  const ir::Dims& index() const { return index_; }
  std::int64_t operator[](std::size_t dim) const { return index_[dim]; }
  bool done() const { return done_; }
  void next() {
    for (std::size_t d = dims_.size(); d-- > 0;) {
      if (++index_[d] < dims_[d]) return;
      index_[d] = 0;
    }
    done_ = true;
  }

 private:
  const ir::Dims& dims_;
  ir::Dims index_;
  bool done_ = false;
};

}  // namespace rhino::kernels::reference
