// SPDX-License-Identifier: Apache-2.0
#include <rhino/ad/rules.hpp>

// Elementwise ops of two and three operands.

namespace rhino::ad {

using ir::Comparison;
using ir::OpKind;
using ir::ValueId;

namespace {

/// The larger (or smaller) operand gets the gradient, equal ones half of it each.
void extremum(Rule& r, Comparison wins) {
  const ValueId half = r.times(r.cotangent(), 0.5);
  for (std::size_t i = 0; i < 2; ++i) {
    if (!r.needs(i)) continue;
    const ValueId mine = r.operand(i);
    const ValueId other = r.operand(1 - i);
    const ValueId shared = r.keep_where(r.equal(mine, other), half);
    r.add(i, r.where(r.b.compare(mine, other, wins), r.cotangent(), shared));
  }
}

/// Gradient of an operand that may be a scalar beside tensors.
void add_maybe_scalar(Rule& r, std::size_t i, ValueId gradient) {
  r.add(i, r.type(r.operand(i)).rank() == 0 ? r.sum_all(gradient) : gradient);
}

/// `x` spread to the shape of `like` if it is a scalar.
ValueId spread(Rule& r, ValueId x, ValueId like) {
  if (r.type(x).dims == r.type(like).dims) return x;
  return r.b.broadcast_scalar(x, r.type(like).dims);
}

}  // namespace

void rule_add(Rule& r) {
  r.add(0, r.cotangent());
  r.add(1, r.cotangent());
}

void rule_subtract(Rule& r) {
  r.add(0, r.cotangent());
  if (r.needs(1)) r.add(1, r.negative(r.cotangent()));
}

void rule_multiply(Rule& r) {
  if (r.needs(0)) r.add(0, r.times(r.cotangent(), r.operand(1)));
  if (r.needs(1)) r.add(1, r.times(r.cotangent(), r.operand(0)));
}

void rule_divide(Rule& r) {
  const ValueId quotient = r.over(r.cotangent(), r.operand(1));
  r.add(0, quotient);
  if (r.needs(1)) r.add(1, r.negative(r.times(quotient, r.result())));
}

void rule_maximum(Rule& r) { extremum(r, Comparison::Gt); }
void rule_minimum(Rule& r) { extremum(r, Comparison::Lt); }

void rule_atan2(Rule& r) {
  // atan2(y, x): x / (x^2 + y^2) and -y / (x^2 + y^2)
  const ValueId y = r.operand(0);
  const ValueId x = r.operand(1);
  const ValueId scaled = r.over(r.cotangent(), r.plus(r.times(x, x), r.times(y, y)));
  if (r.needs(0)) r.add(0, r.times(scaled, x));
  if (r.needs(1)) r.add(1, r.negative(r.times(scaled, y)));
}

void rule_power(Rule& r) {
  const ValueId x = r.operand(0);
  const ValueId p = r.operand(1);
  const ValueId one = r.constant(1, x);
  const ValueId zero = r.constant(0, x);
  if (r.needs(0)) {
    // p x^(p-1); x^0 is constant also at x = 0, where the power would be infinite.
    const ValueId power = r.b(OpKind::Power, x, r.where(r.equal(p, zero), one, r.minus(p, one)));
    r.add(0, r.times(r.cotangent(), r.times(p, power)));
  }
  if (r.needs(1)) {
    // log(x) x^p; 0 at x = 0, where the logarithm would be infinite.
    const ValueId logarithm = r.b(OpKind::Log, r.where(r.equal(x, zero), one, x));
    r.add(1, r.times(r.cotangent(), r.times(logarithm, r.result())));
  }
}

void rule_remainder(Rule& r) {
  // x - y trunc(x / y)
  r.add(0, r.cotangent());
  if (!r.needs(1)) return;
  const ValueId quotient = r.over(r.operand(0), r.operand(1));
  const ValueId truncated =
      r.times(r.b(OpKind::Sign, quotient), r.b(OpKind::Floor, r.b(OpKind::Abs, quotient)));
  r.add(1, r.negative(r.times(r.cotangent(), truncated)));
}

void rule_polygamma(Rule& r) {
  if (r.needs(0)) r.refuse("there is no rule for its order, only for its argument");
  const ValueId order = r.operand(0);
  const ValueId next = r.plus(order, r.constant(1, order));
  r.add(1, r.times(r.cotangent(), r.b(OpKind::Polygamma, next, r.operand(1))));
}

void rule_zeta(Rule& r) {
  // Hurwitz: d/dq zeta(x, q) = -x zeta(x + 1, q)
  if (r.needs(0)) r.refuse("there is no rule for its exponent, only for its second argument");
  const ValueId x = r.operand(0);
  const ValueId next = r.b(OpKind::Zeta, r.plus(x, r.constant(1, x)), r.operand(1));
  r.add(1, r.times(r.cotangent(), r.negative(r.times(x, next))));
}

void rule_clamp(Rule& r) {
  // clamp(low, x, high)
  const ValueId x = r.operand(1);
  const ValueId low = spread(r, r.operand(0), x);
  const ValueId high = spread(r, r.operand(2), x);
  if (r.needs(1)) {
    const ValueId inside =
        r.b(OpKind::And, r.b.compare(x, low, Comparison::Gt), r.b.compare(x, high, Comparison::Lt));
    r.add(1, r.keep_where(inside, r.cotangent()));
  }
  // The result is min(max(x, low), high): where the bounds cross, high wins.
  if (r.needs(0)) {
    const ValueId at_low = r.b(OpKind::And, r.b.compare(low, x, Comparison::Gt), r.b.compare(low, high, Comparison::Lt));
    add_maybe_scalar(r, 0, r.keep_where(at_low, r.cotangent()));
  }
  if (r.needs(2)) {
    const ValueId at_high = r.b.compare(r.b(OpKind::Maximum, x, low), high, Comparison::Gt);
    add_maybe_scalar(r, 2, r.keep_where(at_high, r.cotangent()));
  }
}

void rule_select(Rule& r) {
  const ValueId zeros = r.constant(0, r.cotangent());
  if (r.needs(1)) r.add(1, r.where(r.operand(0), r.cotangent(), zeros));
  if (r.needs(2)) r.add(2, r.where(r.operand(0), zeros, r.cotangent()));
}

}  // namespace rhino::ad
