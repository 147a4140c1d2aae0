// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include <rhino/ad/rules.hpp>

// Elementwise ops of one operand: g is the gradient of the result y = f(x), and f'(x) g is what x gets. Where f' can be had
// from y it is: one value less to keep until the reverse pass.

namespace rhino::ad {

using ir::OpKind;
using ir::ValueId;

namespace {

const double two_over_root_pi = 2 / std::sqrt(std::numbers::pi);

ValueId square(Rule& r, ValueId x) { return r.times(x, x); }

/// 1 - x^2.
ValueId one_minus_square(Rule& r, ValueId x) { return r.minus(r.constant(1, x), square(r, x)); }

/// exp(-x^2).
ValueId bell(Rule& r, ValueId x) { return r.b(OpKind::Exponential, r.negative(square(r, x))); }

void add_product(Rule& r, ValueId derivative) { r.add(0, r.times(r.cotangent(), derivative)); }
void add_quotient(Rule& r, ValueId divisor) { r.add(0, r.over(r.cotangent(), divisor)); }

}  // namespace

void rule_abs(Rule& r) { add_product(r, r.b(OpKind::Sign, r.operand(0))); }

void rule_cbrt(Rule& r) { add_quotient(r, r.times(square(r, r.result()), 3)); }

void rule_convert(Rule& r) { r.add(0, r.b.convert(r.cotangent(), r.type(r.operand(0)).dtype)); }

void rule_cosine(Rule& r) { add_product(r, r.negative(r.b(OpKind::Sine, r.operand(0)))); }

void rule_exponential(Rule& r) { add_product(r, r.result()); }

void rule_exponential_minus_one(Rule& r) { add_product(r, r.plus(r.result(), r.constant(1, r.result()))); }

void rule_log(Rule& r) { add_quotient(r, r.operand(0)); }

void rule_log_plus_one(Rule& r) { add_quotient(r, r.plus(r.operand(0), r.constant(1, r.operand(0)))); }

void rule_logistic(Rule& r) {
  const ValueId y = r.result();
  add_product(r, r.times(y, r.minus(r.constant(1, y), y)));
}

void rule_negate(Rule& r) { r.add(0, r.negative(r.cotangent())); }

void rule_reduce_precision(Rule& r) { r.add(0, r.b.add(OpKind::ReducePrecision, {r.cotangent()}, r.op.attrs)); }

void rule_rsqrt(Rule& r) {
  // (x^-1/2)' = -1/2 y/x
  add_product(r, r.times(r.over(r.result(), r.operand(0)), -0.5));
}

void rule_sine(Rule& r) { add_product(r, r.b(OpKind::Cosine, r.operand(0))); }

void rule_sqrt(Rule& r) { add_product(r, r.over(r.constant(0.5, r.result()), r.result())); }

void rule_tan(Rule& r) { add_product(r, r.plus(r.constant(1, r.result()), square(r, r.result()))); }

void rule_tanh(Rule& r) { add_product(r, one_minus_square(r, r.result())); }

void rule_acos(Rule& r) { add_product(r, r.negative(r.b(OpKind::Rsqrt, one_minus_square(r, r.operand(0))))); }

void rule_acosh(Rule& r) {
  const ValueId x = r.operand(0);
  const ValueId one = r.constant(1, x);
  add_product(r, r.times(r.b(OpKind::Rsqrt, r.minus(x, one)), r.b(OpKind::Rsqrt, r.plus(x, one))));
}

void rule_asin(Rule& r) { add_product(r, r.b(OpKind::Rsqrt, one_minus_square(r, r.operand(0)))); }

void rule_asinh(Rule& r) {
  const ValueId x = r.operand(0);
  add_product(r, r.b(OpKind::Rsqrt, r.plus(square(r, x), r.constant(1, x))));
}

void rule_atan(Rule& r) {
  const ValueId x = r.operand(0);
  add_quotient(r, r.plus(r.constant(1, x), square(r, x)));
}

void rule_atanh(Rule& r) {
  const ValueId x = r.operand(0);
  const ValueId one = r.constant(1, x);
  add_quotient(r, r.times(r.plus(one, x), r.minus(one, x)));
}

void rule_cosh(Rule& r) { add_product(r, r.b(OpKind::Sinh, r.operand(0))); }

void rule_sinh(Rule& r) { add_product(r, r.b(OpKind::Cosh, r.operand(0))); }

void rule_erf(Rule& r) { add_product(r, r.times(bell(r, r.operand(0)), two_over_root_pi)); }

void rule_erfc(Rule& r) { add_product(r, r.times(bell(r, r.operand(0)), -two_over_root_pi)); }

void rule_erf_inv(Rule& r) {
  // The reciprocal of erf'(y).
  add_product(r, r.times(r.b(OpKind::Exponential, square(r, r.result())), 1 / two_over_root_pi));
}

void rule_lgamma(Rule& r) { add_product(r, r.b(OpKind::Digamma, r.operand(0))); }

void rule_digamma(Rule& r) {
  const ValueId x = r.operand(0);
  add_product(r, r.b(OpKind::Polygamma, r.constant(1, x), x));
}

}  // namespace rhino::ad
