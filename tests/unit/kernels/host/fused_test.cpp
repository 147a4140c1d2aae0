// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <rhino/kernels/host/host_backend.hpp>
#include <rhino/kernels/reference/element.hpp>
#include <rhino/kernels/reference/reference_backend.hpp>

#include "backend_pair.hpp"

namespace rhino::kernels::host::test {
namespace {

using ir::DType;
using ir::FusedExpression;
using ir::OpKind;

ir::Attributes splat(DType dtype, double value) {
  const ir::TensorType scalar{dtype, {}};
  Tensor element(scalar);
  reference::dispatch_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, bool>) element.as<T>()[0] = value > 0;
    else if constexpr (std::is_integral_v<T>) element.as<T>()[0] = static_cast<T>(static_cast<std::int64_t>(value));
    else element.as<T>()[0] = T(value);
  });
  return ir::ConstantAttrs{element.to_literal()};
}

/// Elements that an input's strides reach.
std::int64_t extent(const ir::Dims& shape, const ir::FusedInput& input) {
  std::int64_t last = input.offset;
  for (std::size_t d = 0; d < shape.size(); ++d) last += (shape[d] - 1) * input.strides[d];
  return last + 1;
}

/// Runs an expression on both backends; with `in_place`, result o of the host lies over input in_place[o] (or -1).
std::string compare(const FusedExpression& expression, const std::vector<Tensor>& inputs, Tolerance tolerance,
                    const std::vector<int>& in_place = {}) {
  std::vector<const void*> operands;
  for (const Tensor& input : inputs) operands.push_back(input.bytes.data());
  std::vector<Tensor> want, got;
  std::vector<void*> results;
  for (std::uint32_t output : expression.outputs) {
    want.emplace_back(ir::TensorType{expression.register_dtype(output), expression.shape});
    got.push_back(want.back());
  }
  for (Tensor& tensor : want) results.push_back(tensor.bytes.data());
  run_kernel(*reference::make_backend()->make_fused(expression), operands, results);

  std::vector<Tensor> shared = inputs;
  for (std::size_t i = 0; i < shared.size(); ++i) operands[i] = shared[i].bytes.data();
  results.clear();
  for (std::size_t o = 0; o < got.size(); ++o) {
    const int over = o < in_place.size() ? in_place[o] : -1;
    results.push_back(over < 0 ? got[o].bytes.data() : shared[static_cast<std::size_t>(over)].bytes.data());
  }
  run_kernel(*make_backend()->make_fused(expression), operands, results);
  for (std::size_t o = 0; o < got.size(); ++o) {
    const int over = o < in_place.size() ? in_place[o] : -1;
    if (over >= 0) std::memcpy(got[o].bytes.data(), shared[static_cast<std::size_t>(over)].bytes.data(), got[o].bytes.size());
    const std::string text = difference(got[o], want[o], tolerance);
    if (!text.empty()) return fmt::format("output {}: {}", o, text);
  }
  return "";
}

const std::vector<DType> all_types{DType::I1,  DType::I8,  DType::I16, DType::I32,  DType::I64, DType::U8, DType::U16,
                                   DType::U32, DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64};

struct KindCase {
  OpKind kind;
  int operands;
  enum { Any, Number, Float, Integer, Bits } types;
};

