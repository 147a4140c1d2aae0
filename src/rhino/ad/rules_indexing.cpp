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

std::size_t at(int dimension) { return static_cast<std::size_t>(dimension); }

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
  ScatterAttrs scatter{attrs.offset_dims,
                       attrs.collapsed_slice_dims,
                       attrs.operand_batching_dims,
                       attrs.start_indices_batching_dims,
                       attrs.start_index_map,
                       attrs.index_vector_dim,
                       attrs.indices_are_sorted,
                       false};
  const ir::FunctionId add = r.reducer(ir::ReducerKind::Add, operand.dtype);
  r.add_onto(0, [=, g = r.cotangent()](ir::Builder& b, ValueId base) {
    if (!base.valid()) base = b.full(operand, 0);
    return b.add(OpKind::Scatter, {base, indices, g}, scatter, {add});
  });
}

}  // namespace rhino::ad
