// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

#include <rhino/kernels/reference/interpreter.hpp>
#include <rhino/shard/layout.hpp>

namespace rhino::runtime {

/// Calls `visit(local, global)` with the row-major element numbers of every valid (not padding) element that `device` holds
/// of a tensor of shape `dims` under `layout`.
void for_each_local_element(const shard::Layout& layout, const ir::Dims& dims, const shard::MeshShape& mesh,
                            std::int64_t device, const std::function<void(std::int64_t, std::int64_t)>& visit);

/// The local buffer of `device` under a layout that is not partial. Padding bytes are `padding` (kept to 0 or 1 for i1), so
/// that a program that lets them be seen gives visibly wrong results.
kernels::reference::Tensor local_part(const kernels::reference::Tensor& whole, const shard::Layout& layout,
                                      const shard::MeshShape& mesh, std::int64_t device,
                                      std::byte padding = std::byte{0xff});

}  // namespace rhino::runtime
