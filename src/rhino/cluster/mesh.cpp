// SPDX-License-Identifier: Apache-2.0
#include <rhino/cluster/mesh.hpp>

#include <algorithm>
#include <functional>

#include <rhino/base/error.hpp>

namespace rhino::cluster {

double Device::flops(ir::DType dtype) const {
  switch (dtype) {
    case ir::DType::F64:
      return flops_f64;
    case ir::DType::F16:
    case ir::DType::BF16:
      return flops_bf16;
    default:
      return flops_f32;
  }
}

std::int64_t Cluster::devices() const {
  std::int64_t count = 1;
  for (const Level& level : levels) count *= level.fanout;
  return count;
}

Cluster default_cpu_cluster(std::int64_t ranks) {
  // One rank per core of a common server; `rhino calibrate` replaces these by what it measures.
  Cluster cluster;
  cluster.name = "cpu";
  cluster.device.name = "core";
  cluster.device.memory_bytes = 4e9;
  cluster.device.memory_bandwidth = 8e9;
  cluster.device.flops_f32 = 8e10;
  cluster.device.flops_f64 = 4e10;
  cluster.device.flops_bf16 = 1.6e11;
  cluster.device.conv_efficiency = 0.8;
  cluster.device.transcendental_rate = 4e8;
  cluster.device.op_overhead = 1e-6;
  cluster.levels.push_back({"node", ranks, 2e9, 5e-6});
  return cluster;
}

namespace {

/// Stretches of an axis whose neighbours are `inner` devices apart and that spans `span` devices.
std::vector<Link> stretches(std::int64_t inner, std::int64_t span, const std::vector<Level>& levels) {
  std::vector<Link> nested;
  Link slowest{span / inner, 0, 0, 0};
  bool nests = true;
  std::int64_t reached = inner;  // devices within what the stretches so far join
  std::int64_t held = 1;         // devices within one unit of the level
  for (std::size_t l = 0; l < levels.size() && reached < span; ++l) {
    held *= levels[l].fanout;
    const std::int64_t end = std::min(held, span);
    if (end <= reached) continue;
    nests = nests && end % reached == 0 && span % end == 0;
    nested.push_back({end / reached, levels[l].bandwidth, levels[l].latency, static_cast<int>(l)});
    if (slowest.bandwidth == 0 || levels[l].bandwidth < slowest.bandwidth) slowest.bandwidth = levels[l].bandwidth;
    slowest.latency = std::max(slowest.latency, levels[l].latency);
    slowest.level = static_cast<int>(l);
    reached = end;
  }
  return nests ? nested : std::vector<Link>{slowest};
}

}  // namespace

Mesh lay_out(const shard::MeshShape& shape, const Cluster& cluster) {
  RHINO_CHECK(shape.devices() <= cluster.devices(), "a mesh of {} devices on cluster {} of {}", shape.devices(), cluster.name,
              cluster.devices());
  Mesh mesh{shape, std::vector<std::vector<Link>>(shape.axes().size()), cluster.device};
  std::int64_t inner = 1;  // devices spanned by the axes inside
  for (std::size_t a = shape.axes().size(); a-- > 0;) {
    const std::int64_t span = inner * shape.axes()[a].size;
    mesh.links[a] = stretches(inner, span, cluster.levels);
    inner = span;
  }
  return mesh;
}

std::vector<shard::MeshShape> mesh_shapes(std::int64_t devices, int max_axes) {
  RHINO_ASSERT(devices >= 1 && max_axes >= 1, "{} devices, {} axes", devices, max_axes);
  if (devices == 1) return {shard::MeshShape{}};
  static constexpr const char* names[] = {"x", "y", "z", "u", "v", "w"};
  std::vector<shard::MeshShape> shapes;
  std::vector<std::int64_t> sizes;
  const std::function<void(std::int64_t)> extend = [&](std::int64_t rest) {
    if (rest == 1) {
      std::vector<shard::MeshAxis> axes;
      for (std::size_t i = 0; i < sizes.size(); ++i) axes.push_back({names[i], sizes[i]});
      shapes.emplace_back(std::move(axes));
      return;
    }
    if (static_cast<int>(sizes.size()) == std::min(max_axes, 6)) return;
    for (std::int64_t size = 2; size <= rest; ++size) {
      if (rest % size != 0) continue;
      sizes.push_back(size);
      extend(rest / size);
      sizes.pop_back();
    }
  };
  extend(devices);
  std::stable_sort(shapes.begin(), shapes.end(), [](const auto& a, const auto& b) { return a.rank() < b.rank(); });
  return shapes;
}

}  // namespace rhino::cluster
