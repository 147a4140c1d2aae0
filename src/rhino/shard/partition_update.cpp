// SPDX-License-Identifier: Apache-2.0
// Rules for ops that write at computed positions: scatter, dynamic_update_slice. Each device applies what falls into the
// block that it owns.
#include <algorithm>

#include <rhino/base/contains.hpp>
#include <rhino/base/error.hpp>
#include <rhino/shard/partition_index.hpp>

namespace rhino::shard {

using ir::OpKind;
using ir::ValueId;

std::vector<ValueId> emit_dynamic_update_slice(Emitter& emitter, const OpSite& site) {
  ir::Builder& b = emitter.builder();
  const MeshShape& mesh = emitter.mesh();
  const ir::Dims& sizes = site.operand_types[0].dims;
  const ir::Dims& update_sizes = site.operand_types[1].dims;
  ValueId operand = site.operands[0];
  ValueId update = site.operands[1];
  std::vector<ValueId> starts(site.operands.begin() + 2, site.operands.end());
  Layout read = site.operand_layouts[0];
  Layout update_layout = site.operand_layouts[1];
  Layout computed = site.result_layouts[0];
  struct Block {
    int dim;
    ValueId mask;  ///< rows of the local block that are overwritten
  };
  std::vector<Block> blocks;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const int dim = static_cast<int>(d);
    const DimLayout& from = site.operand_dim(0, dim);
    const DimLayout& written = site.operand_dim(1, dim);
    const DimLayout& to = site.result_dim(0, dim);
    if (!from.is_split() && !written.is_split() && !to.is_split()) continue;
    if (update_sizes[d] == sizes[d] && same_split(from, written, mesh) && same_split(from, to, mesh)) continue;
    update = make_whole(emitter, site, update, site.operand_types[1], dim, update_layout);
    if (!same_split(from, to, mesh)) {
      operand = make_whole(emitter, site, operand, site.operand_types[0], dim, read);
      computed.dims[d] = whole_dim(to.size());
      continue;
    }
    if (!from.is_split()) continue;
    // The update moved to where it meets the local block; rows that it does not meet are masked.
    const std::int64_t block = local_size(from, mesh);
    const ValueId first = emitter.lookup(emitter.block_starts(from));
    const ValueId start =
        clamp_index(emitter, emitter.to_index(starts[d]), emitter.index(0), emitter.index(sizes[d] - update_sizes[d]));
    const ValueId into_update = b(OpKind::Subtract, first, start);
    const ValueId mask = emitter.range_mask(block, into_update, 0, update_sizes[d]);
    update = emitter.pad(update, dim, emitter.zero(site.operand_types[1].dtype), block, block, 0);
    std::vector<ValueId> from_starts(sizes.size(), emitter.index(0));
    from_starts[d] = b(OpKind::Add, into_update, emitter.index(block));
    ir::Dims extent = emitter.dims(update);
    extent[d] = block;
    update = b.dynamic_slice(update, from_starts, extent);
    starts[d] = emitter.index(0);
    blocks.push_back({dim, mask});
  }
  if (!blocks.empty()) {
    for (ValueId& start : starts) start = emitter.to_index(start);
    const ir::Dims extent = emitter.dims(update);
    const ValueId current = b.dynamic_slice(operand, starts, extent);
    ValueId mask;
    for (const Block& block : blocks) {
      const ValueId wide = b.broadcast(block.mask, extent, {block.dim});
      mask = mask.valid() ? b(OpKind::And, mask, wide) : wide;
    }
    update = b.select(mask, update, current);
  }
  std::vector<ValueId> operands{operand, update};
  operands.insert(operands.end(), starts.begin(), starts.end());
  const ValueId result = b.add(OpKind::DynamicUpdateSlice, operands);
  return {reshard_to(emitter, result, site.result_types[0], computed, site.result_layouts[0], site.cost)};
}

