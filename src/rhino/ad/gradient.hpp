// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <rhino/ir/program.hpp>

namespace rhino::ad {

// Reverse-mode differentiation of a Program. Source of the method: Griewank and Walther, "Evaluating Derivatives", 2nd
// edition, chapter 3; the conventions at points without a derivative are those of JAX, so that a program gives the same
// gradients whichever of the two differentiated it:
//   - maximum, minimum, and the max and min reductions share the gradient equally among tied elements;
//   - a max or min window gives it to the first of the tied elements (select_and_scatter);
//   - abs and sign have derivative 0 at 0; clamp has derivative 0 at and beyond its bounds;
//   - rounding, comparisons, integer and boolean values have no derivative: nothing flows through them.

/// Appends the reverse pass of `loss` to `function` and returns, for each value of `wrt`, the value that holds the gradient
/// of the loss with respect to it: of the same type, zeros where the loss does not depend on it. `wrt` may hold parameters
/// and inner values of the function, all floating. Ops that do not lie between `wrt` and the loss are not differentiated.
///
/// Values keep their ids. A `while`, `case` or `call` on the way is replaced by one that also returns what its reverse pass
/// needs (the old regions stay, for other users), and ops may be inserted before it, so OpIds of the function may change.
///
/// Nothing flows through the values in `stopped` (they count as constants).
///
/// New ops are located at "<scope of the forward op>/gradient".
///
/// Throws InputError if the loss is not a floating scalar, if an element of `wrt` is not floating, or if an op on the way has
/// no rule; the message names the op and its location. The program is then left with dead ops, and should be dropped.
std::vector<ir::ValueId> gradient(ir::Program& program, ir::FunctionId function, ir::ValueId loss,
                                  std::span<const ir::ValueId> wrt, std::span<const ir::ValueId> stopped = {});

/// The same for several outputs with given cotangents: returns, for each value of `wrt`, the sum over outputs of
/// cotangent times Jacobian. `cotangents[i]` is a value of the function with the type of `outputs[i]`; an invalid id stands
/// for zeros.
std::vector<ir::ValueId> vjp(ir::Program& program, ir::FunctionId function, std::span<const ir::ValueId> outputs,
                             std::span<const ir::ValueId> cotangents, std::span<const ir::ValueId> wrt,
                             std::span<const ir::ValueId> stopped = {});

/// What this library does with an op kind that lies between `wrt` and the loss.
enum class Differentiability : std::uint8_t {
  Rule,     ///< differentiated
  Zero,     ///< has no derivative, or one that is zero wherever it exists: nothing flows through it
  Refused,  ///< cannot be differentiated: an InputError
};
Differentiability differentiability(ir::OpKind kind);

}  // namespace rhino::ad
