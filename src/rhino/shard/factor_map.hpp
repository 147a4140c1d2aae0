// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <rhino/ir/program.hpp>
#include <rhino/shard/layout.hpp>

namespace rhino::shard {

/// What splitting a factor means.
enum class FactorKind : std::uint8_t {
  Parallel,   ///< each device computes its part of the results
  Reduction,  ///< absent from the results: each device holds a partial result over the axes
  Halo,       ///< parallel, but a device needs elements of its neighbours (windows, pads, slices, concatenations along it)
  Masked,     ///< a device holds part of an indexed dimension: out-of-range accesses are masked, results are partial sums
  NoSplit     ///< must stay whole
};

struct Factor {
  std::int64_t size = 1;
  FactorKind kind = FactorKind::Parallel;
  PartialKind reduction = PartialKind::Sum;  ///< how partial results combine, for Reduction and Masked
  bool operator==(const Factor&) const = default;
};

/// One factor inside a dimension. `size` is the factor's extent in this dimension: equal to Factor::size except along
/// Halo factors, whose operands and results differ in size (input rows and output rows of a convolution).
struct DimFactor {
  int factor = 0;
  std::int64_t size = 1;
  bool operator==(const DimFactor&) const = default;
};

/// Factors of every dimension of one tensor: [dimension][most significant first]. Dimensions of size 1 have none.
using TensorFactors = std::vector<std::vector<DimFactor>>;

/// The one description of an op that propagation, partitioning, cost and strategies all use (design.md section 3).
struct FactorMap {
  std::vector<Factor> factors;
  std::vector<TensorFactors> operands;
  std::vector<TensorFactors> results;
  bool operator==(const FactorMap&) const = default;
};

/// The factor map of an op. Total: every op kind has one (a test holds that).
FactorMap factor_map(const ir::Program& program, const ir::Function& function, const ir::Op& op);

/// Whether the results of `op` are partial (same kind and axes) when exactly the operands marked in `partial_operands` are
/// partial in that kind and the others are whole and equal over those axes. This is what lets a partial sum be carried
/// past its producer: add of two partials, multiplication of a partial by a whole, transpose, slices ..
bool carries_partial(const ir::Program& program, const ir::Function& function, const ir::Op& op, PartialKind kind,
                     const std::vector<bool>& partial_operands);

/// An assignment of mesh axes to the factors of one op: what every device computes.
struct Strategy {
  /// One per factor of the op's FactorMap; sizes multiply to the factor's size. Halo, Masked: only a plain block split.
  std::vector<DimLayout> factors;
  /// Axes over which the operands marked in `carried_operands` arrive as partial values and leave as partial results.
  std::vector<AxisId> carried_axes;
  PartialKind carried_kind = PartialKind::Sum;
  std::vector<bool> carried_operands;
  bool operator==(const Strategy&) const = default;
};

/// Everything whole on every device.
Strategy replicated_strategy(const FactorMap& map);

/// Throws InputError if the strategy does not fit the map (sizes, NoSplit factor split, axis used twice, divisibility).
void check_strategy(const FactorMap& map, const Strategy& strategy, const MeshShape& mesh, const std::string& what);

/// Layout in which the op wants an operand, and in which it leaves a result.
Layout operand_layout(const FactorMap& map, const Strategy& strategy, int operand, const MeshShape& mesh);
Layout result_layout(const FactorMap& map, const Strategy& strategy, int result, const MeshShape& mesh);

/// The splits of the op's factors that a layout of one of its operands (or results) implies; factors that the tensor does
/// not have stay whole. nullopt where the layout cuts across factors or splits one that must stay whole.
std::optional<std::vector<DimLayout>> factors_from_layout(const FactorMap& map, const TensorFactors& tensor,
                                                          const Layout& layout, const MeshShape& mesh);

}  // namespace rhino::shard
