// SPDX-License-Identifier: Apache-2.0
#include <rhino/base/error.hpp>
#include <rhino/base/process_context.hpp>

namespace rhino {

int exit_code(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::Usage: return 2;
    case ErrorKind::Input: return 3;
    case ErrorKind::Environment: return 4;
    case ErrorKind::Internal: return 70;
  }
  return 70;
}

Error::Error(ErrorKind kind, const std::string& message, SourcePosition where)
    : std::runtime_error(message), kind_(kind), where_(where), rank_(process_context().rank) {}

namespace detail {

void fail_assertion(SourcePosition where, const char* condition, const std::string& message) {
  throw InternalError(fmt::format("internal error at {}:{}: {} ({}); please report it", where.file, where.line,
                                  message, condition),
                      where);
}

void fail_assert(SourcePosition where, const char* condition) {
  throw InternalError(
      fmt::format("internal error at {}:{}: {} does not hold; please report it", where.file, where.line, condition),
      where);
}

}  // namespace detail
}  // namespace rhino
