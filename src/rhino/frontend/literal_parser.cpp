// SPDX-License-Identifier: Apache-2.0
#include <rhino/frontend/literal_parser.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include <fmt/format.h>

#include <rhino/base/half.hpp>
#include <rhino/base/strings.hpp>

namespace rhino::frontend {
namespace {

[[noreturn]] void fail(const LiteralPlace& place, std::string_view message) {
  place.source.fail(place.position, place.subject, message);
}

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

void append_bits(std::uint64_t bits, std::size_t size, std::vector<std::byte>& bytes) {
  const std::size_t at = bytes.size();
  bytes.resize(at + size);
  std::memcpy(bytes.data() + at, &bits, size);
}

double parse_double(std::string_view spelling, const LiteralPlace& place) {
  std::string_view digits = spelling;
  if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size() || digits.empty() || error == std::errc::invalid_argument)
    fail(place, fmt::format("{} is not a number", in_quotes(spelling)));
  // Beyond the range of double: strtod gives the infinity or the (sub)normal number next to it.
  if (error == std::errc::result_out_of_range) value = std::strtod(std::string(digits).c_str(), nullptr);
  return value;
}

std::uint64_t float_bits(double value, ir::DType dtype) {
  switch (dtype) {
    case ir::DType::F16:
      return double_to_half(value);
    case ir::DType::BF16:
      return double_to_bfloat16(value);
    case ir::DType::F32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    default:
      return std::bit_cast<std::uint64_t>(value);
  }
}

/// Magnitude and sign of an integer spelled in decimal or hexadecimal.
struct SignedMagnitude {
  bool negative = false;
  std::uint64_t magnitude = 0;
};

SignedMagnitude parse_integer(std::string_view spelling, const LiteralPlace& place) {
  SignedMagnitude result;
  std::string_view digits = spelling;
  if (!digits.empty() && (digits.front() == '-' || digits.front() == '+')) {
    result.negative = digits.front() == '-';
    digits.remove_prefix(1);
  }
  int base = 10;
  if (digits.starts_with("0x")) {
    base = 16;
    digits.remove_prefix(2);
  }
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result.magnitude, base);
  if (digits.empty() || end != digits.data() + digits.size() || error != std::errc())
    fail(place, fmt::format("{} is not an integer of 64 bits", in_quotes(spelling)));
  return result;
}

void append_integer(std::string_view spelling, ir::DType dtype, std::vector<std::byte>& bytes,
                    const LiteralPlace& place) {
  if (spelling == "true" || spelling == "false") return append_bits(spelling == "true", ir::dtype_bytes(dtype), bytes);
  const auto [negative, magnitude] = parse_integer(spelling, place);
  const int bits = ir::dtype_bits(dtype);
  const std::uint64_t largest = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const bool may_be_negative = !ir::is_unsigned_int(dtype);
  const std::uint64_t most_negative = std::uint64_t{1} << (bits - 1);
  if (negative ? (!may_be_negative && magnitude != 0) || magnitude > most_negative : magnitude > largest)
    fail(place, fmt::format("{} does not fit into {}", in_quotes(spelling), ir::dtype_name(dtype)));
  if (dtype == ir::DType::I1) return append_bits(magnitude != 0, 1, bytes);
  append_bits(negative ? ~magnitude + 1 : magnitude, ir::dtype_bytes(dtype), bytes);
}

void append_float(std::string_view spelling, ir::DType dtype, std::vector<std::byte>& bytes,
                  const LiteralPlace& place) {
  const std::size_t size = ir::dtype_bytes(dtype);
  std::string_view magnitude = spelling;
  const bool negative = !magnitude.empty() && magnitude.front() == '-';
  if (negative) magnitude.remove_prefix(1);
  if (magnitude.starts_with("0x")) {
    const auto [sign, bits] = parse_integer(spelling, place);
    if (sign || (size < 8 && bits >> (8 * size) != 0))
      fail(place, fmt::format("{} is not a bit pattern of {}", in_quotes(spelling), ir::dtype_name(dtype)));
    return append_bits(bits, size, bytes);
  }
  double value;
  if (magnitude == "inf" || magnitude == "infinity") {
    value = std::numeric_limits<double>::infinity();
  } else if (magnitude.starts_with("nan")) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (magnitude == "true" || magnitude == "false") {
    value = magnitude == "true";
  } else {
    value = parse_double(magnitude, place);
  }
  append_bits(float_bits(negative ? std::copysign(value, -1.0) : value, dtype), size, bytes);
}

