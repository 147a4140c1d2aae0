// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <rhino/kernels/host/op_kernels.hpp>

namespace rhino::kernels::host {

/// Element `i` of an index tensor; what does not fit into 63 bits counts as very large.
std::int64_t index_at(ir::DType dtype, const void* data, std::int64_t i);

/// Writes one element of `width` bytes `count` times.
void fill(void* out, const void* element, std::int64_t width, std::int64_t count);

/// Run-time start of a part in a tensor: one scalar operand per dimension, clamped so that the part lies inside.
class StartIndices {
 public:
  /// `first`: operand that holds the start in dimension 0.
  StartIndices(const OpContext& context, std::size_t first, const ir::Dims& whole, const ir::Dims& part);
  /// In elements of the whole tensor.
  std::int64_t offset(std::span<const void* const> operands) const;

 private:
  struct Dim {
    ir::DType dtype;
    std::int64_t highest, stride;
  };
  std::size_t first_;
  std::vector<Dim> dims_;
};

}  // namespace rhino::kernels::host
