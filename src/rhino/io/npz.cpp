// SPDX-License-Identifier: Apache-2.0
// NumPy's .npz: a zip archive of .npy files. Format: the numpy.lib.format documentation (versions 1.0 to 3.0).
#include <algorithm>
#include <charconv>
#include <cstring>

#include <zip.h>

#include <rhino/base/error.hpp>
#include <rhino/base/strings.hpp>
#include <rhino/io/elements.hpp>
#include <rhino/io/state_import.hpp>

namespace rhino::io {

namespace {

using ir::DType;

constexpr std::size_t largest_array_header = 65536;

struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  ir::Dims dims;
};

/// Reads the Python dictionary literal of an .npy header: the three keys, in any order.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  NpyHeader parse() {
    NpyHeader header;
    bool have_descr = false, have_order = false, have_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        RHINO_CHECK(peek() == '\'' || peek() == '"', "{}: structured arrays are not read", where_);
        header.descr = quoted();
        have_descr = true;
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
        have_order = true;
      } else if (key == "shape") {
        header.dims = shape();
        have_shape = true;
      } else {
        damaged();
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!have_descr || !have_order || !have_shape) damaged();
    return header;
  }

 private:
  [[noreturn]] void damaged() const { RHINO_FAIL(InputError, "{}: damaged header of the array", where_); }
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c || c == '\0') return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) damaged();
  }
  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') damaged();
    const std::size_t close = text_.find(quote, at_ + 1);
    if (close == std::string_view::npos) damaged();
    std::string word(text_.substr(at_ + 1, close - at_ - 1));
    at_ = close + 1;
    return word;
  }
  bool boolean() {
    peek();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    damaged();
  }
  ir::Dims shape() {
    ir::Dims dims;
    expect('(');
    while (!accept(')')) {
      peek();
      std::int64_t size = -1;
      const auto [end, failure] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (failure != std::errc() || size < 0 || dims.size() > 64) damaged();
      at_ = static_cast<std::size_t>(end - text_.data());
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2
      dims.push_back(size);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return dims;
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
};

struct NpyType {
  DType dtype;
  bool big_endian;
};

std::optional<NpyType> npy_type(const std::string& descr) {
  if (descr.size() < 3) return std::nullopt;
  const bool big = descr[0] == '>';
  if (!big && descr[0] != '<' && descr[0] != '|' && descr[0] != '=') return std::nullopt;
  static constexpr std::pair<std::string_view, DType> known[] = {
      {"b1", DType::I1},  {"i1", DType::I8},  {"i2", DType::I16}, {"i4", DType::I32}, {"i8", DType::I64},
      {"u1", DType::U8},  {"u2", DType::U16}, {"u4", DType::U32}, {"u8", DType::U64}, {"f2", DType::F16},
      {"f4", DType::F32}, {"f8", DType::F64}, {"V2", DType::BF16}};  // V2: how NumPy saves the bfloat16 of ml_dtypes
  for (const auto& [name, dtype] : known)
    if (descr.substr(1) == name) return NpyType{dtype, big};
  return std::nullopt;
}

void swap_bytes(std::vector<std::byte>& bytes, std::size_t size) {
  for (std::size_t i = 0; size > 1 && i + size <= bytes.size(); i += size)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i), bytes.begin() + static_cast<std::ptrdiff_t>(i + size));
}

/// Column-major to row-major.
std::vector<std::byte> to_row_major(const std::vector<std::byte>& in, const ir::Dims& dims, std::size_t size) {
  std::vector<std::byte> out(in.size());
  const ir::Dims strides = ir::row_major_strides(dims);
  std::vector<std::int64_t> at(dims.size(), 0);
  for (std::size_t element = 0; element * size < in.size(); ++element) {
    std::int64_t to = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) to += at[d] * strides[d];
    std::memcpy(&out[static_cast<std::size_t>(to) * size], &in[element * size], size);
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (++at[d] < dims[d]) break;
      at[d] = 0;
    }
  }
  return out;
}

