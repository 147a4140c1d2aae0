// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rhino::kernels::reference {

// Special functions of real arguments, accurate to a few units in the last place of double (most work in long double).

/// Derivative of log Gamma; NaN at the poles.
double digamma(double x);

/// The n-th derivative of digamma for an integer n >= 0 given as double; NaN for any other n.
double polygamma(double n, double x);

/// Hurwitz zeta function sum_{k >= 0} (k + q)^-x for x > 1; infinity at x = 1; NaN for x < 1. For q <= 0: at the poles
/// (q an integer) infinity for even x, else NaN; between them real only for integer x.
double zeta(double x, double q);

/// exp(-|x|) I_1(x), the scaled modified Bessel function of the first kind of order one.
double bessel_i1e(double x);

}  // namespace rhino::kernels::reference
