// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <rhino/frontend/source.hpp>

namespace rhino::frontend {

/// Reads characters, words, numbers and strings from a Source, skipping blank space and comments (`//` to the end of
/// the line, `/* */`) before each. All failures go through fail() and name the current subject (an op).
class Scanner {
 public:
  explicit Scanner(const Source& source) : source_(&source), text_(source.text()) {}

  const Source& source() const { return *source_; }
  std::size_t position() const { return position_; }
  void seek(std::size_t position) { position_ = position; }
  /// Offset of the next character that is neither blank nor comment.
  std::size_t next() {
    skip_space();
    return position_;
  }
  std::string_view text_between(std::size_t begin, std::size_t end) const { return text_.substr(begin, end - begin); }

  bool at_end() { return next() >= text_.size(); }
  /// Next character; '\0' at the end (and for a zero byte, which nothing accepts).
  char peek() { return at_end() ? '\0' : text_[position_]; }
  /// Character right here, without skipping blanks.
  char here() const { return position_ < text_.size() ? text_[position_] : '\0'; }
  void advance() { ++position_; }

  bool accept(char c);
  bool accept(std::string_view punctuation);
  void expect(char c, std::string_view after);
  void expect(std::string_view punctuation, std::string_view after);

  /// `[A-Za-z_][A-Za-z0-9_$.]*`, or empty if there is none. peek_word does not move.
  std::string_view peek_word();
  std::string_view accept_any_word();
  bool accept_word(std::string_view word);
  std::string_view expect_word(std::string_view what);
  void expect_exact_word(std::string_view word, std::string_view after);
  /// Name after a sigil (`%`, `@`, `#`, `^`), right here: digits, or a name that may contain `$._-`.
  std::string_view suffix_name(std::string_view what);

  bool at_string() { return peek() == '"'; }
  /// Contents of a quoted string with escapes resolved.
  std::string string(std::string_view what);
  /// Contents of a quoted string as written.
  std::string_view raw_string(std::string_view what);

  bool at_number();
  /// Spelling of a number: sign, digits, fraction, exponent, or 0x...
  std::string_view number(std::string_view what);
  std::int64_t integer(std::string_view what);
  /// An integer of [0, limit].
  std::int64_t natural(std::string_view what, std::int64_t limit = INT64_MAX);

  /// Skips a bracketed text that starts here, whatever is in it; returns it with its brackets. In HLO text `<` and `>`
  /// are no brackets ("devices=[8,1]<=[8]").
  enum class Angles : bool { AreBrackets, AreNot };
  std::string_view balanced(Angles angles = Angles::AreBrackets);
  void skip_line();

  void set_subject(std::string_view subject) { subject_ = subject; }
  std::string_view subject() const { return subject_; }
  [[noreturn]] void fail(std::string_view message) { fail_at(next(), message); }
  [[noreturn]] void fail_at(std::size_t position, std::string_view message) const {
    source_->fail(position, subject_, message);
  }
  [[noreturn]] void unsupported_at(std::size_t position, std::string_view what, std::string_view remedy) const {
    source_->unsupported(position, subject_, what, remedy);
  }
  /// Fails with "expected ..., found ...".
  [[noreturn]] void fail_expected(std::string_view what);

 private:
  void skip_space();

  const Source* source_;
  std::string_view text_;
  std::string_view subject_;
  std::size_t position_ = 0;
};

/// Counts nesting in a recursive reader and fails where a hostile text nests too deeply for the stack.
class DepthGuard {
 public:
  DepthGuard(int& depth, int limit, Scanner& scanner, std::string_view what) : depth_(&depth) {
    if (depth >= limit) scanner.fail(std::string(what) + " are nested too deeply");
    ++depth;
  }
  ~DepthGuard() { --*depth_; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

 private:
  int* depth_;
};

}  // namespace rhino::frontend
