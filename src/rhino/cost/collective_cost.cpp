// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <rhino/cost/cost_model.hpp>

namespace rhino::cost {

double collective_seconds(shard::ReshardKind kind, double local_bytes, const std::vector<shard::AxisId>& axes,
                          const cluster::Mesh& mesh) {
  double n = 1;
  double bandwidth = 0;
  double latency = 0;
  for (shard::AxisId axis : axes) {
    const auto a = static_cast<std::size_t>(axis);
    n *= static_cast<double>(mesh.shape.size(axis));
    bandwidth = bandwidth == 0 ? mesh.bandwidth[a] : std::min(bandwidth, mesh.bandwidth[a]);
    latency = std::max(latency, mesh.latency[a]);
  }
  if (n <= 1) return 0;
  const double copy = local_bytes / mesh.device.memory_bandwidth;
  switch (kind) {
    case shard::ReshardKind::Slice:
      return copy / n;
    case shard::ReshardKind::AllGather:  // local_bytes is one member's block, each receives n - 1 of them
      return (n - 1) * (latency + local_bytes / bandwidth);
    case shard::ReshardKind::AllReduce:
      return 2 * (n - 1) * (latency + local_bytes / (n * bandwidth));
    case shard::ReshardKind::ReduceScatter:
      return (n - 1) * (latency + local_bytes / (n * bandwidth));
    case shard::ReshardKind::AllToAll:
      return (n - 1) * (latency + local_bytes / (n * bandwidth));
    case shard::ReshardKind::Permute:
      return latency + local_bytes / bandwidth;
  }
  return 0;
}

shard::ReshardCost reshard_seconds(const cluster::Mesh& mesh) {
  return [mesh](const shard::ReshardStep& step, const ir::TensorType& type, const shard::Layout& before) {
    double local = static_cast<double>(ir::dtype_bytes(type.dtype));
    for (std::int64_t size : shard::local_dims(before, mesh.shape)) local *= static_cast<double>(size);
    return collective_seconds(step.kind, local, step.axes, mesh) + mesh.device.op_overhead;
  };
}

}  // namespace rhino::cost
