// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace rhino {

/// Severity of a log line. The lowest level shown comes from the environment variable RHINO_LOG
/// (debug, info, warn, error, off; default info), read once per process.
enum class LogLevel { Debug, Info, Warn, Error, Off };

/// Which ranks may write the line.
enum class LogFrom { Root, EveryRank };

/// True if such a line would be written by this process.
bool log_enabled(LogLevel level, LogFrom from = LogFrom::Root);

/// Writes one line to standard error: `rhino: info: message`, with `rank R` where every rank may
/// write. Local; thread-safe.
void log_line(LogLevel level, LogFrom from, std::string_view message);

/// Formatted lines, written by rank 0 only.
template <class... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(LogLevel::Debug))
    log_line(LogLevel::Debug, LogFrom::Root, fmt::vformat(format, fmt::make_format_args(args...)));
}
template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(LogLevel::Info))
    log_line(LogLevel::Info, LogFrom::Root, fmt::vformat(format, fmt::make_format_args(args...)));
}
template <class... Args>
void log_warn(fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(LogLevel::Warn))
    log_line(LogLevel::Warn, LogFrom::Root, fmt::vformat(format, fmt::make_format_args(args...)));
}

/// A formatted line of any level from whichever rank calls.
template <class... Args>
void log_from_every_rank(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level, LogFrom::EveryRank))
    log_line(level, LogFrom::EveryRank, fmt::vformat(format, fmt::make_format_args(args...)));
}

}  // namespace rhino
