// SPDX-License-Identifier: Apache-2.0
// Rules for dot_general and reduce: padding is masked, what must count once is counted once.
#include <algorithm>

#include <rhino/base/error.hpp>
#include <rhino/shard/partition_rules.hpp>

namespace rhino::shard {

using ir::OpKind;
using ir::ValueId;

std::vector<ValueId> emit_dot_general(Emitter& emitter, const OpSite& site) {
  const auto& attrs = site.op.as<ir::DotGeneralAttrs>();
  // Both sides: what one side's padding holds may be infinite or not a number.
  std::vector<ValueId> operands = site.operands;
  operands[0] = emitter.mask_padding(operands[0], site.operand_layouts[0], attrs.lhs_contracting,
                                     emitter.zero(site.operand_types[0].dtype));
  operands[1] = emitter.mask_padding(operands[1], site.operand_layouts[1], attrs.rhs_contracting,
                                     emitter.zero(site.operand_types[1].dtype));
  return emitter.builder().add_multi(OpKind::DotGeneral, operands, attrs);
}

std::vector<ValueId> emit_reduce(Emitter& emitter, const OpSite& site) {
  const auto& attrs = site.op.as<ir::ReduceAttrs>();
  const std::size_t inputs = site.operands.size() / 2;
  std::vector<ValueId> operands = site.operands;
  std::vector<AxisId> axes;
  for (const int dim : attrs.dimensions) {
    for (const SubDim& sub : site.operand_dim(0, dim).subs) axes.insert(axes.end(), sub.axes.begin(), sub.axes.end());
  }
  const bool carries = !site.strategy.carried_axes.empty();
  if (emitter.mesh().group_size(axes) > 1 || carries) {
    RHINO_ASSERT(inputs == 1, "only a reduction of one tensor has partial results");
    const PartialKind kind = site.result_layouts[0].partial_kind;
    operands[0] = emitter.mask_padding(operands[0], site.operand_layouts[0], attrs.dimensions,
                                       emitter.identity(kind, site.operand_types[0].dtype));
    operands[1] = contribute_once(emitter, site, 1, axes, kind);
  }
  return emitter.builder().add_multi(OpKind::Reduce, operands, attrs, site.regions);
}

}  // namespace rhino::shard
