// SPDX-License-Identifier: Apache-2.0
#include <rhino/memory/arena_csv.hpp>

#include <array>
#include <charconv>
#include <limits>
#include <unordered_set>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/file.hpp>
#include <rhino/base/strings.hpp>

namespace rhino::memory {
namespace {

constexpr std::array<std::string_view, 5> kColumns = {"id", "lower", "upper", "size", "offset"};
constexpr std::size_t kRequired = 4;
/// Far below where sums of sizes or offsets could overflow.
constexpr std::int64_t kLargest = std::int64_t{1} << 60;

class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  ArenaTable run() {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);  // byte-order mark
    read_header();
    for (std::string_view line; next_line(line);) {
      if (!trim(line).empty()) read_block(line);
    }
    RHINO_CHECK(!table_.ids.empty(), "{}: holds no block", name_);
    return std::move(table_);
  }

 private:
  bool next_line(std::string_view& line) {
    if (text_.empty()) return false;
    const std::size_t end = text_.find('\n');
    line = text_.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
    ++line_;
    return true;
  }

  void read_header() {
    std::string_view line;
    RHINO_CHECK(next_line(line), "{}: is empty; the first line must name the columns id,lower,upper,size", name_);
    column_.fill(-1);
    int position = 0;
    for (const std::string_view cell : split(line, ',')) {
      const std::string_view title = trim(cell);
      std::size_t c = 0;
      while (c < kColumns.size() && kColumns[c] != title) ++c;
      RHINO_CHECK(c < kColumns.size(), "{}:{}: unknown column '{}'; known are {}", name_, line_, shown(title), fmt::join(kColumns, ", "));
      RHINO_CHECK(column_[c] < 0, "{}:{}: column '{}' occurs twice", name_, line_, title);
      column_[c] = position++;
    }
    columns_ = position;
    for (std::size_t c = 0; c < kRequired; ++c)
      RHINO_CHECK(column_[c] >= 0, "{}:{}: column '{}' is missing", name_, line_, kColumns[c]);
  }

  void read_block(std::string_view line) {
    const auto cells = split(line, ',');
    RHINO_CHECK(static_cast<int>(cells.size()) == columns_, "{}:{}: has {} values for {} columns", name_, line_, cells.size(), columns_);
    const auto cell = [&](std::size_t c) { return trim(cells[static_cast<std::size_t>(column_[c])]); };
    const std::string id(cell(0));
    RHINO_CHECK(!id.empty(), "{}:{}: the id is empty", name_, line_);
    RHINO_CHECK(seen_.insert(id).second, "{}:{}: id '{}' is used twice", name_, line_, shown(id));
    ArenaBlock block;
    block.lower = number(cell(1), "lower", -kLargest);
    block.upper = number(cell(2), "upper", -kLargest);
    RHINO_CHECK(block.lower < block.upper, "{}:{}: block '{}' lives from {} to {}: upper must be more than lower", name_, line_, shown(id),
                block.lower, block.upper);
    block.size = number(cell(3), "size", 0);
    if (column_[4] >= 0 && !cell(4).empty()) block.offset = number(cell(4), "offset", 0);
    total_ += block.size;
    RHINO_CHECK(total_ <= kLargest, "{}:{}: the sizes up to here sum to more than 2^60 bytes", name_, line_);
    table_.ids.push_back(id);
    table_.problem.blocks.push_back(block);
  }

  std::int64_t number(std::string_view text, const char* what, std::int64_t least) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    RHINO_CHECK(error != std::errc::result_out_of_range, "{}:{}: {} '{}' is too large", name_, line_, what, shown(text));
    RHINO_CHECK(error == std::errc() && end == text.data() + text.size(), "{}:{}: {} '{}' is not a whole number", name_, line_, what, shown(text));
    RHINO_CHECK(value >= least && value <= kLargest, "{}:{}: {} is {}, must be from {} to 2^60", name_, line_, what, value, least);
    return value;
  }

  /// Foreign text in a message: short, and without control characters.
  static std::string shown(std::string_view text) {
    std::string out(text.substr(0, 40));
    for (char& c : out) {
      if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) >= 127) c = '?';
    }
    return out;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t line_ = 0;
  std::array<int, kColumns.size()> column_{};
  int columns_ = 0;
  std::int64_t total_ = 0;
  std::unordered_set<std::string> seen_;
  ArenaTable table_;
};

}  // namespace

ArenaTable parse_arena_csv(std::string_view text, const std::string& name) { return Parser(text, name).run(); }

ArenaTable read_arena_csv(const std::filesystem::path& path) { return parse_arena_csv(read_file(path), path.string()); }

std::string to_arena_csv(const ArenaTable& table, const std::vector<std::int64_t>& offsets) {
  std::string out = "id,lower,upper,size,offset\n";
  for (std::size_t b = 0; b < table.ids.size(); ++b) {
    const ArenaBlock& block = table.problem.blocks[b];
    out += fmt::format("{},{},{},{},{}\n", table.ids[b], block.lower, block.upper, block.size, offsets[b]);
  }
  return out;
}

}  // namespace rhino::memory