class Npz final : public TensorArchive {
 public:
  explicit Npz(const std::string& path) : path_(path) {
    int code = 0;
    archive_.reset(zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code));
    if (archive_ == nullptr) {
      zip_error_t error;
      zip_error_init_with_code(&error, code);
      const std::string reason = zip_error_strerror(&error);
      zip_error_fini(&error);
      RHINO_FAIL(InputError, "'{}' cannot be read as an .npz file: {}", path, reason);
    }
    const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
    for (zip_int64_t i = 0; i < count; ++i) {
      const char* entry = zip_get_name(archive_.get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_GUESS);
      RHINO_CHECK(entry != nullptr, "'{}' is damaged", path);
      std::string name = entry;
      if (name.ends_with(".npy")) name.resize(name.size() - 4);
      RHINO_CHECK(entries_.emplace(name, i).second, "'{}' has two arrays '{}'", path, name);
      names_.push_back(std::move(name));
    }
    std::sort(names_.begin(), names_.end());
  }

  const std::vector<std::string>& names() const override { return names_; }

  ir::Literal read(const std::string& name, const ir::TensorType& type) override {
    const std::string where = path_ + ": array '" + name + "'";
    const auto found = entries_.find(name);
    RHINO_CHECK(found != entries_.end(), "'{}' has no array '{}'{}", path_, name, did_you_mean(name, names_));
    const auto index = static_cast<zip_uint64_t>(found->second);
    zip_stat_t stat;
    RHINO_CHECK(zip_stat_index(archive_.get(), index, 0, &stat) == 0 && (stat.valid & ZIP_STAT_SIZE) != 0 &&
                    (stat.valid & ZIP_STAT_COMP_SIZE) != 0,
                "{}: damaged", where);
    // Deflate shrinks at most about 1030 times.
    RHINO_CHECK(stat.size / 1100 <= stat.comp_size, "{}: claims {} bytes, but {} are stored", where, stat.size,
                stat.comp_size);
    std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(zip_fopen_index(archive_.get(), index, 0), zip_fclose);
    RHINO_CHECK(file != nullptr, "{}: {}", where, zip_strerror(archive_.get()));
    const auto read_into = [&](void* out, std::size_t bytes) {
      auto* at = static_cast<char*>(out);
      while (bytes > 0) {
        const zip_int64_t got = zip_fread(file.get(), at, bytes);
        RHINO_CHECK(got > 0, "{}: {}", where, got == 0 ? "cut off" : zip_file_strerror(file.get()));
        at += got;
        bytes -= static_cast<std::size_t>(got);
      }
    };

    unsigned char lead[8];
    read_into(lead, sizeof(lead));
    RHINO_CHECK(std::memcmp(lead, "\x93NUMPY", 6) == 0 && lead[6] >= 1 && lead[6] <= 3, "{}: is no NumPy array", where);
    unsigned char size_bytes[4] = {0, 0, 0, 0};
    const std::size_t size_width = lead[6] == 1 ? 2 : 4;
    read_into(size_bytes, size_width);
    const std::size_t header_size = size_bytes[0] | size_bytes[1] << 8 | size_bytes[2] << 16 |
                                    static_cast<std::size_t>(size_bytes[3]) << 24;
    RHINO_CHECK(header_size <= largest_array_header, "{}: header of {} bytes", where, header_size);
    std::string header_text(header_size, '\0');
    read_into(header_text.data(), header_size);
    const NpyHeader header = HeaderParser(header_text, where).parse();
    const auto stored = npy_type(header.descr);
    RHINO_CHECK(stored.has_value(), "{}: element type '{}' is not read", where, header.descr);
    const bool as_float = type.dtype == DType::BF16 && stored->dtype == DType::F32;
    RHINO_CHECK(stored->dtype == type.dtype || as_float, "{}: is {}, but the program needs {}", where,
                ir::dtype_name(stored->dtype), ir::dtype_name(type.dtype));
    RHINO_CHECK(header.dims == type.dims, "{}: has shape {}, but the program needs {}", where, ir::to_string(header.dims),
                ir::to_string(type.dims));
    const std::size_t element = ir::dtype_bytes(stored->dtype);
    const std::size_t bytes = static_cast<std::size_t>(type.elements()) * element;
    RHINO_CHECK(stat.size == sizeof(lead) + size_width + header_size + bytes, "{}: has {} bytes instead of {}", where,
                stat.size, sizeof(lead) + size_width + header_size + bytes);
    std::vector<std::byte> data(bytes);
    read_into(data.data(), bytes);
    char beyond = 0;
    const zip_int64_t rest = zip_fread(file.get(), &beyond, 1);  // the checksum is compared when the end is seen
    RHINO_CHECK(rest == 0, "{}: {}", where, rest < 0 ? zip_file_strerror(file.get()) : "longer than its shape");
    if (stored->big_endian) swap_bytes(data, element);
    if (header.fortran_order && header.dims.size() > 1) data = to_row_major(data, header.dims, element);
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
  struct Discard {
    void operator()(zip_t* archive) const { zip_discard(archive); }
  };
  std::string path_;
  std::unique_ptr<zip_t, Discard> archive_;
  std::map<std::string, zip_int64_t> entries_;
  std::vector<std::string> names_;
};

}  // namespace

std::unique_ptr<TensorArchive> open_npz(const std::string& path) { return std::make_unique<Npz>(path); }

}  // namespace rhino::io
