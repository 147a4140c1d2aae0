// SPDX-License-Identifier: Apache-2.0
// Attributes and groups.
#include <algorithm>
#include <cstring>

#include <rhino/base/strings.hpp>
#include <rhino/io/hdf5.hpp>
#include <rhino/io/hdf5_internal.hpp>

namespace rhino::io {

using detail::hdf5_reasons;
using detail::Hdf5Handle;

namespace {

constexpr std::size_t largest_attribute = std::size_t{16} << 20;

herr_t collect_attribute(hid_t, const char* name, const H5A_info_t*, void* out) {
  static_cast<std::vector<std::string>*>(out)->emplace_back(name);
  return 0;
}

herr_t collect_link(hid_t, const char* name, const H5L_info_t*, void* out) {
  static_cast<std::vector<std::string>*>(out)->emplace_back(name);
  return 0;
}

/// Null-terminated fixed-length UTF-8 strings of `length` bytes.
Hdf5Handle text_type(std::size_t length) {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), detail::close_type);
  H5Tset_size(type.get(), std::max<std::size_t>(length, 1));
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

}  // namespace

std::vector<std::string> Hdf5Node::attribute_names() const {
  std::vector<std::string> names;
  hsize_t position = 0;
  RHINO_H5_READ(H5Aiterate2(id(), H5_INDEX_NAME, H5_ITER_INC, &position, collect_attribute, &names),
                "{} has damaged attributes", where_);
  return names;
}

bool Hdf5Node::has_attribute(const std::string& name) const {
  const htri_t found = H5Aexists(id(), name.c_str());
  RHINO_H5_READ(found, "{} has damaged attributes", where_);
  return found > 0;
}

std::string Hdf5Node::text_attribute(const std::string& name) const {
  RHINO_CHECK(has_attribute(name), "{} lacks the attribute '{}'", where_, name);
  const Hdf5Handle attribute(H5Aopen(id(), name.c_str(), H5P_DEFAULT), detail::close_attribute);
  RHINO_H5_READ(attribute.get(), "{}: attribute '{}' is damaged", where_, name);
  const Hdf5Handle space(H5Aget_space(attribute.get()), detail::close_space);
  const Hdf5Handle type(H5Aget_type(attribute.get()), detail::close_type);
  RHINO_CHECK(space.valid() && type.valid() && H5Tget_class(type.get()) == H5T_STRING &&
                  H5Sget_simple_extent_type(space.get()) != H5S_NULL && H5Sget_simple_extent_npoints(space.get()) == 1,
              "{}: attribute '{}' is not one string", where_, name);
  if (H5Tis_variable_str(type.get()) > 0) {
    const Hdf5Handle memory(H5Tcopy(type.get()), detail::close_type);
    char* text = nullptr;
    RHINO_H5_READ(H5Aread(attribute.get(), memory.get(), static_cast<void*>(&text)), "{}: attribute '{}' is damaged", where_,
                  name);
    std::string copy = text != nullptr ? std::string(text, strnlen(text, largest_attribute)) : std::string();
    if (text != nullptr) H5free_memory(text);
    return copy;
  }
  const std::size_t length = H5Tget_size(type.get());
  RHINO_CHECK(length <= largest_attribute && length <= H5Aget_storage_size(attribute.get()),
              "{}: attribute '{}' claims {} bytes", where_, name, length);
  std::string text(length, '\0');
  RHINO_H5_READ(H5Aread(attribute.get(), type.get(), text.data()), "{}: attribute '{}' is damaged", where_, name);
  text.resize(strnlen(text.data(), text.size()));
  return text;
}

void Hdf5Node::read_scalar(const std::string& name, std::int64_t memory_type, void* out, bool want_float) const {
  RHINO_CHECK(has_attribute(name), "{} lacks the attribute '{}'", where_, name);
  const Hdf5Handle attribute(H5Aopen(id(), name.c_str(), H5P_DEFAULT), detail::close_attribute);
  RHINO_H5_READ(attribute.get(), "{}: attribute '{}' is damaged", where_, name);
  const Hdf5Handle space(H5Aget_space(attribute.get()), detail::close_space);
  const Hdf5Handle type(H5Aget_type(attribute.get()), detail::close_type);
  const H5T_class_t kind = type.valid() ? H5Tget_class(type.get()) : H5T_NO_CLASS;
  RHINO_CHECK(space.valid() && (kind == H5T_INTEGER || (want_float && kind == H5T_FLOAT)) &&
                  H5Sget_simple_extent_npoints(space.get()) == 1,
              "{}: attribute '{}' is not one {}", where_, name, want_float ? "number" : "integer");
  RHINO_H5_READ(H5Aread(attribute.get(), memory_type, out), "{}: attribute '{}' is damaged", where_, name);
}

