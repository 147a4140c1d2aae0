// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <rhino/base/error.hpp>
#include <rhino/base/math.hpp>
#include <rhino/shard/partition_emitter.hpp>

namespace rhino::shard {

using ir::Dims;
using ir::OpKind;
using ir::ValueId;

namespace {

/// One piece of every device's range: the same part [lower, upper) of a block, of the block `first + slot`.
struct Slot {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  ir::ReplicaGroups pairs;  ///< {source device, target device}
  bool exchanges = false;   ///< some pair joins different devices
};

/// Ranges cut into slots. Slot s of a device is its block number `first + s`; the slots lie end to end, and the range
/// begins `offset` elements after the beginning of slot 0's part.
struct SlotPlan {
  std::vector<Slot> slots;
  PerDevice offset;
  bool distinct_sources = true;  ///< no device has to send one slot to two others
  std::int64_t received = 0;     ///< elements that a device receives at most
};

SlotPlan plan_slots(const MeshShape& mesh, const std::vector<AxisId>& axes, std::int64_t block, std::int64_t size,
                    const PerDevice& start, std::int64_t length, const std::vector<bool>& needs) {
  const auto devices = start.size();
  const std::int64_t blocks = mesh.group_size(axes);
  SlotPlan plan;
  plan.offset.assign(devices, 0);
  PerDevice first(devices, 0);
  std::int64_t slot_count = 1;
  std::int64_t lowest = block;
  for (std::size_t d = 0; d < devices; ++d) {
    if (!needs[d]) continue;
    first[d] = floor_div(start[d], block);
    plan.offset[d] = start[d] - first[d] * block;
    slot_count = std::max(slot_count, floor_div(plan.offset[d] + length - 1, block) + 1);
    lowest = std::min(lowest, plan.offset[d]);
  }
  std::int64_t highest = 0;
  for (std::size_t d = 0; d < devices; ++d) {
    if (needs[d]) highest = std::max(highest, plan.offset[d] + length - (slot_count - 1) * block);
    plan.offset[d] = needs[d] ? plan.offset[d] - lowest : 0;
  }
  std::vector<std::vector<std::int64_t>> group_of(devices);
  for (const auto& group : mesh.groups(axes)) {
    for (const std::int64_t member : group) group_of[static_cast<std::size_t>(member)] = group;
  }
  for (std::int64_t s = 0; s < slot_count; ++s) {
    Slot slot;
    slot.lower = s == 0 ? lowest : 0;
    slot.upper = s + 1 == slot_count ? highest : block;
    std::set<std::int64_t> sources;
    for (std::size_t d = 0; d < devices; ++d) {
      const std::int64_t source_block = first[d] + s;
      if (!needs[d] || source_block < 0 || source_block >= blocks) continue;
      const std::int64_t lower = std::max(start[d], source_block * block);
      const std::int64_t upper = std::min({start[d] + length, (source_block + 1) * block, size});
      if (lower >= upper) continue;
      const std::int64_t source = group_of[d][static_cast<std::size_t>(source_block)];
      if (!sources.insert(source).second) plan.distinct_sources = false;
      if (source != static_cast<std::int64_t>(d)) slot.exchanges = true;
      slot.pairs.push_back({source, static_cast<std::int64_t>(d)});
    }
    if (slot.exchanges) plan.received += slot.upper - slot.lower;
    plan.slots.push_back(std::move(slot));
  }
  return plan;
}

}  // namespace

ValueId Emitter::gather_whole(ValueId value, int dim, const std::vector<AxisId>& axes) {
  if (axes.empty()) return value;
  ir::CollectiveAttrs attrs;
  attrs.groups = std::make_shared<const ir::ReplicaGroups>(mesh_.groups(axes));
  attrs.dimension = dim;
  attrs.group_size = mesh_.group_size(axes);
  return builder_.add(OpKind::AllGather, {value}, attrs);
}

ValueId Emitter::slice_padded(ValueId whole, int dim, const PerDevice& start, std::int64_t length,
                              const std::vector<bool>& needs) {
  const std::int64_t extent = dims(whole)[static_cast<std::size_t>(dim)];
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (std::size_t d = 0; d < start.size(); ++d) {
    if (!needs[d]) continue;
    low = std::max(low, -start[d]);
    high = std::max(high, start[d] + length - extent);
  }
  high = std::max(high, length - low - extent);  // devices without a need read somewhere
  const ValueId wide = pad(whole, dim, zero(type(whole).dtype), low, high, 0);
  PerDevice from = start;
  for (std::size_t d = 0; d < start.size(); ++d) from[d] = needs[d] ? start[d] + low : 0;
  return slice_at(wide, dim, from, length);
}

ValueId Emitter::fetch(ValueId value, int dim, const DimLayout& layout, const PerDevice& start, std::int64_t length,
                       std::optional<ValueId> fill) {
  const std::int64_t size = layout.size();
  const std::vector<AxisId> axes = block_axes(layout, mesh_);
  const std::int64_t block = local_size(layout, mesh_);
  const std::int64_t blocks = mesh_.group_size(axes);
  const auto devices = start.size();

  std::vector<bool> needs(devices);
  bool any = false;
  bool outside = false;
  for (std::size_t d = 0; d < devices; ++d) {
    needs[d] = std::max<std::int64_t>(start[d], 0) < std::min(start[d] + length, size);
    any = any || needs[d];
    outside = outside || start[d] < 0 || start[d] + length > size;
  }
  if (!any) {
    Dims shape = dims(value);
    shape[static_cast<std::size_t>(dim)] = length;
    return builder_.broadcast_scalar(fill ? *fill : zero(type(value).dtype), shape);
  }

  ValueId window;
  if (axes.empty()) {
    window = slice_padded(value, dim, start, length, needs);
  } else {
    SlotPlan plan = plan_slots(mesh_, axes, block, size, start, length, needs);
    if (!plan.distinct_sources || plan.received >= (blocks - 1) * block) {
      const bool local_only = std::none_of(plan.slots.begin(), plan.slots.end(), [](const Slot& s) { return s.exchanges; });
      if (!local_only) {
        window = slice_padded(gather_whole(value, dim, axes), dim, start, length, needs);
      }
    }
    if (!window.valid()) {
      std::vector<ValueId> pieces;
      for (Slot& slot : plan.slots) {
        if (slot.lower >= slot.upper) continue;
        ValueId piece = static_slice(value, dim, slot.lower, slot.upper);
        if (slot.pairs.empty()) {
          piece = builder_.broadcast_scalar(zero(type(value).dtype), dims(piece));
        } else if (slot.exchanges) {
          ir::CollectiveAttrs attrs;
          attrs.groups = std::make_shared<const ir::ReplicaGroups>(std::move(slot.pairs));
          piece = builder_.add(OpKind::CollectivePermute, {piece}, attrs);
        }
        pieces.push_back(piece);
      }
      const ValueId joined = pieces.size() == 1 ? pieces.front() : builder_.concatenate(pieces, dim);
      window = slice_at(joined, dim, plan.offset, length);
    }
  }
  if (fill && outside) window = where(range_mask(length, lookup(start), 0, size), dim, window, *fill);
  return window;
}

WindowFetch Emitter::fetch_window(ValueId value, int dim, const DimLayout& layout, const ir::WindowDim& window,
                                  const PerDevice& out_start, std::int64_t out_length, const PerDevice& window_start,
                                  std::int64_t window_length, ValueId fill) {
  // Positions count in the dilated base, whose element i stands at i * dilation; position 0 is the first real element.
  const std::int64_t span = (out_length - 1) * window.stride + (window_length - 1) * window.window_dilation + 1;
  const std::int64_t dilation = window.base_dilation;
  const auto devices = static_cast<std::size_t>(devices_);
  PerDevice first(devices);
  PerDevice phase(devices);
  std::int64_t length = 1;
  bool phases = false;
  for (std::size_t d = 0; d < devices; ++d) {
    const std::int64_t lower = out_start[d] * window.stride + window_start[d] * window.window_dilation - window.pad_low;
    first[d] = floor_div(lower, dilation);
    phase[d] = lower - first[d] * dilation;
    phases = phases || phase[d] != 0;
    length = std::max(length, (phase[d] + span - 1) / dilation + 1);
  }
  WindowFetch result;
  result.value = fetch(value, dim, layout, first, length, fill);
  result.window = window;
  result.window.size = window_length;
  result.window.pad_low = 0;
  result.window.pad_high = 0;
  if (dilation == 1) return result;
  const std::int64_t dilated = (length - 1) * dilation + 1;
  if (!phases) {
    result.window.pad_high = span - dilated;
    return result;
  }
  // Devices begin at different phases of the dilation: the holes are made explicit and cut away.
  const std::int64_t widest = *std::max_element(phase.begin(), phase.end()) + span;
  result.window.base_dilation = 1;
  result.value = pad(result.value, dim, fill, 0, std::max<std::int64_t>(widest - dilated, 0), dilation - 1);
  result.value = slice_at(result.value, dim, phase, span);
  return result;
}

}  // namespace rhino::shard
