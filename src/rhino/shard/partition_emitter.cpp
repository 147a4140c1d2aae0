// SPDX-License-Identifier: Apache-2.0
#include <rhino/shard/partition_emitter.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

#include <rhino/base/error.hpp>
#include <rhino/base/math.hpp>
#include <rhino/shard/factor_rules.hpp>

namespace rhino::shard {

using ir::DType;
using ir::Dims;
using ir::OpKind;
using ir::ValueId;

std::vector<AxisId> block_axes(const DimLayout& layout, const MeshShape& mesh) {
  const DimLayout unique = canonical(layout, mesh);
  RHINO_ASSERT(is_block_split(unique), "a dimension that exchanges elements with its neighbours must be a block split");
  return unique.is_split() ? unique.subs.front().axes : std::vector<AxisId>{};
}

bool is_block_split(const DimLayout& layout) {
  return std::all_of(layout.subs.begin() + (layout.subs.empty() ? 0 : 1), layout.subs.end(),
                     [](const SubDim& sub) { return sub.axes.empty(); });
}

namespace {

bool all_equal(const PerDevice& table) {
  return std::all_of(table.begin(), table.end(), [&](std::int64_t entry) { return entry == table.front(); });
}

}  // namespace

ValueId Emitter::device() {
  if (!device_.valid()) device_ = builder_.convert(builder_.add(OpKind::PartitionId, {}), DType::I64);
  return device_;
}

ValueId Emitter::index(std::int64_t value) {
  auto [found, fresh] = indices_.try_emplace(value);
  if (fresh) found->second = builder_.scalar_int(DType::I64, value);
  return found->second;
}

ValueId Emitter::zero(DType dtype) { return builder_.scalar_int(dtype, 0); }

ValueId Emitter::identity(PartialKind kind, DType dtype) {
  // -0 and not 0: 0 + -0 is 0, so that only -0 leaves every number as it is.
  if (kind == PartialKind::Sum && ir::is_float(dtype)) return builder_.constant(ir::Literal::splat({dtype, {}}, -0.0));
  return builder_.constant(ir::reducer_identity(reducer_of(kind), dtype));
}

ValueId Emitter::lookup(const PerDevice& table) {
  RHINO_ASSERT(static_cast<std::int64_t>(table.size()) == devices_);
  if (all_equal(table)) return index(table.front());
  if (const auto found = tables_.find(table); found != tables_.end()) return found->second;
  std::vector<std::byte> bytes(table.size() * sizeof(std::int64_t));
  std::memcpy(bytes.data(), table.data(), bytes.size());
  const ValueId constant = builder_.constant(ir::Literal({DType::I64, {devices_}}, std::move(bytes)));
  const ValueId entry = builder_.reshape(builder_.dynamic_slice(constant, {device()}, {1}), {});
  tables_.emplace(table, entry);
  return entry;
}

ValueId Emitter::to_index(ValueId value) {
  const ir::TensorType from = type(value);
  if (from.dtype == DType::I64) return value;
  if (from.dtype == DType::U64) {
    const ValueId largest = builder_.constant(ir::Literal::splat_int(from, std::numeric_limits<std::int64_t>::max()));
    value = builder_(OpKind::Minimum, value, largest);
  }
  return builder_.convert(value, DType::I64);
}

ValueId Emitter::global_indices(const DimLayout& dim) {
  // Every device has the same digits up to its own offset: global = sum of local digit * global stride + offset.
  Dims digits;
  for (const SubDim& sub : dim.subs) digits.push_back(ceil_div(sub.size, mesh_.group_size(sub.axes)));
  std::vector<std::int64_t> strides(dim.subs.size(), 1);
  for (std::size_t s = dim.subs.size(); s-- > 1;) strides[s - 1] = strides[s] * dim.subs[s].size;
  PerDevice offset = uniform(0);
  for (std::int64_t d = 0; d < devices_; ++d) {
    for (std::size_t s = 0; s < dim.subs.size(); ++s) {
      offset[static_cast<std::size_t>(d)] += mesh_.group_index(d, dim.subs[s].axes) * digits[s] * strides[s];
    }
  }
  const std::int64_t local = local_size(dim, mesh_);
  ValueId result;
  if (dim.subs.size() <= 1) {
    result = builder_.iota({DType::I64, {local}}, 0);
  } else {
    for (std::size_t s = 0; s < dim.subs.size(); ++s) {
      const ValueId digit = builder_.iota({DType::I64, digits}, static_cast<int>(s));
      const ValueId part =
          builder_(OpKind::Multiply, digit, builder_.constant(ir::Literal::splat_int({DType::I64, digits}, strides[s])));
      result = result.valid() ? builder_(OpKind::Add, result, part) : part;
    }
    result = builder_.reshape(result, {local});
  }
  if (all_equal(offset) && offset.front() == 0) return result;
  return builder_(OpKind::Add, result, builder_.broadcast_scalar(lookup(offset), {local}));
}

ValueId Emitter::range_mask(std::int64_t length, ValueId start, std::int64_t lower, std::int64_t upper) {
  const ir::TensorType line{DType::I64, {length}};
  const ValueId position =
      builder_(OpKind::Add, builder_.iota(line, 0), builder_.broadcast_scalar(start, {length}));
  const ValueId above = builder_.compare(position, builder_.constant(ir::Literal::splat_int(line, lower)), ir::Comparison::Ge);
  const ValueId below = builder_.compare(position, builder_.constant(ir::Literal::splat_int(line, upper)), ir::Comparison::Lt);
  return builder_(OpKind::And, above, below);
}

ValueId Emitter::where(ValueId mask, int dim, ValueId value, ValueId fill) {
  const Dims shape = dims(value);
  const ValueId wide = builder_.broadcast(mask, shape, dim < 0 ? std::vector<int>{} : std::vector<int>{dim});
  return builder_.select(wide, value, builder_.broadcast_scalar(fill, shape));
}

ValueId Emitter::mask_padding(ValueId value, const Layout& layout, const std::vector<int>& masked, ValueId fill) {
  for (const int dim : masked) {
    const DimLayout& split = layout.dims[static_cast<std::size_t>(dim)];
    if (!is_uneven(split, mesh_)) continue;
    // Only the most significant digit can be uneven, so padding is a tail of the local buffer.
    const std::int64_t length = local_size(split, mesh_);
    const SubDim& first = split.subs.front();
    const std::int64_t block = ceil_div(first.size, mesh_.group_size(first.axes));
    PerDevice valid = uniform(0);
    for (std::int64_t d = 0; d < devices_; ++d) {
      const std::int64_t digits = std::clamp<std::int64_t>(first.size - mesh_.group_index(d, first.axes) * block, 0, block);
      valid[static_cast<std::size_t>(d)] = digits * (length / block);
    }
    const ValueId mask = builder_.compare(builder_.iota({DType::I64, {length}}, 0),
                                          builder_.broadcast_scalar(lookup(valid), {length}), ir::Comparison::Lt);
    value = where(mask, dim, value, fill);
  }
  return value;
}

ValueId Emitter::on_first(const std::vector<AxisId>& axes, ValueId value, ValueId other) {
  if (mesh_.group_size(axes) == 1) return value;
  PerDevice table = uniform(0);
  for (std::int64_t d = 0; d < devices_; ++d) table[static_cast<std::size_t>(d)] = mesh_.group_index(d, axes);
  const ValueId first = builder_.compare(lookup(table), index(0), ir::Comparison::Eq);
  return builder_.select(first, value, other);
}

ValueId Emitter::static_slice(ValueId value, int dim, std::int64_t start, std::int64_t limit, std::int64_t stride) {
  Dims limits = dims(value);
  const auto d = static_cast<std::size_t>(dim);
  if (start == 0 && limit == limits[d] && stride == 1) return value;
  Dims starts(limits.size(), 0);
  Dims strides(limits.size(), 1);
  starts[d] = start;
  limits[d] = limit;
  strides[d] = stride;
  return builder_.slice(value, starts, limits, strides);
}

ValueId Emitter::slice_at(ValueId value, int dim, const PerDevice& start, std::int64_t length) {
  if (all_equal(start)) return static_slice(value, dim, start.front(), start.front() + length);
  Dims sizes = dims(value);
  std::vector<ValueId> starts(sizes.size(), index(0));
  starts[static_cast<std::size_t>(dim)] = lookup(start);
  sizes[static_cast<std::size_t>(dim)] = length;
  return builder_.dynamic_slice(value, starts, sizes);
}

ValueId Emitter::pad(ValueId value, int dim, ValueId fill, std::int64_t low, std::int64_t high, std::int64_t interior) {
  if (low == 0 && high == 0 && interior == 0) return value;
  Dims lows(dims(value).size(), 0);
  Dims highs = lows;
  Dims interiors = lows;
  const auto d = static_cast<std::size_t>(dim);
  lows[d] = low;
  highs[d] = high;
  interiors[d] = interior;
  return builder_.pad(value, fill, lows, highs, interiors);
}

PerDevice Emitter::block_starts(const DimLayout& layout) const {
  const std::vector<AxisId> axes = block_axes(layout, mesh_);
  const std::int64_t block = local_size(layout, mesh_);
  PerDevice starts = uniform(0);
  if (axes.empty()) return starts;
  for (std::int64_t d = 0; d < devices_; ++d) starts[static_cast<std::size_t>(d)] = mesh_.group_index(d, axes) * block;
  return starts;
}

}  // namespace rhino::shard
