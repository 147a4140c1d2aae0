// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <rhino/cluster/mesh.hpp>
#include <rhino/ir/program.hpp>
#include <rhino/shard/factor_map.hpp>
#include <rhino/shard/reshard.hpp>

namespace rhino::cost {

/// Work of one op on local shapes.
struct OpWork {
  double flops = 0;            ///< multiply and add count as two
  double transcendentals = 0;  ///< exp, log, tanh, .. evaluations
  double bytes = 0;            ///< read and written, each operand and result once
};

/// Work of an op of `function` whose operands and results have the given (local) types.
OpWork op_work(const ir::Program& program, const ir::Op& op, const std::vector<ir::TensorType>& operands,
               const std::vector<ir::TensorType>& results);

/// Number of iterations of a counted `while` (from 0 up to a constant by a constant step); nullopt for any other op.
std::optional<std::int64_t> trip_count(const ir::Program& program, const ir::Op& op);

/// Seconds that one device takes for the work: the larger of arithmetic and memory traffic (roofline). Does not include
/// Device::op_overhead, which is paid once per task.
double op_seconds(const OpWork& work, ir::OpKind kind, ir::DType dtype, const cluster::Device& device);

/// Seconds of a resharding step (or a reduction) over some axes, alpha-beta on the slowest axis: ring all-reduce
/// 2(n-1)(latency + bytes/(n bandwidth)), all-gather and reduce-scatter half of it, all-to-all (n-1) messages.
double collective_seconds(shard::ReshardKind kind, double local_bytes, const std::vector<shard::AxisId>& axes,
                          const cluster::Mesh& mesh);

/// The price list of resharding by time, for shard::plan_reshard.
shard::ReshardCost reshard_seconds(const cluster::Mesh& mesh);

}  // namespace rhino::cost
