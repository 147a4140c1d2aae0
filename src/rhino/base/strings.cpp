// SPDX-License-Identifier: Apache-2.0
#include <rhino/base/strings.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace rhino {
namespace {

// Names longer than this are not names; they are compared by their beginning only.
constexpr std::size_t kLongestName = 256;

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\f\v";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kLongestName);
  b = b.substr(0, kLongestName);
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, current);
  }
  return last[b.size()];
}

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates) {
  const std::string* best = nullptr;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance * 2 > std::max(name.size(), candidate.size())) continue;
    if (best == nullptr || distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const auto nearest = nearest_name(name, candidates);
  return nearest ? fmt::format(" (did you mean '{}'?)", *nearest) : std::string();
}

std::string human_bytes(std::int64_t bytes) {
  constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (std::abs(static_cast<double>(bytes)) < 1024.0) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024.0;
  std::size_t unit = 0;
  while (std::abs(value) >= 1024.0 && unit + 1 < kUnits.size()) {
    value /= 1024.0;
    ++unit;
  }
  return fmt::format("{:.2f} {}", value, kUnits[unit]);
}

std::string human_count(double value) {
  constexpr std::array<const char*, 7> kPrefixes = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t prefix = 0;
  while (std::abs(value) >= 1000.0 && prefix + 1 < kPrefixes.size()) {
    value /= 1000.0;
    ++prefix;
  }
  if (prefix == 0 && value == std::floor(value)) return fmt::format("{:.0f} ", value);
  return fmt::format("{:.2f} {}", value, kPrefixes[prefix]);
}

std::string human_seconds(double seconds) {
  const double size = std::abs(seconds);
  if (size >= 1.0 || size == 0.0) return fmt::format("{:.2f} s", seconds);
  if (size >= 1e-3) return fmt::format("{:.2f} ms", seconds * 1e3);
  if (size >= 1e-6) return fmt::format("{:.2f} us", seconds * 1e6);
  return fmt::format("{:.2f} ns", seconds * 1e9);
}

}  // namespace rhino
