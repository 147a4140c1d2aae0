// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include <rhino/ir/signature.hpp>
#include <rhino/lower/rank_program.hpp>
#include <rhino/shard/partition.hpp>

namespace rhino::lower {

struct LowerOptions {
  std::int64_t alignment = 64;
  /// All-reduces smaller than this travel together, up to this many bytes a message; 0: each on its own.
  std::int64_t bundle_bytes = std::int64_t{4} << 20;
  /// Start collectives as soon as their operands exist; otherwise right before their first use.
  bool overlap = true;
  /// Scratch bytes that the kernel of an op needs. Empty: none.
  std::function<std::int64_t(const ir::Program&, const ir::Function&, const ir::Op&)> workspace_bytes;
  /// The same for the kernel of a fused group. Empty: none.
  std::function<std::int64_t(const ir::FusedExpression&)> fused_workspace_bytes;
  /// Whether the kernel of an op may write result 0 over operand 0. Empty: never.
  std::function<bool(const ir::Op&)> updates_in_place;
};

/// Turns a per-device program into the task list of `rank`: elementwise chains fused, collectives started early and awaited
/// late, every buffer at a fixed offset. The order of tasks and the layout of the arena are the same on every rank, so that
/// all ranks issue the same collectives in the same order. `signature` gives the roles of the entry's parameters and
/// results; State parameters are updated in place where no later reader exists and swapped otherwise.
/// Throws InputError for what cannot be lowered (custom calls, uninlined calls).
RankProgram lower(const shard::PartitionedProgram& partitioned, const ir::Signature& signature, std::int64_t rank,
                  const LowerOptions& options = {});

}  // namespace rhino::lower
