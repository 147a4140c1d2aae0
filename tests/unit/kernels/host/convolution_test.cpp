// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <rhino/kernels/host/convolution.hpp>

#include "backend_pair.hpp"

namespace rhino::kernels::host::test {
namespace {

using ir::DType;

struct Case {
  ir::ConvolutionAttrs attrs;
  ir::TensorType in, kernel;
  std::int64_t out_batch = 0;
  std::string text;
};

/// Places sizes into a shape by the dimension numbers.
ir::Dims shape_of(std::size_t rank, std::vector<std::pair<int, std::int64_t>> sizes) {
  ir::Dims dims(rank, 1);
  for (const auto& [d, size] : sizes) dims[static_cast<std::size_t>(d)] = size;
  return dims;
}

ir::Program program_of(const Case& c) {
  ir::Program program;
  program.main = program.add_function("main");
  ir::Builder builder(program, program.main);
  const ir::ValueId x = builder.param(c.in), w = builder.param(c.kernel);
  builder.set_results({builder.add(ir::OpKind::Convolution, {x, w}, c.attrs)});
  return program;
}

std::vector<int> permutation(Randomness& random, int rank) {
  std::vector<int> order;
  for (int i = 0; i < rank; ++i) order.push_back(i);
  for (int i = rank; i > 1; --i) std::swap(order[static_cast<std::size_t>(i - 1)], order[static_cast<std::size_t>(random.integer(0, i - 1))]);
  return order;
}

Case random_case(Randomness& random, DType dtype) {
  Case c;
  const int spatial = static_cast<int>(random.integer(1, 2)), rank = spatial + 2;
  const auto assign = [&](int& a, int& b, std::vector<int>& rest) {
    const std::vector<int> order = permutation(random, rank);
    a = order[0], b = order[1];
    rest.assign(order.begin() + 2, order.end());
  };
  assign(c.attrs.input_batch, c.attrs.input_feature, c.attrs.input_spatial);
  assign(c.attrs.kernel_input_feature, c.attrs.kernel_output_feature, c.attrs.kernel_spatial);
  assign(c.attrs.output_batch, c.attrs.output_feature, c.attrs.output_spatial);
  c.attrs.result_dtype = dtype;
  std::int64_t batch = random.integer(1, 3), in = random.integer(1, 5), out = random.integer(1, 5);
  const std::int64_t groups = random.chance(0.3) ? random.integer(2, 3) : 1;
  if (random.chance(0.5)) c.attrs.feature_group_count = groups;
  else c.attrs.batch_group_count = groups;
  out *= groups;
  std::vector<std::pair<int, std::int64_t>> in_sizes{{c.attrs.input_batch, batch * c.attrs.batch_group_count},
                                                     {c.attrs.input_feature, in * c.attrs.feature_group_count}};
  std::vector<std::pair<int, std::int64_t>> kernel_sizes{{c.attrs.kernel_input_feature, in}, {c.attrs.kernel_output_feature, out}};
  for (int d = 0; d < spatial; ++d) {
    ir::WindowDim w;
    std::int64_t size = 0;
    for (;;) {
      w = {};
      size = random.integer(1, 9);
      w.size = random.integer(1, 6);
      w.stride = random.chance(0.4) ? random.integer(2, 3) : 1;
      w.base_dilation = random.chance(0.3) ? random.integer(2, 3) : 1;
      w.window_dilation = random.chance(0.3) ? 2 : 1;
      w.reversal = random.chance(0.2);
      w.pad_low = random.integer(-1, 3);
      w.pad_high = random.integer(-1, 3);
      const std::int64_t padded = (size - 1) * w.base_dilation + 1 + w.pad_low + w.pad_high;
      if (padded >= (w.size - 1) * w.window_dilation + 1) break;
    }
    c.attrs.window.push_back(w);
    in_sizes.emplace_back(c.attrs.input_spatial[static_cast<std::size_t>(d)], size);
    kernel_sizes.emplace_back(c.attrs.kernel_spatial[static_cast<std::size_t>(d)], w.size);
  }
  c.in = {dtype, shape_of(static_cast<std::size_t>(rank), in_sizes)};
  c.kernel = {dtype, shape_of(static_cast<std::size_t>(rank), kernel_sizes)};
  return c;
}

TEST(Convolution, RandomFormsEqualReference) {
  for (DType dtype : {DType::F32, DType::F64}) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      Randomness random(seed);
      const Case c = random_case(random, dtype);
      const ir::Program program = program_of(c);
      ASSERT_TRUE(has_own_kernel(program));
      const Tensor x = random.tensor(c.in, 0.5, 1.5), w = random.tensor(c.kernel, 0.5, 1.5);
      ASSERT_EQ(compare_ops(program, {x, w}, {dtype == DType::F32 ? 1e-5 : 1e-13, 0}), "") << "seed " << seed;
    }
  }
}

