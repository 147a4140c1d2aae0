// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/reference/special_functions.hpp>

#include <cmath>
#include <limits>

namespace rhino::kernels::reference {
namespace {

using Real = long double;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Real pi = 3.141592653589793238462643383279502884L;

// Bernoulli numbers B_2, B_4, .. of the Euler-Maclaurin and Stirling expansions.
constexpr Real bernoulli[] = {1.0L / 6,
                              -1.0L / 30,
                              1.0L / 42,
                              -1.0L / 30,
                              5.0L / 66,
                              -691.0L / 2730,
                              7.0L / 6,
                              -3617.0L / 510,
                              43867.0L / 798,
                              -174611.0L / 330,
                              854513.0L / 138,
                              -236364091.0L / 2730};

/// x - floor(x) handled such that the period of tan and sin near integers keeps all digits.
Real distance_to_nearest(Real x) { return x - std::round(x); }

Real digamma_positive(Real x) {
  // Recurrence up to where the asymptotic series has converged to long double precision.
  Real result = 0;
  while (x < 16) {
    result -= 1 / x;
    x += 1;
  }
  const Real inverse_square = 1 / (x * x);
  Real term = 1, series = 0;
  int k = 1;
  for (const Real b : bernoulli) {
    term *= inverse_square;
    series += b / (2 * k) * term;
    ++k;
  }
  return result + std::log(x) - 1 / (2 * x) - series;
}

}  // namespace

double digamma(double x) {
  if (x != x) return nan;
  if (x == infinity) return infinity;
  if (x == -infinity) return nan;
  if (x > 0) return static_cast<double>(digamma_positive(x));
  if (x == std::floor(x)) return nan;
  // Reflection: psi(1 - x) - psi(x) = pi / tan(pi x).
  const Real wide = x;
  return static_cast<double>(digamma_positive(1 - wide) - pi / std::tan(pi * distance_to_nearest(wide)));
}

double zeta(double x, double q) {
  if (x != x || q != q) return nan;
  if (x == 1) return infinity;
  if (x < 1) return nan;
  if (q <= 0) {
    const bool integer_x = x == std::floor(x);
    if (q == std::floor(q)) return integer_x && std::fmod(x, 2) == 0 ? infinity : nan;
    if (!integer_x) return nan;
  }
  if (std::isinf(x)) return q > 1 ? 0 : q == 1 ? 1 : q > 0 ? infinity : nan;
  if (std::isinf(q)) return 0;
  // Euler-Maclaurin: the first terms one by one until the argument is large, then integral, half term and corrections.
  const Real s = x;
  Real sum = 0;
  Real a = q;
  // Far from zero on the negative side only the terms around zero matter; the others are covered by the bound of a loop
  // that is as long as |q| (limited: beyond it all terms are below the precision).
  int steps = 0;
  while ((a < 16 || steps < 4) && steps < 1000000) {
    const Real term = std::pow(a, -s);
    sum += term;
    a += 1;
    ++steps;
    if (a > 1 && std::fabs(term) < std::fabs(sum) * 1e-25L) return static_cast<double>(sum);
  }
  const Real tail_power = std::pow(a, -s);
  sum += tail_power * a / (s - 1) + tail_power / 2;
  Real factor = s * tail_power / a;  // s (s+1) .. (s+2k-2) a^(-s-2k+1) / (2k)! without the last factorial
  Real factorial = 2;
  Real rising = s;
  for (int k = 0; k < 12; ++k) {
    const Real term = bernoulli[k] * factor / factorial;
    sum += term;
    if (std::fabs(term) < std::fabs(sum) * 1e-22L) break;
    factor *= (rising + 1) * (rising + 2) / (a * a);
    rising += 2;
    factorial *= static_cast<Real>(2 * k + 3) * static_cast<Real>(2 * k + 4);
  }
  return static_cast<double>(sum);
}

double polygamma(double n, double x) {
  if (n != n || x != x || n < 0 || n != std::floor(n)) return nan;
  if (n == 0) return digamma(x);
  // psi_n(x) = (-1)^(n+1) n! zeta(n + 1, x)
  const double sign = std::fmod(n, 2) == 1 ? 1.0 : -1.0;
  const Real factorial = std::tgamma(static_cast<Real>(n) + 1);
  return static_cast<double>(sign * factorial * static_cast<Real>(zeta(n + 1, x)));
}

double bessel_i1e(double x) {
  if (x != x) return nan;
  const Real magnitude = std::fabs(static_cast<Real>(x));
  Real result = 0;
  if (std::isinf(x)) {
    result = 0;
  } else if (magnitude < 40) {
    // Power series; all terms are positive.
    const Real half = magnitude / 2, square = half * half;
    Real term = half;
    for (int k = 1; term > result * 1e-21L || k < 3; ++k) {
      result += term;
      term *= square / (static_cast<Real>(k) * (k + 1));
      if (term == 0) break;
    }
    result *= std::exp(-magnitude);
  } else {
    // Asymptotic series 1 - (4-1)/(8x) + (4-1)(4-9)/(2! (8x)^2) - ..
    Real term = 1;
    for (int k = 1; k < 60 && std::fabs(term) > 1e-21L; ++k) {
      result += term;
      const Real odd = 2 * k - 1;
      term *= -(4 - odd * odd) / (k * 8 * magnitude);
    }
    result /= std::sqrt(2 * pi * magnitude);
  }
  return static_cast<double>(x < 0 ? -result : result);
}

}  // namespace rhino::kernels::reference