const std::vector<KindCase> kinds{
    {OpKind::Abs, 1, KindCase::Number}, {OpKind::Cbrt, 1, KindCase::Float}, {OpKind::Ceil, 1, KindCase::Float},
    {OpKind::Cosine, 1, KindCase::Float}, {OpKind::CountLeadingZeros, 1, KindCase::Integer},
    {OpKind::Exponential, 1, KindCase::Float}, {OpKind::ExponentialMinusOne, 1, KindCase::Float},
    {OpKind::Floor, 1, KindCase::Float}, {OpKind::Log, 1, KindCase::Float}, {OpKind::LogPlusOne, 1, KindCase::Float},
    {OpKind::Logistic, 1, KindCase::Float}, {OpKind::Negate, 1, KindCase::Number}, {OpKind::Not, 1, KindCase::Bits},
    {OpKind::PopulationCount, 1, KindCase::Integer}, {OpKind::RoundNearestAfz, 1, KindCase::Float},
    {OpKind::RoundNearestEven, 1, KindCase::Float}, {OpKind::Rsqrt, 1, KindCase::Float}, {OpKind::Sign, 1, KindCase::Number},
    {OpKind::Sine, 1, KindCase::Float}, {OpKind::Sqrt, 1, KindCase::Float}, {OpKind::Tan, 1, KindCase::Float},
    {OpKind::Tanh, 1, KindCase::Float}, {OpKind::Acos, 1, KindCase::Float}, {OpKind::Acosh, 1, KindCase::Float},
    {OpKind::Asin, 1, KindCase::Float}, {OpKind::Asinh, 1, KindCase::Float}, {OpKind::Atan, 1, KindCase::Float},
    {OpKind::Atanh, 1, KindCase::Float}, {OpKind::Cosh, 1, KindCase::Float}, {OpKind::Sinh, 1, KindCase::Float},
    {OpKind::Erf, 1, KindCase::Float}, {OpKind::ErfInv, 1, KindCase::Float}, {OpKind::Erfc, 1, KindCase::Float},
    {OpKind::Lgamma, 1, KindCase::Float}, {OpKind::Digamma, 1, KindCase::Float}, {OpKind::BesselI1e, 1, KindCase::Float},
    {OpKind::Add, 2, KindCase::Any}, {OpKind::And, 2, KindCase::Bits}, {OpKind::Atan2, 2, KindCase::Float},
    {OpKind::Divide, 2, KindCase::Number}, {OpKind::Maximum, 2, KindCase::Any}, {OpKind::Minimum, 2, KindCase::Any},
    {OpKind::Multiply, 2, KindCase::Any}, {OpKind::NextAfter, 2, KindCase::Float}, {OpKind::Or, 2, KindCase::Bits},
    {OpKind::Power, 2, KindCase::Number}, {OpKind::Remainder, 2, KindCase::Number}, {OpKind::ShiftLeft, 2, KindCase::Integer},
    {OpKind::ShiftRightArithmetic, 2, KindCase::Integer}, {OpKind::ShiftRightLogical, 2, KindCase::Integer},
    {OpKind::Subtract, 2, KindCase::Number}, {OpKind::Xor, 2, KindCase::Bits}, {OpKind::Clamp, 3, KindCase::Any},
};

bool applies(const KindCase& kind, DType dtype) {
  switch (kind.types) {
    case KindCase::Any: return true;
    case KindCase::Number: return dtype != DType::I1;
    case KindCase::Float: return ir::is_float(dtype);
    case KindCase::Integer: return ir::is_integer(dtype);
    default: return !ir::is_float(dtype);
  }
}

ir::FusedInput dense_input(DType dtype, const ir::Dims& shape) { return {dtype, ir::row_major_strides(shape), 0}; }

TEST(Fused, EveryKindOnEveryTypeEqualsReference) {
  Randomness random(1);
  for (const KindCase& kind : kinds) {
    for (DType dtype : all_types) {
      if (!applies(kind, dtype)) continue;
      // All operands dense, and each mask of scalars.
      for (unsigned scalars = 0; scalars < (1u << kind.operands); ++scalars) {
        FusedExpression expression;
        expression.shape = {7, 53};
        std::vector<Tensor> inputs;
        std::vector<std::uint32_t> args;
        for (int i = 0; i < kind.operands; ++i) {
          const bool scalar = (scalars >> i & 1u) != 0;
          expression.inputs.push_back(scalar ? ir::FusedInput{dtype, {0, 0}, 0} : dense_input(dtype, expression.shape));
          inputs.push_back(random.tensor({dtype, scalar ? ir::Dims{} : expression.shape}));
          args.push_back(static_cast<std::uint32_t>(i));
        }
        expression.steps = {{kind.kind, ir::NoAttrs{}, args, dtype}};
        expression.outputs = {static_cast<std::uint32_t>(kind.operands)};
        if (kind.kind == OpKind::IsFinite) expression.steps[0].dtype = DType::I1;
        Tolerance tolerance = few_units(dtype, 2);
        if (kind.kind == OpKind::NextAfter || kind.kind == OpKind::Remainder) tolerance = {};
        ASSERT_EQ(compare(expression, inputs, tolerance), "")
            << ir::op_name(kind.kind) << " on " << ir::dtype_name(dtype) << " scalars " << scalars;
      }
    }
  }
}