/// Reads the nested lists of a dense literal; iterative, since the depth is the rank and that comes from the input.
class ListReader {
 public:
  ListReader(std::string_view body, const ir::TensorType& type, const LiteralPlace& place, char open, char close)
      : body_(body), type_(type), place_(place), open_(open), close_(close), counts_(type.dims.size(), 0) {}

  std::vector<std::byte> read() {
    do {
      skip_space();
      if (at_ >= body_.size()) fail(place_, "this list has no end");
      const char c = body_[at_];
      if (c == open_) {
        open();
      } else if (c == close_) {
        close();
      } else if (c == ',') {
        if (!after_item_) fail(place_, "there is a comma too many in this list");
        after_item_ = false;
        ++at_;
      } else {
        element();
      }
    } while (depth_ > 0);
    skip_space();
    if (at_ != body_.size()) fail(place_, "there is text after the list");
    return std::move(bytes_);
  }

 private:
  void skip_space() {
    while (at_ < body_.size()) {
      if (is_space(body_[at_])) {
        ++at_;
      } else if (body_.substr(at_, 2) == "//") {
        const std::size_t end = body_.find('\n', at_);
        at_ = end == std::string_view::npos ? body_.size() : end;
      } else if (body_.substr(at_, 2) == "/*") {
        const std::size_t end = body_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? body_.size() : end + 2;
      } else {
        return;
      }
    }
  }

  void open() {
    if (depth_ >= counts_.size())
      fail(place_, fmt::format("this list is nested deeper than the {} dimensions of {}", counts_.size(),
                               ir::to_string(type_)));
    count_item();
    after_item_ = false;
    counts_[depth_++] = 0;
    ++at_;
  }

  void close() {
    if (depth_ == 0 || counts_[depth_ - 1] != type_.dims[depth_ - 1]) fail_count();
    --depth_;
    after_item_ = true;
    ++at_;
  }

  void element() {
    if (depth_ != counts_.size() || depth_ == 0)
      fail(place_, fmt::format("this list is not nested like the dimensions of {}", ir::to_string(type_)));
    count_item();
    const std::size_t begin = at_;
    while (at_ < body_.size() && body_[at_] != ',' && body_[at_] != close_ && body_[at_] != open_ &&
           !is_space(body_[at_]))
      ++at_;
    append_element(body_.substr(begin, at_ - begin), type_.dtype, bytes_, place_);
    after_item_ = true;
  }

  void count_item() {
    if (after_item_) fail(place_, "a comma is missing in this list");
    if (depth_ > 0 && ++counts_[depth_ - 1] > type_.dims[depth_ - 1]) fail_count();
  }

  [[noreturn]] void fail_count() {
    fail(place_, fmt::format("a list of this literal has not as many items as {} asks for", ir::to_string(type_)));
  }

  std::string_view body_;
  const ir::TensorType& type_;
  const LiteralPlace& place_;
  char open_, close_;
  std::vector<std::int64_t> counts_;  ///< items seen in each open list
  std::size_t depth_ = 0;
  std::size_t at_ = 0;
  bool after_item_ = false;
  std::vector<std::byte> bytes_;
};

constexpr std::array<std::int8_t, 256> hex_values = [] {
  std::array<std::int8_t, 256> values{};
  for (auto& value : values)
    value = -1;
  for (int i = 0; i < 10; ++i)
    values[static_cast<std::size_t>('0' + i)] = static_cast<std::int8_t>(i);
  for (int i = 0; i < 6; ++i) {
    values[static_cast<std::size_t>('a' + i)] = static_cast<std::int8_t>(10 + i);
    values[static_cast<std::size_t>('A' + i)] = static_cast<std::int8_t>(10 + i);
  }
  return values;
}();

}  // namespace

