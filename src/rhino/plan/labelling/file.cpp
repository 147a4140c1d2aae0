// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/labelling/file.hpp>

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <rhino/base/error.hpp>
#include <rhino/base/file.hpp>

namespace rhino::plan::labelling {
namespace {

constexpr std::int64_t largest_text = std::int64_t{1} << 33;

/// Arrays of arrays of numbers, one after the other.
struct Rows {
  std::vector<std::int64_t> values;
  std::vector<std::size_t> ends;
  bool seen = false;

  std::span<const std::int64_t> row(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    return {values.data() + begin, ends[i] - begin};
  }
};

/// Collects the five tables of the format while the text is read; everything else is skipped.
class Collector : public nlohmann::json_sax<nlohmann::json> {
 public:
  Rows intervals, costs, usages, edge_nodes, edge_costs;
  std::optional<std::int64_t> limit;
  std::string name;

  bool null() override { return scalar("null"); }
  bool boolean(bool) override { return scalar("a truth value"); }
  bool number_integer(number_integer_t value) override { return number(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (!skipping() && value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
      RHINO_FAIL(InputError, "{}: {} does not fit into 64 bits", path(), value);
    return number(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    if (skipping()) return true;
    if (value != std::floor(value) || std::abs(value) >= 9.2e18)
      RHINO_FAIL(InputError, "{}: {} is no 64-bit integer", path(), text);
    return number(static_cast<std::int64_t>(value));
  }
  bool string(string_t& value) override {
    if (place_ == Place::Problem && key_ == "name") {
      name = value;
      return true;
    }
    return scalar("a string");
  }
  bool binary(binary_t&) override { return scalar("binary data"); }

  bool start_object(std::size_t) override {
    if (skipping()) return ++skip_, true;
    if (place_ == Place::Root && depth_ == 0) return ++depth_, true;
    if (place_ == Place::Root && key_ == "problem") return enter(Place::Problem);
    if (place_ == Place::Problem && key_ == "nodes") return enter(Place::Nodes);
    if (place_ == Place::Problem && key_ == "edges") return enter(Place::Edges);
    if (known_key()) RHINO_FAIL(InputError, "{}: an object stands where {} should", path(), expected());
    return ++skip_, true;
  }
  bool end_object() override {
    if (skip_ > 0) {
      --skip_;
    } else if (place_ == Place::Nodes || place_ == Place::Edges) {
      place_ = Place::Problem;
    } else {
      place_ = Place::Root;
    }
    key_.clear();
    return true;
  }
  bool start_array(std::size_t) override {
    if (skipping()) return ++skip_, true;
    if (depth_ == 0) RHINO_FAIL(InputError, "the file holds an array, not the object of a problem");
    if (level_ == 0) {
      rows_ = rows_of_key();
      if (rows_ == nullptr) {
        if (known_key()) RHINO_FAIL(InputError, "{}: an array stands where {} should", path(), expected());
        return ++skip_, true;
      }
      rows_->seen = true;
    } else if (level_ == 2) {
      RHINO_FAIL(InputError, "{}: an array stands where a number should", path());
    }
    return ++level_, true;
  }
  bool end_array() override {
    if (skip_ > 0) return --skip_, true;
    if (level_ == 2) rows_->ends.push_back(rows_->values.size());
    return --level_, true;
  }
  bool key(string_t& value) override {
    if (skip_ > 0) return true;
    key_ = value;
    if (known_key()) {
      const std::string whole = path();
      RHINO_CHECK(std::find(seen_.begin(), seen_.end(), whole) == seen_.end(), "{} is given twice", whole);
      seen_.push_back(whole);
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    const std::string_view text = error.what();
    RHINO_FAIL(InputError, "the JSON text is broken at byte {}: {}", position,
               text.substr(std::min(text.size(), text.find("parse error"))));
  }

 private:
  enum class Place { Root, Problem, Nodes, Edges };

  bool skipping() const { return skip_ > 0; }
  bool enter(Place place) {
    place_ = place;
    key_.clear();
    return true;
  }
  Rows* rows_of_key() {
    if (place_ == Place::Nodes && key_ == "intervals") return &intervals;
    if (place_ == Place::Nodes && key_ == "costs") return &costs;
    if (place_ == Place::Nodes && key_ == "usages") return &usages;
    if (place_ == Place::Edges && key_ == "nodes") return &edge_nodes;
    if (place_ == Place::Edges && key_ == "costs") return &edge_costs;
    return nullptr;
  }
  bool known_key() {
    if (rows_of_key() != nullptr) return true;
    if (place_ == Place::Root) return key_ == "problem";
    return place_ == Place::Problem && (key_ == "nodes" || key_ == "edges" || key_ == "usage_limit" || key_ == "name");
  }
  const char* expected() {
    if (rows_of_key() != nullptr) return "an array of arrays of numbers";
    if (key_ == "usage_limit") return "a number";
    return key_ == "name" ? "a string" : "an object";
  }
  std::string path() const {
    constexpr const char* places[] = {"", "problem.", "problem.nodes.", "problem.edges."};
    return places[static_cast<int>(place_)] + key_;
  }
  bool scalar(const char* what) {
    if (skipping() || (depth_ > 0 && level_ == 0 && !known_key())) return true;
    RHINO_CHECK(depth_ > 0, "the file holds {}, not the object of a problem", what);
    if (level_ > 0) RHINO_FAIL(InputError, "{}: {} stands where a number should", path(), what);
    RHINO_FAIL(InputError, "{}: {} stands where {} should", path(), what, expected());
  }
  bool number(std::int64_t value) {
    if (level_ == 2) {
      rows_->values.push_back(value);
      return true;
    }
    if (level_ == 0 && !skipping() && place_ == Place::Problem && key_ == "usage_limit") {
      limit = value;
      return true;
    }
    if (level_ == 1) RHINO_FAIL(InputError, "{}: a number stands where an array should", path());
    return scalar("a number");
  }

  Place place_ = Place::Root;
  int depth_ = 0;  // whether the outermost object was entered
  int level_ = 0;  // arrays entered
  int skip_ = 0;   // objects and arrays entered that are not of the format
  Rows* rows_ = nullptr;
  std::string key_;
  std::vector<std::string> seen_;
};

std::string inflate(std::string_view packed, const std::string& source) {
  z_stream stream{};
  RHINO_ASSERT(inflateInit2(&stream, 15 + 32) == Z_OK);
  std::string text(std::max<std::size_t>(packed.size() * 20, 1 << 16), '\0');
  std::size_t filled = 0;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  std::size_t left = packed.size();
  int code = Z_OK;
  while (code == Z_OK) {
    if (filled == text.size()) text.resize(text.size() * 2);
    const std::size_t chunk = std::size_t{1} << 30;
    if (stream.avail_in == 0) {
      stream.avail_in = static_cast<uInt>(std::min(left, chunk));
      left -= stream.avail_in;
    }
    const std::size_t room = std::min(text.size() - filled, chunk);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + filled);
    stream.avail_out = static_cast<uInt>(room);
    code = ::inflate(&stream, Z_NO_FLUSH);
    filled += room - stream.avail_out;
    if (static_cast<std::int64_t>(filled) > largest_text) break;
  }
  const bool more = stream.avail_in > 0 || left > 0;
  inflateEnd(&stream);
  RHINO_CHECK(static_cast<std::int64_t>(filled) <= largest_text, "{}: unpacks to more than {} bytes", source,
              largest_text);
  RHINO_CHECK(code != Z_BUF_ERROR, "{}: the gzip archive is truncated", source);
  RHINO_CHECK(code == Z_STREAM_END, "{}: the gzip archive is damaged", source);
  RHINO_CHECK(!more, "{}: something follows the gzip archive", source);
  text.resize(filled);
  return text;
}

std::string read_text(const std::filesystem::path& path) {
  std::string text = read_file(path);
  if (text.starts_with("\x1f\x8b")) return inflate(text, path.string());
  return text;
}

int index_of(std::int64_t value, const char* what, std::size_t edge) {
  RHINO_CHECK(value >= 0 && value < std::numeric_limits<int>::max(), "edge {} names {} {}", edge, what, value);
  return static_cast<int>(value);
}

void check_rows(const Rows& rows, const char* name, std::size_t count, const char* of) {
  RHINO_CHECK(rows.seen, "{} is missing", name);
  RHINO_CHECK(rows.ends.size() == count, "{} has {} entries, {} has {}", name, rows.ends.size(), of, count);
}

Problem assemble(const Collector& read) {
  RHINO_CHECK(read.costs.seen, "problem.nodes.costs is missing");
  const std::size_t nodes = read.costs.ends.size();
  check_rows(read.intervals, "problem.nodes.intervals", nodes, "problem.nodes.costs");
  check_rows(read.usages, "problem.nodes.usages", nodes, "problem.nodes.costs");
  RHINO_CHECK(read.edge_nodes.seen, "problem.edges.nodes is missing");
  const std::size_t edges = read.edge_nodes.ends.size();
  check_rows(read.edge_costs, "problem.edges.costs", edges, "problem.edges.nodes");
  Problem problem;
  problem.name = read.name;
  problem.usage_limit = read.limit;
  problem.nodes.resize(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    const auto interval = read.intervals.row(i), cost = read.costs.row(i), usage = read.usages.row(i);
    RHINO_CHECK(interval.size() == 2, "the interval of node {} has {} numbers", i, interval.size());
    problem.nodes[i] = {{interval[0], interval[1]}, {cost.begin(), cost.end()}, {usage.begin(), usage.end()}};
  }
  problem.edges.resize(edges);
  for (std::size_t i = 0; i < edges; ++i) {
    const auto ends = read.edge_nodes.row(i), cost = read.edge_costs.row(i);
    RHINO_CHECK(ends.size() == 2, "edge {} joins {} nodes", i, ends.size());
    problem.edges[i] = {index_of(ends[0], "node", i), index_of(ends[1], "node", i), {cost.begin(), cost.end()}};
  }
  check_problem(problem);
  return problem;
}

Problem parse(std::string_view json) {
  Collector collector;
  nlohmann::json::sax_parse(json.begin(), json.end(), &collector);
  return assemble(collector);
}

void append_list(std::string& out, std::span<const std::int64_t> values) {
  out += fmt::format("[{}]", fmt::join(values, ","));
}

/// "name": [row, row, ..] with one row per element.
template <class Elements, class Row>
void append_table(std::string& out, const char* name, const Elements& elements, Row row) {
  out += fmt::format("\"{}\": [", name);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (i > 0) out += ',';
    row(elements[i]);
  }
  out += ']';
}

constexpr std::array kinds = {"drop", "dominated", "separate", "eliminate"};  // as ProofStep::Kind counts

/// An array that must have `size` entries, or any number if that is negative.
const nlohmann::json& list(const nlohmann::json& json, int size, const char* what) {
  RHINO_CHECK(json.is_array() && (size < 0 || json.size() == static_cast<std::size_t>(size)), "{} are no list of {}", what,
              size < 0 ? "entries" : fmt::format("{} entries", size));
  return json;
}

std::int64_t whole(const nlohmann::json& json, const char* what) {
  RHINO_CHECK(json.is_number_integer() && !(json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t{INT64_MAX}),
              "{} hold something else than whole numbers of 64 bits", what);
  return json.get<std::int64_t>();
}

int small(const nlohmann::json& json, const char* what) {
  const std::int64_t value = whole(json, what);
  RHINO_CHECK(value >= -1 && value <= std::numeric_limits<int>::max(), "{} hold the index {}", what, value);
  return static_cast<int>(value);
}

Certificate certificate_of(const nlohmann::json& json) {
  RHINO_CHECK(json.is_object(), "is no JSON object (or a broken one)");
  for (const char* key : {"bound", "shift", "prices", "steps", "messages"}) RHINO_CHECK(json.contains(key), "{} is missing", key);
  RHINO_CHECK(json.size() == 5, "there is more than bound, shift, prices, steps and messages");
  Certificate certificate;
  if (!json["bound"].is_null()) certificate.claim = whole(json["bound"], "bound");
  certificate.shift = small(json["shift"], "shift");
  for (const auto& price : list(json["prices"], -1, "prices")) {
    list(price, 2, "prices");
    certificate.prices.push_back({whole(price[0], "prices"), whole(price[1], "prices")});
  }
  for (const auto& step : list(json["steps"], -1, "steps")) {
    list(step, 4, "steps");
    const auto kind = std::find(kinds.begin(), kinds.end(), step[0]);
    RHINO_CHECK(kind != kinds.end(), "step {} is of a kind that is not known", certificate.steps.size());
    certificate.steps.push_back({static_cast<ProofStep::Kind>(kind - kinds.begin()), small(step[1], "steps"),
                                 small(step[2], "steps"), small(step[3], "steps")});
  }
  const auto numbers = [](const nlohmann::json& values) {
    std::vector<std::int64_t> result;
    for (const auto& value : list(values, -1, "messages")) result.push_back(whole(value, "messages"));
    return result;
  };
  for (const auto& message : list(json["messages"], -1, "messages")) {
    list(message, 4, "messages");
    certificate.messages.push_back(
        {small(message[0], "messages"), small(message[1], "messages"), numbers(message[2]), numbers(message[3])});
  }
  return certificate;
}

}  // namespace

Problem parse_problem(std::string_view json) { return parse(json); }

Problem read_problem(const std::filesystem::path& path) {
  const std::string text = read_text(path);
  try {
    return parse(text);
  } catch (const InputError& error) {
    RHINO_FAIL(InputError, "{}: {}", path.string(), error.what());
  }
}

std::string to_json(const Problem& problem) {
  std::string out = fmt::format("{{\"problem\": {{\"name\": {}, \"nodes\": {{", nlohmann::json(problem.name).dump());
  append_table(out, "intervals", problem.nodes, [&](const Node& node) {
    out += fmt::format("[{},{}]", node.live.lower, node.live.upper);
  });
  out += ", ";
  append_table(out, "costs", problem.nodes, [&](const Node& node) { append_list(out, node.cost); });
  out += ", ";
  append_table(out, "usages", problem.nodes, [&](const Node& node) { append_list(out, node.usage); });
  out += "}, \"edges\": {";
  append_table(out, "nodes", problem.edges, [&](const Edge& edge) {
    out += fmt::format("[{},{}]", edge.first, edge.second);
  });
  out += ", ";
  append_table(out, "costs", problem.edges, [&](const Edge& edge) { append_list(out, edge.cost); });
  out += '}';
  if (problem.usage_limit) out += fmt::format(", \"usage_limit\": {}", *problem.usage_limit);
  return out + "}}\n";
}

std::vector<int> read_assignment(const std::filesystem::path& path) {
  const std::string text = read_text(path);
  const auto json = nlohmann::json::parse(text, nullptr, false);
  RHINO_CHECK(json.is_array(), "{}: is no JSON array of strategies", path.string());
  std::vector<int> assignment;
  for (const auto& value : json) {
    RHINO_CHECK(value.is_number_integer() && value >= 0 && value <= std::numeric_limits<int>::max(),
                "{}: entry {} is no strategy", path.string(), assignment.size());
    assignment.push_back(value.get<int>());
  }
  return assignment;
}

void write_assignment(const std::filesystem::path& path, const std::vector<int>& assignment) {
  write_file(path, fmt::format("[{}]\n", fmt::join(assignment, ",")));
}

Certificate read_certificate(const std::filesystem::path& path) {
  const std::string text = read_text(path);
  const auto json = nlohmann::json::parse(text, nullptr, false);
  try {
    return certificate_of(json);
  } catch (const InputError& error) {
    RHINO_FAIL(InputError, "{}: {}", path.string(), error.what());
  }
}

void write_certificate(const std::filesystem::path& path, const Certificate& certificate) {
  std::string out = fmt::format("{{\"bound\": {}, \"shift\": {},\n",
                                certificate.claim ? std::to_string(*certificate.claim) : "null", certificate.shift);
  append_table(out, "prices", certificate.prices, [&](const Certificate::Price& price) {
    out += fmt::format("[{},{}]", price.time, price.price);
  });
  out += ",\n";
  append_table(out, "steps", certificate.steps, [&](const ProofStep& step) {
    out += fmt::format("[\"{}\",{},{},{}]", kinds[static_cast<std::size_t>(step.kind)], step.node, step.state, step.other);
  });
  out += ",\n";
  append_table(out, "messages", certificate.messages, [&](const Message& message) {
    out += fmt::format("[{},{},", message.first, message.second);
    append_list(out, message.to_first);
    out += ',';
    append_list(out, message.to_second);
    out += ']';
  });
  write_file(path, out + "}\n");
}

}  // namespace rhino::plan::labelling