TEST(Fused, CompareSelectConvertOnEveryType) {
  Randomness random(2);
  const ir::Dims shape{3, 5, 300};
  for (DType dtype : all_types) {
    for (int direction = 0; direction < 6; ++direction) {
      for (auto type : {ir::ComparisonType::Default, ir::ComparisonType::TotalOrder}) {
        if (type == ir::ComparisonType::TotalOrder && !ir::is_float(dtype)) continue;
        for (unsigned scalars = 0; scalars < 4; ++scalars) {
          FusedExpression expression;
          expression.shape = shape;
          std::vector<Tensor> inputs;
          for (unsigned i = 0; i < 2; ++i) {
            const bool scalar = (scalars >> i & 1u) != 0;
            expression.inputs.push_back(scalar ? ir::FusedInput{dtype, {0, 0, 0}, 0} : dense_input(dtype, shape));
            inputs.push_back(random.tensor({dtype, scalar ? ir::Dims{} : shape}, -1, 1));
          }
          // Some equal pairs and NaN.
          const std::size_t width = ir::dtype_bytes(dtype);
          std::memcpy(inputs[0].bytes.data(), inputs[1].bytes.data(), width);
          const ir::CompareAttrs attrs{static_cast<ir::Comparison>(direction), type};
          expression.steps = {{OpKind::Compare, attrs, {0, 1}, DType::I1}, {OpKind::Select, ir::NoAttrs{}, {2, 0, 1}, dtype}};
          expression.outputs = {2, 3};
          ASSERT_EQ(compare(expression, inputs, {}), "") << ir::dtype_name(dtype) << " " << direction << " " << scalars;
        }
      }
    }
    for (DType to : all_types) {
      FusedExpression expression;
      expression.shape = shape;
      expression.inputs = {dense_input(dtype, shape)};
      expression.steps = {{OpKind::Convert, ir::ConvertAttrs{to}, {0}, to}};
      expression.outputs = {1};
      std::vector<Tensor> inputs{random.tensor({dtype, shape}, -300, 300)};
      if (ir::is_float(dtype)) {
        reference::dispatch_float(dtype, [&]<class T>(std::type_identity<T>) {
          auto x = inputs[0].as<T>();
          const double special[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e30, -1e30, 2147483648.0, -2147483648.0, 4294967295.0, 0.5, -0.5};
          for (std::size_t i = 0; i < std::size(special); ++i) x[i * 7] = T(special[i]);
        });
      }
      ASSERT_EQ(compare(expression, inputs, {}), "") << ir::dtype_name(dtype) << " to " << ir::dtype_name(to);
    }
  }
}

TEST(Fused, SpecialValuesOfMaxMinAndSign) {
  for (DType dtype : {DType::F32, DType::F64, DType::BF16, DType::F16}) {
    const std::vector<double> special{NAN, INFINITY, -INFINITY, 0.0, -0.0, 1.0, -1.0};
    const auto n = static_cast<std::int64_t>(special.size());
    FusedExpression expression;
    expression.shape = {n, n};
    expression.inputs = {{dtype, {1, 0}, 0}, {dtype, {0, 1}, 0}};
    expression.steps = {{OpKind::Maximum, ir::NoAttrs{}, {0, 1}, dtype}, {OpKind::Minimum, ir::NoAttrs{}, {0, 1}, dtype},
                        {OpKind::Sign, ir::NoAttrs{}, {0}, dtype}, {OpKind::IsFinite, ir::NoAttrs{}, {1}, DType::I1},
                        {OpKind::Divide, ir::NoAttrs{}, {5, 2}, dtype}};
    expression.steps[4].args = {4, 2};  // 1 / max keeps apart what == takes for equal: the sign of zero
    expression.outputs = {2, 3, 4, 5, 6};
    Tensor values({dtype, {n}});
    reference::dispatch_float(dtype, [&]<class T>(std::type_identity<T>) {
      for (std::size_t i = 0; i < special.size(); ++i) values.as<T>()[i] = T(special[i]);
    });
    EXPECT_EQ(compare(expression, {values, values}, {}), "") << ir::dtype_name(dtype);
  }
}

/// A random group: dense, broadcast, sliced and scalar inputs, constants, iotas, several outputs, chains of any length.
struct RandomGroup {
  FusedExpression expression;
  std::vector<Tensor> inputs;
  std::vector<int> in_place;
};

