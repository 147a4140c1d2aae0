// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include <rhino/base/half.hpp>
#include <rhino/ir/print.hpp>

namespace rhino::ir {
namespace {

/// More elements than this are written as one blob of bytes, as MLIR does.
constexpr std::int64_t max_listed_elements = 100;

std::uint64_t element_bits(const Literal& literal, std::int64_t index) {
  const std::size_t size = dtype_bytes(literal.type().dtype);
  std::uint64_t bits = 0;
  std::memcpy(&bits, literal.stored_bytes().data() + (literal.is_splat() ? 0 : static_cast<std::size_t>(index) * size),
              size);
  return bits;
}

/// Bits that a reader makes of a decimal number by way of a double, as MLIR does.
std::uint64_t bits_through_double(DType dtype, double value) {
  switch (dtype) {
    case DType::F16:
      return double_to_half(value);
    case DType::BF16:
      return double_to_bfloat16(value);
    case DType::F32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    default:
      return std::bit_cast<std::uint64_t>(value);
  }
}

bool reads_back(DType dtype, std::string_view text, std::uint64_t bits) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  if (bits_through_double(dtype, value) != bits) return false;
  if (dtype != DType::F32) return true;
  float direct = 0;
  std::from_chars(text.data(), text.data() + text.size(), direct);
  return std::bit_cast<std::uint32_t>(direct) == bits;
}

/// MLIR wants a point in every float.
std::string with_point(std::string text) {
  if (text.find('.') == std::string::npos) {
    const std::size_t exponent = text.find('e');
    text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
  }
  return text;
}

void print_float(std::string& out, DType dtype, double value, std::uint64_t bits) {
  if (!std::isfinite(value)) {
    fmt::format_to(std::back_inserter(out), "0x{:0{}X}", bits, 2 * dtype_bytes(dtype));
    return;
  }
  char buffer[64];
  const auto try_print = [&](auto... arguments) {
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, arguments...).ptr;
    const std::string text = with_point(std::string(buffer, end));
    if (!reads_back(dtype, text, bits)) return false;
    out += text;
    return true;
  };
  if (try_print(value, std::chars_format::scientific, 6)) return;
  if (dtype == DType::F32 && try_print(static_cast<float>(value), std::chars_format::scientific)) return;
  if (try_print(value, std::chars_format::scientific)) return;
  fmt::format_to(std::back_inserter(out), "0x{:0{}X}", bits, 2 * dtype_bytes(dtype));
}

/// All elements in nested brackets.
void print_list(std::string& out, const Literal& literal) {
  const Dims& dims = literal.type().dims;
  const std::int64_t count = literal.type().elements();
  Dims block(dims.size());  // elements of one entry of the list that dimension i opens
  std::int64_t size = 1;
  for (std::size_t i = dims.size(); i-- > 0;)
    block[i] = size *= dims[i];
  for (std::int64_t next = 0; next < count; ++next) {
    if (next != 0) out += ", ";
    for (const std::int64_t elements : block)
      if (next % elements == 0) out += '[';
    print_element(out, literal, next);
    for (const std::int64_t elements : block)
      if ((next + 1) % elements == 0) out += ']';
  }
}

}  // namespace

void print_element(std::string& out, const Literal& literal, std::int64_t index) {
  const DType dtype = literal.type().dtype;
  if (is_float(dtype)) return print_float(out, dtype, literal.element_as_double(index), element_bits(literal, index));
  const std::int64_t value = literal.element_as_int(index);
  if (dtype == DType::I1) {
    out += value != 0 ? "true" : "false";
  } else if (dtype == DType::U64) {
    fmt::format_to(std::back_inserter(out), "{}", static_cast<std::uint64_t>(value));
  } else {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
}

void print_elements(std::string& out, const Literal& literal) {
  const std::int64_t count = literal.type().elements();
  if (count == 0) return;
  if (literal.is_splat()) return print_element(out, literal, 0);
  // Blobs of booleans are read in two ways (one bit or one byte each), so booleans are always listed.
  if (count > max_listed_elements && literal.type().dtype != DType::I1) return print_blob(out, literal.stored_bytes());
  print_list(out, literal);
}

void print_blob(std::string& out, std::span<const std::byte> bytes, std::string_view prefix) {
  static constexpr char digits[] = "0123456789ABCDEF";
  out += "\"0x";
  out += prefix;
  const std::size_t start = out.size();
  out.resize(start + 2 * bytes.size());
  char* at = out.data() + start;
  for (const std::byte byte : bytes) {
    *at++ = digits[static_cast<unsigned>(byte) >> 4];
    *at++ = digits[static_cast<unsigned>(byte) & 15u];
  }
  out += '"';
}

void print_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20 || code >= 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\{:02X}", code);
    } else {
      out += c;
    }
  }
  out += '"';
}

void print_symbol(std::string& out, std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  bool plain = !name.empty() && is_letter(name[0]);
  for (const char c : name)
    plain = plain && (is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '$' || c == '-');
  out += '@';
  if (plain) {
    out += name;
  } else {
    print_quoted(out, name);
  }
}

}  // namespace rhino::ir
