// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <rhino/frontend/import.hpp>

namespace rhino::frontend {

/// The text being read, with its name: turns byte offsets into lines and columns and makes the messages.
class Source {
 public:
  Source(std::string name, std::string_view text, std::uint32_t first_line)
      : name_(std::move(name)), text_(text), first_line_(first_line) {}

  std::string_view text() const { return text_; }

  /// Line of a byte offset. Amortised constant time for offsets that mostly grow.
  std::uint32_t line(std::size_t offset) const;
  /// "name:line:column".
  std::string where(std::size_t offset) const;

  /// Throws ImportError "where: subject: message" (without subject if it is empty).
  [[noreturn]] void fail(std::size_t offset, std::string_view subject, std::string_view message) const;
  /// Throws UnsupportedError "where: subject: what is not supported; remedy".
  [[noreturn]] void unsupported(std::size_t offset, std::string_view subject, std::string_view what,
                                std::string_view remedy) const;

 private:
  std::string name_;
  std::string_view text_;
  std::uint32_t first_line_;
  mutable std::size_t known_offset_ = 0;  ///< cache of line(): this offset ..
  mutable std::uint32_t known_line_ = 0;  ///< .. has so many line ends before it
};

/// Text from the input made fit for a message: cut to a reasonable length, unprintable bytes escaped, in quotes.
std::string in_quotes(std::string_view text);

}  // namespace rhino::frontend
