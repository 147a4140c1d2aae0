// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <rhino/ir/types.hpp>

namespace rhino::kernels::host {

/// Copy between two strided tensors of one shape: `out[sum index * out_strides] = in[sum index * in_strides]`. Strides are in
/// elements and may be negative or (on the reading side) zero. Rows that lie together are copied as such; swaps of the fast
/// dimension go through register tiles.
class StridedCopy {
 public:
  /// `width`: bytes per element.
  StridedCopy(const ir::Dims& shape, const ir::Dims& in_strides, const ir::Dims& out_strides, std::int64_t width);
  /// Into a dense tensor.
  StridedCopy(const ir::Dims& shape, const ir::Dims& in_strides, std::int64_t width);

  /// `from` and `to` point to the elements of index 0.
  void run(const void* from, void* to) const;

 private:
  void run_row(const std::byte* from, std::byte* to) const;

  std::int64_t width_;
  bool empty_ = false;
  std::int64_t row_ = 1, row_in_ = 1, row_out_ = 1;          // innermost dimension
  std::int64_t columns_ = 0, columns_out_ = 0;               // dimension that is fast on the reading side, if it is another one
  ir::Dims shape_, in_strides_, out_strides_;                // the others
};

}  // namespace rhino::kernels::host
