// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "op_runner.hpp"

namespace rhino::kernels::reference::test {
namespace {

using ir::OpKind;
using Ints = std::vector<std::int32_t>;

Tensor counting(ir::Dims dims) {
  Tensor result(ir::TensorType{ir::DType::I32, std::move(dims)});
  std::int32_t next = 0;
  for (auto& value : result.as<std::int32_t>())
    value = next++;
  return result;
}

TEST(Movement, BroadcastInDim) {
  EXPECT_EQ(values<std::int32_t>(run(OpKind::BroadcastInDim, {counting({2})}, ir::BroadcastInDimAttrs{{2, 3}, {0}})),
            (Ints{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(
      values<std::int32_t>(run(OpKind::BroadcastInDim, {counting({1, 3})}, ir::BroadcastInDimAttrs{{2, 3}, {0, 1}})),
      (Ints{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(
      values<std::int32_t>(run(OpKind::BroadcastInDim, {counting({2, 3})}, ir::BroadcastInDimAttrs{{3, 2}, {1, 0}})),
      (Ints{0, 3, 1, 4, 2, 5}));
}

TEST(Movement, TransposeAndReverse) {
  const auto transposed = run(OpKind::Transpose, {counting({2, 3, 2})}, ir::DimensionsAttrs{{2, 0, 1}});
  EXPECT_EQ(transposed.type.dims, (ir::Dims{2, 2, 3}));
  EXPECT_EQ(values<std::int32_t>(transposed), (Ints{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(values<std::int32_t>(run(OpKind::Reverse, {counting({2, 3})}, ir::DimensionsAttrs{{1}})),
            (Ints{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(values<std::int32_t>(run(OpKind::Reverse, {counting({2, 3})}, ir::DimensionsAttrs{{0, 1}})),
            (Ints{5, 4, 3, 2, 1, 0}));
}

TEST(Movement, SliceAndConcatenate) {
  EXPECT_EQ(values<std::int32_t>(run(OpKind::Slice, {counting({3, 4})}, ir::SliceAttrs{{1, 0}, {3, 4}, {1, 3}})),
            (Ints{4, 7, 8, 11}));
  EXPECT_EQ(values<std::int32_t>(run(OpKind::Concatenate, {counting({2, 1}), counting({2, 2})}, ir::DimensionAttrs{1})),
            (Ints{0, 0, 1, 1, 2, 3}));
  EXPECT_EQ(values<std::int32_t>(
                run(OpKind::Concatenate, {counting({2}), counting({0}), counting({1})}, ir::DimensionAttrs{0})),
            (Ints{0, 1, 0}));
}

TEST(Movement, PadWithNegativeAndInteriorPadding) {
  const auto pad = [](Tensor operand, ir::PadAttrs attrs) {
    return values<std::int32_t>(run(OpKind::Pad, {std::move(operand), scalar<std::int32_t>(9)}, std::move(attrs)));
  };
  EXPECT_EQ(pad(counting({3}), {{1}, {2}, {0}}), (Ints{9, 0, 1, 2, 9, 9}));
  EXPECT_EQ(pad(counting({3}), {{0}, {0}, {1}}), (Ints{0, 9, 1, 9, 2}));
  EXPECT_EQ(pad(counting({4}), {{-1}, {-2}, {0}}), (Ints{1}));
  EXPECT_EQ(pad(counting({3}), {{-1}, {1}, {1}}), (Ints{9, 1, 9, 2, 9}));
  EXPECT_EQ(pad(counting({2}), {{-2}, {3}, {0}}), (Ints{9, 9, 9}));
  EXPECT_EQ(pad(counting({2, 2}), {{1, -1}, {0, 1}, {0, 0}}), (Ints{9, 9, 1, 9, 3, 9}));
  EXPECT_EQ(pad(counting({0}), {{1}, {1}, {0}}), (Ints{9, 9}));
}

TEST(Movement, DynamicSlicesClampTheirStart) {
  const auto at = [](std::int32_t i, std::int32_t j) {
    return values<std::int32_t>(
        run(OpKind::DynamicSlice, {counting({3, 3}), scalar(i), scalar(j)}, ir::DynamicSliceAttrs{{2, 1}}));
  };
  EXPECT_EQ(at(1, 1), (Ints{4, 7}));
  EXPECT_EQ(at(5, -7), (Ints{3, 6}));
  const auto updated =
      run(OpKind::DynamicUpdateSlice, {counting({4}), vector<std::int32_t>({7, 8}), scalar<std::int32_t>(3)});
  EXPECT_EQ(values<std::int32_t>(updated), (Ints{0, 1, 7, 8}));
  // Unsigned starts beyond the signed range are large, not negative.
  EXPECT_EQ(values<std::int32_t>(
                run(OpKind::DynamicSlice, {counting({3}), scalar<std::uint64_t>(~0ull)}, ir::DynamicSliceAttrs{{1}})),
            (Ints{2}));
}

TEST(Movement, IotaReshapeBitcast) {
  EXPECT_EQ(values<std::int32_t>(run(OpKind::Iota, {}, ir::IotaAttrs{{ir::DType::I32, {2, 3}}, 1})),
            (Ints{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(floats(run(OpKind::Iota, {}, ir::IotaAttrs{{ir::DType::BF16, {3, 1}}, 0})), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(values<std::int32_t>(run(OpKind::Reshape, {counting({2, 3})}, ir::ReshapeAttrs{{3, 2}})),
            (Ints{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(
      values<std::uint32_t>(run(OpKind::BitcastConvert, {vector<float>({1.0f})}, ir::ConvertAttrs{ir::DType::U32})),
      (std::vector<std::uint32_t>{0x3f800000u}));
  const auto halves =
      run(OpKind::BitcastConvert, {vector<std::uint32_t>({0x00020001u})}, ir::ConvertAttrs{ir::DType::U16});
  EXPECT_EQ(halves.type.dims, (ir::Dims{1, 2}));
  EXPECT_EQ(values<std::uint16_t>(halves), (std::vector<std::uint16_t>{1, 2}));
}

}  // namespace
}  // namespace rhino::kernels::reference::test
