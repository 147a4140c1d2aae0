// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <rhino/ir/fused_expression.hpp>
#include <rhino/ir/program.hpp>

namespace rhino::lower {

/// How an operand of a fused group is reached from memory: the value whose buffer is read, and how.
struct Access {
  ir::ValueId base;            ///< value whose buffer is read; for Literal and Iota the op's result
  enum class Kind : std::uint8_t { Memory, Literal, Iota } kind = Kind::Memory;
  ir::Dims strides;            ///< Memory: per iteration dimension, in elements of the base
  std::int64_t offset = 0;     ///< Memory: first element
  bool identity = false;       ///< the base has the iteration shape and is read at the same index
  int iota_dimension = -1;     ///< Iota: iteration dimension counted; -1: always zero
};

/// What becomes of each op of a function.
enum class OpRole : std::uint8_t {
  View,        ///< result shares the operand's bytes (reshape, optimization barrier)
  Literal,     ///< constant in memory before the first step, or absorbed as a step
  Grouped,     ///< member of a fused group
  Kernel,      ///< a task of its own
  Collective,
  Loop,
  Branch
};

/// Which ops of a function run together.
struct FusionPlan {
  std::vector<OpRole> roles;        ///< per op
  /// Per op: fused consumers reach through it to its operand; if `materialized` is false nobody needs its own buffer.
  std::vector<bool> absorbed;
  std::vector<bool> materialized;
  std::vector<int> group;           ///< per op: group number, -1 for ops that are in none
  int groups = 0;
};

/// Assigns elementwise ops to groups that can run as one pass each. Two ops may share a group if they have the same shape and
/// the same depth, where depth counts the steps along the longest path that cannot be fused; no path can then leave a group
/// and come back. Connected ops of equal shape and depth share a group; one of more than `max_steps` ops is cut in program order.
FusionPlan plan_fusion(const ir::Function& function, int max_steps = 96);

/// Resolves an operand of a grouped op of iteration shape `shape`.
Access resolve_access(const ir::Function& function, const FusionPlan& plan, ir::ValueId operand, const ir::Dims& shape);

/// The expression of a group whose members (in program order) are `members`; `outputs` are the values that must reach memory.
/// `inputs` receives the base value of each input.
ir::FusedExpression build_expression(const ir::Function& function, const FusionPlan& plan,
                                     const std::vector<ir::OpId>& members, const std::vector<ir::ValueId>& outputs,
                                     std::vector<ir::ValueId>& inputs);

}  // namespace rhino::lower
