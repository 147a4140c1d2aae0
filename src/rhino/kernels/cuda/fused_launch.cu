// SPDX-License-Identifier: Apache-2.0
// The second launcher of the elementwise bodies: one device thread per element (the first is kernels/host).
#include <rhino/kernels/cuda/device_program.hpp>
#include <rhino/kernels/elementwise_bodies.hpp>

namespace rhino::kernels::cuda {
namespace {

using namespace bodies;

__device__ float run_step(const DeviceStep& step, const float* registers) {
  const float a = registers[step.args[0]];
  const float b = registers[step.args[1]];
  const float c = registers[step.args[2]];
  switch (step.code) {
    case StepCode::Constant: return step.constant;
    case StepCode::Add: return AddBody::apply<float>(a, b);
    case StepCode::Subtract: return SubtractBody::apply<float>(a, b);
    case StepCode::Multiply: return MultiplyBody::apply<float>(a, b);
    case StepCode::Divide: return DivideBody::apply<float>(a, b);
    case StepCode::Maximum: return MaximumBody::apply<float>(a, b);
    case StepCode::Minimum: return MinimumBody::apply<float>(a, b);
    case StepCode::Negate: return NegateBody::apply<float>(a);
    case StepCode::Abs: return AbsBody::apply<float>(a);
    case StepCode::Sign: return SignBody::apply<float>(a);
    case StepCode::Sqrt: return SqrtBody::apply<float>(a);
    case StepCode::Rsqrt: return RsqrtBody::apply<float>(a);
    case StepCode::Floor: return FloorBody::apply<float>(a);
    case StepCode::Ceil: return CeilBody::apply<float>(a);
    case StepCode::RoundEven: return RoundEvenBody::apply<float>(a);
    // The host computes these with vector libraries; the device has its own.
    case StepCode::Exponential: return expf(a);
    case StepCode::Log: return logf(a);
    case StepCode::Tanh: return tanhf(a);
    case StepCode::Logistic: return 1.0f / (1.0f + expf(-a));
    case StepCode::Equal: return EqualBody::apply<float>(a, b);
    case StepCode::NotEqual: return NotEqualBody::apply<float>(a, b);
    case StepCode::Less: return LessBody::apply<float>(a, b);
    case StepCode::LessEqual: return LessEqualBody::apply<float>(a, b);
    case StepCode::Greater: return GreaterBody::apply<float>(a, b);
    case StepCode::GreaterEqual: return GreaterEqualBody::apply<float>(a, b);
    case StepCode::Select: return SelectBody::apply<float>(a != 0.0f, b, c);
    case StepCode::Clamp: return ClampBody::apply<float>(a, b, c);
  }
  return 0.0f;
}

__global__ void fused_kernel(const __grid_constant__ DeviceProgram program, const __grid_constant__ DevicePointers pointers) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       element < program.elements; element += stride) {
    float registers[max_inputs + max_steps];
    std::int64_t address[max_inputs];
    for (int i = 0; i < program.inputs; ++i) address[i] = program.offsets[i];
    std::int64_t rest = element;
    for (int d = program.rank - 1; d >= 0; --d) {
      const std::int64_t index = rest % program.shape[d];
      rest /= program.shape[d];
      for (int i = 0; i < program.inputs; ++i) address[i] += index * program.strides[i][d];
    }
    for (int i = 0; i < program.inputs; ++i) registers[i] = pointers.inputs[i][address[i]];
    for (int s = 0; s < program.steps; ++s) registers[program.inputs + s] = run_step(program.step[s], registers);
    for (int o = 0; o < program.outputs; ++o) pointers.outputs[o][element] = registers[program.output_registers[o]];
  }
}

}  // namespace

int launch_fused(const DeviceProgram& program, const DevicePointers& pointers) {
  if (program.elements == 0) return cudaSuccess;
  constexpr int threads = 256;
  constexpr std::int64_t most_blocks = 65535;
  const std::int64_t wanted = (program.elements + threads - 1) / threads;
  const int blocks = static_cast<int>(wanted < most_blocks ? wanted : most_blocks);
  fused_kernel<<<blocks, threads>>>(program, pointers);
  return cudaGetLastError();
}

}  // namespace rhino::kernels::cuda
