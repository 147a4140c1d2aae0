// SPDX-License-Identifier: Apache-2.0
#include <rhino/io/elements.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include <rhino/base/error.hpp>
#include <rhino/base/half.hpp>

namespace rhino::io {

using ir::DType;

namespace {

struct Half {
  std::uint16_t bits;
};
struct BFloat {
  std::uint16_t bits;
};
struct Bool {
  std::uint8_t value;
};

/// Calls `f` with a value of the C++ type that stands for `dtype`.
template <class F>
void with_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::I1: return f(Bool{});
    case DType::I8: return f(std::int8_t{});
    case DType::I16: return f(std::int16_t{});
    case DType::I32: return f(std::int32_t{});
    case DType::I64: return f(std::int64_t{});
    case DType::U8: return f(std::uint8_t{});
    case DType::U16: return f(std::uint16_t{});
    case DType::U32: return f(std::uint32_t{});
    case DType::U64: return f(std::uint64_t{});
    case DType::F16: return f(Half{});
    case DType::BF16: return f(BFloat{});
    case DType::F32: return f(float{});
    case DType::F64: return f(double{});
  }
}

template <class T>
auto widen(T value) {
  if constexpr (std::is_same_v<T, Half>) {
    return half_to_float(value.bits);
  } else if constexpr (std::is_same_v<T, BFloat>) {
    return bfloat16_to_float(value.bits);
  } else if constexpr (std::is_same_v<T, Bool>) {
    return static_cast<std::uint8_t>(value.value != 0);
  } else {
    return value;
  }
}

