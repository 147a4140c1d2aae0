// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <rhino/base/error.hpp>
#include <rhino/kernels/kernel.hpp>

namespace rhino::kernels::host {

/// An op in its place: what a kernel is made from.
struct OpContext {
  const ir::Program& program;
  const ir::Function& function;
  const ir::Op& op;

  const ir::TensorType& operand(std::size_t i) const { return function.type(op.operands[i]); }
  const ir::TensorType& result(std::size_t i = 0) const { return function.type(op.results[i]); }
};

/// The host kernel of an op, or nullptr where the reference interpreter has to run it.
std::unique_ptr<Kernel> make_op_kernel(const ir::Program& program, const ir::Function& function, const ir::Op& op);

// By family; each returns nullptr for what it does not cover.
std::unique_ptr<Kernel> make_convolution_kernel(const OpContext& context);
std::unique_ptr<Kernel> make_dot_kernel(const OpContext& context);
std::unique_ptr<Kernel> make_reduce_kernel(const OpContext& context);
std::unique_ptr<Kernel> make_gather_kernel(const OpContext& context);
std::unique_ptr<Kernel> make_scatter_kernel(const OpContext& context);
std::unique_ptr<Kernel> make_reduce_window_kernel(const OpContext& context);
std::unique_ptr<Kernel> make_select_and_scatter_kernel(const OpContext& context);
std::unique_ptr<Kernel> make_movement_kernel(const OpContext& context);

/// Threads that OpenBLAS may use in this process, and oneDNN when it is called from this thread.
void set_threads(int threads);

}  // namespace rhino::kernels::host
