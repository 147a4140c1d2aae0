// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// What the host hands to the fused kernel, by value: plain data, shared by a C++ and a CUDA source.
namespace rhino::kernels::cuda {

inline constexpr int max_rank = 8;
inline constexpr int max_inputs = 16;
inline constexpr int max_outputs = 8;
inline constexpr int max_steps = 48;

enum class StepCode : std::uint8_t {
  Constant,
  Add, Subtract, Multiply, Divide, Maximum, Minimum,
  Negate, Abs, Sign, Sqrt, Rsqrt, Floor, Ceil, RoundEven,
  Exponential, Log, Tanh, Logistic,
  Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual,
  Select, Clamp
};

/// Writes register inputs + (its position); a predicate is a register that is 0 or 1.
struct DeviceStep {
  StepCode code;
  std::uint8_t args[3];
  float constant;
};

struct DeviceProgram {
  int rank;
  int inputs;
  int steps;
  int outputs;
  std::int64_t elements;
  std::int64_t shape[max_rank];
  std::int64_t strides[max_inputs][max_rank];
  std::int64_t offsets[max_inputs];
  std::uint8_t output_registers[max_outputs];
  DeviceStep step[max_steps];
};

struct DevicePointers {
  const float* inputs[max_inputs];
  float* outputs[max_outputs];
};

/// Starts the kernel on the default stream; gives the CUDA error code (0: started).
int launch_fused(const DeviceProgram& program, const DevicePointers& pointers);

}  // namespace rhino::kernels::cuda