template <class To, class From>
To narrow(From value) {
  if constexpr (std::is_same_v<To, Half>) {
    return {double_to_half(static_cast<double>(value))};
  } else if constexpr (std::is_same_v<To, BFloat>) {
    return {double_to_bfloat16(static_cast<double>(value))};
  } else if constexpr (std::is_same_v<To, Bool>) {
    return {static_cast<std::uint8_t>(value != From{})};
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if (std::isnan(value)) return 0;
    // The bounds as powers of two are exact, the largest integers are not.
    const From above = std::ldexp(From{1}, std::numeric_limits<To>::digits);
    if (value >= above) return std::numeric_limits<To>::max();
    if (value <= (std::is_signed_v<To> ? -above : From{0})) return std::numeric_limits<To>::min();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace

void convert_elements(DType from, std::span<const std::byte> in, DType to, std::span<std::byte> out) {
  const std::size_t count = in.size() / ir::dtype_bytes(from);
  RHINO_ASSERT(in.size() == count * ir::dtype_bytes(from) && out.size() == count * ir::dtype_bytes(to));
  if (count == 0) return;
  if (from == to) {
    std::copy(in.begin(), in.end(), out.begin());
    return;
  }
  with_type(from, [&](auto source) {
    with_type(to, [&](auto target) {
      using From = decltype(source);
      using To = decltype(target);
      for (std::size_t i = 0; i < count; ++i) {
        From value;
        std::memcpy(&value, in.data() + i * sizeof(From), sizeof(From));
        const To converted = narrow<To>(widen(value));
        std::memcpy(out.data() + i * sizeof(To), &converted, sizeof(To));
      }
    });
  });
}

void store_element(DType dtype, double value, std::byte* out) {
  with_type(dtype, [&](auto target) {
    using To = decltype(target);
    const To converted = narrow<To>(value);
    std::memcpy(out, &converted, sizeof(To));
  });
}

bool may_convert_data(DType from, DType to) {
  if (from == to) return true;
  if (ir::is_float(from)) return ir::is_float(to);
  if (ir::is_integer(from) && ir::is_integer(to)) {
    const int spare = ir::dtype_bits(to) - ir::dtype_bits(from);
    if (ir::is_unsigned_int(from)) return spare > 0;
    return ir::is_signed_int(to) && spare > 0;
  }
  if (from == DType::I1) return ir::is_integer(to);
  return from == DType::U8 && to == DType::I1;
}

Hdf5Type storage_type(DType dtype) {
  switch (dtype) {
    case DType::I1: return Hdf5Type::U8;
    case DType::I8: return Hdf5Type::I8;
    case DType::I16: return Hdf5Type::I16;
    case DType::I32: return Hdf5Type::I32;
    case DType::I64: return Hdf5Type::I64;
    case DType::U8: return Hdf5Type::U8;
    case DType::U16: return Hdf5Type::U16;
    case DType::U32: return Hdf5Type::U32;
    case DType::U64: return Hdf5Type::U64;
    case DType::F16: return Hdf5Type::F16;
    case DType::BF16: return Hdf5Type::U16;
    case DType::F32: return Hdf5Type::F32;
    case DType::F64: return Hdf5Type::F64;
  }
  RHINO_FAIL(InternalError, "no such element type");
}

std::optional<DType> stored_dtype(const Hdf5DataSet& set) {
  if ((set.type() == Hdf5Type::U16 || set.type() == Hdf5Type::U8) && set.has_attribute("dtype")) {
    const std::string mark = set.text_attribute("dtype");
    if (mark == "bf16" && set.type() == Hdf5Type::U16) return DType::BF16;
    if (mark == "i1" && set.type() == Hdf5Type::U8) return DType::I1;
    RHINO_FAIL(InputError, "{} holds {} with an unknown attribute dtype = '{}'", set.where(), hdf5_type_name(set.type()),
               mark);
  }
  switch (set.type()) {
    case Hdf5Type::I8: return DType::I8;
    case Hdf5Type::I16: return DType::I16;
    case Hdf5Type::I32: return DType::I32;
    case Hdf5Type::I64: return DType::I64;
    case Hdf5Type::U8: return DType::U8;
    case Hdf5Type::U16: return DType::U16;
    case Hdf5Type::U32: return DType::U32;
    case Hdf5Type::U64: return DType::U64;
    case Hdf5Type::F16: return DType::F16;
    case Hdf5Type::BF16: return DType::BF16;
    case Hdf5Type::F32: return DType::F32;
    case Hdf5Type::F64: return DType::F64;
    case Hdf5Type::Bool: return DType::I1;
    case Hdf5Type::Text:
    case Hdf5Type::Other: break;
  }
  return std::nullopt;
}

Hdf5DataSet create_tensor(Hdf5Group& group, const std::string& path, const ir::TensorType& type, bool deflate) {
  Hdf5DataSet set = group.create_data_set(path, storage_type(type.dtype), type.dims, deflate);
  if (type.dtype == DType::BF16 || type.dtype == DType::I1) set.set_attribute("dtype", ir::dtype_name(type.dtype));
  return set;
}

void write_tensor(Hdf5Group& group, const std::string& path, const ir::Literal& literal) {
  const std::size_t size = ir::dtype_bytes(literal.type().dtype);
  std::vector<std::byte> expanded;
  std::span<const std::byte> bytes = literal.stored_bytes();
  bool uniform = true;
  if (literal.is_splat()) {
    expanded = literal.expanded_bytes();
    bytes = expanded;
  } else {
    for (std::size_t i = size; i < bytes.size() && uniform; ++i) uniform = bytes[i] == bytes[i - size];
  }
  Hdf5DataSet set = create_tensor(group, path, literal.type(), uniform);
  set.write(bytes);
}

void check_tensor(const Hdf5DataSet& set, const ir::TensorType& type) {
  const std::optional<DType> stored = stored_dtype(set);
  RHINO_CHECK(stored.has_value() && !set.is_null(), "{} holds no numbers", set.where());
  const bool as_float = type.dtype == DType::BF16 && *stored == DType::F32;
  const bool as_byte = type.dtype == DType::I1 && *stored == DType::U8;
  RHINO_CHECK(*stored == type.dtype || as_float || as_byte, "{} holds {}, but the program needs {}{}", set.where(),
              ir::dtype_name(*stored), ir::dtype_name(type.dtype),
              type.dtype == DType::BF16 ? " (u16 with the attribute dtype = 'bf16', or f32)" : "");
  RHINO_CHECK(set.dims() == type.dims, "{} has shape {}, but the program needs {}", set.where(), ir::to_string(set.dims()),
              ir::to_string(type.dims));
}

ir::Literal read_tensor(const Hdf5DataSet& set, const ir::TensorType& type) {
  check_tensor(set, type);
  set.check_stored();
  const DType stored = *stored_dtype(set);
  std::vector<std::byte> bytes(static_cast<std::size_t>(set.elements()) * hdf5_type_bytes(set.type()));
  set.read(bytes);
  if (stored != type.dtype && type.dtype != DType::I1) {
    std::vector<std::byte> converted(static_cast<std::size_t>(type.bytes()));
    convert_elements(stored, bytes, type.dtype, converted);
    bytes = std::move(converted);
  }
  if (type.dtype == DType::I1)
    RHINO_CHECK(std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b <= std::byte{1}; }),
                "{} holds truth values other than 0 and 1", set.where());
  return ir::Literal(type, std::move(bytes));
}

