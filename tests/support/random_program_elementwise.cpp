// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "support/random_program_generator.hpp"

namespace rhino::test {

using ir::DType;
using ir::OpKind;

// Functions that are smooth everywhere and do not grow faster than their operand.
bool Generator::unary_float() {
  const auto x = any_f64();
  if (!x) return false;
  static const std::vector<OpKind> exact_kinds{OpKind::Abs, OpKind::Negate};
  static const std::vector<OpKind> kinds{OpKind::Tanh, OpKind::Logistic, OpKind::Sine,  OpKind::Cosine,   OpKind::Erf,
                                         OpKind::Erfc, OpKind::Atan,     OpKind::Asinh, OpKind::BesselI1e};
  if (chance(0.25)) {
    const OpKind kind = choose(exact_kinds);
    return keep(op(kind, {*x}), facts(*x));
  }
  const OpKind kind = choose(kinds);
  return keep(op(kind, {*x}), {kind == OpKind::Asinh ? std::max(1.0, bound(*x)) : 2.0, false});
}

// Functions with a pole or branch point at or below zero.
bool Generator::unary_positive() {
  const auto x = any_f64();
  if (!x) return false;
  static const std::vector<OpKind> kinds{OpKind::Log,        OpKind::Sqrt,   OpKind::Rsqrt,   OpKind::Cbrt,
                                         OpKind::LogPlusOne, OpKind::Lgamma, OpKind::Digamma, OpKind::Acosh};
  const OpKind kind = choose(kinds);
  // Lgamma grows faster than its operand, so that one stays near zero.
  Value argument = positive(kind == OpKind::Lgamma || kind == OpKind::Digamma ? bounded(*x) : *x);
  if (kind == OpKind::Acosh)
    argument = note(b_(OpKind::Add, argument, full_like(argument, 1)), {bound(argument) + 1, exact(argument)});
  return keep(op(kind, {argument}), {4 + bound(argument), false});
}

// Functions with poles at +-1 or that grow fast.
bool Generator::unary_bounded() {
  const auto x = any_f64();
  if (!x) return false;
  static const std::vector<OpKind> kinds{OpKind::Exponential, OpKind::ExponentialMinusOne,
                                         OpKind::Tan,         OpKind::Acos,
                                         OpKind::Asin,        OpKind::Atanh,
                                         OpKind::Cosh,        OpKind::Sinh,
                                         OpKind::ErfInv};
  const Value tanh = bounded(*x);
  const Value half = note(b_(OpKind::Multiply, tanh, full_like(tanh, 0.5)), {0.5, false});
  return keep(op(choose(kinds), {half}), {3, false});
}

// Discontinuous functions.
bool Generator::unary_exact() {
  const auto x = any([&](Value v) { return is_float(v) && exact(v); });
  if (!x) return false;
  static const std::vector<OpKind> kinds{OpKind::Ceil,
                                         OpKind::Floor,
                                         OpKind::Sign,
                                         OpKind::RoundNearestAfz,
                                         OpKind::RoundNearestEven,
                                         OpKind::ReducePrecision,
                                         OpKind::IsFinite};
  const OpKind kind = choose(kinds);
  if (kind == OpKind::ReducePrecision)
    return keep(op(kind, {*x}, ir::ReducePrecisionAttrs{8, static_cast<int>(pick(3, 10))}), {bound(*x) * 1.1, true});
  return keep(op(kind, {*x}), {kind == OpKind::IsFinite ? 1 : bound(*x) + 1, true});
}

bool Generator::unary_integer() {
  const auto x = any([&](Value v) { return ir::is_integer(type(v).dtype); });
  if (!x) return false;
  static const std::vector<OpKind> kinds{
      OpKind::Abs, OpKind::Negate, OpKind::Not, OpKind::PopulationCount, OpKind::CountLeadingZeros, OpKind::Sign};
  const OpKind kind = choose(kinds);
  if ((kind == OpKind::Abs || kind == OpKind::Sign) && !ir::is_signed_int(type(*x).dtype)) return false;
  return keep(op(kind, {*x}), {std::max(64.0, bound(*x) + 1), true});
}

bool Generator::binary_number() {
  const auto x = any([&](Value v) { return type(v).dtype != DType::I1; });
  if (!x) return false;
  const Value y = of_type(type(*x));
  static const std::vector<OpKind> kinds{OpKind::Add, OpKind::Subtract, OpKind::Multiply, OpKind::Maximum,
                                         OpKind::Minimum};
  const OpKind kind = choose(kinds);
  ValueFacts result = merged({*x, y});
  if (kind == OpKind::Add || kind == OpKind::Subtract) result.bound = bound(*x) + bound(y);
  if (kind == OpKind::Multiply) result.bound = bound(*x) * bound(y);
  return keep(op(kind, {*x, y}), result);
}

bool Generator::binary_float() {
  const auto x = any_f64();
  if (!x) return false;
  const Value y = of_type(type(*x));
  switch (pick(0, 6)) {
    case 0: {
      const Value divisor = positive(y);
      return keep(op(OpKind::Divide, {*x, divisor}), {2 * bound(*x), exact(*x) && exact(divisor)});
    }
    case 1:
      return keep(op(OpKind::Power, {positive(bounded(*x)), bounded(y)}), {2, false});
    case 2:
      return keep(op(OpKind::Atan2, {*x, positive(y)}), {2, false});
    case 3: {
      if (!exact(*x) || !exact(y)) return false;
      return keep(op(OpKind::Remainder, {*x, positive(y)}), {bound(*x), true});
    }
    case 4: {
      if (!exact(*x) || !exact(y)) return false;
      return keep(op(OpKind::NextAfter, {*x, y}), {bound(*x), true});
    }
    case 5: {
      const Value order = full_like(*x, static_cast<double>(pick(0, 2)));
      const Value argument = positive(bounded(*x));
      return keep(op(OpKind::Polygamma, {order, argument}), {25, false});
    }
    default: {
      const Value exponent = positive(bounded(*x));
      const Value above_two = note(b_(OpKind::Add, exponent, full_like(exponent, 1.5)), {3, false});
      return keep(op(OpKind::Zeta, {above_two, positive(bounded(y))}), {20, false});
    }
  }
}

bool Generator::binary_integer() {
  const auto x = any([&](Value v) { return ir::is_integer(type(v).dtype); });
  if (!x) return false;
  static const std::vector<OpKind> kinds{OpKind::And,
                                         OpKind::Or,
                                         OpKind::Xor,
                                         OpKind::ShiftLeft,
                                         OpKind::Divide,
                                         OpKind::Remainder,
                                         OpKind::Power,
                                         OpKind::ShiftRightArithmetic,
                                         OpKind::ShiftRightLogical};
  const OpKind kind = choose(kinds);
  Value y;
  switch (kind) {
    case OpKind::And:
    case OpKind::Or:
    case OpKind::Xor:
      y = of_type(type(*x));
      break;
    case OpKind::Divide:
    case OpKind::Remainder:
      y = full_like(*x, static_cast<double>(pick(2, 7)));
      break;
    case OpKind::Power:
      y = full_like(*x, static_cast<double>(pick(0, 2)));
      break;
    default:
      y = full_like(*x, static_cast<double>(pick(0, 5)));
      break;
  }
  return keep(op(kind, {*x, y}), {std::min(0x1p62, 64 * (bound(*x) + bound(y)) * (1 + bound(*x))), true});
}

bool Generator::logic() {
  const auto x = any([&](Value v) { return type(v).dtype == DType::I1; });
  if (!x) return false;
  static const std::vector<OpKind> kinds{OpKind::And,     OpKind::Or,      OpKind::Xor, OpKind::Not,
                                         OpKind::Maximum, OpKind::Minimum, OpKind::Add, OpKind::Multiply};
  const OpKind kind = choose(kinds);
  if (kind == OpKind::Not) return keep(op(kind, {*x}), {1, true});
  return keep(op(kind, {*x, of_type(type(*x), true)}), {1, true});
}

bool Generator::compare() {
  const auto x = any([&](Value v) { return exact(v); });
  if (!x) return false;
  const Value y = of_type(type(*x), true);
  const auto direction = static_cast<ir::Comparison>(pick(0, 5));
  const bool total = is_float(*x) && chance(0.2);
  return keep(op(OpKind::Compare, {*x, y},
                 ir::CompareAttrs{direction, total ? ir::ComparisonType::TotalOrder : ir::ComparisonType::Default}),
              {1, true});
}

bool Generator::select() {
  const auto x = any([&](Value) { return true; });
  if (!x) return false;
  const Value y = of_type(type(*x));
  const ir::Dims shape = chance(0.2) ? ir::Dims{} : type(*x).dims;
  const Value predicate = of_type({DType::I1, shape}, true);
  return keep(op(OpKind::Select, {predicate, *x, y}), merged({*x, y}));
}

bool Generator::clamp() {
  const auto x = any([&](Value v) { return type(v).dtype == DType::F64 || ir::is_signed_int(type(v).dtype); });
  if (!x) return false;
  const bool scalars = chance(0.5);
  const ir::TensorType limits{type(*x).dtype, scalars ? ir::Dims{} : type(*x).dims};
  const double limit = is_float(*x) ? 0.5 : 3;
  const Value low = note(b_.full(limits, -limit), {limit, true});
  const Value high = note(b_.full(limits, limit), {limit, true});
  return keep(op(OpKind::Clamp, {low, *x, high}), {limit, exact(*x)});
}

bool Generator::convert() {
  const auto x = any([&](Value v) { return exact(v); });
  if (!x) return false;
  static const std::vector<DType> targets{DType::F64, DType::F64, DType::F32, DType::I32, DType::I64,
                                          DType::U32, DType::I8,  DType::U8,  DType::I16, DType::I1};
  const DType target = choose(targets);
  Value source = *x;
  if (ir::is_integer(type(source).dtype)) source = small_integer(source);
  // A conversion to a type too narrow for the value is not defined.
  if (ir::is_integer(target) && bound(source) > 100) return false;
  if (ir::is_unsigned_int(target) && type(source).dtype != DType::I1 && !ir::is_unsigned_int(type(source).dtype))
    source = op(OpKind::Abs, {source});
  return keep(op(OpKind::Convert, {source}, ir::ConvertAttrs{target}), {std::max(1.0, bound(source)), true});
}

bool Generator::bitcast() {
  const auto x = any([&](Value v) {
    const DType dtype = type(v).dtype;
    return exact(v) && (dtype == DType::F64 || dtype == DType::F32 || dtype == DType::U32 || dtype == DType::I64);
  });
  if (!x) return false;
  static const std::vector<DType> from_64{DType::I64, DType::U64, DType::U32};
  static const std::vector<DType> from_32{DType::I32, DType::U32, DType::U8};
  const DType target = choose(ir::dtype_bytes(type(*x).dtype) == 8 ? from_64 : from_32);
  if (target == type(*x).dtype) return false;
  ir::Dims dims = type(*x).dims;
  if (ir::dtype_bytes(target) < ir::dtype_bytes(type(*x).dtype)) dims.push_back(4);
  if (!small(dims)) return false;
  return keep(op(OpKind::BitcastConvert, {*x}, ir::ConvertAttrs{target}), {0x1p60, true});
}

}  // namespace rhino::test
