// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/core.h>
#include <toml++/toml.h>

#include <rhino/base/error.hpp>
#include <rhino/base/file.hpp>
#include <rhino/base/strings.hpp>
#include <rhino/cluster/mesh.hpp>

namespace rhino::cluster {

namespace {

/// One number of the [device] table. A key that may be left out has its default in Device.
struct DeviceKey {
  const char* name;
  const char* unit;
  double Device::* member;
  bool optional = false;
  double least = 0, greatest = 1e30;
};

constexpr DeviceKey device_keys[] = {
    {"memory_bytes", "bytes", &Device::memory_bytes},
    {"memory_bandwidth", "bytes per second", &Device::memory_bandwidth},
    {"flops_f32", "floating operations per second", &Device::flops_f32},
    {"flops_f64", "floating operations per second", &Device::flops_f64},
    {"flops_bf16", "floating operations per second", &Device::flops_bf16},
    {"product_efficiency", "fraction of the peak", &Device::product_efficiency, true, 1e-6, 1},
    {"conv_efficiency", "fraction of a matrix product's rate", &Device::conv_efficiency, true},
    {"transcendental_rate", "evaluations per second", &Device::transcendental_rate},
    {"op_overhead", "seconds", &Device::op_overhead, true},
    {"units", "processors that share a product", &Device::units, true, 1, 1e6},
    {"tile_m", "rows", &Device::tile_m, true, 1, 1e6},
    {"tile_n", "columns", &Device::tile_n, true, 1, 1e6},
    {"overlap", "0 or 1", &Device::overlap, true, 0, 1},
};

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  Cluster read(const std::string& text) {
    toml::table table;
    try {
      table = toml::parse(text, file_);
    } catch (const toml::parse_error& error) {
      RHINO_FAIL(InputError, "{}:{}: {}", file_, error.source().begin.line, error.description());
    }
    expect_keys(table, {"name", "device", "level"}, "");
    Cluster cluster;
    cluster.name = text_of(table, "name", std::filesystem::path(file_).stem().string());
    const toml::table* device = table["device"].as_table();
    RHINO_CHECK(device != nullptr, "{}: table [device] is missing", file_);
    std::vector<std::string> known{"name"};
    for (const DeviceKey& key : device_keys) known.emplace_back(key.name);
    expect_keys(*device, known, "device.");
    cluster.device.name = text_of(*device, "name", "device");
    for (const DeviceKey& key : device_keys) {
      const std::string name = fmt::format("device.{}", key.name);
      double& value = cluster.device.*key.member;
      value = number(*device, key.name, key.unit, key.optional ? value : -1.0, name);
      RHINO_CHECK(value >= key.least && value <= key.greatest, "{}: {} is {}, must be from {} to {} ({})", file_, name, value, key.least,
                  key.greatest, key.unit);
    }
    const toml::array* levels = table["level"].as_array();
    RHINO_CHECK(levels != nullptr && !levels->empty(), "{}: at least one [[level]] is needed, innermost first", file_);
    std::int64_t devices = 1;
    for (const toml::node& node : *levels) {
      const toml::table* level = node.as_table();
      RHINO_CHECK(level != nullptr, "{}: level must be a list of tables ([[level]])", file_);
      expect_keys(*level, {"name", "fanout", "bandwidth", "latency"}, "level.");
      Level out;
      out.name = text_of(*level, "name", fmt::format("level {}", cluster.levels.size()));
      const double fanout = number(*level, "fanout", "units of the level below", -1.0, "level.fanout");
      RHINO_CHECK(fanout >= 1 && fanout <= 1e6 && fanout == std::floor(fanout), "{}: level.fanout is {}, not a whole number from 1 to 1000000",
                  file_, fanout);
      out.fanout = static_cast<std::int64_t>(fanout);
      out.bandwidth = number(*level, "bandwidth", "bytes per second and device", -1.0, "level.bandwidth");
      out.latency = number(*level, "latency", "seconds per message", 0.0, "level.latency");
      RHINO_CHECK(out.bandwidth > 0, "{}: level.bandwidth must be more than 0 bytes per second", file_);
      devices *= out.fanout;
      RHINO_CHECK(devices <= 10'000'000, "{}: more than 10 million devices", file_);
      cluster.levels.push_back(std::move(out));
    }
    return cluster;
  }

 private:
  void expect_keys(const toml::table& table, const std::vector<std::string>& known, const std::string& prefix) const {
    for (const auto& [key, value] : table) {
      const std::string name(key.str());
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      RHINO_FAIL(InputError, "{}:{}: unknown key {}{}; the nearest known one is {}{}", file_, value.source().begin.line, prefix,
                 name, prefix, nearest_name(name, known).value_or(known.front()));
    }
  }

  std::string text_of(const toml::table& table, const char* key, const std::string& fallback) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return fallback;
    RHINO_CHECK(node->is_string(), "{}:{}: {} must be text", file_, node->source().begin.line, key);
    return node->as_string()->get();
  }

  /// A number >= 0; a negative `fallback` means that the key must be there.
  double number(const toml::table& table, const char* key, const char* unit, double fallback, const std::string& name) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) {
      RHINO_CHECK(fallback >= 0, "{}: {} is missing (in {})", file_, name, unit);
      return fallback;
    }
    RHINO_CHECK(node->is_number(), "{}:{}: {} must be a number in {}", file_, node->source().begin.line, name, unit);
    const double value = node->value<double>().value_or(-1);
    RHINO_CHECK(std::isfinite(value) && value >= 0, "{}:{}: {} is {}, must be a number of at least 0 in {}", file_,
                node->source().begin.line, name, value, unit);
    RHINO_CHECK(value > 0 || fallback >= 0, "{}:{}: {} must be more than 0 (in {})", file_, node->source().begin.line, name, unit);
    return value;
  }

  std::string file_;
};

}  // namespace

Cluster parse_cluster(const std::string& text, const std::string& file_name) { return Reader(file_name).read(text); }

Cluster read_cluster(const std::string& path) {
  constexpr std::int64_t most = std::int64_t{1} << 20;
  return parse_cluster(read_file(path, most), path);
}

std::string to_toml(const Cluster& cluster) {
  std::string text = fmt::format("name = \"{}\"\n\n[device]\nname = \"{}\"\n", cluster.name, cluster.device.name);
  for (const DeviceKey& key : device_keys) {
    text += fmt::format("{} = {:.6e}  # {}\n", key.name, cluster.device.*key.member, key.unit);
  }
  for (const Level& level : cluster.levels) {
    text += fmt::format("\n[[level]]\nname = \"{}\"\nfanout = {}\nbandwidth = {:.6e}  # bytes per second and device\n"
                        "latency = {:.6e}  # seconds per message\n",
                        level.name, level.fanout, level.bandwidth, level.latency);
  }
  return text;
}

}  // namespace rhino::cluster
