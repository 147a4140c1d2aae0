// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rhino::zoo {

/// What a key of a model may hold.
enum class SettingKind : std::uint8_t { Integer, Real, Flag, Choice, Integers };

/// One key that models know, e.g. "heads". Checks and help come from here.
struct SettingKey {
  const char* name;
  SettingKind kind;
  double least;  ///< of Integer, Real and each of Integers
  double greatest;
  std::vector<std::string> allowed;  ///< of Choice
  const char* doc;
};

/// All keys of all models in one order: the only list of them.
const std::vector<SettingKey>& setting_keys();
const SettingKey& setting_key(std::string_view name);

/// The hyper-parameters of one model: values by key, checked when they are set. Which keys there are is fixed by the
/// defaults it is made of.
class Settings {
 public:
  /// From "key=value key=value ..", all of which must be known keys.
  explicit Settings(std::string_view defaults);

  /// More keys with their defaults; a known key takes the new one.
  void add(std::string_view defaults);
  /// Overrides values by assignments between blanks. Throws UsageError, naming the nearest key, for a key that these
  /// settings do not have, and for a value that the key does not allow.
  void set_all(std::string_view assignments);
  void set(std::string_view assignment);

  std::int64_t integer(std::string_view key) const;
  double real(std::string_view key) const;
  bool flag(std::string_view key) const;
  const std::string& choice(std::string_view key) const;
  std::vector<std::int64_t> integers(std::string_view key) const;  ///< "3,4,6,3"
  bool has(std::string_view key) const;

  /// "key=value key=value ..", in the order of the defaults.
  std::string text() const;
  std::vector<std::string> keys() const;

 private:
  const std::string& value(std::string_view key, SettingKind kind) const;
  const std::string* find(std::string_view key) const;

  std::vector<std::pair<std::string, std::string>> values_;
};

}  // namespace rhino::zoo
