// SPDX-License-Identifier: Apache-2.0
#include <rhino/io/hdf5.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>

#include <rhino/io/hdf5_internal.hpp>
#include <rhino/io/hdf5_write_driver.hpp>

namespace rhino::io {

using detail::hdf5_reasons;
using detail::Hdf5Handle;

namespace {

constexpr std::array<std::string_view, 15> type_names = {"i8",  "i16",  "i32", "i64", "u8",   "u16",  "u32",  "u64",
                                                         "f16", "bf16", "f32", "f64", "bool", "text", "an unsupported type"};
constexpr std::array<std::size_t, 15> type_bytes = {1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 1, 0, 0};

herr_t collect_reason(unsigned, const H5E_error2_t* error, void* out) {
  auto& reasons = *static_cast<std::vector<std::string>*>(out);
  if (reasons.size() < 3 && error->desc != nullptr && *error->desc != '\0') {
    std::string text = error->desc;
    std::replace(text.begin(), text.end(), '\n', ' ');
    if (std::find(reasons.begin(), reasons.end(), text) == reasons.end()) reasons.push_back(std::move(text));
  }
  return 0;
}

Hdf5Handle access_list() {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  Hdf5Handle list(H5Pcreate(H5P_FILE_ACCESS), detail::close_list);
  // The newest format has a checksum on all metadata, so that damage is an error and not a crash of the library.
  RHINO_H5_WRITE(H5Pset_libver_bounds(list.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), "HDF5 does not start");
  RHINO_H5_WRITE(H5Pset_fclose_degree(list.get(), H5F_CLOSE_STRONG), "HDF5 does not start");
  return list;
}

}  // namespace

std::size_t hdf5_type_bytes(Hdf5Type type) { return type_bytes[static_cast<std::size_t>(type)]; }
std::string_view hdf5_type_name(Hdf5Type type) { return type_names[static_cast<std::size_t>(type)]; }

namespace detail {

bool Hdf5Handle::reset() {
  bool good = true;
  if (id_ >= 0 && close_ != nullptr) good = close_(id_) >= 0;
  id_ = -1;
  return good;
}

Hdf5Handle& Hdf5Handle::operator=(Hdf5Handle&& other) noexcept {
  if (this != &other) {
    reset();
    id_ = other.id_;
    close_ = other.close_;
    other.id_ = -1;
  }
  return *this;
}

std::string hdf5_reasons() {
  std::vector<std::string> reasons;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect_reason, &reasons);
  H5Eclear2(H5E_DEFAULT);
  if (reasons.empty()) return "HDF5 gives no reason";
  std::string text = "HDF5: " + reasons[0];
  for (std::size_t i = 1; i < reasons.size(); ++i) text += "; " + reasons[i];
  return text;
}

Hdf5Handle memory_type(Hdf5Type type) {
  const auto copy = [](hid_t id) { return Hdf5Handle(H5Tcopy(id), close_type); };
  switch (type) {
    case Hdf5Type::I8: return copy(H5T_STD_I8LE);
    case Hdf5Type::I16: return copy(H5T_STD_I16LE);
    case Hdf5Type::I32: return copy(H5T_STD_I32LE);
    case Hdf5Type::I64: return copy(H5T_STD_I64LE);
    case Hdf5Type::U8: return copy(H5T_STD_U8LE);
    case Hdf5Type::U16: return copy(H5T_STD_U16LE);
    case Hdf5Type::U32: return copy(H5T_STD_U32LE);
    case Hdf5Type::U64: return copy(H5T_STD_U64LE);
    case Hdf5Type::F32: return copy(H5T_IEEE_F32LE);
    case Hdf5Type::F64: return copy(H5T_IEEE_F64LE);
    case Hdf5Type::F16:
    case Hdf5Type::BF16: {
      const bool half = type == Hdf5Type::F16;
      Hdf5Handle id = copy(H5T_IEEE_F32LE);
      const std::size_t mantissa = half ? 10 : 7;
      H5Tset_fields(id.get(), 15, mantissa, 15 - mantissa, 0, mantissa);
      H5Tset_size(id.get(), 2);
      H5Tset_ebias(id.get(), half ? 15 : 127);
      return id;
    }
    case Hdf5Type::Bool: {
      Hdf5Handle id(H5Tenum_create(H5T_STD_I8LE), close_type);
      signed char value = 0;
      H5Tenum_insert(id.get(), "FALSE", &value);
      value = 1;
      H5Tenum_insert(id.get(), "TRUE", &value);
      return id;
    }
    case Hdf5Type::Text:
    case Hdf5Type::Other: break;
  }
  RHINO_FAIL(InternalError, "no memory type of {}", hdf5_type_name(type));
}

Hdf5Type classify_type(hid_t type) {
  const std::size_t size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_INTEGER: {
      const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
      if (H5Tget_precision(type) != size * 8) return Hdf5Type::Other;
      switch (size) {
        case 1: return is_signed ? Hdf5Type::I8 : Hdf5Type::U8;
        case 2: return is_signed ? Hdf5Type::I16 : Hdf5Type::U16;
        case 4: return is_signed ? Hdf5Type::I32 : Hdf5Type::U32;
        case 8: return is_signed ? Hdf5Type::I64 : Hdf5Type::U64;
        default: return Hdf5Type::Other;
      }
    }
    case H5T_FLOAT: {
      std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
      if (H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) < 0) return Hdf5Type::Other;
      const std::size_t bias = H5Tget_ebias(type);
      if (size == 2 && exponent_bits == 5 && mantissa_bits == 10 && bias == 15) return Hdf5Type::F16;
      if (size == 2 && exponent_bits == 8 && mantissa_bits == 7 && bias == 127) return Hdf5Type::BF16;
      if (size == 4 && exponent_bits == 8 && mantissa_bits == 23 && bias == 127) return Hdf5Type::F32;
      if (size == 8 && exponent_bits == 11 && mantissa_bits == 52 && bias == 1023) return Hdf5Type::F64;
      return Hdf5Type::Other;
    }
    case H5T_ENUM: {
      if (size != 1 || H5Tget_nmembers(type) != 2) return Hdf5Type::Other;
      bool good = true;
      for (unsigned i = 0; i < 2; ++i) {
        char* name = H5Tget_member_name(type, i);
        unsigned char value = 0xff;
        good = good && name != nullptr && H5Tget_member_value(type, i, &value) >= 0 &&
               std::string_view(name) == (value == 1 ? "TRUE" : "FALSE") && value <= 1;
        if (name != nullptr) H5free_memory(name);
      }
      return good ? Hdf5Type::Bool : Hdf5Type::Other;
    }
    case H5T_STRING: return Hdf5Type::Text;
    default: return Hdf5Type::Other;
  }
}

}  // namespace detail

