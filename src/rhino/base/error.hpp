// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/core.h>

namespace rhino {

/// What went wrong, in terms of who can mend it.
enum class ErrorKind {
  Usage,        ///< wrong flags, wrong deck: exit code 2
  Input,        ///< a file or a program that is malformed or does not fit: exit code 3
  Environment,  ///< the machine failed: disk, memory, MPI, HDF5, CUDA, a lost rank: exit code 4
  Internal,     ///< an invariant of Rhino does not hold: exit code 70
};

/// Exit code of a program that ends by an error of this kind. (Code 1 means: it ran, and the answer is
/// no, e.g. an expectation of `rhino eval` does not hold.)
int exit_code(ErrorKind kind) noexcept;

/// Source position of a throw; `file` has static storage and is relative to the source tree.
struct SourcePosition {
  const char* file;
  int line;
};

/// Base of all exceptions thrown on purpose. what() is one message for the user: what was wrong, and
/// what to do about it.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message, SourcePosition where);

  ErrorKind kind() const noexcept { return kind_; }
  const char* file() const noexcept { return where_.file; }
  int line() const noexcept { return where_.line; }
  /// Rank of the throwing process (process_context()).
  int rank() const noexcept { return rank_; }

 private:
  ErrorKind kind_;
  SourcePosition where_;
  int rank_;
};

/// Wrong flags or a wrong deck.
class UsageError : public Error {
 public:
  UsageError(const std::string& message, SourcePosition where) : Error(ErrorKind::Usage, message, where) {}
};

/// A malformed or unfitting file or program.
class InputError : public Error {
 public:
  InputError(const std::string& message, SourcePosition where) : Error(ErrorKind::Input, message, where) {}
};

/// The machine or a library below us failed.
class EnvironmentError : public Error {
 public:
  EnvironmentError(const std::string& message, SourcePosition where)
      : Error(ErrorKind::Environment, message, where) {}
};

/// An invariant of Rhino itself does not hold.
class InternalError : public Error {
 public:
  InternalError(const std::string& message, SourcePosition where)
      : Error(ErrorKind::Internal, message, where) {}
};

namespace detail {

template <class ErrorType, class... Args>
[[noreturn, gnu::noinline, gnu::cold]] void fail(SourcePosition where, fmt::format_string<Args...> format,
                                                 Args&&... args) {
  throw ErrorType(fmt::vformat(format, fmt::make_format_args(args...)), where);
}

[[noreturn, gnu::cold]] void fail_assertion(SourcePosition where, const char* condition,
                                            const std::string& message);

template <class... Args>
[[noreturn, gnu::noinline, gnu::cold]] void fail_assert(SourcePosition where, const char* condition,
                                                        fmt::format_string<Args...> format, Args&&... args) {
  fail_assertion(where, condition, fmt::vformat(format, fmt::make_format_args(args...)));
}

[[noreturn, gnu::cold]] void fail_assert(SourcePosition where, const char* condition);

}  // namespace detail
}  // namespace rhino

#define RHINO_HERE (::rhino::SourcePosition{__FILE__, __LINE__})

/// Throws ErrorType (a class derived from rhino::Error with its constructor) with a formatted message.
#define RHINO_FAIL(ErrorType, ...) ::rhino::detail::fail<ErrorType>(RHINO_HERE, __VA_ARGS__)

/// Throws ErrorType unless the condition holds: RHINO_CHECK_AS(UsageError, n > 0, "n is {}", n).
#define RHINO_CHECK_AS(ErrorType, condition, ...) \
  (__builtin_expect(static_cast<bool>(condition), 1) ? void() : RHINO_FAIL(ErrorType, __VA_ARGS__))

/// For malformed files and programs: throws InputError unless the condition holds.
#define RHINO_CHECK(condition, ...) RHINO_CHECK_AS(::rhino::InputError, condition, __VA_ARGS__)

/// For our own invariants, in all builds: throws InternalError unless the condition holds. The message
/// is optional.
#define RHINO_ASSERT(condition, ...)                \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? void()                                      \
       : ::rhino::detail::fail_assert(RHINO_HERE, #condition __VA_OPT__(, ) __VA_ARGS__))
