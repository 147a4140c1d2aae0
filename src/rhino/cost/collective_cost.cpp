// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <span>

#include <rhino/cost/cost_model.hpp>

namespace rhino::cost {
namespace {

using cluster::Link;

double parts(const Link& link) { return static_cast<double>(link.parts); }

/// Messages one after the other when each round doubles what a device knows.
double rounds(const Link& link) { return std::ceil(std::log2(parts(link))); }

/// Every device ends with all blocks of `block` bytes.
double all_gather(const Link& link, double block) {
  return rounds(link) * link.latency + (parts(link) - 1) * block / link.bandwidth;
}

/// Every device ends with its part of the sum of buffers of `bytes`.
double reduce_scatter(const Link& link, double bytes) {
  return rounds(link) * link.latency + (parts(link) - 1) / parts(link) * bytes / link.bandwidth;
}

double all_reduce(const Link& link, double bytes) {
  const double ring = 2 * (parts(link) - 1) * (link.latency + bytes / (parts(link) * link.bandwidth));
  const double tree = 2 * rounds(link) * (link.latency + bytes / link.bandwidth);
  return std::min(ring, tree);
}

/// Reduced inside, summed across on the part of each, gathered inside.
double all_reduce(std::span<const Link> links, double bytes) {
  if (links.size() == 1) return all_reduce(links[0], bytes);
  const double part = bytes / parts(links[0]);
  return reduce_scatter(links[0], bytes) + all_reduce(links.subspan(1), part) + all_gather(links[0], part);
}

double all_gather(std::span<const Link> links, double block) {
  double seconds = 0;
  for (std::size_t l = links.size(); l-- > 0;) {  // the slowest link moves single blocks
    seconds += all_gather(links[l], block);
    block *= parts(links[l]);
  }
  return seconds;
}

double reduce_scatter(std::span<const Link> links, double bytes) {
  double seconds = 0;
  for (const Link& link : links) {
    seconds += reduce_scatter(link, bytes);
    bytes /= parts(link);
  }
  return seconds;
}

/// Each link carries what is for devices of other parts of it: a round of exchange per level, innermost first.
double all_to_all(std::span<const Link> links, double bytes) {
  double seconds = 0;
  for (const Link& link : links) {
    const double n = parts(link);
    const double pairwise = (n - 1) * (link.latency + bytes / (n * link.bandwidth));
    const double bruck = rounds(link) * (link.latency + bytes / (2 * link.bandwidth));
    seconds += std::min(pairwise, bruck);
  }
  return seconds;
}

/// The stretches of all axes, innermost first.
std::vector<Link> links_of(const std::vector<shard::AxisId>& axes, const cluster::Mesh& mesh) {
  std::vector<Link> links;
  for (shard::AxisId axis : axes) {
    for (const Link& link : mesh.links[static_cast<std::size_t>(axis)]) {
      if (link.parts > 1) links.push_back(link);
    }
  }
  std::stable_sort(links.begin(), links.end(), [](const Link& a, const Link& b) { return a.level < b.level; });
  // Stretches of one level are one exchange.
  std::vector<Link> merged;
  for (const Link& link : links) {
    if (!merged.empty() && merged.back().level == link.level) {
      merged.back().parts *= link.parts;
    } else {
      merged.push_back(link);
    }
  }
  return merged;
}

}  // namespace

double collective_seconds(shard::ReshardKind kind, double local_bytes, const std::vector<shard::AxisId>& axes,
                          const cluster::Mesh& mesh) {
  const std::vector<Link> links = links_of(axes, mesh);
  if (links.empty()) return 0;
  double n = 1;
  for (const Link& link : links) n *= parts(link);
  switch (kind) {
    case shard::ReshardKind::Slice:
      return local_bytes / mesh.device.memory_bandwidth / n;
    case shard::ReshardKind::AllGather:
      return all_gather(links, local_bytes);
    case shard::ReshardKind::AllReduce:
      return all_reduce(links, local_bytes);
    case shard::ReshardKind::ReduceScatter:
      return reduce_scatter(links, local_bytes);
    case shard::ReshardKind::AllToAll:
      return all_to_all(links, local_bytes);
    case shard::ReshardKind::Permute:
      return links.back().latency + local_bytes / links.back().bandwidth;
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