std::int64_t Hdf5Node::int_attribute(const std::string& name) const {
  std::int64_t value = 0;
  read_scalar(name, H5T_NATIVE_INT64, &value, false);
  return value;
}

std::uint64_t Hdf5Node::uint_attribute(const std::string& name) const {
  std::uint64_t value = 0;
  read_scalar(name, H5T_NATIVE_UINT64, &value, false);
  return value;
}

double Hdf5Node::float_attribute(const std::string& name) const {
  double value = 0;
  read_scalar(name, H5T_NATIVE_DOUBLE, &value, true);
  return value;
}

void Hdf5Node::write_scalar(const std::string& name, std::int64_t type, const void* value) {
  const Hdf5Handle space(H5Screate(H5S_SCALAR), detail::close_space);
  const Hdf5Handle attribute(H5Acreate2(id(), name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT),
                             detail::close_attribute);
  RHINO_H5_WRITE(attribute.get(), "cannot write attribute '{}' of {}", name, where_);
  RHINO_H5_WRITE(H5Awrite(attribute.get(), type, value), "cannot write attribute '{}' of {}", name, where_);
}

void Hdf5Node::set_attribute(const std::string& name, std::string_view text) {
  const Hdf5Handle type = text_type(text.size());
  const std::string padded = text.empty() ? std::string(1, '\0') : std::string(text);
  write_scalar(name, type.get(), padded.data());
}
void Hdf5Node::set_attribute(const std::string& name, std::int64_t value) { write_scalar(name, H5T_STD_I64LE, &value); }
void Hdf5Node::set_attribute(const std::string& name, std::uint64_t value) { write_scalar(name, H5T_STD_U64LE, &value); }
void Hdf5Node::set_attribute(const std::string& name, double value) { write_scalar(name, H5T_IEEE_F64LE, &value); }

std::string Hdf5Group::place(const std::string& name) const {
  return where().back() == '/' ? where() + name : where() + "/" + name;
}

Hdf5Group::Kind Hdf5Group::kind(const std::string& name) const {
  std::string prefix;
  for (const std::string_view part : split(name, '/')) {
    RHINO_CHECK(!part.empty() && part != "." && part != ".." && part.find('\0') == std::string_view::npos,
                "'{}' cannot name an object of an HDF5 file", name);
    prefix += prefix.empty() ? "" : "/";
    prefix += part;
    const htri_t found = H5Lexists(id(), prefix.c_str(), H5P_DEFAULT);
    RHINO_H5_READ(found, "{} is damaged", where());
    if (found == 0) return Kind::None;
    H5L_info_t link;
    RHINO_H5_READ(H5Lget_info(id(), prefix.c_str(), &link, H5P_DEFAULT), "{} is damaged", place(prefix));
    RHINO_CHECK(link.type == H5L_TYPE_HARD || link.type == H5L_TYPE_SOFT, "{} is a link to another file, which is not read",
                place(prefix));
    // A part that is no group ends the path; a soft link may dangle or lead in a circle.
    const htri_t there = H5Oexists_by_name(id(), prefix.c_str(), H5P_DEFAULT);
    if (there <= 0) {
      H5Eclear2(H5E_DEFAULT);
      RHINO_CHECK(link.type == H5L_TYPE_HARD, "{} is a link that leads nowhere", place(prefix));
      RHINO_FAIL(InputError, "{} is damaged", place(prefix));
    }
    H5O_info_t info;
    RHINO_H5_READ(H5Oget_info_by_name(id(), prefix.c_str(), &info, H5P_DEFAULT), "{} is damaged", place(prefix));
    if (prefix.size() == name.size()) {
      return info.type == H5O_TYPE_GROUP ? Kind::Group : info.type == H5O_TYPE_DATASET ? Kind::DataSet : Kind::Other;
    }
    if (info.type != H5O_TYPE_GROUP) return Kind::None;
  }
  return Kind::None;
}

