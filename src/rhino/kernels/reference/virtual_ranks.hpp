// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <rhino/kernels/reference/interpreter.hpp>

namespace rhino::kernels::reference {

/// Processes of a virtual machine: `replicas` x `partitions`; process r * partitions + p is replica r, partition p.
struct RankGrid {
  std::int64_t replicas = 1;
  std::int64_t partitions = 1;
  std::int64_t size() const { return replicas * partitions; }
};

/// What one virtual rank runs. The program must outlive the run.
struct VirtualRank {
  const ir::Program* program = nullptr;
  ir::FunctionId function;
  std::vector<Tensor> arguments;
};

struct RankOptions {
  /// As RunOptions::on_op, with the rank first. Called from the rank's own thread, from several at a time.
  std::function<void(std::size_t, ir::OpId, std::span<const Tensor>)> on_op;
  /// As RunOptions::on_custom_call; called from several threads at a time.
  std::function<std::vector<Tensor>(const ir::Op&, std::span<const Tensor* const>)> on_custom_call;
};

/// Runs all ranks of a grid in this process, one thread each; the ranks meet in the collectives. Returns the results of
/// every rank. Collective over the virtual ranks only: any thread may call it.
///
/// Where a rank fails, all others stop at their next collective, and the first error is thrown on. Where all ranks that
/// still run wait for others that cannot come any more, InputError names who waits in which op; the same where members
/// of a group meet in different ops.
std::vector<std::vector<Tensor>> run_ranks(const RankGrid& grid, std::vector<VirtualRank> ranks,
                                           const RankOptions& options = {});

/// The group of process `process` under the groups of a collective: process numbers in group order; empty if it is in
/// none. Without any groups all processes of the axis that the mode names form one. Throws InputError for numbers
/// outside the grid.
std::vector<std::int64_t> process_group(const ir::CollectiveAttrs& attrs, const RankGrid& grid, std::int64_t process);

}  // namespace rhino::kernels::reference