namespace {

/// For each dimension of a scatter's inputs the dimension of the updates that runs along it; -1 for inserted and batching.
std::vector<int> window_dims(const ir::ScatterAttrs& attrs, std::size_t rank) {
  std::vector<int> along(rank, -1);
  std::size_t next = 0;
  for (std::size_t d = 0; d < rank; ++d) {
    const int dim = static_cast<int>(d);
    if (contains(attrs.inserted_window_dims, dim) || contains(attrs.input_batching_dims, dim)) continue;
    along[d] = attrs.update_window_dims[next++];
  }
  return along;
}

/// Where the updates are split over positions, each device's result is partial: the input shall count once, and padding of
/// the updates change nothing.
void count_inputs_once(Emitter& emitter, const OpSite& site, const ir::ScatterAttrs& attrs, std::vector<ValueId>& operands) {
  std::vector<AxisId> partial_axes;
  for (std::size_t f = 0; f < site.map.factors.size(); ++f) {
    if (site.map.factors[f].kind != FactorKind::Reduction) continue;
    for (const SubDim& sub : site.strategy.factors[f].subs) partial_axes.insert(partial_axes.end(), sub.axes.begin(), sub.axes.end());
  }
  if (emitter.mesh().group_size(partial_axes) == 1) return;
  RHINO_ASSERT(operands.size() == 3, "only a scatter into one tensor has partial results");
  std::vector<int> scatter_dims;  // of the updates: those that run over positions
  for (std::size_t u = 0; u < site.operand_types[2].dims.size(); ++u) {
    if (!contains(attrs.update_window_dims, static_cast<int>(u))) scatter_dims.push_back(static_cast<int>(u));
  }
  const PartialKind kind = site.result_layouts[0].partial_kind;
  operands[0] = contribute_once(emitter, site, 0, partial_axes, kind);
  operands[2] = emitter.mask_padding(operands[2], site.operand_layouts[2], scatter_dims,
                                     emitter.identity(kind, site.operand_types[2].dtype));
}

/// The positions of a scatter relative to the local block: `shift` per dimension (invalid: none) is subtracted. Positions far
/// outside (beyond `reach`, the window's extent, or `sizes`) are brought near first, so that nothing overflows.
ValueId shift_positions(Emitter& emitter, const ir::ScatterAttrs& attrs, ValueId indices, const ir::Dims& sizes,
                        const std::vector<std::int64_t>& reach, const std::vector<ValueId>& shift) {
  std::vector<ValueId> lowest, highest, shifts;
  for (const int dim : attrs.scatter_dims_to_operand_dims) {
    const auto d = static_cast<std::size_t>(dim);
    lowest.push_back(emitter.index(-reach[d]));
    highest.push_back(emitter.index(sizes[d]));
    shifts.push_back(shift[d].valid() ? shift[d] : emitter.index(0));
  }
  const int along = attrs.index_vector_dim;
  indices = explicit_positions(emitter, indices, along);
  const ir::Dims shape = emitter.dims(indices);
  indices = clamp_index(emitter, indices, spread_components(emitter, lowest, shape, along),
                        spread_components(emitter, highest, shape, along));
  return emitter.builder()(OpKind::Subtract, indices, spread_components(emitter, shifts, shape, along));
}

}  // namespace

std::vector<ValueId> emit_scatter(Emitter& emitter, const OpSite& site) {
  ir::Builder& b = emitter.builder();
  const MeshShape& mesh = emitter.mesh();
  const auto& attrs = site.op.as<ir::ScatterAttrs>();
  const std::size_t inputs = (site.operands.size() - 1) / 2;
  const ir::Dims& sizes = site.operand_types[0].dims;
  const std::vector<int> along = window_dims(attrs, sizes.size());
  std::vector<ValueId> operands = site.operands;
  std::vector<Layout> layouts = site.operand_layouts;
  std::vector<Layout> computed = site.result_layouts;

  count_inputs_once(emitter, site, attrs, operands);
  std::vector<ValueId> shift(sizes.size());   // subtracted from the positions along an owned dimension
  std::vector<std::int64_t> reach(sizes.size(), 1);
  bool owned = false;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const int dim = static_cast<int>(d);
    if (contains(attrs.input_batching_dims, dim)) continue;
    const DimLayout& from = site.operand_dim(0, dim);
    const DimLayout& to = site.result_dim(0, dim);
    const bool window = along[d] >= 0;
    const bool update_split = window && site.operand_dim(inputs + 1, along[d]).is_split();
    if (window) reach[d] = site.operand_types[inputs + 1].dims[static_cast<std::size_t>(along[d])];
    if (!from.is_split() && !to.is_split() && !update_split) continue;
    const bool indexed = contains(attrs.scatter_dims_to_operand_dims, dim);
    if (window && reach[d] == sizes[d] && !indexed && same_split(from, to, mesh) &&
        same_split(from, site.operand_dim(inputs + 1, along[d]), mesh)) {
      continue;
    }
    if (update_split) {
      for (std::size_t i = 0; i < inputs; ++i) {
        const std::size_t u = inputs + 1 + i;
        operands[u] = make_whole(emitter, site, operands[u], site.operand_types[u], along[d], layouts[u]);
      }
    }
    // A window must fit into the local block; wider ones, which the factor map splits only where they span the dimension,
    // may be moved off their place by an index and are then written on the whole.
    if (indexed && same_split(from, to, mesh) && reach[d] == 1) {
      shift[d] = emitter.lookup(emitter.block_starts(from));
      owned = owned || from.is_split();
      continue;
    }
    for (std::size_t i = 0; i < inputs; ++i) {
      operands[i] = make_whole(emitter, site, operands[i], site.operand_types[i], dim, layouts[i]);
      computed[i].dims[d] = whole_dim(to.size());
    }
  }
  if (owned) operands[inputs] = shift_positions(emitter, attrs, operands[inputs], sizes, reach, shift);
  std::vector<ValueId> results = b.add_multi(OpKind::Scatter, operands, attrs, site.regions);
  for (std::size_t r = 0; r < results.size(); ++r) {
    results[r] = reshard_to(emitter, results[r], site.result_types[r], computed[r], site.result_layouts[r], site.cost);
  }
  return results;
}

}  // namespace rhino::shard
