// SPDX-License-Identifier: Apache-2.0
// Rules for ops that create or move elements: constant, iota, random bits, pad, slice, concatenate, reverse.
#include <rhino/shard/partition_rules.hpp>

namespace rhino::shard {

using ir::OpKind;
using ir::ValueId;

std::vector<ValueId> emit_constant(Emitter& emitter, const OpSite& site) {
  const auto& literal = site.op.as<ir::ConstantAttrs>().value;
  const Layout& layout = site.result_layouts[0];
  if (literal.is_splat()) {
    const auto stored = literal.stored_bytes();
    const ir::TensorType type{literal.type().dtype, local_dims(layout, emitter.mesh())};
    return {emitter.builder().constant(ir::Literal(type, {stored.begin(), stored.end()}, true))};
  }
  const ValueId whole = emitter.builder().constant(literal);
  return {reshard_to(emitter, whole, literal.type(), Layout::replicated(literal.type().dims), layout, site.cost)};
}

std::vector<ValueId> emit_iota(Emitter& emitter, const OpSite& site) {
  const auto& attrs = site.op.as<ir::IotaAttrs>();
  const ir::TensorType local{attrs.type.dtype, local_dims(site.result_layouts[0], emitter.mesh())};
  const DimLayout& dim = site.result_dim(0, attrs.dimension);
  if (!canonical(dim, emitter.mesh()).is_split()) return {emitter.builder().iota(local, attrs.dimension)};
  const ValueId line = emitter.builder().convert(emitter.global_indices(dim), local.dtype);
  return {emitter.builder().broadcast(line, local.dims, {attrs.dimension})};
}

std::vector<ValueId> emit_rng_bit_generator(Emitter& emitter, const OpSite& site) {
  std::vector<ValueId> whole = emitter.builder().add_multi(site.op.kind, site.operands, site.op.attrs);
  for (std::size_t r = 0; r < whole.size(); ++r) {
    const ir::TensorType& type = site.result_types[r];
    whole[r] = reshard_to(emitter, whole[r], type, Layout::replicated(type.dims), site.result_layouts[r], site.cost);
  }
  return whole;
}

namespace {

/// A dimension that moves in groups: `outer` counts the groups, which Halo, Masked and Owned factors split in blocks, and
/// every group has `inner` elements, of which a device holds `local_inner`, alike in all tensors.
struct Groups {
  DimLayout outer;
  std::int64_t inner = 1;
  std::int64_t local_inner = 1;
};

Groups groups_of(const OpSite& site, const std::vector<DimFactor>& factors, std::int64_t size, const MeshShape& mesh) {
  Groups groups;
  std::vector<AxisId> axes;
  for (const DimFactor& part : factors) {
    const auto factor = static_cast<std::size_t>(part.factor);
    if (site.map.factors[factor].kind == FactorKind::Parallel) {
      groups.inner *= part.size;
      groups.local_inner *= local_size(site.strategy.factors[factor], mesh);
    } else {
      for (const SubDim& sub : site.strategy.factors[factor].subs) axes.insert(axes.end(), sub.axes.begin(), sub.axes.end());
    }
  }
  groups.outer.subs.push_back({groups.inner == 0 ? 0 : size / groups.inner, std::move(axes)});
  return groups;
}

/// A dimension of which one in `stride` elements takes part, {Parallel, NoSplit} in the tensor with more elements: each
/// device has its own part.
bool is_chunk(const OpSite& site, const std::vector<DimFactor>& factors) {
  return factors.size() == 2 && site.map.factors[static_cast<std::size_t>(factors[0].factor)].kind == FactorKind::Parallel &&
         site.map.factors[static_cast<std::size_t>(factors[1].factor)].kind == FactorKind::NoSplit;
}

/// Dimension `dim` as two, groups and what is in them.
ValueId split_groups(Emitter& emitter, ValueId value, int dim, const Groups& groups) {
  if (groups.inner == 1) return value;
  ir::Dims dims = emitter.dims(value);
  const auto d = static_cast<std::size_t>(dim);
  dims[d] = local_size(groups.outer, emitter.mesh());
  dims.insert(dims.begin() + dim + 1, groups.local_inner);
  return emitter.builder().reshape(value, dims);
}

ValueId join_groups(Emitter& emitter, ValueId value, int dim, const Groups& groups) {
  if (groups.inner == 1) return value;
  ir::Dims dims = emitter.dims(value);
  const auto d = static_cast<std::size_t>(dim);
  dims[d] *= dims[d + 1];
  dims.erase(dims.begin() + dim + 1);
  return emitter.builder().reshape(value, dims);
}

}  // namespace

std::vector<ValueId> emit_pad(Emitter& emitter, const OpSite& site) {
  const MeshShape& mesh = emitter.mesh();
  ir::PadAttrs attrs = site.op.as<ir::PadAttrs>();
  attrs.interior.resize(attrs.low.size(), 0);
  ValueId value = site.operands[0];
  const ValueId fill = contribute_once(emitter, site, 1, {}, site.strategy.carried_kind);
  for (std::size_t d = 0; d < attrs.low.size(); ++d) {
    const int dim = static_cast<int>(d);
    const DimLayout& from = site.operand_dim(0, dim);
    const DimLayout& to = site.result_dim(0, dim);
    if (!from.is_split() && !to.is_split()) continue;
    if (attrs.low[d] == 0 && attrs.high[d] == 0 && attrs.interior[d] == 0) continue;
    if (is_chunk(site, site.result_factors(0, dim))) {
      attrs.high[d] = attrs.interior[d] - attrs.low[d];
      continue;
    }
    const Groups source = groups_of(site, site.operand_factors(0, dim), from.size(), mesh);
    const Groups target = groups_of(site, site.result_factors(0, dim), to.size(), mesh);
    ir::WindowDim window;
    window.pad_low = floor_div(attrs.low[d], source.inner);  // exact
    window.base_dilation = attrs.interior[d] + 1;
    const WindowFetch fetched = emitter.fetch_window(split_groups(emitter, value, dim, source), dim, source.outer, window,
                                                     emitter.block_starts(target.outer), local_size(target.outer, mesh),
                                                     emitter.uniform(0), 1, fill);
    value = join_groups(emitter, fetched.value, dim, target);
    attrs.low[d] = 0;
    attrs.high[d] = fetched.window.pad_high;
    attrs.interior[d] = fetched.window.base_dilation - 1;
  }
  return {emitter.builder().pad(value, fill, attrs.low, attrs.high, attrs.interior)};
}

std::vector<ValueId> emit_slice(Emitter& emitter, const OpSite& site) {
  const MeshShape& mesh = emitter.mesh();
  ir::SliceAttrs attrs = site.op.as<ir::SliceAttrs>();
  attrs.stride.resize(attrs.start.size(), 1);
  const ir::Dims& sizes = site.operand_types[0].dims;
  ValueId value = site.operands[0];
  std::vector<PerDevice> owners;  // per masked dimension: 1 on the devices that own the slice
  for (std::size_t d = 0; d < attrs.start.size(); ++d) {
    const int dim = static_cast<int>(d);
    const DimLayout& from = site.operand_dim(0, dim);
    const DimLayout& to = site.result_dim(0, dim);
    if (!from.is_split() && !to.is_split()) continue;
    const bool whole = attrs.start[d] == 0 && attrs.limit[d] == sizes[d] && attrs.stride[d] == 1;
    const std::int64_t held = emitter.dims(value)[d];
    if (whole || is_chunk(site, site.operand_factors(0, dim))) {
      attrs.limit[d] = held;
      continue;
    }
    const Groups source = groups_of(site, site.operand_factors(0, dim), from.size(), mesh);
    const Groups target = groups_of(site, site.result_factors(0, dim), to.size(), mesh);
    const std::int64_t start = attrs.start[d] / source.inner;
    value = split_groups(emitter, value, dim, source);
    if (target.outer.size() == 1 && source.outer.is_split() && !target.outer.is_split()) {
      // One group out of many: its owner has it, the others have none of it.
      const std::int64_t block = local_size(source.outer, mesh);
      PerDevice owner = emitter.block_starts(source.outer);
      for (std::int64_t& first : owner) first = first <= start && start < first + block ? 1 : 0;
      owners.push_back(std::move(owner));
      value = emitter.static_slice(value, dim, start % block, start % block + 1);
    } else {
      PerDevice first = emitter.block_starts(target.outer);
      for (std::int64_t& at : first) at = at * attrs.stride[d] + start;
      const std::int64_t block = local_size(target.outer, mesh);
      value = emitter.fetch(value, dim, source.outer, first, block == 0 ? 0 : (block - 1) * attrs.stride[d] + 1, std::nullopt);
    }
    value = join_groups(emitter, value, dim, target);
    attrs.start[d] = 0;
    attrs.limit[d] = emitter.dims(value)[d];
  }
  ValueId result = emitter.builder().slice(value, attrs.start, attrs.limit, attrs.stride);
  for (const PerDevice& owner : owners) {
    const ValueId owned = emitter.builder().compare(emitter.lookup(owner), emitter.index(1), ir::Comparison::Eq);
    result = emitter.where(owned, -1, result,
                           emitter.identity(site.result_layouts[0].partial_kind, site.result_types[0].dtype));
  }
  return {result};
}

std::vector<ValueId> emit_concatenate(Emitter& emitter, const OpSite& site) {
  const MeshShape& mesh = emitter.mesh();
  const int dim = site.op.as<ir::DimensionAttrs>().dimension;
  const DimLayout& to = site.result_dim(0, dim);
  bool split = to.is_split();
  for (std::size_t i = 0; i < site.operands.size(); ++i) split = split || site.operand_dim(i, dim).is_split();
  if (!split) return {emitter.builder().concatenate(site.operands, dim)};

  // Each device fetches its block of the result from every operand, then takes each element from the one that has it.
  const Groups target = groups_of(site, site.result_factors(0, dim), to.size(), mesh);
  const PerDevice starts = emitter.block_starts(target.outer);
  const std::int64_t block = local_size(target.outer, mesh);
  std::vector<ValueId> candidates;
  std::vector<std::int64_t> ends;
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < site.operands.size(); ++i) {
    const DimLayout& from = site.operand_dim(i, dim);
    if (from.size() == 0) continue;
    const Groups source = groups_of(site, site.operand_factors(i, dim), from.size(), mesh);
    const ValueId value = split_groups(emitter, site.operands[i], dim, source);
    PerDevice first = starts;
    for (std::int64_t& start : first) start -= offset;
    candidates.push_back(emitter.fetch(value, dim, source.outer, first, block, std::nullopt));
    offset += source.outer.size();
    ends.push_back(offset);
  }
  if (candidates.empty()) return {emitter.builder().concatenate(site.operands, dim)};
  ValueId result = candidates.back();
  for (std::size_t i = candidates.size() - 1; i-- > 0;) {
    const ValueId before_end = emitter.range_mask(block, emitter.lookup(starts), 0, ends[i]);
    const ValueId mask = emitter.builder().broadcast(before_end, ir::Dims(emitter.dims(result)), {dim});
    result = emitter.builder().select(mask, candidates[i], result);
  }
  return {join_groups(emitter, result, dim, target)};
}

std::vector<ValueId> emit_reverse(Emitter& emitter, const OpSite& site) {
  ValueId value = site.operands[0];
  for (const int dim : site.op.as<ir::DimensionsAttrs>().dimensions) {
    const DimLayout& from = site.operand_dim(0, dim);
    const DimLayout& to = site.result_dim(0, dim);
    if (!from.is_split() && !to.is_split()) continue;
    const std::int64_t block = local_size(to, emitter.mesh());
    PerDevice first = emitter.block_starts(to);
    for (std::int64_t& start : first) start = to.size() - start - block;
    value = emitter.fetch(value, dim, from, first, block, std::nullopt);
  }
  return emitter.builder().add_multi(OpKind::Reverse, {value}, site.op.attrs);
}

}  // namespace rhino::shard
