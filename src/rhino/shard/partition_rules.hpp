// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <rhino/shard/factor_map.hpp>
#include <rhino/shard/partition_emitter.hpp>
#include <rhino/shard/reshard.hpp>

namespace rhino::shard {

/// One op on its way into the per-device program.
struct OpSite {
  const ir::Program& program;  ///< the global one
  const ir::Op& op;
  const FactorMap& map;
  const Strategy& strategy;
  const ReshardCost& cost;
  std::vector<ir::TensorType> operand_types;  ///< global
  std::vector<ir::TensorType> result_types;   ///< global
  std::vector<Layout> operand_layouts;
  std::vector<Layout> result_layouts;
  std::vector<ir::ValueId> operands;     ///< local, in operand_layouts
  std::vector<ir::FunctionId> regions;  ///< of the local program: reducers and comparators

  const DimLayout& operand_dim(std::size_t operand, int dim) const {
    return operand_layouts[operand].dims[static_cast<std::size_t>(dim)];
  }
  const DimLayout& result_dim(std::size_t result, int dim) const {
    return result_layouts[result].dims[static_cast<std::size_t>(dim)];
  }
  /// Whether the operand arrives as a partial value that is carried through.
  bool is_carried(std::size_t operand) const {
    return operand < strategy.carried_operands.size() && strategy.carried_operands[operand] &&
           !strategy.carried_axes.empty();
  }
  /// Whether a factor of the dimension is split whose devices need more than their own part (Halo, Masked, Owned ..).
  bool exchanges(const std::vector<DimFactor>& dim) const;
  const std::vector<DimFactor>& operand_factors(std::size_t operand, int dim) const {
    return map.operands[operand][static_cast<std::size_t>(dim)];
  }
  const std::vector<DimFactor>& result_factors(std::size_t result, int dim) const {
    return map.results[result][static_cast<std::size_t>(dim)];
  }
};

/// Emits the local op(s) for `site`; the results have site.result_layouts. All kinds but control flow.
std::vector<ir::ValueId> emit_op(Emitter& emitter, const OpSite& site);

// One function per special rule (partition_<family>.cpp).
std::vector<ir::ValueId> emit_constant(Emitter& emitter, const OpSite& site);
std::vector<ir::ValueId> emit_iota(Emitter& emitter, const OpSite& site);
std::vector<ir::ValueId> emit_rng_bit_generator(Emitter& emitter, const OpSite& site);
std::vector<ir::ValueId> emit_pad(Emitter& emitter, const OpSite& site);
std::vector<ir::ValueId> emit_slice(Emitter& emitter, const OpSite& site);
std::vector<ir::ValueId> emit_concatenate(Emitter& emitter, const OpSite& site);
std::vector<ir::ValueId> emit_reverse(Emitter& emitter, const OpSite& site);
std::vector<ir::ValueId> emit_dot_general(Emitter& emitter, const OpSite& site);
std::vector<ir::ValueId> emit_reduce(Emitter& emitter, const OpSite& site);
std::vector<ir::ValueId> emit_convolution(Emitter& emitter, const OpSite& site);
std::vector<ir::ValueId> emit_reduce_window(Emitter& emitter, const OpSite& site);
std::vector<ir::ValueId> emit_select_and_scatter(Emitter& emitter, const OpSite& site);
std::vector<ir::ValueId> emit_gather(Emitter& emitter, const OpSite& site);
std::vector<ir::ValueId> emit_scatter(Emitter& emitter, const OpSite& site);
std::vector<ir::ValueId> emit_dynamic_slice(Emitter& emitter, const OpSite& site);
std::vector<ir::ValueId> emit_dynamic_update_slice(Emitter& emitter, const OpSite& site);

/// A local value of global type `type` brought from layout `from` to layout `to`.
ir::ValueId reshard_to(Emitter& emitter, ir::ValueId value, const ir::TensorType& type, const Layout& from, const Layout& to,
                     const ReshardCost& cost);

/// Operand `operand`, which contributes once to the true result, on one device of each group over `axes` (and over the
/// axes of a carried partial value that it is not itself part of); the identity of `kind` elsewhere.
ir::ValueId contribute_once(Emitter& emitter, const OpSite& site, std::size_t operand, std::vector<AxisId> axes,
                            PartialKind kind);

/// Whether two layouts of a dimension place it alike.
bool same_split(const DimLayout& a, const DimLayout& b, const MeshShape& mesh);

}  // namespace rhino::shard
