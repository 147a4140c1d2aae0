// SPDX-License-Identifier: Apache-2.0
#include <rhino/runtime/backend.hpp>

#include <rhino/kernels/host/host_backend.hpp>

namespace rhino::runtime {

std::unique_ptr<kernels::Backend> make_backend(int threads) { return kernels::host::make_backend(threads); }

lower::LowerOptions options_for(const kernels::Backend& backend) {
  lower::LowerOptions options;
  options.updates_in_place = [&](const ir::Op& op) { return backend.updates_in_place(op); };
  options.workspace_bytes = [&](const ir::Program& program, const ir::Function& function, const ir::Op& op) {
    return backend.make(program, function, op)->workspace_bytes();
  };
  options.fused_workspace_bytes = [&](const ir::FusedExpression& expression) {
    return backend.make_fused(expression)->workspace_bytes();
  };
  return options;
}

}  // namespace rhino::runtime
