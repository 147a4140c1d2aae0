// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <rhino/ir/program.hpp>
#include <rhino/shard/layout.hpp>

namespace rhino::shard {

/// What splitting a factor means. "Own range" is the block of the factor that a device holds.
enum class FactorKind : std::uint8_t {
  Parallel,       ///< each device computes its part of the results from its part of the operands
  Reduction,      ///< absent from the results: each device holds a partial result over the axes
  Halo,           ///< parallel, but a device needs elements of its neighbours (windows, pads, slices, concatenations
                  ///< along it); operands and results are split in blocks of their own sizes
  HaloReduction,  ///< absent from the results, which are partial sums: the window of a convolution that is as large as
                  ///< its image (weight gradients) is split; input and kernel are split in blocks, the input with a
                  ///< halo
  Masked,  ///< absent from the results: a device holds its own range of an indexed operand dimension; what indices
           ///< find elsewhere counts as the identity of `reduction`, results are partial
  Owned,   ///< parallel in the results (and in the operands that have it, e.g. the input of a scatter); what the
           ///< other operands, which are whole along it, bring in is kept only where it falls into the own range
  NoSplit  ///< must stay whole
};

struct Factor {
  std::int64_t size = 1;
  FactorKind kind = FactorKind::Parallel;
  PartialKind reduction = PartialKind::Sum;  ///< how partial results combine, for Reduction, HaloReduction and Masked
  /// Factors of different groups are in no common tensor and in no common result (the operands of an
  /// optimization_barrier); an axis may split one factor of each group.
  int group = 0;
  bool operator==(const Factor&) const = default;
};

/// Whether splitting a factor of this kind makes the results partial.
bool makes_partial(FactorKind kind);
/// Whether the factor may only be split in plain blocks (Halo, HaloReduction, Masked, Owned).
bool needs_plain_blocks(FactorKind kind);

/// One factor inside a dimension. `size` is the factor's extent in this dimension: equal to Factor::size except along
/// Halo and HaloReduction factors, whose tensors differ in size (input rows and output rows of a convolution).
struct DimFactor {
  int factor = 0;
  std::int64_t size = 1;
  bool operator==(const DimFactor&) const = default;
};

/// Factors of every dimension of one tensor: [dimension][most significant first]; their sizes multiply to the
/// dimension. Dimensions of size 1 have none (except for a Halo factor of which this tensor has one element). A Halo,
/// Masked or Owned factor may be followed by Parallel ones in its dimension: a slice [0:4] of 12 moves whole groups of
/// 4, so 12 is {3 Masked, 4 Parallel}, and a fused [q|k|v] that is split by heads is sliced without moving a byte.
using TensorFactors = std::vector<std::vector<DimFactor>>;

/// The one description of an op that propagation, partitioning, cost and strategies all use.
struct FactorMap {
  std::vector<Factor> factors;
  std::vector<TensorFactors> operands;
  std::vector<TensorFactors> results;
  bool operator==(const FactorMap&) const = default;
};

/// The factor map of an op. Total: every op kind has one (op_list.def names it). Ops with control flow (call, case,
/// while), collectives and custom calls have only NoSplit factors: the layouts of control flow are decided by
/// FunctionSharding, not by a Strategy.
FactorMap factor_map(const ir::Program& program, const ir::Function& function, const ir::Op& op);

/// Whether the results of `op` are partial (same kind and axes) when exactly the operands marked in `partial_operands`
/// are partial in that kind and the others are whole and equal over those axes. This is what lets a partial sum be
/// carried past its producer: add of two partials, multiplication of a partial by a whole, transpose, slices .. Whole
/// operands that are constants of the identity of `kind` count as partial, and for the idempotent kinds (all but Sum)
/// every whole one.
bool carries_partial(const ir::Program& program, const ir::Function& function, const ir::Op& op, PartialKind kind,
                     const std::vector<bool>& partial_operands);

/// An assignment of mesh axes to the factors of one op: what every device computes.
struct Strategy {
  /// One per factor of the op's FactorMap; sizes multiply to the factor's size. Only plain block splits where
  /// needs_plain_blocks(kind).
  std::vector<DimLayout> factors;
  /// Axes over which the operands marked in `carried_operands` arrive as partial values and leave as partial results.
  std::vector<AxisId> carried_axes;
  PartialKind carried_kind = PartialKind::Sum;
  std::vector<bool> carried_operands;
  bool operator==(const Strategy&) const = default;
};

/// Everything whole on every device.
Strategy replicated_strategy(const FactorMap& map);

/// Throws InputError if the strategy does not fit the map: sizes, NoSplit factor split, axis used twice, a factor
/// unevenly split that is not the first of its dimension everywhere, partial results of two kinds.
void check_strategy(const FactorMap& map, const Strategy& strategy, const MeshShape& mesh, const std::string& what);

/// Layout in which the op wants an operand, and in which it leaves a result.
Layout operand_layout(const FactorMap& map, const Strategy& strategy, int operand, const MeshShape& mesh);
Layout result_layout(const FactorMap& map, const Strategy& strategy, int result, const MeshShape& mesh);

/// The splits of the op's factors that a layout of one of its operands (or results) implies; factors that the tensor
/// does not have stay whole. nullopt where the layout cuts across factors or splits one that must stay whole.
std::optional<std::vector<DimLayout>> factors_from_layout(const FactorMap& map, const TensorFactors& tensor,
                                                          const Layout& layout, const MeshShape& mesh);

}  // namespace rhino::shard