Hdf5File::Hdf5File() = default;
Hdf5File::Hdf5File(Hdf5File&&) noexcept = default;

void Hdf5File::check_written() const {
  RHINO_CHECK_AS(EnvironmentError, failure_->code == 0, "cannot write '{}': {}", path_, std::strerror(failure_->code));
}

Hdf5File::~Hdf5File() {
  root_.reset();
  file_.reset();
  H5Eclear2(H5E_DEFAULT);
}

Hdf5File Hdf5File::open(const std::filesystem::path& path) {
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  RHINO_CHECK(std::filesystem::exists(status), "no file '{}'", path.string());
  RHINO_CHECK(std::filesystem::is_regular_file(status), "'{}' is not a file", path.string());
  Hdf5File file;
  file.path_ = path.string();
  const Hdf5Handle access = access_list();
  file.file_ = Hdf5Handle(H5Fopen(file.path_.c_str(), H5F_ACC_RDONLY, access.get()), detail::close_file);
  RHINO_H5_READ(file.file_.get(), "'{}' cannot be read as an HDF5 file (damaged, cut off or of another kind)", file.path_);
  Hdf5Handle root(H5Gopen2(file.file_.get(), "/", H5P_DEFAULT), detail::close_group);
  RHINO_H5_READ(root.get(), "'{}' is damaged", file.path_);
  file.root_.emplace(Hdf5Group(std::move(root), file.path_ + ":/", file.path_));
  return file;
}

Hdf5File Hdf5File::create(const std::filesystem::path& path) {
  Hdf5File file;
  file.path_ = path.string();
  file.pending_ = std::make_unique<PendingFile>(path);
  file.failure_ = std::make_unique<detail::WriteFailure>();
  const Hdf5Handle access = access_list();
  file.driver_ = detail::use_write_driver(access.get(), file.failure_.get());
  const Hdf5Handle creation(H5Pcreate(H5P_FILE_CREATE), detail::close_list);
  H5Pset_obj_track_times(creation.get(), false);  // equal content gives an equal file
  file.file_ = Hdf5Handle(
      H5Fcreate(file.pending_->temporary_path().string().c_str(), H5F_ACC_TRUNC, creation.get(), access.get()),
      detail::close_file);
  RHINO_H5_WRITE(file.file_.get(), "cannot write '{}'", file.path_);
  Hdf5Handle root(H5Gopen2(file.file_.get(), "/", H5P_DEFAULT), detail::close_group);
  RHINO_H5_WRITE(root.get(), "cannot write '{}'", file.path_);
  file.root_.emplace(Hdf5Group(std::move(root), file.path_ + ":/", file.path_));
  return file;
}

void Hdf5File::commit() {
  RHINO_ASSERT(pending_ != nullptr, "commit of a file that was opened for reading");
  RHINO_H5_WRITE(H5Fflush(file_.get(), H5F_SCOPE_LOCAL), "cannot write '{}'", path_);
  check_written();
  root_.reset();
  RHINO_CHECK_AS(EnvironmentError, file_.reset(), "cannot write '{}': {}", path_, hdf5_reasons());
  check_written();
  pending_->commit();
  pending_.reset();
}

std::int64_t check_format(const Hdf5File& file, std::string_view format, std::int64_t version, std::string_view what) {
  const Hdf5Group& root = file.root();
  RHINO_CHECK(root.has_attribute("format") && root.has_attribute("format_version"),
              "{} is an HDF5 file, but not {} (it has no 'format' attribute)", root.where(), what);
  const std::string found = root.text_attribute("format");
  RHINO_CHECK(found == format, "{} is not {}: its format is '{}', not '{}'", root.where(), what, found, format);
  const std::int64_t found_version = root.int_attribute("format_version");
  RHINO_CHECK(found_version >= 1 && found_version <= version,
              "{} has format version {}, but this program reads versions 1 to {}: use the program that wrote it or write it "
              "anew",
              root.where(), found_version, version);
  return found_version;
}

void set_format(Hdf5File& file, std::string_view format, std::int64_t version) {
  file.root().set_attribute("format", format);
  file.root().set_attribute("format_version", version);
}

}  // namespace rhino::io
