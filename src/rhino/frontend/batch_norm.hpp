// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <rhino/ir/builder.hpp>

namespace rhino::frontend {

// Batch normalisation written out in elementary ops, after the StableHLO specification. `feature` is the dimension that
// keeps its own statistics. A wrong operand throws InputError.

ir::ValueId batch_norm_inference(ir::Builder& builder, ir::ValueId operand, ir::ValueId scale, ir::ValueId offset,
                                 ir::ValueId mean, ir::ValueId variance, double epsilon, int feature);

/// Results: normalised operand, mean, variance.
std::vector<ir::ValueId> batch_norm_training(ir::Builder& builder, ir::ValueId operand, ir::ValueId scale,
                                             ir::ValueId offset, double epsilon, int feature);

/// Results: gradients of operand, scale, offset.
std::vector<ir::ValueId> batch_norm_grad(ir::Builder& builder, ir::ValueId operand, ir::ValueId scale, ir::ValueId mean,
                                         ir::ValueId variance, ir::ValueId grad_output, double epsilon, int feature);

}  // namespace rhino::frontend
