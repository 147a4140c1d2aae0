// SPDX-License-Identifier: Apache-2.0
// The safetensors format: eight bytes of header length, a JSON header with type, shape and offsets of each tensor, then
// the bytes of all tensors, row-major and little-endian.
#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

#include <rhino/base/error.hpp>
#include <rhino/base/strings.hpp>
#include <rhino/io/elements.hpp>
#include <rhino/io/state_import.hpp>

namespace rhino::io {

namespace {

using ir::DType;
using nlohmann::json;

constexpr std::uint64_t largest_header = 100'000'000;  // the format's own limit

std::optional<DType> dtype_of(const std::string& name) {
  static constexpr std::pair<std::string_view, DType> known[] = {
      {"BOOL", DType::I1}, {"I8", DType::I8},   {"I16", DType::I16},   {"I32", DType::I32}, {"I64", DType::I64},
      {"U8", DType::U8},   {"U16", DType::U16}, {"U32", DType::U32},   {"U64", DType::U64}, {"F16", DType::F16},
      {"F32", DType::F32}, {"F64", DType::F64}, {"BF16", DType::BF16}};
  for (const auto& [text, dtype] : known)
    if (text == name) return dtype;
  return std::nullopt;
}

struct Entry {
  std::string dtype;
  ir::Dims dims;
  std::uint64_t begin = 0, end = 0;
};

class SafeTensors final : public TensorArchive {
 public:
  explicit SafeTensors(const std::string& path) : path_(path), stream_(path, std::ios::binary) {
    RHINO_CHECK(stream_.good(), "'{}' cannot be read", path);
    stream_.seekg(0, std::ios::end);
    const auto size = static_cast<std::uint64_t>(stream_.tellg());
    unsigned char lead[8];
    stream_.seekg(0);
    RHINO_CHECK(size >= 8 && stream_.read(reinterpret_cast<char*>(lead), 8), "'{}' is cut off", path);
    std::uint64_t header_size = 0;
    for (int i = 7; i >= 0; --i) header_size = header_size << 8 | lead[i];
    RHINO_CHECK(header_size <= largest_header && header_size <= size - 8, "'{}' is no safetensors file or cut off", path);
    std::string header(header_size, '\0');
    RHINO_CHECK(static_cast<bool>(stream_.read(header.data(), static_cast<std::streamsize>(header_size))), "'{}' is cut off",
                path);
    data_begin_ = 8 + header_size;
    read_header(header, size - data_begin_);
  }

  const std::vector<std::string>& names() const override { return names_; }

  ir::Literal read(const std::string& name, const ir::TensorType& type) override {
    const std::string where = path_ + ": tensor '" + name + "'";
    const auto found = entries_.find(name);
    RHINO_CHECK(found != entries_.end(), "'{}' has no tensor '{}'{}", path_, name, did_you_mean(name, names_));
    const Entry& entry = found->second;
    const auto stored = dtype_of(entry.dtype);
    RHINO_CHECK(stored.has_value(), "{}: element type '{}' is not read", where, entry.dtype);
    const bool as_float = type.dtype == DType::BF16 && *stored == DType::F32;
    RHINO_CHECK(*stored == type.dtype || as_float, "{}: is {}, but the program needs {}", where, ir::dtype_name(*stored),
                ir::dtype_name(type.dtype));
    RHINO_CHECK(entry.dims == type.dims, "{}: has shape {}, but the program needs {}", where, ir::to_string(entry.dims),
                ir::to_string(type.dims));
    const std::size_t bytes = static_cast<std::size_t>(type.elements()) * ir::dtype_bytes(*stored);
    RHINO_CHECK(entry.end - entry.begin == bytes, "{}: has {} bytes instead of {}", where, entry.end - entry.begin, bytes);
    std::vector<std::byte> data(bytes);
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(data_begin_ + entry.begin));
    RHINO_CHECK(bytes == 0 || static_cast<bool>(stream_.read(reinterpret_cast<char*>(data.data()),
                                                             static_cast<std::streamsize>(bytes))),
                "{}: cannot be read", where);
    if (as_float) {
      std::vector<std::byte> converted(static_cast<std::size_t>(type.bytes()));
      convert_elements(DType::F32, data, DType::BF16, converted);
      data = std::move(converted);
    }
    if (type.dtype == DType::I1)
      RHINO_CHECK(std::all_of(data.begin(), data.end(), [](std::byte b) { return b <= std::byte{1}; }),
                  "{}: truth values other than 0 and 1", where);
    return ir::Literal(type, std::move(data));
  }

 private:
  void read_header(const std::string& text, std::uint64_t data_size) {
    json header;
    try {
      header = json::parse(text);
    } catch (const json::exception&) {
      RHINO_FAIL(InputError, "'{}' is no safetensors file: its header is not JSON", path_);
    }
    RHINO_CHECK(header.is_object(), "'{}' is no safetensors file: its header is not an object", path_);
    std::uint64_t total = 0;
    for (const auto& [name, value] : header.items()) {
      if (name == "__metadata__") continue;
      const std::string where = path_ + ": tensor '" + name + "'";
      RHINO_CHECK(value.is_object() && value.contains("dtype") && value["dtype"].is_string() && value.contains("shape") &&
                      value["shape"].is_array() && value.contains("data_offsets") && value["data_offsets"].is_array() &&
                      value["data_offsets"].size() == 2,
                  "{}: damaged header entry", where);
      Entry entry;
      entry.dtype = value["dtype"].get<std::string>();
      for (const json& d : value["shape"]) {
        RHINO_CHECK(d.is_number_unsigned() && d.get<std::uint64_t>() <= INT64_MAX, "{}: damaged shape", where);
        entry.dims.push_back(d.get<std::int64_t>());
      }
      const json& offsets = value["data_offsets"];
      RHINO_CHECK(offsets[0].is_number_unsigned() && offsets[1].is_number_unsigned(), "{}: damaged offsets", where);
      entry.begin = offsets[0].get<std::uint64_t>();
      entry.end = offsets[1].get<std::uint64_t>();
      RHINO_CHECK(entry.begin <= entry.end && entry.end <= data_size, "{}: its bytes {} to {} are not in the file (cut off?)",
                  where, entry.begin, entry.end);
      total += entry.end - entry.begin;
      names_.push_back(name);
      entries_.emplace(name, std::move(entry));
    }
    RHINO_CHECK(total == data_size, "'{}' has {} bytes of data, but its tensors have {} (cut off or damaged)", path_, data_size,
                total);
    std::sort(names_.begin(), names_.end());
  }

  std::string path_;
  std::ifstream stream_;
  std::uint64_t data_begin_ = 0;
  std::map<std::string, Entry> entries_;
  std::vector<std::string> names_;
};

}  // namespace

std::unique_ptr<TensorArchive> open_safetensors(const std::string& path) { return std::make_unique<SafeTensors>(path); }

}  // namespace rhino::io
