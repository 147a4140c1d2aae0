// SPDX-License-Identifier: Apache-2.0
#include <rhino/cluster/mesh.hpp>

#include <filesystem>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>

#include "support/test_data.hpp"

namespace rhino::cluster {
namespace {

using testing::HasSubstr;

constexpr const char* two_nodes = R"(
name = "pair"
[device]
memory_bytes = 80e9
memory_bandwidth = 2e12
flops_f32 = 2e13
flops_f64 = 1e13
flops_bf16 = 3e14
transcendental_rate = 1e12
[[level]]
name = "node"
fanout = 4
bandwidth = 3e11
latency = 2e-6
[[level]]
name = "network"
fanout = 2
bandwidth = 2.5e10
latency = 1e-5
)";

std::string error_of(const std::string& text) {
  try {
    parse_cluster(text, "c.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(MeshShapes, AreAllFactorisationsInOrder) {
  const auto shapes = mesh_shapes(12, 2);
  std::vector<std::vector<std::int64_t>> sizes;
  for (const auto& shape : shapes) {
    std::vector<std::int64_t> axes;
    for (const auto& axis : shape.axes()) axes.push_back(axis.size);
    EXPECT_EQ(shape.devices(), 12);
    sizes.push_back(axes);
  }
  EXPECT_EQ(sizes, (std::vector<std::vector<std::int64_t>>{{12}, {2, 6}, {3, 4}, {4, 3}, {6, 2}}));
  EXPECT_EQ(mesh_shapes(1, 3).size(), 1u);
  EXPECT_EQ(mesh_shapes(7, 3).size(), 1u);
  EXPECT_EQ(mesh_shapes(8, 3).back().rank(), 3);
}

TEST(LayOut, AnAxisHasAStretchPerLevelThatItCrosses) {
  const Cluster cluster = parse_cluster(two_nodes, "c.toml");
  EXPECT_EQ(cluster.devices(), 8);
  const Link across{2, 2.5e10, 1e-5, 1};
  const auto inside = [](std::int64_t parts) { return Link{parts, 3e11, 2e-6, 0}; };
  using Links = std::vector<std::vector<Link>>;
  EXPECT_EQ(lay_out(shard::MeshShape({{"x", 2}, {"y", 4}}), cluster).links, (Links{{across}, {inside(4)}}));
  EXPECT_EQ(lay_out(shard::MeshShape({{"x", 8}}), cluster).links, (Links{{inside(4), across}}));
  EXPECT_EQ(lay_out(shard::MeshShape({{"x", 4}, {"y", 2}}), cluster).links, (Links{{inside(2), across}, {inside(2)}}));
  EXPECT_EQ(lay_out(shard::MeshShape({{"x", 2}, {"y", 2}, {"z", 2}}), cluster).links, (Links{{across}, {inside(2)}, {inside(2)}}));
  EXPECT_THROW(lay_out(shard::MeshShape({{"x", 16}}), cluster), InputError);
}

TEST(LayOut, AnAxisThatDoesNotNestHasTheSlowestLink) {
  const Cluster cluster = parse_cluster(two_nodes, "c.toml");
  EXPECT_EQ(lay_out(shard::MeshShape({{"x", 2}, {"y", 3}}), cluster).links,
            (std::vector<std::vector<Link>>{{{2, 2.5e10, 1e-5, 1}}, {{3, 3e11, 2e-6, 0}}}));
  EXPECT_EQ(lay_out(shard::MeshShape({{"x", 6}}), cluster).links, (std::vector<std::vector<Link>>{{{6, 2.5e10, 1e-5, 1}}}));
}

TEST(ClusterFile, TheShippedOnesAreGood) {
  const std::map<std::string, std::int64_t> devices = {
      {"dgx_a100_1024", 1024}, {"dgx_h100_128", 128}, {"v100_32_ethernet", 32}, {"workstation_2gpu", 2}, {"cpu_2", 2}};
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_path("inputs/clusters"))) {
    const Cluster cluster = read_cluster(entry.path().string());
    EXPECT_EQ(cluster.name, entry.path().stem().string());
    ASSERT_EQ(devices.count(cluster.name), 1u) << cluster.name;
    EXPECT_EQ(cluster.devices(), devices.at(cluster.name));
    ++found;
  }
  EXPECT_EQ(found, devices.size());
  Cluster cpu = default_cpu_cluster(2);
  cpu.name = "cpu_2";
  EXPECT_EQ(to_toml(read_cluster(test::source_path("inputs/clusters/cpu_2.toml").string())), to_toml(cpu));
}

TEST(ClusterFile, NumbersOutsideOfTheirRangeNameIt) {
  EXPECT_THAT(error_of(replaced(two_nodes, "[[level]]", "product_efficiency = 1.5\n[[level]]")),
              HasSubstr("device.product_efficiency is 1.5, must be from 1e-06 to 1 (fraction of the peak)"));
  EXPECT_THAT(error_of(replaced(two_nodes, "[[level]]", "tile_m = 0\n[[level]]")), HasSubstr("device.tile_m is 0, must be from 1"));
}

TEST(ClusterFile, RoundTrip) {
  const Cluster cluster = parse_cluster(two_nodes, "c.toml");
  const Cluster again = parse_cluster(to_toml(cluster), "again.toml");
  EXPECT_EQ(to_toml(again), to_toml(cluster));
  EXPECT_EQ(again.name, "pair");
  EXPECT_EQ(again.levels.size(), 2u);
  EXPECT_EQ(again.device.flops_bf16, 3e14);
  EXPECT_EQ(again.device.flops(ir::DType::BF16), 3e14);
  EXPECT_EQ(again.device.flops(ir::DType::F64), 1e13);
  EXPECT_EQ(again.device.flops(ir::DType::F32), 2e13);
}

TEST(ClusterFile, TheDefaultIsAValidFile) {
  const Cluster cluster = default_cpu_cluster(4);
  EXPECT_EQ(parse_cluster(to_toml(cluster), "d.toml").devices(), 4);
}

TEST(ClusterFile, ErrorsNameKeyUnitAndPlace) {
  EXPECT_THAT(error_of("[device"), HasSubstr("c.toml:1"));
  EXPECT_THAT(error_of("name = \"x\""), HasSubstr("[device] is missing"));
  EXPECT_THAT(error_of(replaced(two_nodes, "memory_bytes = 80e9", "")), HasSubstr("device.memory_bytes is missing (in bytes)"));
  EXPECT_THAT(error_of(replaced(two_nodes, "flops_f64 = 1e13", "flops_f64 = \"fast\"")),
              HasSubstr("device.flops_f64 must be a number in floating operations per second"));
  EXPECT_THAT(error_of(replaced(two_nodes, "flops_f64 = 1e13", "flops_f64 = -1")), HasSubstr("device.flops_f64 is -1"));
  EXPECT_THAT(error_of(replaced(two_nodes, "flops_f64 = 1e13", "flops_f64 = nan")), HasSubstr("device.flops_f64 is nan"));
  EXPECT_THAT(error_of(replaced(two_nodes, "fanout = 2", "fanout = 2.5")), HasSubstr("level.fanout is 2.5"));
  EXPECT_THAT(error_of(replaced(two_nodes, "fanout = 2", "fanout = 0")), HasSubstr("level.fanout"));
  EXPECT_THAT(error_of(replaced(two_nodes, "latency = 1e-5", "latencie = 1e-5")), HasSubstr("the nearest known one is level.latency"));
  EXPECT_THROW(read_cluster("nowhere.toml"), InputError);
}

}  // namespace
}  // namespace rhino::cluster