RandomGroup random_group(Randomness& random, DType real, bool rows_long) {
  RandomGroup group;
  FusedExpression& e = group.expression;
  const auto rank = static_cast<std::size_t>(random.integer(0, 4));
  for (std::size_t d = 0; d < rank; ++d) e.shape.push_back(random.integer(1, d + 1 == rank ? (rows_long ? 1500 : 40) : 6));
  const std::int64_t count = random.integer(1, 5);
  for (std::int64_t i = 0; i < count; ++i) {
    ir::FusedInput input{random.chance(0.15) ? DType::I32 : real, ir::Dims(rank, 0), 0};
    const ir::Dims dense = ir::row_major_strides(e.shape);
    const std::int64_t form = random.integer(0, 3);
    if (form <= 1) {
      input.strides = dense;
    } else {
      // A broadcast of some dimensions, possibly of a slice with steps and a start.
      std::int64_t stride = 1;
      for (std::size_t d = rank; d-- > 0;) {
        if (random.chance(0.5)) continue;
        const std::int64_t step = form == 3 && random.chance(0.5) ? random.integer(1, 3) : 1;
        input.strides[d] = stride * step;
        stride *= e.shape[d] * step + (form == 3 ? random.integer(0, 2) : 0);
      }
      input.offset = form == 3 ? random.integer(0, 3) : 0;
    }
    group.inputs.push_back(random.tensor({input.dtype, {extent(e.shape, input)}}, 0.5, 2));
    e.inputs.push_back(input);
  }
  const std::int64_t steps = random.integer(1, 14);
  const auto any = [&](DType dtype) -> int {
    std::vector<std::uint32_t> fitting;
    for (std::uint32_t r = 0; r < e.inputs.size() + e.steps.size(); ++r) {
      if (e.register_dtype(r) == dtype) fitting.push_back(r);
    }
    return fitting.empty() ? -1 : static_cast<int>(random.one_of(fitting));
  };
  e.steps.push_back({OpKind::Constant, splat(real, 0.75), {}, real});
  for (std::int64_t s = 0; s < steps; ++s) {
    const auto a = static_cast<std::uint32_t>(any(real)), b = static_cast<std::uint32_t>(any(real));
    const int predicate = any(DType::I1), integer = any(DType::I32);
    switch (random.integer(0, 9)) {
      case 0: e.steps.push_back({OpKind::Add, ir::NoAttrs{}, {a, b}, real}); break;
      case 1: e.steps.push_back({OpKind::Multiply, ir::NoAttrs{}, {a, b}, real}); break;
      case 2: e.steps.push_back({OpKind::Maximum, ir::NoAttrs{}, {a, b}, real}); break;
      case 3: e.steps.push_back({OpKind::Tanh, ir::NoAttrs{}, {a}, real}); break;
      case 4: e.steps.push_back({OpKind::Compare, ir::CompareAttrs{ir::Comparison::Lt, ir::ComparisonType::Float}, {a, b}, DType::I1}); break;
      case 5:
        if (predicate >= 0) e.steps.push_back({OpKind::Select, ir::NoAttrs{}, {static_cast<std::uint32_t>(predicate), a, b}, real});
        break;
      case 6:
        if (integer >= 0) e.steps.push_back({OpKind::Convert, ir::ConvertAttrs{real}, {static_cast<std::uint32_t>(integer)}, real});
        break;
      case 7:
        if (rank > 0) {
          const DType dtype = random.chance(0.5) ? DType::I32 : real;
          e.steps.push_back({OpKind::Iota, ir::IotaAttrs{{dtype, e.shape}, static_cast<int>(random.integer(0, static_cast<std::int64_t>(rank) - 1))}, {}, dtype});
        }
        break;
      case 8: e.steps.push_back({OpKind::Constant, splat(real, random.real(-1, 1)), {}, real}); break;
      default: e.steps.push_back({OpKind::Subtract, ir::NoAttrs{}, {a, b}, real}); break;
    }
  }
  const auto registers = static_cast<std::int64_t>(e.inputs.size() + e.steps.size());
  for (std::int64_t o = random.integer(1, 4); o > 0; --o) e.outputs.push_back(static_cast<std::uint32_t>(random.integer(0, registers - 1)));
  // Results over dense inputs of their type, each input at most once.
  std::vector<bool> taken(e.inputs.size(), false);
  const ir::Dims dense = ir::row_major_strides(e.shape);
  for (std::uint32_t output : e.outputs) {
    int over = -1;
    for (std::size_t i = 0; i < e.inputs.size() && over < 0; ++i) {
      std::int64_t elements = 1;
      for (std::int64_t size : e.shape) elements *= size;
      if (!taken[i] && e.inputs[i].strides == dense && e.inputs[i].offset == 0 && e.inputs[i].dtype == e.register_dtype(output) &&
          group.inputs[i].type.elements() == elements && random.chance(0.7)) {
        over = static_cast<int>(i);
        taken[i] = true;
      }
    }
    group.in_place.push_back(over);
  }
  return group;
}

