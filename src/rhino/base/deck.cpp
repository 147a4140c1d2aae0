// SPDX-License-Identifier: Apache-2.0
#include <rhino/base/deck.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <rhino/base/error.hpp>
#include <rhino/base/file.hpp>
#include <rhino/base/strings.hpp>

namespace rhino {
namespace {

constexpr std::int64_t kLargestDeck = 1 << 20;

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const DeckKey& key : deck_schema()) {
    if (names.empty() || names.back() != key.section) names.push_back(key.section);
  }
  return names;
}

std::vector<std::string> key_names(std::string_view section) {
  std::vector<std::string> names;
  for (const DeckKey& key : deck_schema()) {
    if (key.section == section) names.push_back(key.key);
  }
  return names;
}

// Index in the schema; throws UsageError that names the nearest known key.
std::size_t find_key(std::string_view section, std::string_view key, const std::string& where) {
  const auto& schema = deck_schema();
  for (std::size_t i = 0; i < schema.size(); ++i) {
    if (schema[i].section == section && schema[i].key == key) return i;
  }
  const auto sections = section_names();
  RHINO_CHECK_AS(UsageError, std::find(sections.begin(), sections.end(), section) != sections.end(),
                 "{}: there is no section [{}] in a deck{}; see 'rhino help decks'", where, section,
                 did_you_mean(section, sections));
  std::string hint = did_you_mean(key, key_names(section));
  if (hint.empty()) {
    // Perhaps the key is right and stands in the wrong section.
    for (const DeckKey& other : schema) {
      if (other.key == key) {
        hint = fmt::format(" (did you mean '{}'?)", other.name());
        break;
      }
    }
  }
  RHINO_FAIL(UsageError, "{}: there is no key '{}.{}'{}; see 'rhino help decks'", where, section, key, hint);
}

// Number of bytes of "4 GiB", "512MB", "1000"; nothing where it is malformed or does not fit.
std::optional<std::int64_t> parse_bytes(std::string_view text) {
  text = trim(text);
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || !(number >= 0)) return std::nullopt;
  const std::string_view unit = trim(text.substr(static_cast<std::size_t>(end - text.data())));
  struct Unit {
    const char* name;
    double bytes;
  };
  constexpr Unit kUnits[] = {{"", 1},      {"B", 1},       {"kB", 1e3},       {"KB", 1e3},       {"MB", 1e6},
                             {"GB", 1e9},  {"TB", 1e12},   {"KiB", 0x1p10},   {"MiB", 0x1p20},   {"GiB", 0x1p30},
                             {"TiB", 0x1p40}};
  for (const Unit& candidate : kUnits) {
    if (unit != candidate.name) continue;
    const double bytes = std::round(number * candidate.bytes);
    if (bytes > 0x1p53) return std::nullopt;
    return static_cast<std::int64_t>(bytes);
  }
  return std::nullopt;
}

std::string number_text(double value) { return fmt::format("{}", value); }

void check_range(const DeckKey& key, double value, const std::string& where) {
  RHINO_CHECK_AS(UsageError, value >= key.least && value <= key.greatest, "{}: {} is {} but must be {}", where,
                 key.name(), number_text(value),
                 std::isinf(key.greatest) || key.greatest >= 0x1p53
                     ? fmt::format("at least {}", number_text(key.least))
                     : fmt::format("between {} and {}", number_text(key.least), number_text(key.greatest)));
}

std::string resolve_path(const std::string& text, const std::filesystem::path& folder) {
  if (text.empty()) return text;
  return std::filesystem::absolute(folder / text).lexically_normal().string();
}

// The checked value of a word, a path or a text.
DeckValue check_text(const DeckKey& key, const std::string& text, const std::filesystem::path& folder,
                     const std::string& where) {
  const bool known = std::find(key.allowed.begin(), key.allowed.end(), text) != key.allowed.end();
  RHINO_CHECK_AS(UsageError, text.find('\0') == std::string::npos, "{}: {} has a zero byte", where, key.name());
  switch (key.type) {
    case DeckType::Choice:
      RHINO_CHECK_AS(UsageError, known, "{}: {} is '{}' but must be one of {}{}", where, key.name(), text,
                     fmt::join(key.allowed, ", "), did_you_mean(text, key.allowed));
      return text;
    case DeckType::ChoiceOrPath: {
      if (known) return text;
      const std::string path = resolve_path(text, folder);
      std::error_code ignored;
      RHINO_CHECK_AS(UsageError, !path.empty() && std::filesystem::exists(path, ignored),
                     "{}: {} is '{}', which is neither one of {} nor a file{}", where, key.name(), text,
                     fmt::join(key.allowed, ", "), did_you_mean(text, key.allowed));
      return path;
    }
    case DeckType::Path: return resolve_path(text, folder);
    default: return text;
  }
}

