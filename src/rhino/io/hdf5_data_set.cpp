// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include <rhino/base/strings.hpp>
#include <rhino/io/hdf5.hpp>
#include <rhino/io/hdf5_internal.hpp>

namespace rhino::io {

using detail::hdf5_reasons;
using detail::Hdf5Handle;

Hdf5DataSet::Hdf5DataSet(Hdf5Handle handle, std::string where) : Hdf5Node(std::move(handle), std::move(where)) {
  const Hdf5Handle space(H5Dget_space(id()), detail::close_space);
  const Hdf5Handle type(H5Dget_type(id()), detail::close_type);
  RHINO_H5_READ(space.get(), "{} is damaged", this->where());
  RHINO_H5_READ(type.get(), "{} is damaged", this->where());
  type_ = detail::classify_type(type.get());
  null_ = H5Sget_simple_extent_type(space.get()) == H5S_NULL;
  const int rank = H5Sget_simple_extent_ndims(space.get());
  RHINO_CHECK(rank >= 0 && rank <= H5S_MAX_RANK, "{} has a damaged shape", this->where());
  std::array<hsize_t, H5S_MAX_RANK> sizes{};
  RHINO_H5_READ(H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr), "{} has a damaged shape", this->where());
  hsize_t bytes = std::max<hsize_t>(H5Tget_size(type.get()), 1);
  for (int i = 0; i < rank; ++i) {
    hsize_t product = 0;
    RHINO_CHECK(sizes[i] <= hsize_t{INT64_MAX} &&
                    !__builtin_mul_overflow(bytes, std::max<hsize_t>(sizes[i], 1), &product) && product <= hsize_t{INT64_MAX},
                "{} has an impossible shape", this->where());
    bytes = product;
    dims_.push_back(static_cast<std::int64_t>(sizes[i]));
  }
}

std::int64_t Hdf5DataSet::elements() const {
  if (null_) return 0;
  std::int64_t product = 1;
  for (const std::int64_t d : dims_) product *= d;
  return product;
}

void Hdf5DataSet::check_stored() const {
  const Hdf5Handle list(H5Dget_create_plist(id()), detail::close_list);
  RHINO_H5_READ(list.get(), "{} is damaged", where());
  RHINO_CHECK(H5Pget_external_count(list.get()) == 0 && H5Pget_layout(list.get()) != H5D_VIRTUAL,
              "{} refers to other files, which are not read", where());
  const Hdf5Handle type(H5Dget_type(id()), detail::close_type);
  const double bytes = static_cast<double>(elements()) * static_cast<double>(H5Tget_size(type.get()));
  const double stored = static_cast<double>(H5Dget_storage_size(id()));
  // Deflate shrinks at most about 1030 times.
  RHINO_CHECK(bytes <= stored * 1100, "{} claims {} but {} are stored", where(),
              human_bytes(static_cast<std::int64_t>(bytes)), human_bytes(static_cast<std::int64_t>(stored)));
}

void Hdf5DataSet::transfer(bool writing, std::span<const std::int64_t> start, std::span<const std::int64_t> count,
                           void* memory, std::size_t bytes, Hdf5Type as) const {
  RHINO_CHECK(as != Hdf5Type::Text && as != Hdf5Type::Other, "{} holds {}, not numbers", where(), hdf5_type_name(type_));
  RHINO_CHECK((as == Hdf5Type::Bool) == (type_ == Hdf5Type::Bool), "{} holds {}, not {}", where(), hdf5_type_name(type_),
              hdf5_type_name(as));
  RHINO_ASSERT(start.size() == dims_.size() && count.size() == dims_.size());
  std::size_t elements = null_ ? 0 : 1;
  std::vector<hsize_t> from(dims_.size());
  std::vector<hsize_t> size(dims_.size());
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    RHINO_ASSERT(start[i] >= 0 && count[i] >= 0 && start[i] <= dims_[i] && count[i] <= dims_[i] - start[i]);
    from[i] = static_cast<hsize_t>(start[i]);
    size[i] = static_cast<hsize_t>(count[i]);
    elements *= static_cast<std::size_t>(count[i]);
  }
  RHINO_ASSERT(bytes == elements * hdf5_type_bytes(as));
  if (elements == 0) return;
  const Hdf5Handle type = detail::memory_type(as);
  Hdf5Handle file_space;
  Hdf5Handle memory_space;
  hid_t file_id = H5S_ALL;
  hid_t memory_id = H5S_ALL;
  if (!std::equal(count.begin(), count.end(), dims_.begin())) {
    file_space = Hdf5Handle(H5Dget_space(id()), detail::close_space);
    memory_space = Hdf5Handle(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), detail::close_space);
    RHINO_H5_READ(H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, from.data(), nullptr, size.data(), nullptr),
                  "{}: a block cannot be selected", where());
    file_id = file_space.get();
    memory_id = memory_space.get();
  }
  if (writing) {
    RHINO_H5_WRITE(H5Dwrite(id(), type.get(), memory_id, file_id, H5P_DEFAULT, memory), "cannot write {}", where());
  } else {
    RHINO_H5_READ(H5Dread(id(), type.get(), memory_id, file_id, H5P_DEFAULT, memory), "{} is damaged", where());
  }
}