/// For messages: the expression in short.
std::string describe(const FusedExpression& e) {
  std::string text = ir::to_string(e.shape);
  for (const auto& input : e.inputs) text += fmt::format("; {} {} + {}", ir::dtype_name(input.dtype), ir::to_string(input.strides), input.offset);
  for (const auto& step : e.steps) {
    text += fmt::format("; {}", ir::op_name(step.kind));
    for (auto arg : step.args) text += fmt::format(" {}", arg);
    if (step.kind == OpKind::Iota) text += fmt::format(" dim {}", std::get<ir::IotaAttrs>(step.attrs).dimension);
  }
  for (auto output : e.outputs) text += fmt::format("; out {}", output);
  return text;
}

TEST(Fused, RandomGroupsEqualReference) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    Randomness random(seed);
    const DType real = random.one_of(std::vector<DType>{DType::F32, DType::F32, DType::F64, DType::BF16, DType::F16});
    const RandomGroup group = random_group(random, real, seed % 2 == 0);
    // Differences of a unit are amplified by later steps (subtractions), and may flip a comparison only where they are equal.
    const Tolerance tolerance{real == DType::F64 ? 1e-12 : real == DType::F32 ? 1e-4 : 0.2, real == DType::F64 ? 1e-12 : real == DType::F32 ? 1e-4 : 0.2};
    ASSERT_EQ(compare(group.expression, group.inputs, tolerance), "") << "seed " << seed << " " << describe(group.expression);
    ASSERT_EQ(compare(group.expression, group.inputs, tolerance, group.in_place), "") << "in place, seed " << seed << " " << describe(group.expression);
  }
}

TEST(Fused, SwapInPlace) {
  FusedExpression e;
  e.shape = {5000};
  e.inputs = {dense_input(DType::F32, e.shape), dense_input(DType::F32, e.shape)};
  e.outputs = {1, 0};
  Randomness random(3);
  EXPECT_EQ(compare(e, {random.tensor({DType::F32, e.shape}), random.tensor({DType::F32, e.shape})}, {}, {0, 1}), "");
}

TEST(Fused, EmptyAndScalarShapes) {
  FusedExpression e;
  e.shape = {0, 5};
  e.inputs = {dense_input(DType::F32, e.shape)};
  e.steps = {{OpKind::Negate, ir::NoAttrs{}, {0}, DType::F32}};
  e.outputs = {1};
  EXPECT_EQ(compare(e, {Tensor(ir::TensorType{DType::F32, e.shape})}, {}), "");
  e.shape = {};
  e.inputs = {dense_input(DType::F32, e.shape)};
  Randomness random(4);
  EXPECT_EQ(compare(e, {random.tensor({DType::F32, {}})}, {}, {0}), "");
}

TEST(Fused, ThreefryRoundIsExact) {
  // x0 += x1; x1 = rotate_left(x1, 13); x1 ^= x0, as a chain of u32 ops.
  FusedExpression e;
  e.shape = {3001};
  e.inputs = {dense_input(DType::U32, e.shape), dense_input(DType::U32, e.shape)};
  const auto constant = [&](double value) -> ir::FusedStep { return {OpKind::Constant, splat(DType::U32, value), {}, DType::U32}; };
  e.steps = {{OpKind::Add, ir::NoAttrs{}, {0, 1}, DType::U32},
             constant(13), constant(19),
             {OpKind::ShiftLeft, ir::NoAttrs{}, {1, 3}, DType::U32},
             {OpKind::ShiftRightLogical, ir::NoAttrs{}, {1, 4}, DType::U32},
             {OpKind::Or, ir::NoAttrs{}, {5, 6}, DType::U32},
             {OpKind::Xor, ir::NoAttrs{}, {7, 2}, DType::U32}};
  e.outputs = {2, 8};
  std::vector<Tensor> inputs(2, Tensor(ir::TensorType{DType::U32, e.shape}));
  Randomness random(5);
  for (Tensor& input : inputs) {
    for (auto& x : input.as<std::uint32_t>()) x = static_cast<std::uint32_t>(random.integer(0, 0xffffffff));
  }
  EXPECT_EQ(compare(e, inputs, {}, {0, 1}), "");
}

}  // namespace
}  // namespace rhino::kernels::host::test
