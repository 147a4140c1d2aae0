// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "op_runner.hpp"

namespace rhino::kernels::reference::test {
namespace {

using ir::OpKind;

template <class T>
std::vector<T> unary(OpKind kind, std::vector<T> x) {
  return values<T>(run(kind, {vector<T>(x)}));
}

template <class T>
std::vector<T> binary(OpKind kind, std::vector<T> a, std::vector<T> b) {
  return values<T>(run(kind, {vector<T>(a), vector<T>(b)}));
}

TEST(Elementwise, IntegersWrap) {
  EXPECT_EQ(binary<std::int8_t>(OpKind::Add, {127, -128}, {1, -1}), (std::vector<std::int8_t>{-128, 127}));
  EXPECT_EQ(binary<std::uint8_t>(OpKind::Subtract, {0}, {1}), (std::vector<std::uint8_t>{255}));
  EXPECT_EQ(binary<std::uint16_t>(OpKind::Multiply, {65535}, {65535}), (std::vector<std::uint16_t>{1}));
  EXPECT_EQ(binary<std::int32_t>(OpKind::Multiply, {65536}, {65536}), (std::vector<std::int32_t>{0}));
  EXPECT_EQ(unary<std::int64_t>(OpKind::Abs, {INT64_MIN, -3}), (std::vector<std::int64_t>{INT64_MIN, 3}));
  EXPECT_EQ(unary<std::int16_t>(OpKind::Negate, {-32768, 5}), (std::vector<std::int16_t>{-32768, -5}));
  EXPECT_EQ(unary<std::uint32_t>(OpKind::Negate, {1}), (std::vector<std::uint32_t>{0xffffffffu}));
}

TEST(Elementwise, BooleansUseOrAndAnd) {
  EXPECT_EQ(values<bool>(run(OpKind::Add, {tensor<bool>({4}, {0, 0, 1, 1}), tensor<bool>({4}, {0, 1, 0, 1})})),
            (std::vector<bool>{0, 1, 1, 1}));
  EXPECT_EQ(values<bool>(run(OpKind::Multiply, {tensor<bool>({4}, {0, 0, 1, 1}), tensor<bool>({4}, {0, 1, 0, 1})})),
            (std::vector<bool>{0, 0, 0, 1}));
  EXPECT_EQ(values<bool>(run(OpKind::Maximum, {tensor<bool>({2}, {0, 1}), tensor<bool>({2}, {0, 0})})),
            (std::vector<bool>{0, 1}));
  EXPECT_EQ(values<bool>(run(OpKind::Not, {tensor<bool>({2}, {0, 1})})), (std::vector<bool>{1, 0}));
  EXPECT_EQ(values<bool>(run(OpKind::Xor, {tensor<bool>({2}, {1, 1}), tensor<bool>({2}, {0, 1})})),
            (std::vector<bool>{1, 0}));
}

TEST(Elementwise, DivisionByZeroAndOverflow) {
  EXPECT_EQ(binary<std::int32_t>(OpKind::Divide, {7, -7, 5, INT32_MIN}, {2, 2, 0, -1}),
            (std::vector<std::int32_t>{3, -3, -1, INT32_MIN}));
  EXPECT_EQ(binary<std::uint8_t>(OpKind::Divide, {7}, {0}), (std::vector<std::uint8_t>{255}));
  EXPECT_EQ(binary<std::int32_t>(OpKind::Remainder, {7, -7, 7, 5, INT32_MIN}, {3, 3, -3, 0, -1}),
            (std::vector<std::int32_t>{1, -1, 1, 5, 0}));
  const auto quotients = binary<float>(OpKind::Divide, {1, -1, 0}, {0, 0, 0});
  EXPECT_EQ(quotients[0], inf);
  EXPECT_EQ(quotients[1], -inf);
  EXPECT_TRUE(std::isnan(quotients[2]));
  EXPECT_EQ(binary<float>(OpKind::Remainder, {5.5f, -5.5f}, {2, 2}), (std::vector<float>{1.5f, -1.5f}));
}

TEST(Elementwise, MaximumAndMinimumPropagateNanAndOrderZeros) {
  const auto largest = binary<float>(OpKind::Maximum, {nan, 1, -0.0f, 0.0f}, {1, nan, 0.0f, -0.0f});
  EXPECT_TRUE(std::isnan(largest[0]));
  EXPECT_TRUE(std::isnan(largest[1]));
  EXPECT_FALSE(std::signbit(largest[2]));
  EXPECT_FALSE(std::signbit(largest[3]));
  const auto smallest = binary<float>(OpKind::Minimum, {nan, 1, -0.0f, 0.0f}, {1, nan, 0.0f, -0.0f});
  EXPECT_TRUE(std::isnan(smallest[0]));
  EXPECT_TRUE(std::isnan(smallest[1]));
  EXPECT_TRUE(std::signbit(smallest[2]));
  EXPECT_TRUE(std::signbit(smallest[3]));
}

TEST(Elementwise, Power) {
  EXPECT_EQ(binary<std::int32_t>(OpKind::Power, {2, -2, 3, 1, -1, -1, 2, 0, 0}, {10, 3, 0, -5, -3, -2, -1, 0, -1}),
            (std::vector<std::int32_t>{1024, -8, 1, 1, -1, 1, 0, 1, 0}));
  EXPECT_EQ(binary<std::uint8_t>(OpKind::Power, {3}, {6}), (std::vector<std::uint8_t>{729 % 256}));
  EXPECT_EQ(binary<float>(OpKind::Power, {2, 4, 0}, {0.5f, -1, 0}), (std::vector<float>{std::sqrt(2.0f), 0.25f, 1}));
}

TEST(Elementwise, ShiftsBeyondTheWidth) {
  EXPECT_EQ(binary<std::int32_t>(OpKind::ShiftLeft, {1, 1, 1, 1}, {31, 32, 100, -1}),
            (std::vector<std::int32_t>{INT32_MIN, 0, 0, 0}));
  EXPECT_EQ(binary<std::int8_t>(OpKind::ShiftRightArithmetic, {-128, -128, 64, 64}, {3, 8, 2, 9}),
            (std::vector<std::int8_t>{-16, -1, 16, 0}));
  EXPECT_EQ(binary<std::int8_t>(OpKind::ShiftRightLogical, {-128, -128}, {3, 8}), (std::vector<std::int8_t>{16, 0}));
  EXPECT_EQ(binary<std::uint64_t>(OpKind::ShiftRightLogical, {1ull << 63}, {63}), (std::vector<std::uint64_t>{1}));
  // An unsigned operand still shifts its sign bit in.
  EXPECT_EQ(binary<std::uint8_t>(OpKind::ShiftRightArithmetic, {0x80}, {1}), (std::vector<std::uint8_t>{0xC0}));
}

TEST(Elementwise, BitCounts) {
  EXPECT_EQ(unary<std::int16_t>(OpKind::PopulationCount, {-1, 5, 0}), (std::vector<std::int16_t>{16, 2, 0}));
  EXPECT_EQ(unary<std::int16_t>(OpKind::CountLeadingZeros, {-1, 5, 0}), (std::vector<std::int16_t>{0, 13, 16}));
}

TEST(Elementwise, SignsAndRounding) {
  const auto signs = unary<float>(OpKind::Sign, {-2, -0.0f, 0, 3, nan});
  EXPECT_EQ(signs[0], -1);
  EXPECT_TRUE(signs[1] == 0 && std::signbit(signs[1]));
  EXPECT_EQ(signs[3], 1);
  EXPECT_TRUE(std::isnan(signs[4]));
  EXPECT_EQ(unary<float>(OpKind::RoundNearestEven, {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 2.4f, 0.49999997f}),
            (std::vector<float>{0, 2, 2, 0, -2, 2, 0}));
  EXPECT_EQ(unary<float>(OpKind::RoundNearestAfz, {0.5f, 1.5f, 2.5f, -2.5f}), (std::vector<float>{1, 2, 3, -3}));
  EXPECT_TRUE(std::signbit(unary<float>(OpKind::RoundNearestEven, {-0.5f})[0]));
  EXPECT_TRUE(std::signbit(unary<float>(OpKind::Negate, {0.0f})[0]));
}

TEST(Elementwise, SixteenBitFloatsRoundOnce) {
  // 2049 is halfway between 2048 and 2050 in binary16: ties to even.
  EXPECT_EQ(floats(run(OpKind::Add, {vector<Half>({Half(2048.0f)}), vector<Half>({Half(1.0f)})}))[0], 2048.0f);
  EXPECT_EQ(floats(run(OpKind::Add, {vector<Half>({Half(2048.0f)}), vector<Half>({Half(3.0f)})}))[0], 2052.0f);
  EXPECT_EQ(floats(run(OpKind::Add, {vector<Bfloat16>({Bfloat16(256.0f)}), vector<Bfloat16>({Bfloat16(1.0f)})}))[0],
            256.0f);
  // 65520 rounds to infinity.
  EXPECT_EQ(floats(run(OpKind::Add, {vector<Half>({Half(65504.0f)}), vector<Half>({Half(16.0f)})}))[0], inf);
}

TEST(Elementwise, Convert) {
  const auto to_ints = run(OpKind::Convert, {vector<float>({1.9f, -1.9f, 300, -300, nan, inf, -inf, 1e10f})},
                           ir::ConvertAttrs{ir::DType::I8});
  EXPECT_EQ(values<std::int8_t>(to_ints), (std::vector<std::int8_t>{1, -1, 127, -128, 0, 127, -128, 127}));
  const auto to_unsigned =
      run(OpKind::Convert, {vector<double>({-1.5, 255.9, 256, 1e30})}, ir::ConvertAttrs{ir::DType::U8});
  EXPECT_EQ(values<std::uint8_t>(to_unsigned), (std::vector<std::uint8_t>{0, 255, 255, 255}));
  const auto wide = run(OpKind::Convert, {vector<double>({0x1p63, -0x1p63, 0x1p64})}, ir::ConvertAttrs{ir::DType::I64});
  EXPECT_EQ(values<std::int64_t>(wide), (std::vector<std::int64_t>{INT64_MAX, INT64_MIN, INT64_MAX}));
  const auto wrapped = run(OpKind::Convert, {vector<std::int32_t>({257, -1})}, ir::ConvertAttrs{ir::DType::U8});
  EXPECT_EQ(values<std::uint8_t>(wrapped), (std::vector<std::uint8_t>{1, 255}));
  const auto truth = run(OpKind::Convert, {vector<float>({0, -0.0f, 0.1f, nan})}, ir::ConvertAttrs{ir::DType::I1});
  EXPECT_EQ(values<bool>(truth), (std::vector<bool>{0, 0, 1, 1}));
  // One rounding from 64 bits: 2^40 + 2^32 + 1 lies just above a tie of bfloat16.
  const auto narrow = run(OpKind::Convert, {vector<std::int64_t>({(1ll << 40) + (1ll << 32) + 1, 1ll << 40})},
                          ir::ConvertAttrs{ir::DType::BF16});
  EXPECT_EQ(floats(narrow), (std::vector<float>{0x1.02p40f, 0x1p40f}));
  const auto half = run(OpKind::Convert, {vector<double>({1.0 + 0x1p-11 + 0x1p-40, 1.0 + 0x1p-11})},
                        ir::ConvertAttrs{ir::DType::F16});
  EXPECT_EQ(floats(half), (std::vector<float>{1.0f + 0x1p-10f, 1.0f}));
}

TEST(Elementwise, CompareAndTotalOrder) {
  const auto compare = [](ir::Comparison direction, ir::ComparisonType type, float a, float b) -> bool {
    return values<bool>(
        run(OpKind::Compare, {vector<float>({a}), vector<float>({b})}, ir::CompareAttrs{direction, type}))[0];
  };
  using ir::Comparison;
  using ir::ComparisonType;
  EXPECT_FALSE(compare(Comparison::Eq, ComparisonType::Float, nan, nan));
  EXPECT_TRUE(compare(Comparison::Ne, ComparisonType::Float, nan, nan));
  EXPECT_TRUE(compare(Comparison::Eq, ComparisonType::Float, 0.0f, -0.0f));
  EXPECT_TRUE(compare(Comparison::Lt, ComparisonType::TotalOrder, -0.0f, 0.0f));
  EXPECT_TRUE(compare(Comparison::Lt, ComparisonType::TotalOrder, inf, nan));
  EXPECT_TRUE(compare(Comparison::Lt, ComparisonType::TotalOrder, -nan, -inf));
  EXPECT_TRUE(compare(Comparison::Lt, ComparisonType::TotalOrder, -2, -1));
  EXPECT_TRUE(values<bool>(run(OpKind::Compare, {vector<std::uint32_t>({0xffffffffu}), vector<std::uint32_t>({1})},
                               ir::CompareAttrs{Comparison::Gt}))[0]);
}

TEST(Elementwise, ClampAndSelectWithScalars) {
  EXPECT_EQ(values<float>(run(OpKind::Clamp, {scalar(0.0f), vector<float>({-1, 0.5f, 2}), scalar(1.0f)})),
            (std::vector<float>{0, 0.5f, 1}));
  EXPECT_TRUE(std::isnan(values<float>(run(OpKind::Clamp, {scalar(0.0f), vector<float>({nan}), scalar(1.0f)}))[0]));
  EXPECT_EQ(values<std::int32_t>(run(OpKind::Select, {tensor<bool>({}, {false}), vector<std::int32_t>({1, 2}),
                                                      vector<std::int32_t>({3, 4})})),
            (std::vector<std::int32_t>{3, 4}));
  EXPECT_EQ(values<std::int32_t>(run(OpKind::Select, {tensor<bool>({2}, {false, true}), vector<std::int32_t>({1, 2}),
                                                      vector<std::int32_t>({3, 4})})),
            (std::vector<std::int32_t>{3, 2}));
}

TEST(Elementwise, ReducePrecision) {
  const auto reduced = [](float x, int exponent, int mantissa) {
    return values<float>(
        run(OpKind::ReducePrecision, {vector<float>({x})}, ir::ReducePrecisionAttrs{exponent, mantissa}))[0];
  };
  EXPECT_EQ(reduced(1.0f + 0x1p-11f, 5, 10), 1.0f);              // tie to even
  EXPECT_EQ(reduced(1.0f + 0x1.8p-10f, 5, 10), 1.0f + 0x1p-9f);  // tie to even, upwards
  EXPECT_EQ(reduced(70000.0f, 5, 10), inf);
  EXPECT_EQ(reduced(0x1p-20f, 5, 10), 0.0f);  // no subnormals
  EXPECT_TRUE(std::isnan(reduced(nan, 5, 10)));
  EXPECT_EQ(reduced(3.14159f, 8, 23), 3.14159f);
}

TEST(Elementwise, NextAfter) {
  const auto next = binary<float>(OpKind::NextAfter, {1, 1, 0, 0, -1, 2, inf}, {2, 0, 1, -1, 0, 2, 0});
  EXPECT_EQ(next, (std::vector<float>{1.0f + 0x1p-23f, 1.0f - 0x1p-24f, 0x1p-149f, -0x1p-149f, -1.0f + 0x1p-24f, 2.0f,
                                      std::numeric_limits<float>::max()}));
}

TEST(Elementwise, SpecialFunctions) {
  // Reference values from tables (Abramowitz and Stegun; Digital Library of Mathematical Functions).
  const auto one = [](OpKind kind, double x) { return values<double>(run(kind, {vector<double>({x})}))[0]; };
  const auto two = [](OpKind kind, double x, double y) {
    return values<double>(run(kind, {vector<double>({x}), vector<double>({y})}))[0];
  };
  constexpr double relative = 1e-14;
  const auto expect_near = [&](double got, double want) { EXPECT_NEAR(got, want, relative * std::fabs(want)); };
  expect_near(one(OpKind::ErfInv, 0.5), 0.47693627620446987338);
  expect_near(one(OpKind::ErfInv, 1e-10), 1e-10 * 0.88622692545275801365);
  EXPECT_EQ(one(OpKind::ErfInv, 1), std::numeric_limits<double>::infinity());
  EXPECT_EQ(one(OpKind::ErfInv, -1), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(one(OpKind::ErfInv, 1.5)));
  expect_near(one(OpKind::Lgamma, 0.5), 0.57236494292470008707);
  expect_near(one(OpKind::Lgamma, -0.5), 1.26551212348464539649);
  EXPECT_EQ(one(OpKind::Lgamma, -3), std::numeric_limits<double>::infinity());
  expect_near(one(OpKind::Digamma, 1), -0.57721566490153286061);
  EXPECT_NEAR(one(OpKind::Digamma, -0.5), 0.03648997397857652056, 1e-14);
  EXPECT_TRUE(std::isnan(one(OpKind::Digamma, -2)));
  expect_near(two(OpKind::Zeta, 2, 1), 1.64493406684822643647);
  expect_near(two(OpKind::Zeta, 3, 0.5), 8.41439832211715997780);
  EXPECT_EQ(two(OpKind::Zeta, 1, 2), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(two(OpKind::Zeta, 0.5, 2)));
  expect_near(two(OpKind::Polygamma, 1, 1), 1.64493406684822643647);
  expect_near(two(OpKind::Polygamma, 0, 1), -0.57721566490153286061);
  expect_near(two(OpKind::Polygamma, 2, 1), -2.40411380631918857080);
  EXPECT_TRUE(std::isnan(two(OpKind::Polygamma, 1.5, 1)));
  expect_near(one(OpKind::BesselI1e, 1), 0.20791041534970844887);
  expect_near(one(OpKind::BesselI1e, -1), -0.20791041534970844887);
  expect_near(one(OpKind::BesselI1e, 100), 0.03974415302513025267);
}

TEST(Elementwise, ComposedFunctionsAreCloseToTheTrueOnes) {
  // The decompositions in f64 and f32 against the mathematical library in f64, over the whole range.
  struct Case {
    OpKind kind;
    double (*function)(double);
    double low, high;
    double error_64, error_32;  // relative, or absolute below one
  };
  const Case cases[] = {
      {OpKind::Erf, std::erf, -6, 6, 1e-15, 1e-6},          {OpKind::Erfc, std::erfc, -6, 6, 4e-15, 1e-6},
      {OpKind::Lgamma, std::lgamma, -9.5, 60, 1e-13, 1e-4}, {OpKind::Sinh, std::sinh, -20, 20, 1e-14, 5e-6},
      {OpKind::Cosh, std::cosh, -20, 20, 1e-14, 5e-6},      {OpKind::Asinh, std::asinh, -1e6, 1e6, 1e-15, 1e-6},
      {OpKind::Acosh, std::acosh, 1, 1e6, 1e-15, 1e-6},     {OpKind::Atanh, std::atanh, -0.999, 0.999, 1e-14, 1e-5},
  };
  for (const Case& c : cases) {
    std::vector<double> x;
    std::vector<float> x_32;
    for (int i = 0; i <= 5000; ++i) {
      x_32.push_back(static_cast<float>(c.low + (c.high - c.low) * (i + 0.37) / 5001.0));
      x.push_back(x_32.back());
    }
    const auto y = values<double>(run(c.kind, {vector<double>(x)}));
    const auto y_32 = values<float>(run(c.kind, {vector<float>(x_32)}));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = c.function(x[i]), scale = std::max(1.0, std::fabs(want));
      ASSERT_NEAR(y[i], want, c.error_64 * scale) << ir::op_name(c.kind) << " of " << x[i];
      ASSERT_NEAR(y_32[i], want, c.error_32 * scale) << ir::op_name(c.kind) << " of " << x[i];
    }
  }
}

TEST(Elementwise, SmallErfcKeepsItsRelativePrecision) {
  for (const double x : {1.0, 2.0, 3.5, 7.9, 8.1, 20.0}) {
    const double got = values<double>(run(OpKind::Erfc, {vector<double>({x})}))[0];
    EXPECT_NEAR(got / std::erfc(x), 1, 1e-13) << x;
  }
  for (const float x : {1.0f, 1.5f, 2.0f, 5.0f}) {
    const float got = values<float>(run(OpKind::Erfc, {vector<float>({x})}))[0];
    EXPECT_NEAR(got / std::erfc(static_cast<double>(x)), 1, 1e-5) << x;
  }
}

TEST(Elementwise, InverseErfInvertsErf) {
  for (int i = -999; i <= 999; ++i) {
    const double p = static_cast<float>(i / 1000.0);  // the same argument for both types
    const double x = values<double>(run(OpKind::ErfInv, {vector<double>({p})}))[0];
    ASSERT_NEAR(std::erf(x), p, 1e-15) << p;
    const float x_32 = values<float>(run(OpKind::ErfInv, {vector<float>({static_cast<float>(p)})}))[0];
    ASSERT_NEAR(x_32, x, 1e-6 * std::max(1.0, std::fabs(x))) << p;
  }
  // The tails: erfc of the result.
  for (const double tail : {1e-4, 1e-6, 1e-9, 1e-12}) {
    const double x = values<double>(run(OpKind::ErfInv, {vector<double>({1 - tail})}))[0];
    EXPECT_NEAR(std::erfc(x) / (1 - (1 - tail)), 1, 4e-16 / tail) << tail;  // x^2 is rounded near 1
  }
}

TEST(Elementwise, DigammaIsTheDerivativeOfLgamma) {
  for (const double x : {-3.3, -0.7, 0.2, 0.5, 1.4616, 3.0, 17.5, 1e4}) {
    const double h = 1e-5 * std::max(1.0, std::fabs(x));
    const double slope = (std::lgamma(x + h) - std::lgamma(x - h)) / (2 * h);
    const double got = values<double>(run(OpKind::Digamma, {vector<double>({x})}))[0];
    EXPECT_NEAR(got, slope, 1e-6 * std::max(1.0, std::fabs(slope))) << x;
    const float got_32 = values<float>(run(OpKind::Digamma, {vector<float>({static_cast<float>(x)})}))[0];
    EXPECT_NEAR(got_32, got, 1e-4 * std::max(1.0, std::fabs(got))) << x;
    EXPECT_NEAR(values<double>(run(OpKind::Polygamma, {vector<double>({0}), vector<double>({x})}))[0], got,
                1e-12 * std::max(1.0, std::fabs(got)));
  }
}

TEST(Elementwise, BesselFunctionByItsIntegral) {
  // I_1(x) = 1/pi integral_0^pi exp(x cos t) cos t dt; the trapezoidal rule converges fast for the periodic integrand.
  for (const double x : {0.1, 1.0, 4.0, 7.9, 8.1, 30.0, 60.0}) {
    double sum = 0;
    constexpr int steps = 400;
    for (int i = 0; i < steps; ++i) {
      const double t = 2 * M_PI * i / steps;
      sum += std::exp(x * (std::cos(t) - 1)) * std::cos(t);
    }
    const double want = sum / steps;
    EXPECT_NEAR(values<double>(run(OpKind::BesselI1e, {vector<double>({x})}))[0], want, 1e-14) << x;
    EXPECT_NEAR(values<float>(run(OpKind::BesselI1e, {vector<float>({static_cast<float>(x)})}))[0], want, 1e-7) << x;
  }
}

}  // namespace
}  // namespace rhino::kernels::reference::test
