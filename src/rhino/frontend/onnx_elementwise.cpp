// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include <rhino/frontend/onnx_context.hpp>

namespace rhino::frontend::onnx {
namespace {

using ir::Comparison;

template <OpKind kind>
void unary(Context& c) {
  c.out(c.g.add(kind, {c.in(0)}));
}

template <OpKind kind>
void binary(Context& c) {
  c.out(c.g.binary(kind, c.in(0), c.in(1)));
}

template <Comparison direction>
void compare(Context& c) {
  c.out(c.g.compare(direction, c.in(0), c.in(1)));
}

/// Max, Min, Sum of any number of operands.
template <OpKind kind>
void variadic(Context& c) {
  const std::vector<Tensor> operands = c.all();
  Tensor result = operands[0];
  for (std::size_t i = 1; i < operands.size(); ++i)
    result = c.g.binary(kind, result, operands[i]);
  c.out(result);
}

void mean(Context& c) {
  const std::vector<Tensor> operands = c.all();
  Tensor result = operands[0];
  for (std::size_t i = 1; i < operands.size(); ++i)
    result = result + operands[i];
  c.out(result / static_cast<double>(operands.size()));
}

void relu(Context& c) { c.out(c.g.maximum(c.in(0), 0)); }

void reciprocal(Context& c) { c.out(1.0 / c.in(0)); }

void gelu(Context& c) {
  const Tensor x = c.in(0);
  const std::string approximate = c.text("approximate", "none");
  if (approximate == "none") {
    c.out(0.5 * x * (1.0 + c.g.erf(x * std::sqrt(0.5))));
  } else if (approximate == "tanh") {
    c.out(0.5 * x * (1.0 + c.g.tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * (x * x * x)))));
  } else {
    c.unsupported("approximate = " + approximate);
  }
}

Tensor softplus_of(Context& c, const Tensor& x) { return c.g.maximum(x, 0) + c.g.log1p(c.g.exp(-c.g.abs(x))); }

void softplus(Context& c) { c.out(softplus_of(c, c.in(0))); }
void softsign(Context& c) { c.out(c.in(0) / (1.0 + c.g.abs(c.in(0)))); }
void mish(Context& c) { c.out(c.in(0) * c.g.tanh(softplus_of(c, c.in(0)))); }
void swish(Context& c) { c.out(c.in(0) * c.g.logistic(c.in(0) * c.real("alpha", 1))); }

/// x where it is positive, `negative` elsewhere.
Tensor positive_or(Context& c, const Tensor& x, const Tensor& negative) {
  return c.g.select(c.g.greater_equal(x, c.g.scalar(x.dtype(), 0)), x, negative);
}

void leaky_relu(Context& c) { c.out(positive_or(c, c.in(0), c.in(0) * c.real("alpha", 0.01))); }

void prelu(Context& c) { c.out(positive_or(c, c.in(0), c.in(0) * c.in(1))); }

/// alpha * (exp(x) - 1) below zero, without overflow above it.
Tensor elu_of(Context& c, const Tensor& x, double alpha) {
  return positive_or(c, x, c.g.add(OpKind::ExponentialMinusOne, {c.g.minimum(x, 0)}) * alpha);
}

void elu(Context& c) { c.out(elu_of(c, c.in(0), c.real("alpha", 1))); }

void selu(Context& c) {
  c.out(elu_of(c, c.in(0), c.real("alpha", 1.6732632423543772)) * c.real("gamma", 1.0507009873554805));
}

Tensor hard_sigmoid_of(Context& c, const Tensor& x, double alpha, double beta) {
  return c.g.minimum(c.g.maximum(x * alpha + beta, 0), 1);
}

void hard_sigmoid(Context& c) { c.out(hard_sigmoid_of(c, c.in(0), c.real("alpha", 0.2), c.real("beta", 0.5))); }
void hard_swish(Context& c) { c.out(c.in(0) * hard_sigmoid_of(c, c.in(0), 1.0 / 6, 0.5)); }

void clip(Context& c) {
  Tensor x = c.in(0);
  if (c.opset < 11) {
    if (c.has("min")) x = c.g.maximum(x, c.real("min", 0));
    if (c.has("max")) x = c.g.minimum(x, c.real("max", 0));
  } else {
    if (c.has(1)) x = c.g.maximum(x, c.in(1));
    if (c.has(2)) x = c.g.minimum(x, c.in(2));
  }
  c.out(x);
}

void power(Context& c) {
  const Tensor x = c.in(0), exponent = c.in(1);
  const std::optional<Literal> known = c.known(1);
  // Small powers by products: exact, and their derivative is defined for negative numbers.
  if (known && known->type().elements() == 1 && exponent.rank() <= x.rank()) {
    const double e = known->element_as_double(0);
    if (e == 1) return c.out(x);
    if (e == 2) return c.out(x * x);
    if (e == 3) return c.out(x * x * x);
    if (e == 0.5) return c.out(c.g.sqrt(x));
    if (e == -0.5) return c.out(c.g.rsqrt(x));
  }
  c.out(c.g.power(x, c.g.convert(exponent, x.dtype())));
}