/// The convolutions of a layer as JAX emits them, channels last: forward, gradient of the data, gradient of the weights.
std::vector<Case> layer(std::int64_t size, std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                        std::int64_t groups) {
  const std::int64_t batch = 4, result = (size + stride - 1) / stride;
  const std::int64_t total = std::max<std::int64_t>((result - 1) * stride + kernel - size, 0), low = total / 2, high = total - low;
  Case forward;
  forward.attrs.input_batch = 0, forward.attrs.input_feature = 3, forward.attrs.input_spatial = {1, 2};
  forward.attrs.kernel_input_feature = 2, forward.attrs.kernel_output_feature = 3, forward.attrs.kernel_spatial = {0, 1};
  forward.attrs.output_batch = 0, forward.attrs.output_feature = 3, forward.attrs.output_spatial = {1, 2};
  forward.attrs.feature_group_count = groups;
  ir::WindowDim w;
  w.size = kernel, w.stride = stride, w.pad_low = low, w.pad_high = high;
  forward.attrs.window = {w, w};
  forward.in = {DType::F32, {batch, size, size, in}};
  forward.kernel = {DType::F32, {kernel, kernel, in / groups, out}};
  forward.text = "forward";

  Case data = forward;  // the kernel comes reversed, with its features swapped
  data.text = "data";
  data.in = {DType::F32, {batch, result, result, out}};
  data.kernel = {DType::F32, {kernel, kernel, in, out / groups}};
  data.attrs.kernel_input_feature = 3, data.attrs.kernel_output_feature = 2;
  w.stride = 1, w.base_dilation = stride, w.pad_low = kernel - 1 - low;
  w.pad_high = size + kernel - 1 - (w.pad_low + (result - 1) * stride + 1);
  data.attrs.window = {w, w};

  Case weights;
  weights.text = "weights";
  weights.attrs.input_batch = 3, weights.attrs.input_feature = 0, weights.attrs.input_spatial = {1, 2};
  weights.attrs.kernel_input_feature = 0, weights.attrs.kernel_output_feature = 3, weights.attrs.kernel_spatial = {1, 2};
  weights.attrs.output_batch = 2, weights.attrs.output_feature = 3, weights.attrs.output_spatial = {0, 1};
  weights.attrs.batch_group_count = groups;
  weights.in = forward.in;
  weights.kernel = data.in;
  w = {};
  w.size = result, w.window_dilation = stride, w.pad_low = low;
  w.pad_high = (kernel - 1) + (result - 1) * stride + 1 - size - low;
  weights.attrs.window = {w, w};
  return {forward, data, weights};
}

TEST(Convolution, LayersOfANetworkUseOneDnn) {
  for (const auto& [size, in, out, kernel, stride, groups] :
       std::vector<std::array<std::int64_t, 6>>{{8, 16, 32, 3, 1, 1}, {9, 16, 16, 3, 2, 1}, {8, 8, 16, 1, 2, 1}, {12, 3, 16, 7, 2, 1},
                                                {8, 16, 16, 3, 1, 16}, {8, 16, 32, 3, 2, 4}, {7, 16, 16, 5, 1, 2}}) {
    for (Case& c : layer(size, in, out, kernel, stride, groups)) {
      const ir::Program program = program_of(c);
      const auto& op = program.entry().ops.back();
      const OpContext context{program, program.entry(), op};
      EXPECT_NE(make_dnnl_convolution(ConvolutionProblem(context)), nullptr) << c.text << " " << size << " " << kernel << " " << stride;
      Randomness random(static_cast<std::uint64_t>(size));
      const Tensor x = random.tensor(c.in, 0.5, 1.5), w = random.tensor(c.kernel, 0.5, 1.5);
      EXPECT_EQ(compare_ops(program, {x, w}, {1e-5, 0}), "")
          << fmt::format("{} size {} in {} out {} kernel {} stride {} groups {}", c.text, size, in, out, kernel, stride, groups);
      c.in.dtype = c.kernel.dtype = DType::F64;
      c.attrs.result_dtype = DType::F64;
      EXPECT_EQ(compare_ops(program_of(c), {random.tensor(c.in, 0.5, 1.5), random.tensor(c.kernel, 0.5, 1.5)}, {1e-13, 0}), "") << c.text;
    }
  }
}

}  // namespace
}  // namespace rhino::kernels::host::test
