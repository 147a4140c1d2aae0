// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include <rhino/ad/rules.hpp>

// gather and scatter.

namespace rhino::ad {

using ir::Dims;
using ir::DType;
using ir::GatherAttrs;
using ir::OpKind;
using ir::ScatterAttrs;
using ir::TensorType;
using ir::ValueId;

namespace {

/// The largest start index of each component of an index vector with which the window lies inside the operand.
std::vector<std::int64_t> last_starts(const Dims& operand, const Dims& window, const std::vector<int>& index_map) {
  std::vector<std::int64_t> last;
  for (const int d : index_map)
    last.push_back(operand[at(d)] - window[at(d)]);
  return last;
}

/// `last` as a value to compare indices with: of the shape of the indices, saturated to their type.
ValueId bounds_like(Rule& r, ValueId indices, int index_vector_dim, const std::vector<std::int64_t>& last) {
  const TensorType type = r.type(indices);
  const int bits = ir::dtype_bits(type.dtype) - (ir::is_signed_int(type.dtype) ? 1 : 0);
  const std::int64_t highest = bits >= 63 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << bits) - 1;
  const auto bound = [&](std::int64_t value) { return std::min(value, highest); };
  if (std::adjacent_find(last.begin(), last.end(), std::not_equal_to<>()) == last.end() && !last.empty())
    return r.b.constant(ir::Literal::splat_int(type, bound(last[0])));
  std::vector<ValueId> parts;
  for (const std::int64_t value : last)
    parts.push_back(r.b.constant(ir::Literal::splat_int({type.dtype, {1}}, bound(value))));
  if (parts.empty()) return r.b.constant(ir::Literal::splat_int(type, 0));
  return r.b.broadcast(r.b.concatenate(parts, 0), type.dims, {index_vector_dim});
}

}  // namespace

void rule_gather(Rule& r) {
  const auto& attrs = r.op.as<GatherAttrs>();
  const TensorType operand = r.type(r.operand(0));
  // A gather moves windows that stick out back inside, a scatter drops them: the indices are moved here.
  const ValueId bounds = bounds_like(r, r.operand(1), attrs.index_vector_dim,
                                     last_starts(operand.dims, attrs.slice_sizes, attrs.start_index_map));
  const ValueId zero = r.b.constant(ir::Literal::splat_int(r.type(bounds), 0));
  const ValueId indices = r.b.add(OpKind::Clamp, {zero, r.operand(1), bounds});
  ScatterAttrs scatter{
      attrs.offset_dims,     attrs.collapsed_slice_dims, attrs.operand_batching_dims, attrs.start_indices_batching_dims,
      attrs.start_index_map, attrs.index_vector_dim,     attrs.indices_are_sorted,    false};
  const ir::FunctionId add = r.reducer(ir::ReducerKind::Add, operand.dtype);
  r.add_onto(0, [=, g = r.cotangent()](ir::Builder& b, ValueId base) {
    if (!base.valid()) base = b.full(operand, 0);
    return b.add(OpKind::Scatter, {base, indices, g}, scatter, {add});
  });
}

namespace {

/// Sizes of the windows that a scatter writes, per dimension of its input.
Dims window_sizes(const ScatterAttrs& attrs, int rank, const Dims& updates) {
  Dims sizes;
  std::size_t next = 0;
  for (int d = 0; d < rank; ++d) {
    const auto in = [&](const std::vector<int>& list) { return std::find(list.begin(), list.end(), d) != list.end(); };
    const bool single = in(attrs.inserted_window_dims) || in(attrs.input_batching_dims);
    sizes.push_back(single ? 1 : updates[at(attrs.update_window_dims[next++])]);
  }
  return sizes;
}

/// What a scatter would write over, fetched: the windows of `from`, with zeros where they stick out. Each dimension
/// that is indexed gets zeros as wide as a window at both ends, so that the windows of a gather need not be moved
/// inside.
ValueId fetch_windows(Rule& r, ValueId from, const ScatterAttrs& attrs, const Dims& sizes) {
  const TensorType type = r.type(r.operand(1)), input = r.type(from);
  Dims margin(input.dims.size(), 0);
  std::vector<std::int64_t> lowest, highest, shift;
  for (const int d : attrs.scatter_dims_to_operand_dims) {
    margin[at(d)] = sizes[at(d)];
    lowest.push_back(ir::is_signed_int(type.dtype) ? -sizes[at(d)] : 0);
    highest.push_back(input.dims[at(d)]);
    shift.push_back(sizes[at(d)]);
  }
  const ValueId low = bounds_like(r, r.operand(1), attrs.index_vector_dim, lowest);
  const ValueId high = bounds_like(r, r.operand(1), attrs.index_vector_dim, highest);
  const ValueId near = r.b.convert(r.b.add(OpKind::Clamp, {low, r.operand(1), high}), DType::I64);
  const ValueId indices = r.plus(near, bounds_like(r, near, attrs.index_vector_dim, shift));
  const ValueId padded = r.b.pad(from, r.b.scalar(input.dtype, 0), margin, margin);
  const GatherAttrs gather{attrs.update_window_dims,
                           attrs.inserted_window_dims,
                           attrs.input_batching_dims,
                           attrs.scatter_indices_batching_dims,
                           attrs.scatter_dims_to_operand_dims,
                           attrs.index_vector_dim,
                           sizes,
                           attrs.indices_are_sorted};
  return r.b.add(OpKind::Gather, {padded, indices}, gather);
}

/// Where the elements of the updates stay, of a scatter that replaces: not where another update came later, or outside.
ValueId lasting(Rule& r, const ScatterAttrs& attrs, const Dims& sizes) {
  const TensorType updates = r.type(r.operand(2));
  const ir::FunctionId last = r.program().add_function("last");
  ir::Builder b(r.program(), last);
  b.param({DType::I64, {}});
  b.set_results({b.param({DType::I64, {}})});
  // Each element writes its number, from one on, instead of itself.
  const ValueId counted = r.b.iota({DType::I64, {updates.elements()}}, 0);
  const ValueId numbers = r.b.reshape(r.plus(counted, r.b.full(r.type(counted), 1)), updates.dims);
  const ValueId nothing = r.b.full({DType::I64, r.type(r.operand(0)).dims}, 0);
  const ValueId written = r.b.add(OpKind::Scatter, {nothing, r.operand(1), numbers}, attrs, {last});
  return r.equal(fetch_windows(r, written, attrs, sizes), numbers);
}

}  // namespace

void rule_scatter(Rule& r) {
  if (r.operand_count() != 3) r.refuse("there is no rule for several inputs");
  const auto& attrs = r.op.as<ScatterAttrs>();
  const ir::Function& region = r.program().function(r.op.regions[0]);
  const bool adds = ir::classify_reducer(region) == ir::ReducerKind::Add;
  const bool replaces = region.results[0] == region.params[1];
  if (!adds && !replaces) r.refuse("only sums and replacing have a rule");
  const ValueId g = r.cotangent();
  if (r.needs(0)) {
    const ValueId nothing = r.zeros(r.type(r.operand(2)));
    r.add(0, adds ? g : r.b.add(OpKind::Scatter, {g, r.operand(1), nothing}, attrs, {r.op.regions[0]}));
  }
  if (!r.needs(2)) return;
  const Dims sizes = window_sizes(attrs, r.type(r.operand(0)).rank(), r.type(r.operand(2)).dims);
  const ValueId fetched = fetch_windows(r, g, attrs, sizes);
  r.add(2, adds || attrs.unique_indices ? fetched : r.keep_where(lasting(r, attrs, sizes), fetched));
}

}  // namespace rhino::ad
