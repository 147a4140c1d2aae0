// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/cuda/fused_kernel.hpp>

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/device/cuda_arena.hpp>

namespace rhino::kernels::cuda {
namespace {

// tanh(x * row) where that exceeds 0, else 0.5: x is 3x4, row is 4 and repeated.
ir::FusedExpression expression() {
  ir::FusedExpression e;
  e.shape = {3, 4};
  e.inputs = {{ir::DType::F32, {4, 1}, 0}, {ir::DType::F32, {0, 1}, 0}};
  const ir::TensorType scalar{ir::DType::F32, {}};
  const auto constant = [&](double value) {
    return ir::FusedStep{ir::OpKind::Constant, ir::ConstantAttrs{ir::Literal::splat(scalar, value)}, {}, ir::DType::F32};
  };
  e.steps = {
      {ir::OpKind::Multiply, ir::NoAttrs{}, {0, 1}, ir::DType::F32},                                             // 2
      {ir::OpKind::Tanh, ir::NoAttrs{}, {2}, ir::DType::F32},                                                    // 3
      constant(0),                                                                                               // 4
      {ir::OpKind::Compare, ir::CompareAttrs{ir::Comparison::Gt, ir::ComparisonType::Float}, {3, 4}, ir::DType::I1},  // 5
      constant(0.5),                                                                                             // 6
      {ir::OpKind::Select, ir::NoAttrs{}, {5, 3, 6}, ir::DType::F32},                                            // 7
  };
  e.outputs = {7, 2};
  return e;
}

TEST(CudaFusedKernel, RunsOnTheDevice) {
  if (device::cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device";
  std::vector<float> x(12);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 5.0f;
  const std::vector<float> row = {0.1f, -0.2f, 0.3f, 0.0f};
  const auto arena = device::make_cuda_arena(1024);
  float* const memory = reinterpret_cast<float*>(arena->data());
  device::copy_to_device(memory, x.data(), 48);
  device::copy_to_device(memory + 64, row.data(), 16);
  const void* operands[] = {memory, memory + 64};
  void* results[] = {memory + 128, memory + 192};
  make_fused_kernel(expression())->run(operands, results, nullptr);
  std::vector<float> selected(12), product(12);
  device::copy_to_host(selected.data(), memory + 128, 48);
  device::copy_to_host(product.data(), memory + 192, 48);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float expected = x[i] * row[i % 4];
    EXPECT_EQ(product[i], expected);
    const float bent = std::tanh(expected);
    EXPECT_NEAR(selected[i], bent > 0 ? bent : 0.5f, 1e-6f) << i;
  }
}

TEST(CudaFusedKernel, RefusesWhatItDoesNotDo) {
  auto e = expression();
  e.inputs[0].dtype = ir::DType::F64;
  EXPECT_THROW(make_fused_kernel(e), InputError);
  e = expression();
  e.steps[1].kind = ir::OpKind::Lgamma;
  EXPECT_THROW(make_fused_kernel(e), InputError);
  e = expression();
  e.shape.assign(9, 1);
  EXPECT_THROW(make_fused_kernel(e), InputError);
  EXPECT_NO_THROW(make_fused_kernel(expression()));
}

TEST(CudaArena, SaysWhatFailedWhereThereIsNoDevice) {
  if (device::cuda_device_count() > 0) GTEST_SKIP() << "there is a CUDA device";
  try {
    device::make_cuda_arena(100);
    FAIL() << "no exception";
  } catch (const EnvironmentError& error) {
    EXPECT_NE(std::string(error.what()).find("100 bytes on the CUDA device"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace rhino::kernels::cuda
