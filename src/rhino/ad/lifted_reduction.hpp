// SPDX-License-Identifier: Apache-2.0
#pragma once

// Internal to ad/: reductions by any function.

#include <rhino/ad/reverse.hpp>

namespace rhino::ad {

/// Rule of a reduce or reduce_window with any reducer of elementwise ops and any number of operands: writes the
/// reduction out as elementwise ops over halves of its operands, a number of them that grows with the logarithm of what
/// is reduced, and differentiates those. The reducer is taken to be associative and commutative, as StableHLO wants it.
/// A maximum or minimum of floats gives the gradient to the first of tied elements.
void rule_lifted_reduction(Rule& r);

}  // namespace rhino::ad
