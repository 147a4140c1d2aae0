// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/host/host_backend.hpp>

#include <rhino/kernels/host/fused_kernel.hpp>
#include <rhino/kernels/host/op_kernels.hpp>
#include <rhino/kernels/reference/reference_backend.hpp>

namespace rhino::kernels::host {

namespace {

class HostBackend final : public Backend {
 public:
  explicit HostBackend(int threads) : fallback_(reference::make_backend()) { set_threads(threads); }

  std::string_view name() const override { return "host"; }

  std::unique_ptr<Kernel> make(const ir::Program& program, const ir::Function& function, const ir::Op& op) const override {
    if (auto kernel = make_op_kernel(program, function, op)) return kernel;
    return fallback_->make(program, function, op);
  }

  std::unique_ptr<Kernel> make_fused(const ir::FusedExpression& expression) const override {
    return make_fused_kernel(expression, scratch_);
  }

  bool updates_in_place(const ir::Op& op) const override {
    return op.kind == ir::OpKind::DynamicUpdateSlice || op.kind == ir::OpKind::Scatter;
  }

 private:
  std::unique_ptr<Backend> fallback_;
  std::shared_ptr<Scratch> scratch_ = std::make_shared<Scratch>();
};

}  // namespace

std::unique_ptr<Backend> make_backend(int threads) { return std::make_unique<HostBackend>(threads); }

}  // namespace rhino::kernels::host
