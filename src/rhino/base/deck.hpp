// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <rhino/base/hash.hpp>

namespace rhino {

/// What a deck key holds. Bytes are written as an integer or as text with a unit ("4 GiB"). ChoiceOrPath is one of
/// the allowed words or else a path.
enum class DeckType { Flag, Integer, Real, Bytes, Text, Path, Choice, ChoiceOrPath };

using DeckValue = std::variant<bool, std::int64_t, double, std::string>;

/// One key that a deck may have. Checks, defaults, `rhino help decks` and the README's table come from here.
struct DeckKey {
  std::string section;
  std::string key;
  DeckType type;
  DeckValue default_value;
  std::string units;                 ///< "" if it has none
  std::string doc;                   ///< one sentence
  std::vector<std::string> allowed;  ///< words of Choice and ChoiceOrPath
  double least = -std::numeric_limits<double>::infinity();
  double greatest = std::numeric_limits<double>::infinity();

  std::string name() const { return section + "." + key; }
};

/// All keys in canonical order: the only list of them.
const std::vector<DeckKey>& deck_schema();

/// The schema for people: plain text for the terminal, or a Markdown table.
std::string deck_help_text();
std::string deck_help_markdown();

/// A resolved deck: a value for every key of the schema. Local; equal on every rank if hash() is equal.
class Deck {
 public:
  /// Every key at its default.
  Deck();

  /// Reads a TOML file; a relative path in it starts at the file's folder. Throws InputError if it cannot be read,
  /// UsageError (naming file, line and the nearest known key) for what the schema does not allow.
  static Deck from_file(const std::filesystem::path& file);
  /// The same from text; `file_name` is for messages, `folder` is where relative paths start.
  static Deck from_text(std::string_view text, const std::string& file_name, const std::filesystem::path& folder);

  /// Applies `section.key=value` from the command line; a relative path in it starts at the current folder.
  /// Throws UsageError.
  void override_with(std::string_view assignment);
  void override_with(std::span<const std::string> assignments);

  /// Values by full name ("train.steps"); asking for a name or type that the schema lacks is an InternalError.
  bool flag(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;  ///< also Bytes
  double real(std::string_view name) const;
  const std::string& text(std::string_view name) const;  ///< also Choice, Path (absolute, or "" where not given)
  std::filesystem::path path(std::string_view name) const { return text(name); }
  /// True if the deck or the command line gave it.
  bool given(std::string_view name) const;

  /// "train.steps of gpt.toml:12", "train.steps of the command line": for messages about a value.
  std::string origin(std::string_view name) const;

  /// The whole resolved deck as TOML, in canonical order; reading it back gives an equal deck.
  std::string canonical_text() const;
  Hash128 hash() const;

 private:
  struct Entry {
    DeckValue value;
    std::string given_by;  ///< "" for a default
  };

  std::size_t index_of(std::string_view name) const;
  const Entry& entry(std::string_view name) const { return entries_[index_of(name)]; }

  std::vector<Entry> entries_;  ///< parallel to deck_schema()
};

}  // namespace rhino