[[noreturn]] void fail_type(const DeckKey& key, std::string_view wanted, std::string_view got,
                            const std::string& where) {
  RHINO_FAIL(UsageError, "{}: {} must be {}, not {}", where, key.name(), wanted, got);
}

// The checked value of `text` from the command line, where nothing tells a number from a word but the schema.
DeckValue parse_override(const DeckKey& key, std::string_view text, const std::string& where) {
  const std::string quoted = fmt::format("'{}'", text);
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  switch (key.type) {
    case DeckType::Flag:
      if (text == "true") return true;
      if (text == "false") return false;
      fail_type(key, "true or false", quoted, where);
    case DeckType::Integer: {
      std::int64_t value = 0;
      const auto [stop, code] = std::from_chars(begin, end, value);
      if (code != std::errc() || stop != end) fail_type(key, "an integer", quoted, where);
      check_range(key, static_cast<double>(value), where);
      return value;
    }
    case DeckType::Real: {
      double value = 0;
      const auto [stop, code] = std::from_chars(begin, end, value);
      if (code != std::errc() || stop != end) fail_type(key, "a number", quoted, where);
      check_range(key, value, where);
      return value;
    }
    case DeckType::Bytes: {
      const auto value = parse_bytes(text);
      if (!value) fail_type(key, "a number of bytes such as 4GiB", quoted, where);
      return *value;
    }
    default: break;
  }
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
    text = text.substr(1, text.size() - 2);
  return check_text(key, std::string(text), std::filesystem::path(), where);
}

std::string_view toml_type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return "an array";
    case toml::node_type::string: return "text";
    case toml::node_type::integer: return "an integer";
    case toml::node_type::floating_point: return "a floating-point number";
    case toml::node_type::boolean: return "true or false";
    default: return "a date or time";
  }
}

// The checked value of a TOML node.
DeckValue read_node(const DeckKey& key, const toml::node& node, const std::filesystem::path& folder,
                    const std::string& where) {
  switch (key.type) {
    case DeckType::Flag:
      if (const auto* value = node.as_boolean()) return value->get();
      fail_type(key, "true or false", toml_type_name(node), where);
    case DeckType::Integer:
      if (const auto* value = node.as_integer()) {
        check_range(key, static_cast<double>(value->get()), where);
        return value->get();
      }
      fail_type(key, "an integer", toml_type_name(node), where);
    case DeckType::Real: {
      if (!node.is_number()) fail_type(key, "a number", toml_type_name(node), where);
      const double value = *node.value<double>();
      check_range(key, value, where);
      return value;
    }
    case DeckType::Bytes:
      if (const auto* value = node.as_integer()) {
        check_range(key, static_cast<double>(value->get()), where);
        return value->get();
      }
      if (const auto* value = node.as_string()) {
        const auto bytes = parse_bytes(value->get());
        if (bytes) return *bytes;
      }
      fail_type(key, "a number of bytes such as \"4 GiB\"", node.is_string() ? "this text" : toml_type_name(node),
                where);
    default:
      if (const auto* value = node.as_string()) return check_text(key, value->get(), folder, where);
      fail_type(key, "text in quotes", toml_type_name(node), where);
  }
}

std::string toml_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string value_text(const DeckValue& value) {
  if (const auto* on = std::get_if<bool>(&value)) return *on ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* number = std::get_if<double>(&value)) {
    std::string text = number_text(*number);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
  }
  return toml_text(std::get<std::string>(value));
}

}  // namespace

Deck::Deck() {
  for (const DeckKey& key : deck_schema()) entries_.push_back({key.default_value, ""});
}

Deck Deck::from_file(const std::filesystem::path& file) {
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  return from_text(read_file(file, kLargestDeck), file.string(), folder);
}