void Hdf5DataSet::read(std::span<std::byte> out, std::optional<Hdf5Type> as) const {
  const std::vector<std::int64_t> start(dims_.size(), 0);
  transfer(false, start, dims_, out.data(), out.size(), as.value_or(type_));
}

void Hdf5DataSet::read_block(std::span<const std::int64_t> start, std::span<const std::int64_t> count,
                             std::span<std::byte> out, std::optional<Hdf5Type> as) const {
  transfer(false, start, count, out.data(), out.size(), as.value_or(type_));
}

void Hdf5DataSet::write(std::span<const std::byte> elements) {
  const std::vector<std::int64_t> start(dims_.size(), 0);
  transfer(true, start, dims_, const_cast<std::byte*>(elements.data()), elements.size(), type_);
}

void Hdf5DataSet::write_block(std::span<const std::int64_t> start, std::span<const std::int64_t> count,
                              std::span<const std::byte> elements) {
  transfer(true, start, count, const_cast<std::byte*>(elements.data()), elements.size(), type_);
}

std::vector<std::string> Hdf5DataSet::read_texts(std::int64_t largest_bytes) const {
  RHINO_CHECK(type_ == Hdf5Type::Text && dims_.size() == 1, "{} is not a list of strings", where());
  const auto count = static_cast<std::size_t>(elements());
  std::vector<std::string> texts(count);
  if (count == 0) return texts;
  const Hdf5Handle type(H5Dget_type(id()), detail::close_type);
  if (H5Tis_variable_str(type.get()) > 0) {
    RHINO_CHECK(elements() <= largest_bytes / 16, "{} claims {} strings", where(), count);
    check_stored();
    std::vector<char*> pointers(count, nullptr);
    RHINO_H5_READ(H5Dread(id(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()), "{} is damaged", where());
    for (std::size_t i = 0; i < count; ++i)
      if (pointers[i] != nullptr) texts[i] = pointers[i];
    const Hdf5Handle space(H5Dget_space(id()), detail::close_space);
    H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, pointers.data());
    return texts;
  }
  const std::size_t length = H5Tget_size(type.get());
  RHINO_CHECK(length > 0 && count <= static_cast<std::size_t>(largest_bytes) / length, "{} claims {} strings of {} bytes",
              where(), count, length);
  check_stored();
  std::string padded(count * length, '\0');
  RHINO_H5_READ(H5Dread(id(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, padded.data()), "{} is damaged", where());
  for (std::size_t i = 0; i < count; ++i) texts[i].assign(&padded[i * length], strnlen(&padded[i * length], length));
  return texts;
}

namespace {

template <class T>
constexpr Hdf5Type type_of() {
  if constexpr (std::is_same_v<T, double>) return Hdf5Type::F64;
  if constexpr (std::is_same_v<T, float>) return Hdf5Type::F32;
  if constexpr (std::is_same_v<T, std::int64_t>) return Hdf5Type::I64;
  if constexpr (std::is_same_v<T, std::int32_t>) return Hdf5Type::I32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return Hdf5Type::U64;
  if constexpr (std::is_same_v<T, std::uint32_t>) return Hdf5Type::U32;
  if constexpr (std::is_same_v<T, std::uint8_t>) return Hdf5Type::U8;
}

}  // namespace

template <class T>
Hdf5DataSet Hdf5Group::write_numbers(const std::string& name, const std::vector<T>& values, bool deflate) {
  Hdf5DataSet set = create_data_set(name, type_of<T>(), {static_cast<std::int64_t>(values.size())}, deflate);
  set.write(std::as_bytes(std::span(values)));
  return set;
}

template <class T>
std::vector<T> Hdf5Group::read_numbers(const std::string& name, std::int64_t largest_count) const {
  const Hdf5DataSet set = data_set(name);
  RHINO_CHECK(set.type() == type_of<T>() && set.dims().size() == 1, "{} is not a list of {}", set.where(),
              hdf5_type_name(type_of<T>()));
  RHINO_CHECK(set.elements() <= largest_count, "{} has {} entries, at most {} are allowed", set.where(), set.elements(),
              largest_count);
  set.check_stored();
  std::vector<T> values(static_cast<std::size_t>(set.elements()));
  set.read(std::as_writable_bytes(std::span(values)));
  return values;
}

#define RHINO_INSTANTIATE(T)                                                                                \
  template Hdf5DataSet Hdf5Group::write_numbers<T>(const std::string&, const std::vector<T>&, bool);         \
  template std::vector<T> Hdf5Group::read_numbers<T>(const std::string&, std::int64_t) const;
RHINO_INSTANTIATE(double)
RHINO_INSTANTIATE(float)
RHINO_INSTANTIATE(std::int64_t)
RHINO_INSTANTIATE(std::int32_t)
RHINO_INSTANTIATE(std::uint64_t)
RHINO_INSTANTIATE(std::uint32_t)
RHINO_INSTANTIATE(std::uint8_t)
#undef RHINO_INSTANTIATE

}  // namespace rhino::io
