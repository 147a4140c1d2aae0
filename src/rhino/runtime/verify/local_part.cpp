// SPDX-License-Identifier: Apache-2.0
#include <rhino/runtime/verify/local_part.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

#include <rhino/base/error.hpp>

namespace rhino::runtime {

using kernels::reference::Tensor;

void for_each_local_element(const shard::Layout& layout, const ir::Dims& dims, const shard::MeshShape& mesh,
                            std::int64_t device, const std::function<void(std::int64_t, std::int64_t)>& visit) {
  const ir::Dims local = shard::local_dims(layout, mesh);
  const ir::Dims strides = ir::row_major_strides(dims);
  // Per dimension, where each local index lies in the whole tensor; -1 for padding.
  std::vector<std::vector<std::int64_t>> offsets(dims.size());
  std::int64_t count = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    for (std::int64_t i = 0; i < local[d]; ++i) {
      const std::int64_t global = shard::global_index(layout.dims[d], mesh, device, i);
      offsets[d].push_back(global < 0 ? -1 : global * strides[d]);
    }
    count *= local[d];
  }
  ir::Dims position(dims.size(), 0);
  for (std::int64_t element = 0; element < count; ++element) {
    std::int64_t global = 0;
    bool valid = true;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const std::int64_t offset = offsets[d][static_cast<std::size_t>(position[d])];
      valid = valid && offset >= 0;
      global += offset;
    }
    if (valid) visit(element, global);
    for (std::size_t d = dims.size(); d-- > 0;) {
      if (++position[d] < local[d]) break;
      position[d] = 0;
    }
  }
}

Tensor local_part(const Tensor& whole, const shard::Layout& layout, const shard::MeshShape& mesh, std::int64_t device,
                  std::byte padding) {
  RHINO_ASSERT(!layout.is_partial(), "a partial layout has no part of a whole tensor");
  if (whole.type.dtype == ir::DType::I1) padding &= std::byte{1};
  Tensor part(ir::TensorType{whole.type.dtype, shard::local_dims(layout, mesh)});
  std::fill(part.bytes.begin(), part.bytes.end(), padding);
  const std::size_t width = ir::dtype_bytes(whole.type.dtype);
  for_each_local_element(layout, whole.type.dims, mesh, device, [&](std::int64_t local, std::int64_t global) {
    std::memcpy(part.bytes.data() + static_cast<std::size_t>(local) * width,
                whole.bytes.data() + static_cast<std::size_t>(global) * width, width);
  });
  return part;
}

}  // namespace rhino::runtime
