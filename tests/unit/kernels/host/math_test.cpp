// SPDX-License-Identifier: Apache-2.0
// Errors of the vector functions in units in the last place, against long double.
#include <cmath>
#include <cstring>
#include <functional>

#include <gtest/gtest.h>

#include <rhino/kernels/host/loops.hpp>

namespace rhino::kernels::host {
namespace {

using ir::DType;
using ir::OpKind;

struct Function {
  OpKind kind;
  std::function<long double(long double)> exact;
  double low, high;  ///< where random arguments come from
  double units_single, units_double;
};

/// Spacing of T's numbers at |x|, at least that of the smallest normal number.
template <class T>
long double spacing(long double x) {
  constexpr int digits = std::is_same_v<T, float> ? 24 : 53;
  constexpr int least = std::is_same_v<T, float> ? -125 : -1021;
  int exponent = 0;
  std::frexp(x, &exponent);
  return std::ldexp(1.0L, std::max(exponent, least) - digits);
}

template <class T>
void check(const Function& function, DType dtype, double bound) {
  const Loop loop = loops().find({function.kind, dtype, dtype});
  ASSERT_NE(loop, nullptr) << ir::op_name(function.kind);
  std::vector<T> x, y;
  std::uint64_t state = 12345;
  const auto uniform = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 11) * 0x1p-53;
  };
  for (int i = 0; i < 20001; ++i) x.push_back(static_cast<T>(function.low + (function.high - function.low) * uniform()));
  // Every magnitude, where the domain allows it.
  for (int e = -40; e < 40; ++e) {
    for (double sign : {1.0, -1.0}) {
      const double value = sign * std::ldexp(1.0 + uniform(), e);
      if (value >= function.low && value <= function.high) x.push_back(static_cast<T>(value));
    }
  }
  y.resize(x.size());
  loop({{x.data(), nullptr, nullptr}, y.data(), static_cast<std::int64_t>(x.size())});
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double want = function.exact(static_cast<long double>(x[i]));
    if (std::fabs(want) > static_cast<long double>(std::numeric_limits<T>::max())) continue;
    const auto error = static_cast<double>(std::fabs(static_cast<long double>(y[i]) - want) / spacing<T>(want));
    worst = std::max(worst, error);
    ASSERT_LE(error, bound) << ir::op_name(function.kind) << " of " << x[i] << " gave " << y[i];
  }
  testing::Test::RecordProperty(std::string(ir::op_name(function.kind)) + (sizeof(T) == 4 ? "_f32" : "_f64"), std::to_string(worst));
  // A value does not depend on where it lies: the same from every start.
  for (std::size_t start : {std::size_t{1}, std::size_t{3}, std::size_t{7}}) {
    std::vector<T> again(33);
    loop({{x.data() + start, nullptr, nullptr}, again.data(), 33});
    ASSERT_EQ(std::memcmp(again.data(), y.data() + start, 33 * sizeof(T)), 0) << ir::op_name(function.kind);
  }
}

const std::vector<Function> functions{
    {OpKind::Exponential, [](long double x) { return std::exp(x); }, -87, 88, 1.5, 1.1},
    {OpKind::ExponentialMinusOne, [](long double x) { return std::expm1(x); }, -20, 80, 1.5, 1.1},
    {OpKind::Log, [](long double x) { return std::log(x); }, 1e-30, 1e6, 1.5, 1.1},
    {OpKind::LogPlusOne, [](long double x) { return std::log1p(x); }, -0.9999, 1e6, 1.5, 1.1},
    {OpKind::Tanh, [](long double x) { return std::tanh(x); }, -12, 12, 2.5, 1.1},
    {OpKind::Logistic, [](long double x) { return 1 / (1 + std::exp(-x)); }, -80, 40, 3, 3},
    {OpKind::Sine, [](long double x) { return std::sin(x); }, -100, 100, 1.5, 1.1},
    {OpKind::Cosine, [](long double x) { return std::cos(x); }, -100, 100, 1.5, 1.1},
    {OpKind::Erf, [](long double x) { return std::erf(x); }, -5, 5, 2.5, 1.1},
    {OpKind::Cbrt, [](long double x) { return std::cbrt(x); }, -1e6, 1e6, 1.5, 1.1},
    {OpKind::Rsqrt, [](long double x) { return 1 / std::sqrt(x); }, 1e-20, 1e20, 1.5, 1.5},
    {OpKind::Sqrt, [](long double x) { return std::sqrt(x); }, 0, 1e20, 0.51, 0.51},
    {OpKind::Atan, [](long double x) { return std::atan(x); }, -1e3, 1e3, 1.5, 1.1},
};

