// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rhino/kernels/reference/elementwise.hpp>

namespace rhino::kernels::reference {

/// Functions of the chlo dialect that are defined by their decomposition into StableHLO ops rather than by the best
/// possible value: the expected values of JAX carry the rounding errors of these very steps. Returns the kernel that
/// computes step by step, rounding each one; nullptr for other kinds.
///
/// The formulas are those of openxla/stablehlo's chlo decompositions (facts; written anew): Cephes' rational functions
/// for erf and erfc, Lanczos' series for lgamma and digamma (C. Lanczos, SIAM J. Numer. Anal. B 1, 1964).
ElementwiseKernel composed_function_kernel(ir::OpKind kind);

}  // namespace rhino::kernels::reference
