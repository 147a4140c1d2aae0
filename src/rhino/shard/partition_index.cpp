// SPDX-License-Identifier: Apache-2.0
// Rules for ops that read at computed positions: gather, dynamic_slice. Positions are clamped as the global op does
// first; then each device reads what it owns, and what it does not own counts as nothing in a partial sum.
#include <rhino/shard/partition_index.hpp>

#include <algorithm>

#include <rhino/base/contains.hpp>

namespace rhino::shard {

using ir::DType;
using ir::OpKind;
using ir::ValueId;

ValueId clamp_index(Emitter& emitter, ValueId value, ValueId lower, ValueId upper) {
  return emitter.builder()(OpKind::Minimum, emitter.builder()(OpKind::Maximum, value, lower), upper);
}

ValueId make_whole(Emitter& emitter, const OpSite& site, ValueId value, const ir::TensorType& type, int dim,
                   Layout& layout) {
  Layout whole = layout;
  whole.dims[static_cast<std::size_t>(dim)] = whole_dim(type.dims[static_cast<std::size_t>(dim)]);
  value = reshard_to(emitter, value, type, layout, whole, site.cost);
  layout = std::move(whole);
  return value;
}

ValueId explicit_positions(Emitter& emitter, ValueId indices, int index_vector_dim) {
  indices = emitter.to_index(indices);
  ir::Dims shape = emitter.dims(indices);
  if (static_cast<std::size_t>(index_vector_dim) < shape.size()) return indices;
  shape.push_back(1);
  return emitter.builder().reshape(indices, shape);
}

ValueId spread_components(Emitter& emitter, const std::vector<ValueId>& components, const ir::Dims& shape,
                          int index_vector_dim) {
  ir::Builder& b = emitter.builder();
  std::vector<ValueId> entries;
  for (const ValueId component : components) entries.push_back(b.reshape(component, {1}));
  const ValueId line = entries.size() == 1 ? entries.front() : b.concatenate(entries, 0);
  return b.broadcast(line, shape, {index_vector_dim});
}

DimLayout whole_dim(std::int64_t size) { return DimLayout{{SubDim{size, {}}}}; }

std::vector<ValueId> emit_dynamic_slice(Emitter& emitter, const OpSite& site) {
  ir::Builder& b = emitter.builder();
  const MeshShape& mesh = emitter.mesh();
  ir::DynamicSliceAttrs attrs = site.op.as<ir::DynamicSliceAttrs>();
  const ir::Dims& sizes = site.operand_types[0].dims;
  ValueId value = site.operands[0];
  std::vector<ValueId> starts(site.operands.begin() + 1, site.operands.end());
  ValueId owned;  // whether this device has part of the slice
  bool masked = false;
  Layout read = site.operand_layouts[0];
  Layout computed = site.result_layouts[0];
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const int dim = static_cast<int>(d);
    const DimLayout& from = site.operand_dim(0, dim);
    const DimLayout& to = site.result_dim(0, dim);
    if (!from.is_split() && !to.is_split()) continue;
    if (attrs.slice_sizes[d] == sizes[d] && same_split(from, to, mesh)) {
      attrs.slice_sizes[d] = local_size(from, mesh);  // the only start is 0, locally too
      continue;
    }
    if (to.is_split()) {
      value = make_whole(emitter, site, value, site.operand_types[0], dim, read);
      computed.dims[d] = whole_dim(to.size());
      continue;
    }
    // The local block with room for slices that reach over its ends.
    const std::int64_t block = local_size(from, mesh);
    const std::int64_t room = attrs.slice_sizes[d] - 1;
    value = emitter.pad(value, dim, emitter.zero(site.operand_types[0].dtype), room, room, 0);
    const ValueId start = clamp_index(emitter, emitter.to_index(starts[d]), emitter.index(0),
                                      emitter.index(sizes[d] - attrs.slice_sizes[d]));
    const ValueId here = b(OpKind::Add, b(OpKind::Subtract, start, emitter.lookup(emitter.block_starts(from))),
                           emitter.index(room));
    const ValueId inside = b(OpKind::And, b.compare(here, emitter.index(0), ir::Comparison::Ge),
                             b.compare(here, emitter.index(block + room), ir::Comparison::Lt));
    owned = masked ? b(OpKind::And, owned, inside) : inside;
    masked = true;
    starts[d] = here;
  }
  if (masked) {
    for (ValueId& start : starts) start = emitter.to_index(start);
  }
  ValueId result = b.dynamic_slice(value, starts, attrs.slice_sizes);
  if (masked) {
    const PartialKind kind = site.result_layouts[0].partial_kind;
    result = emitter.where(owned, -1, result, emitter.identity(kind, site.result_types[0].dtype));
  }
  return {reshard_to(emitter, result, site.result_types[0], computed, site.result_layouts[0], site.cost)};
}

