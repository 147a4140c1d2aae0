// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/host/index.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

namespace rhino::kernels::host {

std::int64_t index_at(ir::DType dtype, const void* data, std::int64_t i) {
  using ir::DType;
  const auto read = [&]<class T>(T) { return static_cast<std::int64_t>(static_cast<const T*>(data)[i]); };
  switch (dtype) {
    case DType::I1:
    case DType::U8: return read(std::uint8_t{});
    case DType::I8: return read(std::int8_t{});
    case DType::I16: return read(std::int16_t{});
    case DType::I32: return read(std::int32_t{});
    case DType::I64: return read(std::int64_t{});
    case DType::U16: return read(std::uint16_t{});
    case DType::U32: return read(std::uint32_t{});
    case DType::U64: {
      const std::uint64_t value = static_cast<const std::uint64_t*>(data)[i];
      return static_cast<std::int64_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max()));
    }
    default: break;
  }
  RHINO_FAIL(InputError, "indices must be integers, not {}", ir::dtype_name(dtype));
}

void fill(void* out, const void* element, std::int64_t width, std::int64_t count) {
  const auto splat = [&]<class T>(T value) {
    std::memcpy(&value, element, sizeof(T));
    std::fill_n(static_cast<T*>(out), count, value);
  };
  switch (width) {
    case 1: return splat(std::uint8_t{});
    case 2: return splat(std::uint16_t{});
    case 4: return splat(std::uint32_t{});
    default: return splat(std::uint64_t{});
  }
}

StartIndices::StartIndices(const OpContext& context, std::size_t first, const ir::Dims& whole, const ir::Dims& part)
    : first_(first) {
  const ir::Dims strides = ir::row_major_strides(whole);
  for (std::size_t d = 0; d < whole.size(); ++d) {
    dims_.push_back({context.operand(first + d).dtype, whole[d] - part[d], strides[d]});
  }
}

std::int64_t StartIndices::offset(std::span<const void* const> operands) const {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    const std::int64_t start = index_at(dims_[d].dtype, operands[first_ + d], 0);
    offset += std::clamp<std::int64_t>(start, 0, dims_[d].highest) * dims_[d].stride;
  }
  return offset;
}

}  // namespace rhino::kernels::host
