// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/literal.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include <rhino/base/error.hpp>

namespace rhino::ir {
namespace {

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST(Literal, SplatEqualsItsExpansion) {
  const TensorType type{DType::F32, {3}};
  const Literal splat = Literal::splat(type, 1.5);
  const Literal full(type, bytes_of<float>({1.5f, 1.5f, 1.5f}));
  const Literal other(type, bytes_of<float>({1.5f, 1.5f, 2.0f}));
  EXPECT_TRUE(splat.is_splat());
  EXPECT_FALSE(full.is_splat());
  EXPECT_EQ(splat, full);
  EXPECT_EQ(full, splat);
  EXPECT_FALSE(splat == other);
  EXPECT_EQ(splat.expanded_bytes(), bytes_of<float>({1.5f, 1.5f, 1.5f}));
  EXPECT_EQ(splat.element_as_double(2), 1.5);
  EXPECT_FALSE(splat == Literal::splat({DType::F64, {3}}, 1.5));
}

TEST(Literal, ComparesBitsNotValues) {
  const TensorType type{DType::F64, {}};
  EXPECT_FALSE(Literal::splat(type, 0.0) == Literal::splat(type, -0.0));
  EXPECT_EQ(Literal::splat(type, NAN), Literal::splat(type, NAN));
}

TEST(Literal, EmptyTensors) {
  const TensorType type{DType::F32, {0, 4}};
  const Literal full(type, {});
  EXPECT_EQ(full, Literal::splat(type, 3.0));
  EXPECT_TRUE(Literal::splat(type, 3.0).expanded_bytes().empty());
}

TEST(Literal, WrongSizeIsOurFault) {
  EXPECT_THROW(Literal({DType::F32, {2}}, std::vector<std::byte>(7)), InternalError);
  EXPECT_THROW(Literal({DType::F32, {2}}, std::vector<std::byte>(8), true), InternalError);
}

TEST(Literal, ConvertsWithRoundingAndSaturation) {
  EXPECT_EQ(Literal::splat({DType::I8, {}}, 300).element_as_int(0), 127);
  EXPECT_EQ(Literal::splat({DType::I8, {}}, -300).element_as_int(0), -128);
  EXPECT_EQ(Literal::splat({DType::U8, {}}, -5).element_as_int(0), 0);
  EXPECT_EQ(Literal::splat({DType::I32, {}}, 2.5).element_as_int(0), 2);
  EXPECT_EQ(Literal::splat({DType::I32, {}}, 3.5).element_as_int(0), 4);
  EXPECT_EQ(Literal::splat({DType::I64, {}}, 1e30).element_as_int(0), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Literal::splat({DType::I32, {}}, NAN).element_as_int(0), 0);
  EXPECT_EQ(Literal::splat({DType::I1, {}}, -3).element_as_int(0), 1);
  EXPECT_EQ(Literal::splat({DType::F32, {}}, 0.1).element_as_double(0), static_cast<double>(0.1f));
  EXPECT_EQ(Literal::splat({DType::BF16, {}}, 1.0 + 0x1p-8 + 0x1p-40).element_as_double(0), 1.0 + 0x1p-7);
  EXPECT_EQ(Literal::splat({DType::F16, {}}, 1e6).element_as_double(0), INFINITY);
}

TEST(Literal, ExactIntegers) {
  const std::int64_t big = 0x7fffffffffffff01;
  EXPECT_EQ(Literal::splat_int({DType::I64, {}}, big).element_as_int(0), big);
  EXPECT_EQ(Literal::splat_int({DType::U64, {}}, -1).element_as_int(0), -1);
  EXPECT_EQ(Literal::splat_int({DType::U64, {}}, -1).element_as_double(0), 0x1p64);
  EXPECT_EQ(Literal::splat_int({DType::U8, {}}, -1).element_as_int(0), 255);
  EXPECT_EQ(Literal::splat_int({DType::I1, {}}, 2).element_as_int(0), 1);
  EXPECT_EQ(Literal::splat_int({DType::F16, {}}, 3).element_as_double(0), 3.0);
  EXPECT_EQ(Literal::splat({DType::F64, {}}, -2.9).element_as_int(0), -2);
}

TEST(Literal, CopiesShareTheBytes) {
  const Literal one = Literal::splat({DType::F32, {5}}, 2.0);
  const Literal two = one;
  EXPECT_EQ(one.stored_bytes().data(), two.stored_bytes().data());
}

}  // namespace
}  // namespace rhino::ir
