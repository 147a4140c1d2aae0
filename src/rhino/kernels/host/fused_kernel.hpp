// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <rhino/ir/fused_expression.hpp>
#include <rhino/kernels/host/scratch.hpp>
#include <rhino/kernels/kernel.hpp>

namespace rhino::kernels::host {

/// Kernel of a fused group: one pass over memory in blocks that stay in the nearest caches. A result may be written over an
/// operand that is read densely at the same index and has elements of the same width.
/// Needs no workspace: temporaries of a block live in `scratch`.
std::unique_ptr<Kernel> make_fused_kernel(const ir::FusedExpression& expression, std::shared_ptr<Scratch> scratch);

}  // namespace rhino::kernels::host
