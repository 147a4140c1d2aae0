// SPDX-License-Identifier: Apache-2.0
#include <rhino/base/log.hpp>

#include <cstdlib>
#include <memory>

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <rhino/base/process_context.hpp>

namespace rhino {
namespace {

constexpr const char* kNames[] = {"debug", "info", "warn", "error", "off"};

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::Debug: return spdlog::level::debug;
    case LogLevel::Info: return spdlog::level::info;
    case LogLevel::Warn: return spdlog::level::warn;
    case LogLevel::Error: return spdlog::level::err;
    case LogLevel::Off: return spdlog::level::off;
  }
  return spdlog::level::info;
}

LogLevel level_from_environment() {
  const char* text = std::getenv("RHINO_LOG");
  if (text == nullptr) return LogLevel::Info;
  for (int i = 0; i <= static_cast<int>(LogLevel::Off); ++i) {
    if (std::string_view(text) == kNames[i]) return static_cast<LogLevel>(i);
  }
  return LogLevel::Info;
}

// An immutable logger of this process: level and sink never change after the first use.
spdlog::logger& logger() {
  static spdlog::logger instance = [] {
    spdlog::logger made("rhino", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made.set_pattern("rhino: %v");
    made.set_level(to_spdlog(level_from_environment()));
    made.flush_on(spdlog::level::debug);
    return made;
  }();
  return instance;
}

}  // namespace

bool log_enabled(LogLevel level, LogFrom from) {
  if (from == LogFrom::Root && process_context().rank != 0) return false;
  return logger().should_log(to_spdlog(level));
}

void log_line(LogLevel level, LogFrom from, std::string_view message) {
  if (!log_enabled(level, from)) return;
  const char* name = kNames[static_cast<int>(level)];
  if (from == LogFrom::EveryRank) {
    logger().log(to_spdlog(level), "{} (rank {}): {}", name, process_context().rank, message);
  } else if (level == LogLevel::Info) {
    logger().log(to_spdlog(level), "{}", message);
  } else {
    logger().log(to_spdlog(level), "{}: {}", name, message);
  }
}

}  // namespace rhino