Deck Deck::from_text(std::string_view text, const std::string& file_name, const std::filesystem::path& folder) {
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    RHINO_FAIL(UsageError, "{}:{}: {}", file_name, error.source().begin.line, error.description());
  }
  const auto where = [&](const toml::source_region& source) {
    return fmt::format("{}:{}", file_name, source.begin.line);
  };
  Deck deck;
  for (const auto& [section, section_node] : table) {
    const toml::table* keys = section_node.as_table();
    RHINO_CHECK_AS(UsageError, keys != nullptr, "{}: '{}' stands outside of a [section]", where(section.source()),
                   section.str());
    if (keys->empty()) {
      const auto sections = section_names();
      RHINO_CHECK_AS(UsageError, std::find(sections.begin(), sections.end(), section.str()) != sections.end(),
                     "{}: there is no section [{}] in a deck{}; see 'rhino help decks'", where(section.source()),
                     section.str(), did_you_mean(section.str(), sections));
    }
    for (const auto& [key, node] : *keys) {
      const std::string position = where(key.source());
      const std::size_t index = find_key(section.str(), key.str(), position);
      deck.entries_[index] = {read_node(deck_schema()[index], node, folder, position), position};
    }
  }
  return deck;
}

void Deck::override_with(std::string_view assignment) {
  const std::string where = "the command line";
  const std::size_t equal = assignment.find('=');
  const std::size_t dot = assignment.substr(0, equal).find('.');
  RHINO_CHECK_AS(UsageError, equal != std::string_view::npos && dot != std::string_view::npos,
                 "'{}' is not an override of the form section.key=value", assignment);
  const std::string_view section = trim(assignment.substr(0, dot));
  const std::string_view key = trim(assignment.substr(dot + 1, equal - dot - 1));
  const std::size_t index = find_key(section, key, where);
  entries_[index] = {parse_override(deck_schema()[index], trim(assignment.substr(equal + 1)), where), where};
}

void Deck::override_with(std::span<const std::string> assignments) {
  for (const std::string& assignment : assignments) override_with(std::string_view(assignment));
}

std::size_t Deck::index_of(std::string_view name) const {
  const auto& schema = deck_schema();
  for (std::size_t i = 0; i < schema.size(); ++i) {
    const DeckKey& key = schema[i];
    if (name.size() == key.section.size() + 1 + key.key.size() && name.starts_with(key.section) &&
        name[key.section.size()] == '.' && name.ends_with(key.key))
      return i;
  }
  RHINO_FAIL(InternalError, "the deck schema has no key '{}'", name);
}

bool Deck::flag(std::string_view name) const {
  const auto* value = std::get_if<bool>(&entry(name).value);
  RHINO_ASSERT(value != nullptr, "deck key '{}' is no flag", name);
  return *value;
}

std::int64_t Deck::integer(std::string_view name) const {
  const auto* value = std::get_if<std::int64_t>(&entry(name).value);
  RHINO_ASSERT(value != nullptr, "deck key '{}' is no integer", name);
  return *value;
}

double Deck::real(std::string_view name) const {
  const auto* value = std::get_if<double>(&entry(name).value);
  RHINO_ASSERT(value != nullptr, "deck key '{}' is no number", name);
  return *value;
}

const std::string& Deck::text(std::string_view name) const {
  const auto* value = std::get_if<std::string>(&entry(name).value);
  RHINO_ASSERT(value != nullptr, "deck key '{}' is no text", name);
  return *value;
}

bool Deck::given(std::string_view name) const { return !entry(name).given_by.empty(); }

std::string Deck::origin(std::string_view name) const {
  const Entry& found = entry(name);
  return fmt::format("{} of {}", name, found.given_by.empty() ? std::string("the defaults") : found.given_by);
}

std::string Deck::canonical_text() const {
  std::string text;
  std::string section;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const DeckKey& key = deck_schema()[i];
    if (key.section != section) {
      text += fmt::format("{}[{}]\n", section.empty() ? "" : "\n", key.section);
      section = key.section;
    }
    text += fmt::format("{} = {}\n", key.key, value_text(entries_[i].value));
  }
  return text;
}

Hash128 Deck::hash() const { return hash128(canonical_text()); }

}  // namespace rhino