namespace {

/// What becomes of one dimension of a gather's operand.
enum class GatherDim { Same, Masked, Whole };

struct GatherPlan {
  std::vector<GatherDim> dims;
  std::vector<int> result_dim;  ///< of an offset dimension; -1 otherwise
};

GatherPlan plan_gather(const OpSite& site, const ir::GatherAttrs& attrs, const MeshShape& mesh) {
  const ir::Dims& sizes = site.operand_types[0].dims;
  GatherPlan plan{std::vector<GatherDim>(sizes.size(), GatherDim::Same), std::vector<int>(sizes.size(), -1)};
  std::size_t next_offset = 0;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const int dim = static_cast<int>(d);
    const DimLayout& from = site.operand_dim(0, dim);
    if (contains(attrs.operand_batching_dims, dim)) continue;
    const bool collapsed = contains(attrs.collapsed_slice_dims, dim);
    if (!collapsed) plan.result_dim[d] = attrs.offset_dims[next_offset++];
    const bool result_split = plan.result_dim[d] >= 0 && site.result_dim(0, plan.result_dim[d]).is_split();
    if (!from.is_split() && !result_split) continue;
    if (result_split) {
      const bool same = attrs.slice_sizes[d] == sizes[d] && same_split(from, site.result_dim(0, plan.result_dim[d]), mesh);
      plan.dims[d] = same ? GatherDim::Same : GatherDim::Whole;
    } else {
      plan.dims[d] = contains(attrs.start_index_map, dim) ? GatherDim::Masked : GatherDim::Whole;
    }
  }
  return plan;
}

/// Where a device's gather reads, and which of what it reads is its own.
struct LocalPositions {
  ValueId indices;
  ValueId owned;  ///< per position: whether this device has part of the slice; invalid if every device has all
};

/// Clamps the positions of a gather as the global op does and shifts them into the local block of the masked dimensions, of
/// which `value`, the local operand, is padded with room for slices that reach over the block's ends.
LocalPositions localize_positions(Emitter& emitter, const OpSite& site, const ir::GatherAttrs& attrs, const GatherPlan& plan,
                                  ValueId& value) {
  ir::Builder& b = emitter.builder();
  const ir::Dims& sizes = site.operand_types[0].dims;
  // One upper limit, shift and extent per component of the positions.
  std::vector<ValueId> lasts, shifts, extents;
  for (const int dim : attrs.start_index_map) {
    const auto d = static_cast<std::size_t>(dim);
    const DimLayout& from = site.operand_dim(0, dim);
    std::int64_t last = sizes[d] - attrs.slice_sizes[d];
    if (plan.dims[d] == GatherDim::Same) last = emitter.dims(value)[d] - attrs.slice_sizes[d];
    ValueId shift = emitter.index(0);
    std::int64_t extent = last + 1;
    if (plan.dims[d] == GatherDim::Masked) {
      const std::int64_t room = attrs.slice_sizes[d] - 1;
      value = emitter.pad(value, dim, emitter.zero(site.operand_types[0].dtype), room, room, 0);
      shift = b(OpKind::Subtract, emitter.index(room), emitter.lookup(emitter.block_starts(from)));
      extent = local_size(from, emitter.mesh()) + room;
    }
    lasts.push_back(emitter.index(last));
    shifts.push_back(shift);
    extents.push_back(emitter.index(extent));
  }
  const int along = attrs.index_vector_dim;
  ValueId indices = explicit_positions(emitter, site.operands[1], along);
  const ir::Dims shape = emitter.dims(indices);
  const ValueId none = b.broadcast_scalar(emitter.index(0), shape);
  indices = clamp_index(emitter, indices, none, spread_components(emitter, lasts, shape, along));
  indices = b(OpKind::Add, indices, spread_components(emitter, shifts, shape, along));
  const ValueId inside = b(OpKind::And, b.compare(indices, none, ir::Comparison::Ge),
                           b.compare(indices, spread_components(emitter, extents, shape, along), ir::Comparison::Lt));
  return {indices, b.reduce(inside, ir::ReducerKind::And, {along})};
}

}  // namespace

