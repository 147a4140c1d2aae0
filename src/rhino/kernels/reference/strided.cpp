// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/reference/strided.hpp>

#include <cstring>

#include <rhino/base/error.hpp>

namespace rhino::kernels::reference {
namespace {

template <class T>
void copy_row(const std::byte* source, std::int64_t source_stride, std::byte* target, std::int64_t target_stride,
              std::int64_t count) {
  const T* from = reinterpret_cast<const T*>(source);
  T* to = reinterpret_cast<T*>(target);
  if (target_stride == 1) {
    if (source_stride == 1) {
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
    } else if (source_stride == 0) {
      const T value = *from;
      for (std::int64_t i = 0; i < count; ++i) to[i] = value;
    } else {
      for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * source_stride];
    }
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) to[i * target_stride] = from[i * source_stride];
}

using RowCopy = void (*)(const std::byte*, std::int64_t, std::byte*, std::int64_t, std::int64_t);

RowCopy row_copy(std::size_t element_bytes) {
  switch (element_bytes) {
    case 1: return copy_row<std::uint8_t>;
    case 2: return copy_row<std::uint16_t>;
    case 4: return copy_row<std::uint32_t>;
    case 8: return copy_row<std::uint64_t>;
    default: break;
  }
  RHINO_ASSERT(false, "elements of {} bytes", element_bytes);
  return nullptr;
}

}  // namespace

void strided_copy(const ir::Dims& box, const std::byte* source, const ir::Dims& source_strides, std::byte* target,
                  const ir::Dims& target_strides, std::size_t element_bytes) {
  // Drop dimensions of size one and merge neighbours that are contiguous on both sides.
  ir::Dims dims, from, to;
  dims.reserve(box.size());
  from.reserve(box.size());
  to.reserve(box.size());
  for (std::size_t d = 0; d < box.size(); ++d) {
    if (box[d] == 0) return;
    if (box[d] == 1) continue;
    if (!dims.empty() && from.back() == source_strides[d] * box[d] && to.back() == target_strides[d] * box[d]) {
      dims.back() *= box[d];
      from.back() = source_strides[d];
      to.back() = target_strides[d];
    } else {
      dims.push_back(box[d]);
      from.push_back(source_strides[d]);
      to.push_back(target_strides[d]);
    }
  }
  const RowCopy copy = row_copy(element_bytes);
  if (dims.empty()) return copy(source, 1, target, 1, 1);
  const auto width = static_cast<std::int64_t>(element_bytes);
  const std::size_t outer = dims.size() - 1;
  ir::Dims index(outer, 0);
  std::int64_t source_offset = 0, target_offset = 0;
  for (;;) {
    copy(source + source_offset * width, from[outer], target + target_offset * width, to[outer], dims[outer]);
    std::size_t d = outer;
    for (;;) {
      if (d == 0) return;
      --d;
      source_offset += from[d];
      target_offset += to[d];
      if (++index[d] < dims[d]) break;
      source_offset -= from[d] * dims[d];
      target_offset -= to[d] * dims[d];
      index[d] = 0;
    }
  }
}

}  // namespace rhino::kernels::reference
