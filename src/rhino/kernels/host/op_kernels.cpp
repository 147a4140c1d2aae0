// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/host/op_kernels.hpp>

namespace rhino::kernels::host {

std::unique_ptr<Kernel> make_op_kernel(const ir::Program& program, const ir::Function& function, const ir::Op& op) {
  const OpContext context{program, function, op};
  switch (op.kind) {
    case ir::OpKind::Convolution: return make_convolution_kernel(context);
    case ir::OpKind::DotGeneral: return make_dot_kernel(context);
    case ir::OpKind::Gather: return make_gather_kernel(context);
    case ir::OpKind::Scatter: return make_scatter_kernel(context);
    case ir::OpKind::ReduceWindow: return make_reduce_window_kernel(context);
    case ir::OpKind::SelectAndScatter: return make_select_and_scatter_kernel(context);
    case ir::OpKind::Reduce: return make_reduce_kernel(context);
    default: return make_movement_kernel(context);
  }
}

}  // namespace rhino::kernels::host