namespace {

struct Box {
  std::vector<std::int64_t> start;
  std::vector<std::int64_t> count;
};

/// Copies the elements of a box that `indices` name, with dimension 0 restricted to positions [first, last), to the places
/// in `out` that the positions of the indices give.
void gather_box(const Box& box, std::span<const std::byte> data, const std::vector<std::vector<std::int64_t>>& indices,
                std::size_t first, std::size_t last, std::size_t size, std::span<std::byte> out) {
  const std::size_t rank = indices.size();
  std::vector<std::int64_t> stride_in(rank, 1), stride_out(rank, 1);
  for (std::size_t d = rank - 1; d > 0; --d) {
    stride_in[d - 1] = stride_in[d] * box.count[d];
    stride_out[d - 1] = stride_out[d] * static_cast<std::int64_t>(indices[d].size());
  }
  const auto& inner = indices[rank - 1];
  const std::size_t inner_first = rank == 1 ? first : 0;
  const std::size_t inner_last = rank == 1 ? last : inner.size();
  std::vector<std::size_t> at(rank, 0);
  at[0] = first;
  while (true) {
    std::int64_t from = 0, to = 0;
    bool padding = false;
    for (std::size_t d = 0; d + 1 < rank; ++d) {
      const std::int64_t index = indices[d][at[d]];
      padding = padding || index < 0;
      from += (index - box.start[d]) * stride_in[d];
      to += static_cast<std::int64_t>(at[d]) * stride_out[d];
    }
    for (std::size_t i = inner_first; !padding && i < inner_last; ++i) {
      if (inner[i] < 0) continue;
      std::memcpy(out.data() + (static_cast<std::size_t>(to) + i) * size,
                  data.data() + static_cast<std::size_t>(from + inner[i] - box.start[rank - 1]) * size, size);
    }
    if (rank == 1) return;
    std::size_t d = rank - 1;
    while (d > 0) {
      --d;
      if (++at[d] < (d == 0 ? last : indices[d].size())) break;
      if (d == 0) return;
      at[d] = 0;
    }
  }
}

}  // namespace

void read_elements(const Hdf5DataSet& set, DType stored, const std::vector<std::vector<std::int64_t>>& indices, DType dtype,
                   std::span<std::byte> out) {
  constexpr std::int64_t slab_bytes = std::int64_t{16} << 20;
  const std::size_t size = hdf5_type_bytes(set.type());
  RHINO_ASSERT(size == ir::dtype_bytes(stored) && indices.size() == set.dims().size());
  std::size_t elements = 1;
  for (const auto& list : indices) elements *= list.size();
  RHINO_ASSERT(out.size() == elements * ir::dtype_bytes(dtype));
  if (elements == 0) return;
  std::memset(out.data(), 0, out.size());
  std::vector<std::byte> gathered;
  std::span<std::byte> target = out;
  if (stored != dtype) {
    gathered.assign(elements * size, std::byte{0});
    target = gathered;
  }
  if (indices.empty()) {
    set.read(target);
  } else {
    Box box{std::vector<std::int64_t>(indices.size()), std::vector<std::int64_t>(indices.size())};
    std::int64_t row = static_cast<std::int64_t>(size);
    for (std::size_t d = 0; d < indices.size(); ++d) {
      std::int64_t low = INT64_MAX, high = -1;
      for (const std::int64_t index : indices[d]) {
        RHINO_ASSERT(index >= -1 && index < set.dims()[d], "index {} of dimension {} of {}", index, d, set.where());
        if (index < 0) continue;
        low = std::min(low, index);
        high = std::max(high, index);
      }
      if (high < 0) return;  // padding only
      box.start[d] = low;
      box.count[d] = high - low + 1;
      if (d > 0) row *= box.count[d];
    }
    const std::int64_t most_rows = std::max<std::int64_t>(1, slab_bytes / row);
    const auto& rows = indices[0];
    std::vector<std::byte> slab;
    for (std::size_t first = 0; first < rows.size();) {
      if (rows[first] < 0) {
        ++first;
        continue;
      }
      // Rows that ascend without large gaps are read together.
      std::size_t last = first + 1;
      while (last < rows.size() && rows[last] > rows[last - 1] && rows[last] - rows[last - 1] <= 4 &&
             rows[last] - rows[first] < most_rows)
        ++last;
      box.start[0] = rows[first];
      box.count[0] = rows[last - 1] - rows[first] + 1;
      slab.resize(static_cast<std::size_t>(box.count[0] * row));
      set.read_block(box.start, box.count, slab);
      gather_box(box, slab, indices, first, last, size, target);
      first = last;
    }
  }
  if (stored != dtype) convert_elements(stored, gathered, dtype, out);
}

}  // namespace rhino::io
