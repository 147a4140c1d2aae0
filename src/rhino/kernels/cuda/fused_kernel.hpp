// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <rhino/kernels/kernel.hpp>

namespace rhino::kernels::cuda {

/// Device kernel of a fused elementwise group of f32 values (predicates inside of it are allowed); operands and results of
/// its run() are device addresses, and run() returns when the results are there. Throws InputError for a group that this
/// first kernel does not do: another type, too many inputs, steps or dimensions, an op without device code.
std::unique_ptr<Kernel> make_fused_kernel(const ir::FusedExpression& expression);

}  // namespace rhino::kernels::cuda
