// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rhino/base/file.hpp>

namespace rhino::io {

// A small owner of HDF5 objects over the C interface. Reading throws InputError, writing EnvironmentError, both with the
// path of file and object and HDF5's own reasons on one line; HDF5 prints nothing by itself. Everything is local (no MPI
// calls); one thread at a time.

/// Element types of data sets. `Bool` is h5py's enumeration FALSE, TRUE over one byte; `Text` any string type; `Other` what
/// Rhino does not read.
enum class Hdf5Type : std::uint8_t { I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, Bool, Text, Other };

/// Bytes of one element in memory; 0 for Text and Other.
std::size_t hdf5_type_bytes(Hdf5Type type);
std::string_view hdf5_type_name(Hdf5Type type);

namespace detail {
struct WriteFailure;
/// An HDF5 identifier that is closed with its owner.
class Hdf5Handle {
 public:
  using Close = int (*)(std::int64_t);
  Hdf5Handle() = default;
  Hdf5Handle(std::int64_t id, Close close) : id_(id), close_(close) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(other.id_), close_(other.close_) { other.id_ = -1; }
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept;
  ~Hdf5Handle() { reset(); }
  std::int64_t get() const { return id_; }
  bool valid() const { return id_ >= 0; }
  /// Closes now; false if HDF5 reports a failure.
  bool reset();

 private:
  std::int64_t id_ = -1;
  Close close_ = nullptr;
};
}  // namespace detail

/// What groups and data sets share: a place for messages, and attributes.
class Hdf5Node {
 public:
  /// "model.h5:/state/params/w", for messages.
  const std::string& where() const { return where_; }
  std::vector<std::string> attribute_names() const;
  bool has_attribute(const std::string& name) const;
  /// One string of fixed or variable length, at most 16 MiB.
  std::string text_attribute(const std::string& name) const;
  std::int64_t int_attribute(const std::string& name) const;
  std::uint64_t uint_attribute(const std::string& name) const;
  double float_attribute(const std::string& name) const;
  void set_attribute(const std::string& name, std::string_view text);
  void set_attribute(const std::string& name, const char* text) { set_attribute(name, std::string_view(text)); }
  void set_attribute(const std::string& name, std::int64_t value);
  void set_attribute(const std::string& name, std::uint64_t value);
  void set_attribute(const std::string& name, double value);

 protected:
  Hdf5Node(detail::Hdf5Handle handle, std::string where) : handle_(std::move(handle)), where_(std::move(where)) {}
  std::int64_t id() const { return handle_.get(); }

 private:
  void read_scalar(const std::string& name, std::int64_t memory_type, void* out, bool want_float) const;
  void write_scalar(const std::string& name, std::int64_t type, const void* value);

  detail::Hdf5Handle handle_;
  std::string where_;
};

/// A data set of numbers or strings.
class Hdf5DataSet : public Hdf5Node {
 public:
  Hdf5Type type() const { return type_; }
  /// Sizes, outermost first; empty for a scalar.
  const std::vector<std::int64_t>& dims() const { return dims_; }
  /// A data set without a data space (h5py's Empty).
  bool is_null() const { return null_; }
  /// Number of elements; the size in memory fits 63 bits (checked when it was opened).
  std::int64_t elements() const;
  /// Throws InputError if the file cannot hold as many elements as the sizes claim (nothing stored, or more than
  /// compression could explain): to be called before memory is allocated by the sizes.
  void check_stored() const;

  /// All elements in row-major order, converted by HDF5 to `as` (default: as stored).
  void read(std::span<std::byte> out, std::optional<Hdf5Type> as = std::nullopt) const;
  /// The block of `count` elements per dimension from `start`.
  void read_block(std::span<const std::int64_t> start, std::span<const std::int64_t> count, std::span<std::byte> out,
                  std::optional<Hdf5Type> as = std::nullopt) const;
  /// All elements of a one-dimensional Text data set; at most `largest_bytes` in all.
  std::vector<std::string> read_texts(std::int64_t largest_bytes = std::int64_t{1} << 31) const;
  void write(std::span<const std::byte> elements);
  /// The block of `count` elements per dimension from `start`.
  void write_block(std::span<const std::int64_t> start, std::span<const std::int64_t> count,
                   std::span<const std::byte> elements);