std::vector<std::string> Hdf5Group::names() const {
  std::vector<std::string> names;
  hsize_t position = 0;
  RHINO_H5_READ(H5Literate(id(), H5_INDEX_NAME, H5_ITER_INC, &position, collect_link, &names), "{} is damaged", where());
  return names;
}

std::vector<std::string> Hdf5Group::data_set_paths(std::int64_t largest_count) const {
  // A stack instead of recursion; links in a circle end by the depth limit.
  std::vector<std::string> paths;
  std::vector<std::string> open = {""};
  std::int64_t seen = 0;
  while (!open.empty()) {
    const std::string prefix = open.back();
    open.pop_back();
    const std::vector<std::string> members = prefix.empty() ? names() : group(prefix).names();
    for (const std::string& member : members) {
      RHINO_CHECK(++seen <= largest_count, "{} has more than {} members", where(), largest_count);
      const std::string path = prefix.empty() ? member : prefix + "/" + member;
      const Kind found = kind(path);
      if (found == Kind::DataSet) paths.push_back(path);
      if (found == Kind::Group) {
        RHINO_CHECK(std::count(path.begin(), path.end(), '/') < 64, "{}: groups are nested too deeply", place(path));
        open.push_back(path);
      }
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Hdf5Group Hdf5Group::group(const std::string& name) const {
  const Kind found = kind(name);
  RHINO_CHECK(found != Kind::None, "{} has no '{}'{}", where(), name, did_you_mean(name, names()));
  RHINO_CHECK(found == Kind::Group, "{} is not a group", place(name));
  Hdf5Handle handle(H5Gopen2(id(), name.c_str(), H5P_DEFAULT), detail::close_group);
  RHINO_H5_READ(handle.get(), "{} is damaged", place(name));
  return Hdf5Group(std::move(handle), place(name), file_);
}

Hdf5DataSet Hdf5Group::data_set(const std::string& name, std::size_t cache_bytes) const {
  const Kind found = kind(name);
  RHINO_CHECK(found != Kind::None, "{} has no '{}'{}", where(), name, did_you_mean(name, names()));
  RHINO_CHECK(found == Kind::DataSet, "{} is not a data set", place(name));
  const Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), detail::close_list);
  constexpr std::size_t slots = 12007;  // a prime well above the number of cached chunks, as HDF5 advises
  if (cache_bytes > 0)
    RHINO_H5_READ(H5Pset_chunk_cache(access.get(), slots, cache_bytes, 1.0), "{} cannot be cached", place(name));
  Hdf5Handle handle(H5Dopen2(id(), name.c_str(), access.get()), detail::close_data_set);
  RHINO_H5_READ(handle.get(), "{} is damaged", place(name));
  return Hdf5DataSet(std::move(handle), place(name));
}

namespace {

/// Makes the groups on the way to `name`, all without time stamps: equal content gives an equal file.
Hdf5Handle make_groups(std::int64_t parent, const std::string& place, const std::string& name, bool with_last) {
  const Hdf5Handle list(H5Pcreate(H5P_GROUP_CREATE), detail::close_list);
  H5Pset_obj_track_times(list.get(), false);
  Hdf5Handle made;
  for (std::size_t end = name.find('/'); end != std::string::npos || with_last; end = name.find('/', end + 1)) {
    const bool last = end == std::string::npos;
    const std::string prefix = name.substr(0, end);
    if (last || H5Lexists(parent, prefix.c_str(), H5P_DEFAULT) <= 0) {
      made = Hdf5Handle(H5Gcreate2(parent, prefix.c_str(), H5P_DEFAULT, list.get(), H5P_DEFAULT), detail::close_group);
      RHINO_H5_WRITE(made.get(), "cannot write {}", place);
    }
    if (last) break;
  }
  return made;
}

}  // namespace

Hdf5Group Hdf5Group::create_group(const std::string& name) {
  return Hdf5Group(make_groups(id(), place(name), name, true), place(name), file_);
}

namespace {

/// Chunks of at most 1 MiB: the largest side is halved until they are, which serves any split of a tensor.
std::vector<hsize_t> chunk_dims(const std::vector<std::int64_t>& dims, std::size_t element_bytes) {
  std::vector<hsize_t> chunk(dims.begin(), dims.end());
  const auto bytes = [&] {
    double product = static_cast<double>(element_bytes);
    for (const hsize_t d : chunk) product *= static_cast<double>(d);
    return product;
  };
  while (bytes() > 1048576.0) {
    auto largest = std::max_element(chunk.begin(), chunk.end());
    *largest = (*largest + 1) / 2;
  }
  return chunk;
}

Hdf5Handle creation_list(const std::vector<std::int64_t>& dims, std::size_t element_bytes, bool deflate) {
  Hdf5Handle list(H5Pcreate(H5P_DATASET_CREATE), detail::close_list);
  double bytes = static_cast<double>(element_bytes);
  for (const std::int64_t d : dims) bytes *= static_cast<double>(d);
  herr_t good = H5Pset_obj_track_times(list.get(), false);  // equal content gives an equal file
  if (bytes <= 4096) {
    if (good >= 0) good = H5Pset_layout(list.get(), H5D_COMPACT);
  } else {
    const std::vector<hsize_t> chunk = chunk_dims(dims, element_bytes);
    if (good >= 0) good = H5Pset_chunk(list.get(), static_cast<int>(chunk.size()), chunk.data());
    if (good >= 0 && deflate && element_bytes > 1 && element_bytes <= 8) good = H5Pset_shuffle(list.get());
    if (good >= 0 && deflate) good = H5Pset_deflate(list.get(), 4);
    if (good >= 0) good = H5Pset_fletcher32(list.get());
  }
  RHINO_H5_WRITE(good, "cannot describe a data set");
  return list;
}

Hdf5Handle make_data_set(std::int64_t parent, const std::string& place, const std::string& name, const Hdf5Handle& type,
                         const std::vector<std::int64_t>& dims, bool deflate) {
  const std::vector<hsize_t> sizes(dims.begin(), dims.end());
  const Hdf5Handle space(sizes.empty() ? H5Screate(H5S_SCALAR)
                                       : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
                         detail::close_space);
  RHINO_H5_WRITE(space.get(), "cannot write {}", place);
  const Hdf5Handle list = creation_list(dims, H5Tget_size(type.get()), deflate);
  make_groups(parent, place, name, false);
  Hdf5Handle handle(H5Dcreate2(parent, name.c_str(), type.get(), space.get(), H5P_DEFAULT, list.get(), H5P_DEFAULT),
                    detail::close_data_set);
  RHINO_H5_WRITE(handle.get(), "cannot write {}", place);
  return handle;
}

}  // namespace

Hdf5DataSet Hdf5Group::create_data_set(const std::string& name, Hdf5Type type, const std::vector<std::int64_t>& dims,
                                       bool deflate) {
  return Hdf5DataSet(make_data_set(id(), place(name), name, detail::memory_type(type), dims, deflate), place(name));
}

Hdf5DataSet Hdf5Group::create_null(const std::string& name, Hdf5Type type) {
  const Hdf5Handle memory = detail::memory_type(type);
  const Hdf5Handle space(H5Screate(H5S_NULL), detail::close_space);
  const Hdf5Handle list(H5Pcreate(H5P_DATASET_CREATE), detail::close_list);
  H5Pset_obj_track_times(list.get(), false);
  make_groups(id(), place(name), name, false);
  Hdf5Handle handle(H5Dcreate2(id(), name.c_str(), memory.get(), space.get(), H5P_DEFAULT, list.get(), H5P_DEFAULT),
                    detail::close_data_set);
  RHINO_H5_WRITE(handle.get(), "cannot write {}", place(name));
  return Hdf5DataSet(std::move(handle), place(name));
}

Hdf5DataSet Hdf5Group::write_texts(const std::string& name, const std::vector<std::string>& texts) {
  std::size_t length = 1;
  for (const std::string& text : texts) length = std::max(length, text.size());
  const Hdf5Handle type = text_type(length);
  std::string padded(length * texts.size(), '\0');
  for (std::size_t i = 0; i < texts.size(); ++i) padded.replace(i * length, texts[i].size(), texts[i]);
  Hdf5Handle handle =
      make_data_set(id(), place(name), name, type, {static_cast<std::int64_t>(texts.size())}, true);
  if (!texts.empty())
    RHINO_H5_WRITE(H5Dwrite(handle.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, padded.data()), "cannot write {}",
                   place(name));
  return Hdf5DataSet(std::move(handle), place(name));
}

}  // namespace rhino::io
