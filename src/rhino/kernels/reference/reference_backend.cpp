// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/reference/reference_backend.hpp>

#include <cstring>

#include <rhino/base/error.hpp>
#include <rhino/kernels/reference/interpreter.hpp>

namespace rhino::kernels::reference {

namespace {

Tensor load(const ir::TensorType& type, const void* from) {
  Tensor tensor(type);
  if (!tensor.bytes.empty()) std::memcpy(tensor.bytes.data(), from, tensor.bytes.size());
  return tensor;
}

void store(const Tensor& tensor, void* to) {
  if (!tensor.bytes.empty()) std::memcpy(to, tensor.bytes.data(), tensor.bytes.size());
}

class OpKernel final : public Kernel {
 public:
  OpKernel(const ir::Program& program, const ir::Function& function, const ir::Op& op)
      : program_(program), function_(function), op_(op) {}

  void run(std::span<const void* const> operands, std::span<void* const> results, void*) const override {
    std::vector<Tensor> values;
    std::vector<const Tensor*> pointers;
    values.reserve(operands.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
      pointers.push_back(&values.emplace_back(load(function_.type(op_.operands[i]), operands[i])));
    }
    const std::vector<Tensor> out = run_op(program_, function_, op_, pointers);
    for (std::size_t i = 0; i < results.size(); ++i) store(out[i], results[i]);
  }

 private:
  const ir::Program& program_;
  const ir::Function& function_;
  const ir::Op& op_;
};

/// The expression as a function of dense tensors: one parameter per input, one op per step.
class FusedKernel final : public Kernel {
 public:
  explicit FusedKernel(const ir::FusedExpression& expression) : expression_(expression) {
    program_.main = program_.add_function("fused");
    ir::Function& function = program_.entry();
    std::vector<ir::ValueId> registers;
    for (const ir::FusedInput& input : expression.inputs) {
      registers.push_back(function.add_param({input.dtype, expression.shape}));
    }
    for (const ir::FusedStep& step : expression.steps) {
      std::vector<ir::ValueId> operands;
      for (std::uint32_t arg : step.args) operands.push_back(registers[arg]);
      const ir::TensorType type{step.dtype, expression.shape};
      ir::Attributes attrs = step.attrs;
      if (step.kind == ir::OpKind::Constant) {
        const ir::Literal& value = std::get<ir::ConstantAttrs>(attrs).value;
        const auto element = value.stored_bytes().first(ir::dtype_bytes(step.dtype));
        attrs = ir::ConstantAttrs{ir::Literal(type, {element.begin(), element.end()}, true)};
      }
      const ir::OpId op = function.append(step.kind, std::move(attrs), std::move(operands), {type});
      registers.push_back(function.op(op).results[0]);
    }
    for (std::uint32_t output : expression.outputs) function.results.push_back(registers[output]);
  }

  void run(std::span<const void* const> operands, std::span<void* const> results, void*) const override {
    std::vector<Tensor> arguments;
    for (std::size_t i = 0; i < operands.size(); ++i) arguments.push_back(gather(expression_.inputs[i], operands[i]));
    const std::vector<Tensor> out = reference::run(program_, program_.main, std::move(arguments));
    for (std::size_t i = 0; i < results.size(); ++i) store(out[i], results[i]);
  }

 private:
  Tensor gather(const ir::FusedInput& input, const void* from) const {
    Tensor tensor({input.dtype, expression_.shape});
    const std::size_t width = ir::dtype_bytes(input.dtype);
    const auto* source = static_cast<const std::byte*>(from);
    ir::Dims index(expression_.shape.size(), 0);
    const std::int64_t count = tensor.type.elements();
    std::int64_t at = input.offset;
    for (std::int64_t i = 0; i < count; ++i) {
      std::memcpy(tensor.bytes.data() + static_cast<std::size_t>(i) * width, source + static_cast<std::size_t>(at) * width, width);
      for (std::size_t d = index.size(); d-- > 0;) {
        at += input.strides[d];
        if (++index[d] < expression_.shape[d]) break;
        at -= input.strides[d] * expression_.shape[d];
        index[d] = 0;
      }
    }
    return tensor;
  }

  ir::FusedExpression expression_;
  ir::Program program_;
};

class ReferenceBackend final : public Backend {
 public:
  std::string_view name() const override { return "reference"; }
  std::unique_ptr<Kernel> make(const ir::Program& program, const ir::Function& function, const ir::Op& op) const override {
    return std::make_unique<OpKernel>(program, function, op);
  }
  std::unique_ptr<Kernel> make_fused(const ir::FusedExpression& expression) const override {
    return std::make_unique<FusedKernel>(expression);
  }
  bool updates_in_place(const ir::Op& op) const override {
    // The interpreter works on copies, so the result may go anywhere.
    return op.kind == ir::OpKind::DynamicUpdateSlice || op.kind == ir::OpKind::Scatter;
  }
};

}  // namespace

std::unique_ptr<Backend> make_backend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace rhino::kernels::reference