void modulo(Context& c) {
  const Tensor x = c.in(0), y = c.in(1);
  Tensor rest = c.g.binary(OpKind::Remainder, x, y);
  if (c.integer("fmod", 0) == 0 && !ir::is_unsigned_int(x.dtype())) {
    // The sign of the divisor, where StableHLO gives that of the dividend.
    const Tensor zero = c.g.scalar(x.dtype(), 0);
    const Tensor differs = c.g.binary(OpKind::Xor, c.g.less(rest, zero), c.g.less(y, zero));
    const Tensor moves = c.g.logical_and(differs, c.g.compare(Comparison::Ne, rest, zero));
    rest = c.g.select(moves, rest + y, rest);
  }
  c.out(rest);
}

void cast(Context& c) {
  const std::optional<DType> dtype = dtype_from_number(c.integer("to", 0));
  if (!dtype) c.unsupported(fmt::format("element type number {}", c.integer("to", 0)));
  c.out(c.g.convert(c.in(0), *dtype));
}

void cast_like(Context& c) { c.out(c.g.convert(c.in(0), c.in(1).dtype())); }

void where(Context& c) { c.out(c.g.select(c.in(0), c.in(1), c.in(2))); }

void is_nan(Context& c) { c.out(c.g.compare(Comparison::Ne, c.in(0), c.in(0))); }

void identity(Context& c) { c.out(c.in(0)); }

void dropout(Context& c) {
  const Tensor x = c.in(0);
  double rate = c.real("ratio", 0.5);
  if (c.has(1)) rate = c.number(1, "ratio");
  if (c.target().training()) {
    c.refuse_output(1);
    c.out(c.target().dropout(x, rate));
  } else {
    c.out(0, x);
    c.out(1, c.g.full({DType::I1, x.dims()}, 1));
  }
}

}  // namespace

void add_elementwise_converters(ConverterTable& table) {
  table.insert({
      {"Abs", unary<OpKind::Abs>},
      {"Acos", unary<OpKind::Acos>},
      {"Acosh", unary<OpKind::Acosh>},
      {"Add", binary<OpKind::Add>},
      {"And", binary<OpKind::And>},
      {"Asin", unary<OpKind::Asin>},
      {"Asinh", unary<OpKind::Asinh>},
      {"Atan", unary<OpKind::Atan>},
      {"Atanh", unary<OpKind::Atanh>},
      {"BitwiseAnd", binary<OpKind::And>},
      {"BitwiseNot", unary<OpKind::Not>},
      {"BitwiseOr", binary<OpKind::Or>},
      {"BitwiseXor", binary<OpKind::Xor>},
      {"Cast", cast},
      {"CastLike", cast_like},
      {"Ceil", unary<OpKind::Ceil>},
      {"Clip", clip},
      {"Cos", unary<OpKind::Cosine>},
      {"Cosh", unary<OpKind::Cosh>},
      {"Div", binary<OpKind::Divide>},
      {"Dropout", dropout},
      {"Elu", elu},
      {"Equal", compare<Comparison::Eq>},
      {"Erf", unary<OpKind::Erf>},
      {"Exp", unary<OpKind::Exponential>},
      {"Floor", unary<OpKind::Floor>},
      {"Gelu", gelu},
      {"Greater", compare<Comparison::Gt>},
      {"GreaterOrEqual", compare<Comparison::Ge>},
      {"HardSigmoid", hard_sigmoid},
      {"HardSwish", hard_swish},
      {"Identity", identity},
      {"IsNaN", is_nan},
      {"LeakyRelu", leaky_relu},
      {"Less", compare<Comparison::Lt>},
      {"LessOrEqual", compare<Comparison::Le>},
      {"Log", unary<OpKind::Log>},
      {"Max", variadic<OpKind::Maximum>},
      {"Mean", mean},
      {"Min", variadic<OpKind::Minimum>},
      {"Mish", mish},
      {"Mod", modulo},
      {"Mul", binary<OpKind::Multiply>},
      {"Neg", unary<OpKind::Negate>},
      {"Not", unary<OpKind::Not>},
      {"Or", binary<OpKind::Or>},
      {"PRelu", prelu},
      {"Pow", power},
      {"Reciprocal", reciprocal},
      {"Relu", relu},
      {"Round", unary<OpKind::RoundNearestEven>},
      {"Selu", selu},
      {"Sigmoid", unary<OpKind::Logistic>},
      {"Sign", unary<OpKind::Sign>},
      {"Sin", unary<OpKind::Sine>},
      {"Sinh", unary<OpKind::Sinh>},
      {"Softplus", softplus},
      {"Softsign", softsign},
      {"Sqrt", unary<OpKind::Sqrt>},
      {"Sub", binary<OpKind::Subtract>},
      {"Sum", variadic<OpKind::Add>},
      {"Swish", swish},
      {"Tan", unary<OpKind::Tan>},
      {"Tanh", unary<OpKind::Tanh>},
      {"Where", where},
      {"Xor", binary<OpKind::Xor>},
  });
}

}  // namespace rhino::frontend::onnx
