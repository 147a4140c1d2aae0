// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <rhino/ir/builder.hpp>
#include <rhino/shard/layout.hpp>

namespace rhino::shard {

enum class ReshardKind : std::uint8_t { Slice, AllGather, AllReduce, ReduceScatter, AllToAll, Permute };

/// One collective or local step that turns one layout into another.
struct ReshardStep {
  ReshardKind kind = ReshardKind::Slice;
  std::vector<AxisId> axes;  ///< the axes that take part, most significant first
  int from_dim = -1;         ///< dimension that loses the axes (all-gather, all-to-all)
  int to_dim = -1;           ///< dimension that gains them (slice, reduce-scatter, all-to-all)
  Layout after;              ///< layout after the step
};

/// Price of one step on a tensor of `type` (global) in layout `before`; any unit, must be >= 0.
using ReshardCost = std::function<double(const ReshardStep& step, const ir::TensorType& type, const Layout& before)>;

/// Cost that counts bytes sent per device (all-reduce 2B(n-1)/n, all-gather and reduce-scatter B(n-1)/n, all-to-all
/// B(n-1)/n of the local bytes, slice 0), plus a small constant per step.
ReshardCost bytes_moved_cost(const MeshShape& mesh);

/// A cheapest sequence of steps from one layout to another by Dijkstra over layouts. Every pair of valid layouts is
/// connected (gather everything, slice again). `from` may be partial, `to` may be partial only over axes on which
/// `from` is.
std::vector<ReshardStep> plan_reshard(const ir::TensorType& type, const Layout& from, const Layout& to,
                                      const MeshShape& mesh, const ReshardCost& cost);

/// Emits the steps on the local tensor `value` (in layout `from`); returns the local tensor in the last step's layout.
/// `device` is the scalar i64 number of this device (see partition.hpp), used by slices.
ir::ValueId emit_reshard(ir::Builder& builder, ir::ValueId value, const ir::TensorType& type, const Layout& from,
                         const std::vector<ReshardStep>& steps, const MeshShape& mesh, ir::ValueId device);

}  // namespace rhino::shard
