// SPDX-License-Identifier: Apache-2.0
#include <rhino/cluster/mesh.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>

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

TEST(LayOut, AnAxisHasTheSlowestLinkThatItCrosses) {
  const Cluster cluster = parse_cluster(two_nodes, "c.toml");
  EXPECT_EQ(cluster.devices(), 8);
  const Mesh inside_and_across = lay_out(shard::MeshShape({{"x", 2}, {"y", 4}}), cluster);
  EXPECT_EQ(inside_and_across.bandwidth, (std::vector<double>{2.5e10, 3e11}));
  EXPECT_EQ(inside_and_across.latency, (std::vector<double>{1e-5, 2e-6}));
  const Mesh one_axis = lay_out(shard::MeshShape({{"x", 8}}), cluster);
  EXPECT_EQ(one_axis.bandwidth, (std::vector<double>{2.5e10}));
  const Mesh three = lay_out(shard::MeshShape({{"x", 2}, {"y", 2}, {"z", 2}}), cluster);
  EXPECT_EQ(three.bandwidth, (std::vector<double>{2.5e10, 3e11, 3e11}));
  EXPECT_THROW(lay_out(shard::MeshShape({{"x", 16}}), cluster), InputError);
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