void append_element(std::string_view spelling, ir::DType dtype, std::vector<std::byte>& bytes,
                    const LiteralPlace& place) {
  if (ir::is_float(dtype))
    append_float(spelling, dtype, bytes, place);
  else
    append_integer(spelling, dtype, bytes, place);
}

std::vector<std::byte> decode_hex(std::string_view digits, const LiteralPlace& place) {
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  if (digits.size() % 2 != 0) fail(place, "a byte string has an odd number of hexadecimal digits");
  std::vector<std::byte> bytes(digits.size() / 2);
  int bad = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const int high = hex_values[static_cast<unsigned char>(digits[2 * i])];
    const int low = hex_values[static_cast<unsigned char>(digits[2 * i + 1])];
    bad |= high | low;  // negative if either is no digit
    bytes[i] = static_cast<std::byte>((high << 4) | (low & 15));
  }
  if (bad < 0) fail(place, "a byte string holds something other than hexadecimal digits");
  return bytes;
}

ir::Literal literal_from_bytes(std::vector<std::byte> bytes, ir::TensorType type, const LiteralPlace& place) {
  const auto elements = static_cast<std::uint64_t>(type.elements());
  const std::size_t size = ir::dtype_bytes(type.dtype);
  if (type.dtype == ir::DType::I1) {
    if (bytes.size() == elements) {
      for (auto& byte : bytes)
        byte = std::byte{byte != std::byte{0}};
      return ir::Literal(std::move(type), std::move(bytes));
    }
    if (bytes.size() == (elements + 7) / 8) {
      std::vector<std::byte> unpacked(elements);
      for (std::size_t i = 0; i < elements; ++i)
        unpacked[i] = (bytes[i / 8] >> (i % 8)) & std::byte{1};
      return ir::Literal(std::move(type), std::move(unpacked));
    }
    if (bytes.size() == 1) return ir::Literal(std::move(type), {std::byte{bytes[0] != std::byte{0}}}, true);
  } else {
    if (bytes.size() / size == elements && bytes.size() % size == 0)
      return ir::Literal(std::move(type), std::move(bytes));
    if (bytes.size() == size && elements > 1) return ir::Literal(std::move(type), std::move(bytes), true);
  }
  fail(place, fmt::format("a byte string of {} bytes does not fit {} with its {} elements", bytes.size(),
                          ir::to_string(type), elements));
}

ir::Literal parse_hlo_literal(std::string_view body, ir::TensorType type, const LiteralPlace& place) {
  body = trim(body);
  std::vector<std::byte> bytes;
  if (type.dims.empty()) {
    append_element(body, type.dtype, bytes, place);
  } else if (body == "{}" && type.elements() == 0) {
    // nothing to read
  } else {
    bytes = ListReader(body, type, place, '{', '}').read();
  }
  return ir::Literal(std::move(type), std::move(bytes));
}

ir::Literal parse_dense(std::string_view body, ir::TensorType type, const LiteralPlace& place) {
  body = trim(body);
  if (body.starts_with('"')) {
    if (body.size() < 4 || body.back() != '"' || !body.substr(1).starts_with("0x"))
      fail(place, "expected a byte string \"0x..\"");
    return literal_from_bytes(decode_hex(body.substr(1, body.size() - 2), place), std::move(type), place);
  }
  if (body.empty()) {
    if (type.elements() != 0) fail(place, fmt::format("an empty literal cannot have the type {}", ir::to_string(type)));
    return ir::Literal(std::move(type), {});
  }
  std::vector<std::byte> bytes;
  if (body.front() == '[') {
    if (type.dims.empty()) fail(place, fmt::format("a list cannot have the type {}", ir::to_string(type)));
    bytes = ListReader(body, type, place, '[', ']').read();
    if (type.elements() == 0) bytes.clear();
    return ir::Literal(std::move(type), std::move(bytes));
  }
  append_element(body, type.dtype, bytes, place);
  const std::int64_t elements = type.elements();
  if (elements == 0) return ir::Literal(std::move(type), {});
  return ir::Literal(std::move(type), std::move(bytes), elements > 1);
}

}  // namespace rhino::frontend
