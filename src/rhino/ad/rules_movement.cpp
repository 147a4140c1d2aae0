// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <rhino/ad/rules.hpp>

// Ops that only move elements.

namespace rhino::ad {

using ir::Dims;
using ir::OpKind;
using ir::TensorType;
using ir::ValueId;

namespace {

ValueId scalar_zero(ir::Builder& b, ValueId like) { return b.scalar(b.type(like).dtype, 0); }

}  // namespace

void rule_broadcast_in_dim(Rule& r) {
  const auto& attrs = r.op.as<ir::BroadcastInDimAttrs>();
  const TensorType small = r.type(r.operand(0));
  // Summed over what is new and what was stretched; the rest is still in the order of the result's dimensions.
  std::vector<int> summed;
  std::vector<int> kept;
  for (int d = 0; d < r.type(r.result()).rank(); ++d) {
    const auto from = std::find(attrs.dimensions.begin(), attrs.dimensions.end(), d);
    const auto i = from - attrs.dimensions.begin();
    const bool same = from != attrs.dimensions.end() && small.dims[static_cast<std::size_t>(i)] == attrs.result_dims[at(d)];
    (same ? kept : summed).push_back(same ? static_cast<int>(i) : d);
  }
  ValueId gradient = r.sum(r.cotangent(), summed);
  if (!std::is_sorted(kept.begin(), kept.end())) {
    std::vector<int> permutation(kept.size());
    std::iota(permutation.begin(), permutation.end(), 0);
    std::sort(permutation.begin(), permutation.end(), [&](int a, int b) { return kept[at(a)] < kept[at(b)]; });
    gradient = r.b.transpose(gradient, permutation);
  }
  if (r.type(gradient).dims != small.dims) gradient = r.b.reshape(gradient, small.dims);
  r.add(0, gradient);
}

void rule_concatenate(Rule& r) {
  const auto dimension = at(r.op.as<ir::DimensionAttrs>().dimension);
  Dims start(r.type(r.result()).dims.size(), 0);
  for (std::size_t i = 0; i < r.operand_count(); ++i) {
    Dims limit = r.type(r.result()).dims;
    limit[dimension] = start[dimension] + r.type(r.operand(i)).dims[dimension];
    if (r.needs(i)) r.add(i, r.b.slice(r.cotangent(), start, limit));
    start[dimension] = limit[dimension];
  }
}

void rule_optimization_barrier(Rule& r) {
  for (std::size_t i = 0; i < r.operand_count(); ++i)
    if (r.needs(i) && r.cotangent(i).valid()) r.add(i, r.cotangent(i));
}

void rule_pad(Rule& r) {
  const auto& attrs = r.op.as<ir::PadAttrs>();
  const Dims dims = r.type(r.operand(0)).dims;
  // Where the operand lies in the result; what was cut off gets zeros first.
  Dims start(dims.size()), limit(dims.size()), stride(dims.size()), low(dims.size()), high(dims.size());
  bool cut = false;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const std::int64_t extent = dims[d] == 0 ? 0 : (dims[d] - 1) * (attrs.interior[d] + 1) + 1;
    low[d] = std::max<std::int64_t>(-attrs.low[d], 0);
    high[d] = std::max<std::int64_t>(-attrs.high[d], 0);
    cut = cut || low[d] > 0 || high[d] > 0;
    start[d] = std::max<std::int64_t>(attrs.low[d], 0);
    limit[d] = start[d] + extent;
    stride[d] = attrs.interior[d] + 1;
  }
  ValueId gradient = r.cotangent();
  if (cut) gradient = r.b.pad(gradient, scalar_zero(r.b, gradient), low, high);
  gradient = r.b.slice(gradient, start, limit, stride);
  r.add(0, gradient);
  if (r.needs(1)) r.add(1, r.minus(r.sum_all(r.cotangent()), r.sum_all(gradient)));
}

void rule_reshape(Rule& r) { r.add(0, r.b.reshape(r.cotangent(), r.type(r.operand(0)).dims)); }

void rule_reverse(Rule& r) { r.add(0, r.b.add(OpKind::Reverse, {r.cotangent()}, r.op.attrs)); }

void rule_slice(Rule& r) {
  const auto& attrs = r.op.as<ir::SliceAttrs>();
  const Dims dims = r.type(r.operand(0)).dims;
  const Dims sliced = r.type(r.result()).dims;
  Dims high(dims.size()), interior(dims.size());
  for (std::size_t d = 0; d < dims.size(); ++d) {
    interior[d] = attrs.stride[d] - 1;
    const std::int64_t extent = sliced[d] == 0 ? 0 : (sliced[d] - 1) * attrs.stride[d] + 1;
    high[d] = dims[d] - attrs.start[d] - extent;
  }
  r.add(0, r.b.pad(r.cotangent(), scalar_zero(r.b, r.cotangent()), attrs.start, high, interior));
}

void rule_transpose(Rule& r) {
  const auto& permutation = r.op.as<ir::DimensionsAttrs>().dimensions;
  std::vector<int> inverse(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i)
    inverse[at(permutation[i])] = static_cast<int>(i);
  r.add(0, r.b.transpose(r.cotangent(), inverse));
}

void rule_dynamic_slice(Rule& r) {
  // Only the slice is touched, so that the gradient of a tensor that a loop reads slice by slice costs one pass over it.
  const ValueId g = r.cotangent();
  const TensorType type = r.type(r.operand(0));
  const std::vector<ValueId> starts(r.op.operands.begin() + 1, r.op.operands.end());
  const Dims sizes = r.op.as<ir::DynamicSliceAttrs>().slice_sizes;
  r.add_onto(0, [=](ir::Builder& b, ValueId base) {
    ValueId update = g;
    if (base.valid())
      update = b(OpKind::Add, b.dynamic_slice(base, starts, sizes), g);
    else
      base = b.full(type, 0);
    std::vector<ValueId> operands{base, update};
    operands.insert(operands.end(), starts.begin(), starts.end());
    return b.add(OpKind::DynamicUpdateSlice, operands);
  });
}

void rule_dynamic_update_slice(Rule& r) {
  const std::vector<ValueId> starts(r.op.operands.begin() + 2, r.op.operands.end());
  const TensorType update = r.type(r.operand(1));
  if (r.needs(0)) {
    std::vector<ValueId> operands{r.cotangent(), r.zeros(update)};
    operands.insert(operands.end(), starts.begin(), starts.end());
    r.add(0, r.b.add(OpKind::DynamicUpdateSlice, operands));
  }
  if (r.needs(1)) r.add(1, r.b.dynamic_slice(r.cotangent(), starts, update.dims));
}

}  // namespace rhino::ad
