// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "op_runner.hpp"

namespace rhino::kernels::reference::test {
namespace {

using ir::OpKind;

TEST(DotGeneral, MatrixProduct) {
  ir::DotGeneralAttrs attrs;
  attrs.lhs_contracting = {1};
  attrs.rhs_contracting = {0};
  const auto product =
      run(OpKind::DotGeneral, {tensor<float>({2, 2}, {1, 2, 3, 4}), tensor<float>({2, 2}, {5, 6, 7, 8})}, attrs);
  EXPECT_EQ(values<float>(product), (std::vector<float>{19, 22, 43, 50}));
}

TEST(DotGeneral, BatchAndTransposedOperands) {
  // lhs [k, b, m], rhs [n, k, b], result [b, m, n].
  ir::DotGeneralAttrs attrs;
  attrs.lhs_batch = {1};
  attrs.rhs_batch = {2};
  attrs.lhs_contracting = {0};
  attrs.rhs_contracting = {1};
  attrs.result_dtype = ir::DType::I32;
  const auto lhs = tensor<std::int32_t>({2, 2, 1}, {1, 2, 3, 4});                  // [k][b]: 1 2 / 3 4
  const auto rhs = tensor<std::int32_t>({2, 2, 2}, {1, 10, 2, 20, 3, 30, 4, 40});  // [n][k][b]
  const auto product = run(OpKind::DotGeneral, {lhs, rhs}, attrs);
  EXPECT_EQ(product.type.dims, (ir::Dims{2, 1, 2}));
  // b = 0: (1, 3) . (1, 2) = 7 and (1, 3) . (3, 4) = 15; b = 1: (2, 4) . (10, 20) = 100 and (2, 4) . (30, 40) = 220.
  EXPECT_EQ(values<std::int32_t>(product), (std::vector<std::int32_t>{7, 15, 100, 220}));
}

TEST(DotGeneral, WiderResultType) {
  ir::DotGeneralAttrs attrs;
  attrs.lhs_contracting = {0};
  attrs.rhs_contracting = {0};
  attrs.result_dtype = ir::DType::I32;
  const auto wide = run(OpKind::DotGeneral, {vector<std::int8_t>({100, 100}), vector<std::int8_t>({100, 100})}, attrs);
  EXPECT_EQ(values<std::int32_t>(wide), (std::vector<std::int32_t>{20000}));
  attrs.result_dtype = ir::DType::I8;
  const auto wrapped =
      run(OpKind::DotGeneral, {vector<std::int8_t>({100, 100}), vector<std::int8_t>({100, 100})}, attrs);
  EXPECT_EQ(values<std::int8_t>(wrapped), (std::vector<std::int8_t>{32}));  // 20000 mod 256
}

TEST(DotGeneral, EmptyContractionGivesZero) {
  ir::DotGeneralAttrs attrs;
  attrs.lhs_contracting = {1};
  attrs.rhs_contracting = {0};
  EXPECT_EQ(values<float>(run(OpKind::DotGeneral, {tensor<float>({2, 0}, {}), tensor<float>({0, 1}, {})}, attrs)),
            (std::vector<float>{0, 0}));
}

ir::ConvolutionAttrs one_dimensional(ir::WindowDim window) {
  ir::ConvolutionAttrs attrs;  // [b, f, x] * [o, i, x] -> [b, f, x]
  attrs.window = {window};
  attrs.input_batch = 0;
  attrs.input_feature = 1;
  attrs.input_spatial = {2};
  attrs.kernel_output_feature = 0;
  attrs.kernel_input_feature = 1;
  attrs.kernel_spatial = {2};
  attrs.output_batch = 0;
  attrs.output_feature = 1;
  attrs.output_spatial = {2};
  return attrs;
}

TEST(Convolution, PaddingStrideDilationReversal) {
  const auto input = tensor<float>({1, 1, 4}, {1, 2, 3, 4});
  const auto kernel = tensor<float>({1, 1, 2}, {1, 10});
  const auto apply = [&](ir::WindowDim window) {
    window.size = 2;
    return values<float>(run(OpKind::Convolution, {input, kernel}, one_dimensional(window)));
  };
  EXPECT_EQ(apply({}), (std::vector<float>{21, 32, 43}));
  EXPECT_EQ(apply({.pad_low = 1, .pad_high = 1}), (std::vector<float>{10, 21, 32, 43, 4}));
  EXPECT_EQ(apply({.stride = 2}), (std::vector<float>{21, 43}));
  EXPECT_EQ(apply({.window_dilation = 2}), (std::vector<float>{31, 42}));
  EXPECT_EQ(apply({.base_dilation = 2}), (std::vector<float>{1, 20, 2, 30, 3, 40}));
  EXPECT_EQ(apply({.reversal = true}), (std::vector<float>{12, 23, 34}));
  EXPECT_EQ(apply({.pad_low = -1, .pad_high = -1}), (std::vector<float>{32}));
}

TEST(Convolution, FeatureAndBatchGroups) {
  ir::ConvolutionAttrs attrs = one_dimensional({});
  attrs.feature_group_count = 2;
  // Two input channels, each with its own one-element kernel.
  EXPECT_EQ(values<float>(run(OpKind::Convolution,
                              {tensor<float>({1, 2, 2}, {1, 2, 3, 4}), tensor<float>({2, 1, 1}, {10, 100})}, attrs)),
            (std::vector<float>{10, 20, 300, 400}));
  attrs.feature_group_count = 1;
  attrs.batch_group_count = 2;
  // Two examples become one; output channel g comes from example g.
  EXPECT_EQ(values<float>(run(OpKind::Convolution,
                              {tensor<float>({2, 1, 2}, {1, 2, 3, 4}), tensor<float>({2, 1, 1}, {10, 100})}, attrs)),
            (std::vector<float>{10, 20, 300, 400}));
}

TEST(Convolution, SumsOverChannelsAndLayouts) {
  ir::ConvolutionAttrs attrs;  // [x, b, f] * [i, x, o] -> [f, x, b]
  attrs.window = {{.size = 1}};
  attrs.input_spatial = {0};
  attrs.input_batch = 1;
  attrs.input_feature = 2;
  attrs.kernel_input_feature = 0;
  attrs.kernel_spatial = {1};
  attrs.kernel_output_feature = 2;
  attrs.output_feature = 0;
  attrs.output_spatial = {1};
  attrs.output_batch = 2;
  const auto result =
      run(OpKind::Convolution, {tensor<float>({2, 1, 2}, {1, 2, 3, 4}), tensor<float>({2, 1, 2}, {1, 10, 100, 1000})},
          attrs);
  EXPECT_EQ(result.type.dims, (ir::Dims{2, 2, 1}));
  EXPECT_EQ(values<float>(result), (std::vector<float>{201, 403, 2010, 4030}));
}

}  // namespace
}  // namespace rhino::kernels::reference::test
