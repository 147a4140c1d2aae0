// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/types.hpp>

#include <gtest/gtest.h>

#include <rhino/base/error.hpp>

namespace rhino::ir {
namespace {

TEST(Types, NamesReadBack) {
  for (int i = 0; i <= static_cast<int>(DType::F64); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_name(dtype_name(dtype)), dtype);
  }
  EXPECT_FALSE(dtype_from_name("f8E5M2"));
  EXPECT_EQ(dtype_name(DType::U32), "ui32");
}

TEST(Types, ClassesDoNotOverlap) {
  for (int i = 0; i <= static_cast<int>(DType::F64); ++i) {
    const auto dtype = static_cast<DType>(i);
    const int classes = is_float(dtype) + is_signed_int(dtype) + is_unsigned_int(dtype) + (dtype == DType::I1);
    EXPECT_EQ(classes, 1) << dtype_name(dtype);
  }
  EXPECT_EQ(dtype_bits(DType::I1), 1);
  EXPECT_EQ(dtype_bytes(DType::I1), 1u);
  EXPECT_EQ(dtype_bytes(DType::BF16), 2u);
  EXPECT_EQ(dtype_bits(DType::U64), 64);
}

TEST(Types, SizesAndText) {
  const TensorType type{DType::F32, {2, 3, 4}};
  EXPECT_EQ(type.elements(), 24);
  EXPECT_EQ(type.bytes(), 96);
  EXPECT_EQ(to_string(type), "tensor<2x3x4xf32>");
  EXPECT_EQ(to_string(TensorType{DType::I1, {}}), "tensor<i1>");
  EXPECT_EQ(TensorType({DType::I1, {}}).elements(), 1);
  EXPECT_EQ(to_string(type.dims), "[2, 3, 4]");
  EXPECT_EQ(row_major_strides(type.dims), (Dims{12, 4, 1}));
  EXPECT_EQ(row_major_strides({}), Dims{});
  EXPECT_EQ(TensorType({DType::F64, {0, 5}}).bytes(), 0);
}

TEST(Types, HugeShapesAreErrors) {
  const TensorType type{DType::F64, {std::int64_t{1} << 40, std::int64_t{1} << 40}};
  EXPECT_THROW(type.elements(), InputError);
  const TensorType bytes_only{DType::F64, {std::int64_t{1} << 61}};
  EXPECT_EQ(bytes_only.elements(), std::int64_t{1} << 61);
  EXPECT_THROW(bytes_only.bytes(), InputError);
}

}  // namespace
}  // namespace rhino::ir
