// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <rhino/ad/lifted_reduction.hpp>
#include <rhino/ad/rules.hpp>

// reduce: sums spread the gradient, extrema share it among the tied elements, products divide by the
// element; other reducers are written out.

namespace rhino::ad {

using ir::OpKind;
using ir::ReducerKind;
using ir::TensorType;
using ir::ValueId;

namespace {

/// `reduced` spread back over the reduced dimensions of the input.
ValueId spread(Rule& r, ValueId reduced) {
  const auto& dimensions = r.op.as<ir::ReduceAttrs>().dimensions;
  const TensorType input = r.type(r.operand(0));
  std::vector<int> kept;
  for (int d = 0; d < input.rank(); ++d)
    if (std::find(dimensions.begin(), dimensions.end(), d) == dimensions.end()) kept.push_back(d);
  return r.b.broadcast(reduced, input.dims, kept);
}

void reduce_extremum(Rule& r) {
  const auto& dimensions = r.op.as<ir::ReduceAttrs>().dimensions;
  const ValueId tied = r.equal(r.operand(0), spread(r, r.result()));
  const ValueId count = r.sum(r.b.convert(tied, r.type(r.operand(0)).dtype), dimensions);
  r.add(0, r.keep_where(tied, spread(r, r.over(r.cotangent(), count))));
}

void reduce_product(Rule& r) {
  // With the zeros replaced by ones the product P is that of the other elements: the gradient of x is P / x where there
  // is no other zero, else 0. Right also where elements are 0.
  const auto& dimensions = r.op.as<ir::ReduceAttrs>().dimensions;
  const ValueId x = r.operand(0);
  const ValueId is_zero = r.equal(x, r.constant(0, x));
  const ValueId filled = r.where(is_zero, r.constant(1, x), x);
  const ValueId zero = r.b.convert(is_zero, r.type(x).dtype);
  const ValueId other_zeros = r.minus(spread(r, r.sum(zero, dimensions)), zero);
  const ValueId init = r.b.broadcast_scalar(r.operand(1), r.type(r.cotangent()).dims);
  const ValueId product = r.times(r.cotangent(), r.times(r.reduce(filled, ReducerKind::Multiply, dimensions), init));
  r.add(0, r.keep_where(r.equal(other_zeros, r.constant(0, x)), r.over(spread(r, product), filled)));
}

}  // namespace

void rule_reduce(Rule& r) {
  const ReducerKind kind = ir::classify_reducer(r.program().function(r.op.regions[0]));
  if (r.operand_count() > 2) return rule_lifted_reduction(r);
  if (kind == ReducerKind::Add) {
    if (r.needs(0)) r.add(0, spread(r, r.cotangent()));
    if (r.needs(1)) r.add(1, r.sum_all(r.cotangent()));
    return;
  }
  if (r.needs(1)) return rule_lifted_reduction(r);
  switch (kind) {
    case ReducerKind::Maximum:
    case ReducerKind::Minimum:
      return reduce_extremum(r);
    case ReducerKind::Multiply:
      return reduce_product(r);
    default:
      return rule_lifted_reduction(r);
  }
}

}  // namespace rhino::ad