TEST(VectorMath, SinglePrecision) {
  for (const Function& function : functions) check<float>(function, DType::F32, function.units_single);
}

TEST(VectorMath, DoublePrecision) {
  for (const Function& function : functions) check<double>(function, DType::F64, function.units_double);
}

template <class T>
void check_special(DType dtype) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  struct Point {
    OpKind kind;
    T x, want;
  };
  const std::vector<Point> points{
      {OpKind::Exponential, -inf, 0}, {OpKind::Exponential, inf, inf}, {OpKind::Exponential, nan, nan}, {OpKind::Exponential, 0, 1},
      {OpKind::Exponential, T(-1e5), 0}, {OpKind::Exponential, T(1e5), inf},
      {OpKind::Log, 0, -inf}, {OpKind::Log, inf, inf}, {OpKind::Log, -1, nan}, {OpKind::Log, 1, 0}, {OpKind::Log, nan, nan},
      {OpKind::LogPlusOne, -1, -inf}, {OpKind::LogPlusOne, -2, nan}, {OpKind::LogPlusOne, 0, 0},
      {OpKind::Tanh, inf, 1}, {OpKind::Tanh, -inf, -1}, {OpKind::Tanh, nan, nan}, {OpKind::Tanh, 0, 0}, {OpKind::Tanh, T(50), 1},
      {OpKind::Logistic, -inf, 0}, {OpKind::Logistic, inf, 1}, {OpKind::Logistic, 0, T(0.5)}, {OpKind::Logistic, nan, nan},
      {OpKind::Logistic, T(-1e5), 0}, {OpKind::Logistic, T(1e5), 1},
      {OpKind::Erf, inf, 1}, {OpKind::Erf, -inf, -1}, {OpKind::Erf, nan, nan}, {OpKind::Erf, 0, 0},
      {OpKind::Sine, nan, nan}, {OpKind::Cosine, inf, nan}, {OpKind::Rsqrt, 0, inf}, {OpKind::Rsqrt, inf, 0}, {OpKind::Sqrt, -1, nan},
      {OpKind::ExponentialMinusOne, -inf, -1}, {OpKind::ExponentialMinusOne, inf, inf}, {OpKind::ExponentialMinusOne, 0, 0},
  };
  for (const Point& point : points) {
    T y = -7;
    loops().find({point.kind, dtype, dtype})({{&point.x, nullptr, nullptr}, &y, 1});
    if (std::isnan(point.want)) EXPECT_TRUE(std::isnan(y)) << ir::op_name(point.kind) << " of " << point.x << " gave " << y;
    else EXPECT_EQ(y, point.want) << ir::op_name(point.kind) << " of " << point.x;
  }
}

TEST(VectorMath, SpecialValues) {
  check_special<float>(DType::F32);
  check_special<double>(DType::F64);
}

TEST(VectorMath, Power) {
  for (DType dtype : {DType::F32, DType::F64}) {
    const Loop loop = loops().find({OpKind::Power, dtype, dtype});
    ASSERT_NE(loop, nullptr);
    for (double a : {0.5, 0.999, 2.0, 3.25, 1e-3, 100.0}) {
      for (double b : {-3.0, -0.5, 0.0, 0.5, 1.0, 2.0, 7.5, 20.0}) {
        if (dtype == DType::F32) {
          const float x = static_cast<float>(a), e = static_cast<float>(b);
          float y = 0;
          loop({{&x, &e, nullptr}, &y, 1});
          const long double want = std::pow(static_cast<long double>(x), static_cast<long double>(e));
          if (want > static_cast<long double>(std::numeric_limits<float>::max())) EXPECT_EQ(y, INFINITY);
          else EXPECT_LE(std::fabs(static_cast<long double>(y) - want), 1.5L * spacing<float>(want)) << a << "^" << b;
        } else {
          double y = 0;
          loop({{&a, &b, nullptr}, &y, 1});
          const long double want = std::pow(static_cast<long double>(a), static_cast<long double>(b));
          EXPECT_LE(std::fabs(static_cast<long double>(y) - want), 1.1L * spacing<double>(want)) << a << "^" << b;
        }
      }
    }
  }
}

}  // namespace
}  // namespace rhino::kernels::host
