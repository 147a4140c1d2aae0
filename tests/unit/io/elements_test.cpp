// SPDX-License-Identifier: Apache-2.0
#include <rhino/io/elements.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/base/half.hpp>
#include <rhino/io/model_file.hpp>

namespace rhino::io {
namespace {

using ir::DType;
using testing::ElementsAre;

template <class To, class From>
std::vector<To> convert(DType from, const std::vector<From>& in, DType to) {
  std::vector<To> out(in.size());
  convert_elements(from, std::as_bytes(std::span(in)), to, std::as_writable_bytes(std::span(out)));
  return out;
}

TEST(Elements, FloatsRoundOnceIntegersWidenExactly) {
  EXPECT_THAT((convert<float, double>(DType::F64, {1.0 / 3, 1e300, -0.0}, DType::F32)),
              ElementsAre(static_cast<float>(1.0 / 3), INFINITY, -0.0f));
  EXPECT_THAT((convert<std::uint16_t, float>(DType::F32, {1.0f, 3.14159f}, DType::BF16)), ElementsAre(0x3f80, 0x4049));
  // Between 1 and the next half, just above the middle: a rounding by way of f32 would give 1.
  EXPECT_THAT((convert<std::uint16_t, double>(DType::F64, {1.0 + 0x1p-11 + 0x1p-30}, DType::F16)), ElementsAre(0x3c01));
  EXPECT_THAT((convert<double, std::uint16_t>(DType::F16, {0x3c00, 0xc000, 0x7c00}, DType::F64)), ElementsAre(1, -2, INFINITY));
  EXPECT_THAT((convert<std::int64_t, std::uint8_t>(DType::U8, {0, 255}, DType::I64)), ElementsAre(0, 255));
  EXPECT_THAT((convert<std::int32_t, std::int8_t>(DType::I8, {-128, 127}, DType::I32)), ElementsAre(-128, 127));
  EXPECT_THAT((convert<std::uint8_t, double>(DType::F64, {-1, 300, NAN, 7.9}, DType::U8)), ElementsAre(0, 255, 0, 7));
  EXPECT_THAT((convert<std::int64_t, double>(DType::F64, {1e30, -1e30}, DType::I64)), ElementsAre(INT64_MAX, INT64_MIN));
  EXPECT_THAT((convert<std::uint8_t, float>(DType::F32, {0.0f, 0.5f}, DType::I1)), ElementsAre(0, 1));
}

TEST(Elements, RuleOfDataConversion) {
  EXPECT_TRUE(may_convert_data(DType::U8, DType::I32));
  EXPECT_TRUE(may_convert_data(DType::U8, DType::U16));
  EXPECT_TRUE(may_convert_data(DType::F64, DType::F32));
  EXPECT_TRUE(may_convert_data(DType::I1, DType::I32));
  EXPECT_FALSE(may_convert_data(DType::U8, DType::I8));
  EXPECT_FALSE(may_convert_data(DType::I8, DType::U16));
  EXPECT_FALSE(may_convert_data(DType::I64, DType::I32));
  EXPECT_FALSE(may_convert_data(DType::I32, DType::F32));
  EXPECT_FALSE(may_convert_data(DType::F32, DType::I32));
}

TEST(Elements, TensorsComeBackInEveryType) {
  for (const DType dtype : {DType::I1, DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32,
                            DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64}) {
    for (const ir::Dims& dims : {ir::Dims{}, ir::Dims{0, 3}, ir::Dims{5, 7}, ir::Dims{100, 40}}) {
      const ir::TensorType type{dtype, dims};
      std::vector<std::byte> bytes(static_cast<std::size_t>(type.bytes()));
      for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(dtype == DType::I1 ? i % 2 : i * 7);
      const ir::Literal literal(type, bytes);
      {
        Hdf5File file = Hdf5File::create("tensor.h5");
        write_tensor(file.root(), "a/t", literal);
        file.commit();
      }
      const Hdf5File file = Hdf5File::open("tensor.h5");
      const Hdf5DataSet set = file.root().data_set("a/t");
      EXPECT_EQ(stored_dtype(set), dtype);
      EXPECT_EQ(read_tensor(set, type), literal) << ir::to_string(type);
      EXPECT_THROW(read_tensor(set, {dtype == DType::F32 ? DType::F64 : DType::F32, dims}), InputError);
      EXPECT_THROW(read_tensor(set, {dtype, {3}}), InputError);
    }
  }
}

TEST(Elements, AnyIndicesOfAnyOrder) {
  std::vector<std::int32_t> values(40 * 6 * 5);
  std::iota(values.begin(), values.end(), 0);
  {
    Hdf5File file = Hdf5File::create("indices.h5");
    file.root().create_data_set("t", Hdf5Type::I32, {40, 6, 5}).write(std::as_bytes(std::span(values)));
    file.root().create_data_set("s", Hdf5Type::I32, {}).write(std::as_bytes(std::span(values).subspan(3, 1)));
    file.commit();
  }
  const Hdf5File file = Hdf5File::open("indices.h5");
  const Hdf5DataSet set = file.root().data_set("t");
  const std::vector<std::vector<std::vector<std::int64_t>>> cases = {
      {{0, 1, 2}, {0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4}},
      {{39, 3, -1, 4, 5, 20, 20}, {5, 0, -1}, {4, 3, 2, -1}},
      {{-1}, {0}, {0}},
      {{7}, {-1, -1}, {1}},
      {{}, {1}, {2}}};
  for (const auto& indices : cases) {
    std::vector<std::int64_t> out(indices[0].size() * indices[1].size() * indices[2].size(), 99);
    read_elements(set, DType::I32, indices, DType::I64, std::as_writable_bytes(std::span(out)));
    std::size_t at = 0;
    for (const auto i : indices[0])
      for (const auto j : indices[1])
        for (const auto k : indices[2])
          EXPECT_EQ(out[at++], i < 0 || j < 0 || k < 0 ? 0 : (i * 6 + j) * 5 + k);
  }
  std::int32_t scalar = 0;
  read_elements(file.root().data_set("s"), DType::I32, {}, DType::I32, std::as_writable_bytes(std::span(&scalar, 1)));
  EXPECT_EQ(scalar, 3);
}

TEST(Recipe, EveryPartHasTheNumbersOfTheWhole) {
  const std::vector<std::int64_t> rows = {0, 1, 2, 3, 4, 5}, columns = {0, 1, 2, 3};
  for (const auto kind : {InitRecipe::Kind::Zeros, InitRecipe::Kind::Constant, InitRecipe::Kind::Normal,
                          InitRecipe::Kind::Uniform, InitRecipe::Kind::TruncatedNormal}) {
    for (const DType dtype : {DType::F32, DType::F64, DType::BF16, DType::I32}) {
      const InitRecipe recipe{kind, 2, 9, 11};
      const ir::TensorType type{dtype, {6, 4}};
      const std::size_t size = ir::dtype_bytes(dtype);
      std::vector<std::byte> whole(24 * size), part(2 * 3 * size);
      evaluate_recipe(recipe, type, {rows, columns}, whole);
      evaluate_recipe(recipe, type, {{5, 2}, {3, -1, 0}}, part);
      const std::vector<std::byte> zero(size);
      std::size_t at = 0;
      for (const std::int64_t i : {5, 2})
        for (const std::int64_t j : {3, -1, 0}) {
          const std::byte* expected = j < 0 ? zero.data() : &whole[static_cast<std::size_t>(i * 4 + j) * size];
          EXPECT_EQ(std::memcmp(&part[at * size], expected, size), 0);
          ++at;
        }
    }
  }
}

TEST(Recipe, DistributionsAreWhatTheySay) {
  const std::int64_t count = 20'000;
  const ir::TensorType type{DType::F64, {count}};
  std::vector<std::int64_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  const auto values = [&](InitRecipe recipe) {
    std::vector<double> out(count);
    evaluate_recipe(recipe, type, {all}, std::as_writable_bytes(std::span(out)));
    return out;
  };
  const auto moments = [&](const std::vector<double>& x) {
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / count;
    double square = 0;
    for (const double v : x) square += (v - mean) * (v - mean);
    return std::pair(mean, std::sqrt(square / count));
  };
  const auto [normal_mean, normal_deviation] = moments(values({InitRecipe::Kind::Normal, 3, 0.5, 1}));
  EXPECT_NEAR(normal_mean, 3, 0.02);
  EXPECT_NEAR(normal_deviation, 0.5, 0.02);
  const auto uniform = values({InitRecipe::Kind::Uniform, -1, 3, 1});
  EXPECT_NEAR(moments(uniform).first, 1, 0.04);
  EXPECT_GE(*std::min_element(uniform.begin(), uniform.end()), -1);
  EXPECT_LT(*std::max_element(uniform.begin(), uniform.end()), 3);
  const auto cut = values({InitRecipe::Kind::TruncatedNormal, 1, 2, 1});
  EXPECT_GE(*std::min_element(cut.begin(), cut.end()), -3);
  EXPECT_LE(*std::max_element(cut.begin(), cut.end()), 5);
  EXPECT_NE(values({InitRecipe::Kind::Normal, 0, 1, 1}), values({InitRecipe::Kind::Normal, 0, 1, 2}));
}

}  // namespace
}  // namespace rhino::io