 private:
  friend class Hdf5Group;
  Hdf5DataSet(detail::Hdf5Handle handle, std::string where);
  void transfer(bool writing, std::span<const std::int64_t> start, std::span<const std::int64_t> count, void* memory,
                std::size_t bytes, Hdf5Type as) const;

  Hdf5Type type_ = Hdf5Type::Other;
  std::vector<std::int64_t> dims_;
  bool null_ = false;
};

/// A group of named groups and data sets. Names may be paths ("a/b/c"). Links to other files are refused.
class Hdf5Group : public Hdf5Node {
 public:
  enum class Kind : std::uint8_t { None, Group, DataSet, Other };
  Kind kind(const std::string& name) const;
  bool has(const std::string& name) const { return kind(name) != Kind::None; }
  /// Names of the direct members in ascending order.
  std::vector<std::string> names() const;
  /// Paths of all data sets below, in ascending order. Throws InputError beyond 64 levels or `largest_count` objects.
  std::vector<std::string> data_set_paths(std::int64_t largest_count = 10'000'000) const;

  Hdf5Group group(const std::string& name) const;
  /// `cache_bytes`: memory for decompressed chunks, for data sets that are read in small parts again and again (0: HDF5's
  /// default of 1 MiB).
  Hdf5DataSet data_set(const std::string& name, std::size_t cache_bytes = 0) const;

  /// Groups on the way are made as needed.
  Hdf5Group create_group(const std::string& name);
  /// Small data sets lie inside their object header, others in chunks of at most 1 MiB with a checksum (as everything
  /// else in the file), so that damage is noticed.
  Hdf5DataSet create_data_set(const std::string& name, Hdf5Type type, const std::vector<std::int64_t>& dims,
                              bool deflate = false);
  /// A data set that has a type and attributes but no elements.
  Hdf5DataSet create_null(const std::string& name, Hdf5Type type);
  /// One-dimensional, fixed length UTF-8.
  Hdf5DataSet write_texts(const std::string& name, const std::vector<std::string>& texts);
  /// One-dimensional numbers of a C++ integer or floating type.
  template <class T>
  Hdf5DataSet write_numbers(const std::string& name, const std::vector<T>& values, bool deflate = true);
  template <class T>
  std::vector<T> read_numbers(const std::string& name, std::int64_t largest_count = std::int64_t{1} << 31) const;

 private:
  friend class Hdf5File;
  Hdf5Group(detail::Hdf5Handle handle, std::string where, std::string file)
      : Hdf5Node(std::move(handle), std::move(where)), file_(std::move(file)) {}
  std::string place(const std::string& name) const;

  std::string file_;
};

/// An HDF5 file: opened for reading, or written so that it appears under its name only when complete.
class Hdf5File {
 public:
  /// Throws InputError if the file is missing, empty, truncated or no HDF5 file.
  static Hdf5File open(const std::filesystem::path& path);
  /// Writes to a temporary name in the same folder. Throws EnvironmentError.
  static Hdf5File create(const std::filesystem::path& path);
  Hdf5File(Hdf5File&&) noexcept;
  ~Hdf5File();

  Hdf5Group& root() { return *root_; }
  const Hdf5Group& root() const { return *root_; }
  /// Closes a created file, syncs it and gives it its name. All groups and data sets must be gone. Throws EnvironmentError;
  /// then, as without commit, nothing is left behind.
  void commit();

 private:
  Hdf5File();
  void check_written() const;

  std::unique_ptr<detail::WriteFailure> failure_;  ///< of a created file
  detail::Hdf5Handle driver_;
  detail::Hdf5Handle file_;
  std::optional<Hdf5Group> root_;
  std::unique_ptr<PendingFile> pending_;
  std::string path_;
};

/// Throws InputError unless the root has the attributes `format` = `format` and `format_version` <= `version`; `what` names
/// the kind of file in the message. Returns the version.
std::int64_t check_format(const Hdf5File& file, std::string_view format, std::int64_t version, std::string_view what);
/// Sets those attributes.
void set_format(Hdf5File& file, std::string_view format, std::int64_t version);

}  // namespace rhino::io
