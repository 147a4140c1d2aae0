// SPDX-License-Identifier: Apache-2.0
#include <rhino/frontend/source.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace rhino::frontend {

std::uint32_t Source::line(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  if (offset < known_offset_) {
    known_offset_ = 0;
    known_line_ = 0;
  }
  const auto begin = text_.begin();
  known_line_ += static_cast<std::uint32_t>(std::count(begin + static_cast<std::ptrdiff_t>(known_offset_),
                                                       begin + static_cast<std::ptrdiff_t>(offset), '\n'));
  known_offset_ = offset;
  return first_line_ + known_line_;
}

std::string Source::where(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const std::size_t line_start = offset == 0 ? std::string_view::npos : text_.rfind('\n', offset - 1);
  const std::size_t column = line_start == std::string_view::npos ? offset + 1 : offset - line_start;
  return fmt::format("{}:{}:{}", name_, line(offset), column);
}

void Source::fail(std::size_t offset, std::string_view subject, std::string_view message) const {
  RHINO_FAIL(ImportError, "{}: {}{}{}", where(offset), subject, subject.empty() ? "" : ": ", message);
}

void Source::unsupported(std::size_t offset, std::string_view subject, std::string_view what,
                         std::string_view remedy) const {
  RHINO_FAIL(UnsupportedError, "{}: {}{}{}{}{}", where(offset), subject, subject.empty() ? "" : ": ", what,
             remedy.empty() ? "" : "; ", remedy);
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string result = "'";
  for (const char c : text.substr(0, longest)) {
    if (c >= 0x20 && c < 0x7f)
      result += c;
    else
      result += fmt::format("\\{:02X}", static_cast<unsigned char>(c));
  }
  if (text.size() > longest) result += "..";
  return result + "'";
}

}  // namespace rhino::frontend
