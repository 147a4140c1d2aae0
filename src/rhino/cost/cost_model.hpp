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

/// A matrix product, or a convolution seen as one: `batch` results of m rows and n columns, each a sum over k.
struct Product {
  double batch = 0, m = 0, n = 0, k = 0;  ///< batch 0: no product
};

/// Work of one op on local shapes.
struct OpWork {
  double flops = 0;            ///< multiply and add count as two
  double transcendentals = 0;  ///< exp, log, tanh, .. evaluations
  double bytes = 0;            ///< read and written, each operand and result once
  Product product;             ///< of dots and convolutions
};

/// Work of an op of `function` whose operands and results have the given (local) types.
OpWork op_work(const ir::Program& program, const ir::Op& op, const std::vector<ir::TensorType>& operands,
               const std::vector<ir::TensorType>& results);

/// Number of iterations of a counted `while` (from 0 up to a constant by a constant step); nullopt for any other op.
std::optional<std::int64_t> trip_count(const ir::Program& program, const ir::Op& op);

/// Seconds that one device takes for the work: the larger of arithmetic and memory traffic (roofline). Products lose what
/// does not fill the blocks and rounds of the device's units; a long sum is split when there are too few blocks. Does not
/// include Device::op_overhead, which is paid once per task.
double op_seconds(const OpWork& work, ir::OpKind kind, ir::DType dtype, const cluster::Device& device);

/// Seconds of a resharding step (or a reduction) over some axes. `local_bytes` is one device's buffer before the step.
/// Over one level, alpha-beta with the better of the usual algorithms: all-reduce by ring 2(n-1)(latency + bytes/(n bandwidth))
/// or tree 2 log2(n) (latency + bytes/bandwidth); reduce-scatter and all-gather by halving or doubling; all-to-all pairwise or
/// Bruck's. Over several levels hierarchically: what is reduced inside first crosses the slower links in smaller parts.
double collective_seconds(shard::ReshardKind kind, double local_bytes, const std::vector<shard::AxisId>& axes,
                          const cluster::Mesh& mesh);

/// The price list of resharding by time, for shard::plan_reshard.
shard::ReshardCost reshard_seconds(const cluster::Mesh& mesh);

}  // namespace rhino::cost
