// SPDX-License-Identifier: Apache-2.0
#include <rhino/frontend/scanner.hpp>

#include <charconv>

#include <fmt/format.h>

namespace rhino::frontend {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_word_start(char c) { return is_letter(c) || c == '_'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$' || c == '.'; }
bool is_name(char c) { return is_word(c) || c == '-'; }

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  return (c | 0x20) - 'a' + 10;
}

}  // namespace

void Scanner::skip_space() {
  const std::size_t size = text_.size();
  while (position_ < size) {
    const char c = text_[position_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++position_;
    } else if (c == '/' && position_ + 1 < size && text_[position_ + 1] == '/') {
      const std::size_t end = text_.find('\n', position_);
      position_ = end == std::string_view::npos ? size : end + 1;
    } else if (c == '/' && position_ + 1 < size && text_[position_ + 1] == '*') {
      const std::size_t end = text_.find("*/", position_ + 2);
      if (end == std::string_view::npos) fail_at(position_, "this comment has no end");
      position_ = end + 2;
    } else {
      return;
    }
  }
}

bool Scanner::accept(char c) {
  if (at_end() || text_[position_] != c) return false;
  ++position_;
  return true;
}

bool Scanner::accept(std::string_view punctuation) {
  if (text_.substr(next(), punctuation.size()) != punctuation) return false;
  position_ += punctuation.size();
  return true;
}

void Scanner::expect(char c, std::string_view after) { expect(std::string_view(&c, 1), after); }

void Scanner::expect(std::string_view punctuation, std::string_view after) {
  if (!accept(punctuation)) fail_expected(fmt::format("'{}' after {}", punctuation, after));
}

void Scanner::fail_expected(std::string_view what) {
  if (at_end()) fail(fmt::format("expected {}, but the text ends here (is it cut off?)", what));
  std::size_t end = position_ + 1;
  if (is_word(text_[position_]))
    while (end < text_.size() && is_word(text_[end]))
      ++end;
  fail(fmt::format("expected {}, found {}", what, in_quotes(text_.substr(position_, end - position_))));
}

std::string_view Scanner::peek_word() {
  if (at_end() || !is_word_start(text_[position_])) return {};
  std::size_t end = position_ + 1;
  while (end < text_.size() && is_word(text_[end]))
    ++end;
  return text_.substr(position_, end - position_);
}

std::string_view Scanner::accept_any_word() {
  const std::string_view word = peek_word();
  position_ += word.size();
  return word;
}

bool Scanner::accept_word(std::string_view word) {
  if (peek_word() != word) return false;
  position_ += word.size();
  return true;
}

std::string_view Scanner::expect_word(std::string_view what) {
  const std::string_view word = accept_any_word();
  if (word.empty()) fail_expected(what);
  return word;
}

void Scanner::expect_exact_word(std::string_view word, std::string_view after) {
  if (!accept_word(word)) fail_expected(fmt::format("'{}' after {}", word, after));
}

std::string_view Scanner::suffix_name(std::string_view what) {
  const std::size_t begin = position_;
  if (is_digit(here())) {
    while (is_digit(here()))
      ++position_;
  } else {
    // "->" after a name is an arrow, not part of it.
    while (is_name(here()) && !(here() == '-' && position_ + 1 < text_.size() && text_[position_ + 1] == '>'))
      ++position_;
  }
  if (position_ == begin) fail_expected(what);
  return text_.substr(begin, position_ - begin);
}

std::string_view Scanner::raw_string(std::string_view what) {
  if (peek() != '"') fail_expected(what);
  const std::size_t begin = ++position_;
  while (true) {
    const std::size_t end = text_.find_first_of("\"\\", position_);
    if (end == std::string_view::npos || (text_[end] == '\\' && end + 1 >= text_.size()))
      fail_at(begin - 1, "this string has no end (is the text cut off?)");
    position_ = end + (text_[end] == '\\' ? 2 : 1);
    if (text_[end] == '"') return text_.substr(begin, end - begin);
  }
}