std::vector<ValueId> emit_gather(Emitter& emitter, const OpSite& site) {
  ir::Builder& b = emitter.builder();
  ir::GatherAttrs attrs = site.op.as<ir::GatherAttrs>();
  const GatherPlan plan = plan_gather(site, attrs, emitter.mesh());
  const ir::Dims& sizes = site.operand_types[0].dims;
  ValueId value = site.operands[0];
  Layout read = site.operand_layouts[0];
  Layout computed = site.result_layouts[0];
  std::vector<AxisId> counted_once;  // a whole slice read by devices whose results are added up
  bool masked = false;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const int dim = static_cast<int>(d);
    const DimLayout& from = site.operand_dim(0, dim);
    if (plan.dims[d] == GatherDim::Masked) masked = true;
    if (plan.dims[d] == GatherDim::Whole) {
      value = make_whole(emitter, site, value, site.operand_types[0], dim, read);
      const auto& partial = site.result_layouts[0].partial_axes;
      for (const SubDim& sub : from.subs) {
        for (const AxisId axis : sub.axes) {
          if (contains(partial, axis)) counted_once.push_back(axis);
        }
      }
      if (plan.result_dim[d] >= 0) {
        auto& result_dim = computed.dims[static_cast<std::size_t>(plan.result_dim[d])];
        result_dim = whole_dim(result_dim.size());
      }
    } else if (plan.dims[d] == GatherDim::Same && plan.result_dim[d] >= 0) {
      attrs.slice_sizes[d] = std::min(attrs.slice_sizes[d], emitter.dims(value)[d]);
    }
  }
  const PartialKind kind = site.result_layouts[0].partial_kind;
  const DType dtype = site.result_types[0].dtype;
  LocalPositions local{site.operands[1], {}};
  if (masked) local = localize_positions(emitter, site, attrs, plan, value);
  ValueId result = b.add(OpKind::Gather, {value, local.indices}, attrs);
  if (masked) {
    std::vector<int> batch_dims;
    const int rank = emitter.type(result).rank();
    for (int d = 0; d < rank; ++d) {
      if (!contains(attrs.offset_dims, d)) batch_dims.push_back(d);
    }
    const ir::Dims shape = emitter.dims(result);
    result = b.select(b.broadcast(local.owned, shape, batch_dims), result,
                      b.broadcast_scalar(emitter.identity(kind, dtype), shape));
  }
  if (!counted_once.empty()) {
    const ir::Dims shape = emitter.dims(result);
    result = emitter.on_first(counted_once, result, b.broadcast_scalar(emitter.identity(kind, dtype), shape));
  }
  return {reshard_to(emitter, result, site.result_types[0], computed, site.result_layouts[0], site.cost)};
}

}  // namespace rhino::shard
