// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/cuda/fused_kernel.hpp>

#include <algorithm>
#include <optional>

#include <rhino/device/cuda_check.hpp>
#include <rhino/kernels/cuda/device_program.hpp>

namespace rhino::kernels::cuda {
namespace {

StepCode compare_code(ir::Comparison direction) {
  switch (direction) {
    case ir::Comparison::Eq: return StepCode::Equal;
    case ir::Comparison::Ne: return StepCode::NotEqual;
    case ir::Comparison::Lt: return StepCode::Less;
    case ir::Comparison::Le: return StepCode::LessEqual;
    case ir::Comparison::Gt: return StepCode::Greater;
    case ir::Comparison::Ge: return StepCode::GreaterEqual;
  }
  RHINO_FAIL(InternalError, "unknown comparison");
}

std::optional<StepCode> code_of(const ir::FusedStep& step) {
  switch (step.kind) {
    case ir::OpKind::Constant: return StepCode::Constant;
    case ir::OpKind::Add: return StepCode::Add;
    case ir::OpKind::Subtract: return StepCode::Subtract;
    case ir::OpKind::Multiply: return StepCode::Multiply;
    case ir::OpKind::Divide: return StepCode::Divide;
    case ir::OpKind::Maximum: return StepCode::Maximum;
    case ir::OpKind::Minimum: return StepCode::Minimum;
    case ir::OpKind::Negate: return StepCode::Negate;
    case ir::OpKind::Abs: return StepCode::Abs;
    case ir::OpKind::Sign: return StepCode::Sign;
    case ir::OpKind::Sqrt: return StepCode::Sqrt;
    case ir::OpKind::Rsqrt: return StepCode::Rsqrt;
    case ir::OpKind::Floor: return StepCode::Floor;
    case ir::OpKind::Ceil: return StepCode::Ceil;
    case ir::OpKind::RoundNearestEven: return StepCode::RoundEven;
    case ir::OpKind::Exponential: return StepCode::Exponential;
    case ir::OpKind::Log: return StepCode::Log;
    case ir::OpKind::Tanh: return StepCode::Tanh;
    case ir::OpKind::Logistic: return StepCode::Logistic;
    case ir::OpKind::Compare: {
      const auto& attrs = std::get<ir::CompareAttrs>(step.attrs);
      if (attrs.type == ir::ComparisonType::TotalOrder) return std::nullopt;
      return compare_code(attrs.direction);
    }
    case ir::OpKind::Select: return StepCode::Select;
    case ir::OpKind::Clamp: return StepCode::Clamp;
    default: return std::nullopt;
  }
}

DeviceProgram compile(const ir::FusedExpression& expression) {
  const auto fits = [](std::size_t count, int most) { return count <= static_cast<std::size_t>(most); };
  RHINO_CHECK(fits(expression.shape.size(), max_rank) && fits(expression.inputs.size(), max_inputs) &&
                  fits(expression.steps.size(), max_steps) && fits(expression.outputs.size(), max_outputs),
              "the CUDA kernel of a fused group takes at most {} dimensions, {} inputs, {} steps and {} outputs", max_rank,
              max_inputs, max_steps, max_outputs);
  DeviceProgram program{};
  program.rank = static_cast<int>(expression.shape.size());
  program.inputs = static_cast<int>(expression.inputs.size());
  program.steps = static_cast<int>(expression.steps.size());
  program.outputs = static_cast<int>(expression.outputs.size());
  program.elements = 1;
  for (std::size_t d = 0; d < expression.shape.size(); ++d) {
    program.shape[d] = expression.shape[d];
    program.elements *= expression.shape[d];
  }
  for (std::size_t i = 0; i < expression.inputs.size(); ++i) {
    const ir::FusedInput& input = expression.inputs[i];
    RHINO_CHECK(input.dtype == ir::DType::F32, "the CUDA kernel of a fused group reads f32 only, not {}",
                ir::dtype_name(input.dtype));
    program.offsets[i] = input.offset;
    std::copy(input.strides.begin(), input.strides.end(), program.strides[i]);
  }
  for (std::size_t s = 0; s < expression.steps.size(); ++s) {
    const ir::FusedStep& step = expression.steps[s];
    const auto code = code_of(step);
    RHINO_CHECK(code.has_value(), "there is no CUDA code yet for '{}' in a fused group", ir::op_name(step.kind));
    const bool predicate = *code >= StepCode::Equal && *code <= StepCode::GreaterEqual;
    RHINO_CHECK(step.dtype == (predicate ? ir::DType::I1 : ir::DType::F32),
                "the CUDA kernel of a fused group computes f32 only, not {}", ir::dtype_name(step.dtype));
    program.step[s].code = *code;
    RHINO_ASSERT(step.args.size() <= 3);
    for (std::size_t a = 0; a < step.args.size(); ++a)
      program.step[s].args[a] = static_cast<std::uint8_t>(step.args[a]);
    if (*code == StepCode::Constant)
      program.step[s].constant = static_cast<float>(std::get<ir::ConstantAttrs>(step.attrs).value.element_as_double(0));
  }
  for (std::size_t o = 0; o < expression.outputs.size(); ++o) {
    RHINO_CHECK(expression.register_dtype(expression.outputs[o]) == ir::DType::F32,
                "the CUDA kernel of a fused group writes f32 only");
    program.output_registers[o] = static_cast<std::uint8_t>(expression.outputs[o]);
  }
  return program;
}

class FusedKernel final : public Kernel {
 public:
  explicit FusedKernel(const ir::FusedExpression& expression) : program_(compile(expression)) {}

  void run(std::span<const void* const> operands, std::span<void* const> results, void*) const override {
    RHINO_ASSERT(operands.size() == static_cast<std::size_t>(program_.inputs) &&
                 results.size() == static_cast<std::size_t>(program_.outputs));
    DevicePointers pointers{};
    for (std::size_t i = 0; i < operands.size(); ++i) pointers.inputs[i] = static_cast<const float*>(operands[i]);
    for (std::size_t i = 0; i < results.size(); ++i) pointers.outputs[i] = static_cast<float*>(results[i]);
    RHINO_CUDA_CHECK(static_cast<cudaError_t>(launch_fused(program_, pointers)));
    RHINO_CUDA_CHECK(cudaDeviceSynchronize());
  }

 private:
  DeviceProgram program_;
};

}  // namespace

std::unique_ptr<Kernel> make_fused_kernel(const ir::FusedExpression& expression) {
  return std::make_unique<FusedKernel>(expression);
}

}  // namespace rhino::kernels::cuda
