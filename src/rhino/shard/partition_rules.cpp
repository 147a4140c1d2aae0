// SPDX-License-Identifier: Apache-2.0
#include <rhino/shard/partition_rules.hpp>

#include <algorithm>

#include <rhino/base/contains.hpp>
#include <rhino/base/error.hpp>

#pragma GCC diagnostic error "-Wswitch"

namespace rhino::shard {

using ir::OpKind;
using ir::ValueId;

namespace {

/// The same op on the local shards.
std::vector<ValueId> emit_same(Emitter& emitter, const OpSite& site) {
  return emitter.builder().add_multi(site.op.kind, site.operands, site.op.attrs, site.regions);
}

std::vector<ValueId> emit_reshape(Emitter& emitter, const OpSite& site) {
  return {emitter.builder().reshape(site.operands[0], local_dims(site.result_layouts[0], emitter.mesh()))};
}

std::vector<ValueId> emit_broadcast_in_dim(Emitter& emitter, const OpSite& site) {
  const auto& attrs = site.op.as<ir::BroadcastInDimAttrs>();
  return {emitter.builder().broadcast(site.operands[0], local_dims(site.result_layouts[0], emitter.mesh()), attrs.dimensions)};
}

}  // namespace

bool OpSite::exchanges(const std::vector<DimFactor>& dim) const {
  return std::any_of(dim.begin(), dim.end(), [&](const DimFactor& part) {
    const auto factor = static_cast<std::size_t>(part.factor);
    return needs_plain_blocks(map.factors[factor].kind) && strategy.factors[factor].is_split();
  });
}

bool same_split(const DimLayout& a, const DimLayout& b, const MeshShape& mesh) {
  return canonical(a, mesh) == canonical(b, mesh);
}

ValueId reshard_to(Emitter& emitter, ValueId value, const ir::TensorType& type, const Layout& from, const Layout& to,
                 const ReshardCost& cost) {
  if (canonical(from, emitter.mesh()) == canonical(to, emitter.mesh())) return value;
  const auto steps = plan_reshard(type, from, to, emitter.mesh(), cost);
  return emit_reshard(emitter.builder(), value, type, from, steps, emitter.mesh(), emitter.device());
}

ValueId contribute_once(Emitter& emitter, const OpSite& site, std::size_t operand, std::vector<AxisId> axes,
                        PartialKind kind) {
  const bool carries = contains(site.strategy.carried_operands, true);
  if (carries && !site.is_carried(operand)) {
    axes.insert(axes.end(), site.strategy.carried_axes.begin(), site.strategy.carried_axes.end());
  }
  const ValueId value = site.operands[operand];
  if (emitter.mesh().group_size(axes) == 1) return value;
  const ir::TensorType type = emitter.type(value);
  ValueId neutral = emitter.identity(kind, type.dtype);
  const ir::Op* producer = emitter.builder().function().producer(value);
  if (producer != nullptr && producer->kind == OpKind::Constant && type.rank() == 0) {
    const ir::Literal& own = producer->as<ir::ConstantAttrs>().value;
    const ir::Literal& nothing = emitter.builder().function().producer(neutral)->as<ir::ConstantAttrs>().value;
    const bool zero = kind == PartialKind::Sum && own.element_as_double(0) == 0;
    if (zero || own == nothing) return value;  // counts for nothing however often it is counted
  }
  if (type.rank() > 0) neutral = emitter.builder().broadcast_scalar(neutral, type.dims);
  return emitter.on_first(axes, value, neutral);
}

std::vector<ValueId> emit_op(Emitter& emitter, const OpSite& site) {
  switch (site.op.kind) {
    case OpKind::Constant: return emit_constant(emitter, site);
    case OpKind::Iota: return emit_iota(emitter, site);
    case OpKind::RngBitGenerator: return emit_rng_bit_generator(emitter, site);
    case OpKind::Reshape: return emit_reshape(emitter, site);
    case OpKind::BroadcastInDim: return emit_broadcast_in_dim(emitter, site);
    case OpKind::Pad: return emit_pad(emitter, site);
    case OpKind::Slice: return emit_slice(emitter, site);
    case OpKind::Concatenate: return emit_concatenate(emitter, site);
    case OpKind::Reverse: return emit_reverse(emitter, site);
    case OpKind::DotGeneral: return emit_dot_general(emitter, site);
    case OpKind::Reduce: return emit_reduce(emitter, site);
    case OpKind::Convolution: return emit_convolution(emitter, site);
    case OpKind::ReduceWindow: return emit_reduce_window(emitter, site);
    case OpKind::SelectAndScatter: return emit_select_and_scatter(emitter, site);
    case OpKind::Gather: return emit_gather(emitter, site);
    case OpKind::Scatter: return emit_scatter(emitter, site);
    case OpKind::DynamicSlice: return emit_dynamic_slice(emitter, site);
    case OpKind::DynamicUpdateSlice: return emit_dynamic_update_slice(emitter, site);

    // Elementwise, or elementwise along every dimension that may be split.
    case OpKind::Abs:
    case OpKind::Cbrt:
    case OpKind::Ceil:
    case OpKind::Convert:
    case OpKind::Cosine:
    case OpKind::CountLeadingZeros:
    case OpKind::Exponential:
    case OpKind::ExponentialMinusOne:
    case OpKind::Floor:
    case OpKind::IsFinite:
    case OpKind::Log:
    case OpKind::LogPlusOne:
    case OpKind::Logistic:
    case OpKind::Negate:
    case OpKind::Not:
    case OpKind::PopulationCount:
    case OpKind::ReducePrecision:
    case OpKind::RoundNearestAfz:
    case OpKind::RoundNearestEven:
    case OpKind::Rsqrt:
    case OpKind::Sign:
    case OpKind::Sine:
    case OpKind::Sqrt:
    case OpKind::Tan:
    case OpKind::Tanh:
    case OpKind::Acos:
    case OpKind::Acosh:
    case OpKind::Asin:
    case OpKind::Asinh:
    case OpKind::Atan:
    case OpKind::Atanh:
    case OpKind::Cosh:
    case OpKind::Sinh:
    case OpKind::Erf:
    case OpKind::ErfInv:
    case OpKind::Erfc:
    case OpKind::Lgamma:
    case OpKind::Digamma:
    case OpKind::BesselI1e:
    case OpKind::Add:
    case OpKind::And:
    case OpKind::Atan2:
    case OpKind::Compare:
    case OpKind::Divide:
    case OpKind::Maximum:
    case OpKind::Minimum:
    case OpKind::Multiply:
    case OpKind::NextAfter:
    case OpKind::Or:
    case OpKind::Polygamma:
    case OpKind::Power:
    case OpKind::Remainder:
    case OpKind::ShiftLeft:
    case OpKind::ShiftRightArithmetic:
    case OpKind::ShiftRightLogical:
    case OpKind::Subtract:
    case OpKind::Xor:
    case OpKind::Zeta:
    case OpKind::Clamp:
    case OpKind::Select:
    case OpKind::BitcastConvert:
    case OpKind::OptimizationBarrier:
    case OpKind::Transpose:
    case OpKind::Sort:
    case OpKind::TopK:
    case OpKind::CustomCall: return emit_same(emitter, site);

    case OpKind::AllGather:
    case OpKind::AllReduce:
    case OpKind::AllToAll:
    case OpKind::CollectiveBroadcast:
    case OpKind::CollectivePermute:
    case OpKind::PartitionId:
    case OpKind::ReduceScatter:
    case OpKind::ReplicaId:
      RHINO_FAIL(InputError,
                 "{} (line {}): the program is already partitioned; export it for one device, without shard_map or pmap",
                 ir::op_name(site.op.kind), site.op.location.line);

    case OpKind::Call:
    case OpKind::Case:
    case OpKind::While: break;
  }
  RHINO_ASSERT(false, "control flow is not a local op");
}

}  // namespace rhino::shard