std::string Scanner::string(std::string_view what) {
  const std::string_view raw = raw_string(what);
  if (raw.find('\\') == std::string_view::npos) return std::string(raw);
  std::string result;
  result.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      result += raw[i];
      continue;
    }
    const char c = raw[++i];  // raw_string guarantees a character after each backslash
    if (is_hex(c) && i + 1 < raw.size() && is_hex(raw[i + 1])) {
      result += static_cast<char>(hex_value(c) * 16 + hex_value(raw[i + 1]));
      ++i;
    } else if (c == 'n') {
      result += '\n';
    } else if (c == 't') {
      result += '\t';
    } else {
      result += c;
    }
  }
  return result;
}

bool Scanner::at_number() {
  const char c = peek();
  if (is_digit(c)) return true;
  return (c == '-' || c == '+') && position_ + 1 < text_.size() && is_digit(text_[position_ + 1]);
}

std::string_view Scanner::number(std::string_view what) {
  if (!at_number()) fail_expected(what);
  const std::size_t begin = position_;
  if (!is_digit(here())) ++position_;
  if (here() == '0' && position_ + 1 < text_.size() && text_[position_ + 1] == 'x') {
    position_ += 2;
    while (is_hex(here()))
      ++position_;
    return text_.substr(begin, position_ - begin);
  }
  while (is_digit(here()))
    ++position_;
  if (here() == '.') {
    ++position_;
    while (is_digit(here()))
      ++position_;
  }
  if (here() == 'e' || here() == 'E') {
    std::size_t digits = position_ + 1;
    if (digits < text_.size() && (text_[digits] == '-' || text_[digits] == '+')) ++digits;
    if (digits < text_.size() && is_digit(text_[digits])) {
      position_ = digits;
      while (is_digit(here()))
        ++position_;
    }
  }
  return text_.substr(begin, position_ - begin);
}

std::int64_t Scanner::integer(std::string_view what) {
  const std::size_t begin = next();
  std::string_view spelling = number(what);
  if (spelling.front() == '+') spelling.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(spelling.data(), spelling.data() + spelling.size(), value);
  if (error != std::errc() || end != spelling.data() + spelling.size())
    fail_at(begin, fmt::format("{} is not an integer of 64 bits, but {} must be one", in_quotes(spelling), what));
  return value;
}

std::int64_t Scanner::natural(std::string_view what, std::int64_t limit) {
  const std::size_t begin = next();
  const std::int64_t value = integer(what);
  if (value < 0 || value > limit) fail_at(begin, fmt::format("{} is {}, but must lie in [0, {}]", what, value, limit));
  return value;
}

void Scanner::skip_line() {
  const std::size_t end = text_.find('\n', position_);
  position_ = end == std::string_view::npos ? text_.size() : end + 1;
}

std::string_view Scanner::balanced(Angles angles) {
  const std::size_t begin = next();
  const std::string_view stops = angles == Angles::AreBrackets ? "()[]{}<>\"-" : "()[]{}\"";
  std::string closers;
  while (true) {
    const std::size_t at = text_.find_first_of(stops, position_);
    if (at == std::string_view::npos) fail_at(begin, "this bracket has no end (is the text cut off?)");
    position_ = at;
    const char c = text_[at];
    if (c == '"') {
      raw_string("a string");
      continue;
    }
    ++position_;
    if (c == '-') {
      if (here() == '>') ++position_;
      continue;
    }
    if (c == '(' || c == '[' || c == '{' || c == '<') {
      closers += c == '(' ? ')' : c == '[' ? ']' : c == '{' ? '}' : '>';
    } else {
      if (closers.empty() || closers.back() != c) fail_at(at, fmt::format("'{}' closes nothing", c));
      closers.pop_back();
    }
    if (closers.empty()) return text_.substr(begin, position_ - begin);
  }
}

}  // namespace rhino::frontend
