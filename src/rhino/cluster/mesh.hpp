// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rhino/ir/types.hpp>
#include <rhino/shard/layout.hpp>

namespace rhino::cluster {

/// A level of the topology: `fanout` units of the level below are joined by links of this kind (innermost level first:
/// cores or GPUs of a socket or island, then of a node, then nodes of a rail ..).
struct Level {
  std::string name;
  std::int64_t fanout = 1;
  double bandwidth = 0;  ///< bytes per second that one device can send over this level while all do
  double latency = 0;    ///< seconds per message
};

/// Rates of one device. Products are cut into blocks of the result, `tile_m` x `tile_n`, each made by one of `units`
/// processors: what does not fill the blocks, or the last round of units, is lost. With the defaults nothing is lost.
struct Device {
  std::string name;
  double memory_bytes = 0;
  double memory_bandwidth = 0;  ///< bytes per second
  double flops_f32 = 0, flops_f64 = 0, flops_bf16 = 0;  ///< floating operations per second, peak; bf16 also for f16
  double product_efficiency = 1;  ///< of the peak that a large matrix product reaches
  double conv_efficiency = 0.8;       ///< of a convolution, relative to a matrix product
  double transcendental_rate = 0;     ///< exp, tanh .. per second, f32
  double op_overhead = 0;             ///< seconds to start one task
  double units = 1;                   ///< processors that share one product
  double tile_m = 1, tile_n = 1;      ///< rows and columns of the result that one unit makes at a time
  double overlap = 0;                 ///< 1: communication runs beside computation; 0: it takes its time from it
  double flops(ir::DType dtype) const;
};

/// What the planner knows of the machines: described by a file, calibrated, or the shipped default.
struct Cluster {
  std::string name;
  Device device;
  std::vector<Level> levels;  ///< innermost first; product of fanouts = devices
  std::int64_t devices() const;
};

/// The default for `ranks` processes on this machine: one level, rates of a common core (or those that `rhino calibrate`
/// left in its table).
Cluster default_cpu_cluster(std::int64_t ranks);

/// Cluster from a TOML file: name, [device] with the rates of Device, and [[level]] tables, innermost first. Throws InputError with key and unit.
Cluster read_cluster(const std::string& path);
/// The same from text; `file_name` is for messages.
Cluster parse_cluster(const std::string& text, const std::string& file_name);
/// Inverse of parse_cluster, to six digits.
std::string to_toml(const Cluster& cluster);

/// A stretch of a mesh axis inside one level of the topology: `parts` units that exchange over links of that level.
struct Link {
  std::int64_t parts = 1;
  double bandwidth = 0;  ///< bytes per second that one device can send while all do
  double latency = 0;    ///< seconds per message
  int level = 0;         ///< position in Cluster::levels, 0 innermost
  bool operator==(const Link&) const = default;
};

/// A MeshShape laid over a cluster.
struct Mesh {
  shard::MeshShape shape;
  /// Per axis its stretches, innermost first; their parts multiply to the size of the axis. An axis whose groups do not nest
  /// in the levels is one stretch over the slowest level that it crosses.
  std::vector<std::vector<Link>> links;
  Device device;
};

/// Lays `shape` over the first shape.devices() devices of the cluster, last axis innermost.
Mesh lay_out(const shard::MeshShape& shape, const Cluster& cluster);

/// All meshes of at most `max_axes` axes whose sizes (each >= 2) multiply to `devices`, in a fixed order. Axes are named
/// x, y, z. One device gives one mesh without axes.
std::vector<shard::MeshShape> mesh_shapes(std::int64_t devices, int max_axes);

}  // namespace rhino::cluster
