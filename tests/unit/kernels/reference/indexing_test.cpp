// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <gtest/gtest.h>

#include "op_runner.hpp"

namespace rhino::kernels::reference::test {
namespace {

using ir::Builder;
using ir::OpKind;
using Values = std::vector<ir::ValueId>;
using Floats = std::vector<float>;


TEST(Gather, RowsWithClampedIndices) {
  ir::GatherAttrs attrs;
  attrs.offset_dims = {1};
  attrs.collapsed_slice_dims = {0};
  attrs.start_index_map = {0};
  attrs.index_vector_dim = 1;
  attrs.slice_sizes = {1, 2};
  const auto table = tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(values<float>(run(OpKind::Gather, {table, vector<std::int32_t>({2, -5, 9})}, attrs)),
            (Floats{5, 6, 1, 2, 5, 6}));
}

TEST(Gather, BatchingDimensions) {
  // take_along_axis: result[b, i] = operand[b, indices[b, i]]
  ir::GatherAttrs attrs;
  attrs.collapsed_slice_dims = {1};
  attrs.operand_batching_dims = {0};
  attrs.start_indices_batching_dims = {0};
  attrs.start_index_map = {1};
  attrs.index_vector_dim = 2;
  attrs.slice_sizes = {1, 1};
  const auto result =
      run(OpKind::Gather, {tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}), tensor<std::int64_t>({2, 2, 1}, {0, 2, 1, 1})},
          attrs);
  EXPECT_EQ(result.type.dims, (ir::Dims{2, 2}));
  EXPECT_EQ(values<float>(result), (Floats{1, 3, 5, 5}));
}

TEST(Gather, IndexVectorInFront) {
  // Index vectors along dimension 0: positions (1, 0) and (0, 1) of a matrix.
  ir::GatherAttrs attrs;
  attrs.collapsed_slice_dims = {0, 1};
  attrs.start_index_map = {0, 1};
  attrs.index_vector_dim = 0;
  attrs.slice_sizes = {1, 1};
  EXPECT_EQ(
      values<float>(run(OpKind::Gather,
                        {tensor<float>({2, 2}, {1, 2, 3, 4}), tensor<std::int32_t>({2, 2}, {1, 0, 0, 1})}, attrs)),
      (Floats{3, 2}));
}

ir::ScatterAttrs row_scatter() {
  ir::ScatterAttrs attrs;
  attrs.update_window_dims = {1};
  attrs.inserted_window_dims = {0};
  attrs.scatter_dims_to_operand_dims = {0};
  attrs.index_vector_dim = 1;
  return attrs;
}

TEST(Scatter, AddSetAndSkip) {
  const auto operand = tensor<float>({2, 2}, {1, 2, 3, 4});
  const auto indices = vector<std::int32_t>({1, 1, 7, -1});
  const auto updates = tensor<float>({4, 2}, {10, 20, 30, 40, 50, 60, 70, 80});
  OpRunner runner;
  const auto add = ir::make_reducer(runner.program, ir::ReducerKind::Add, f32);
  EXPECT_EQ(values<float>(runner.run(OpKind::Scatter, {operand, indices, updates}, row_scatter(), {add})),
            (Floats{1, 2, 43, 64}));
  const auto set =
      runner.region({scalar_type(f32), scalar_type(f32)}, [](Builder&, const Values& p) { return Values{p[1]}; });
  EXPECT_EQ(values<float>(runner.run(OpKind::Scatter, {operand, indices, updates}, row_scatter(), {set})),
            (Floats{1, 2, 30, 40}));
  const auto custom = runner.region({scalar_type(f32), scalar_type(f32)}, [](Builder& b, const Values& p) {
    return Values{b(OpKind::Add, b(OpKind::Multiply, p[0], b.scalar(f32, 2)), p[1])};
  });
  // 3 -> 2*3+10 = 16 -> 2*16+30 = 62; 4 -> 28 -> 96
  EXPECT_EQ(values<float>(runner.run(OpKind::Scatter, {operand, indices, updates}, row_scatter(), {custom})),
            (Floats{1, 2, 62, 96}));
}

TEST(Scatter, WindowThatReachesOutIsCutOff) {
  // StableHLO skips the elements outside, not the whole window.
  ir::ScatterAttrs attrs;
  attrs.update_window_dims = {0};
  attrs.scatter_dims_to_operand_dims = {0};
  attrs.index_vector_dim = 0;
  OpRunner runner;
  const auto add = ir::make_reducer(runner.program, ir::ReducerKind::Add, f32);
  const auto at = [&](std::int32_t start) {
    return values<float>(runner.run(OpKind::Scatter,
                                    {vector<float>({0, 0, 0}), vector<std::int32_t>({start}), vector<float>({1, 2})},
                                    attrs, {add}));
  };
  EXPECT_EQ(at(1), (Floats{0, 1, 2}));
  EXPECT_EQ(at(2), (Floats{0, 0, 1}));
  EXPECT_EQ(at(-1), (Floats{2, 0, 0}));
  EXPECT_EQ(at(INT32_MAX), (Floats{0, 0, 0}));
}

TEST(Scatter, BatchingDimensionsAndSeveralInputs) {
  ir::ScatterAttrs attrs;
  attrs.inserted_window_dims = {1};
  attrs.input_batching_dims = {0};
  attrs.scatter_indices_batching_dims = {0};
  attrs.scatter_dims_to_operand_dims = {1};
  attrs.index_vector_dim = 2;
  OpRunner runner;
  const auto both =
      runner.region({scalar_type(f32), scalar_type(ir::DType::I32), scalar_type(f32), scalar_type(ir::DType::I32)},
                    [](Builder& b, const Values& p) {
                      return Values{b(OpKind::Add, p[0], p[2]), b(OpKind::Maximum, p[1], p[3])};
                    });
  const auto results = runner.run_multi(
      OpKind::Scatter,
      {tensor<float>({2, 2}, {1, 1, 1, 1}), tensor<std::int32_t>({2, 2}, {5, 5, 5, 5}),
       tensor<std::int32_t>({2, 1, 1}, {1, 0}), tensor<float>({2, 1}, {10, 20}), tensor<std::int32_t>({2, 1}, {3, 9})},
      attrs, {both});
  EXPECT_EQ(values<float>(results[0]), (Floats{1, 11, 21, 1}));
  EXPECT_EQ(values<std::int32_t>(results[1]), (std::vector<std::int32_t>{5, 5, 9, 5}));
}

TEST(Sort, StableByKeyWithCarriedValues) {
  OpRunner runner;
  const auto less =
      runner.region({scalar_type(f32), scalar_type(f32), scalar_type(ir::DType::I32), scalar_type(ir::DType::I32)},
                    [](Builder& b, const Values& p) { return Values{b.compare(p[0], p[1], ir::Comparison::Lt)}; });
  const auto results = runner.run_multi(
      OpKind::Sort, {tensor<float>({2, 3}, {3, 1, 3, 2, 2, 1}), tensor<std::int32_t>({2, 3}, {0, 1, 2, 3, 4, 5})},
      ir::SortAttrs{1, true}, {less});
  EXPECT_EQ(values<float>(results[0]), (Floats{1, 3, 3, 1, 2, 2}));
  EXPECT_EQ(values<std::int32_t>(results[1]), (std::vector<std::int32_t>{1, 0, 2, 5, 3, 4}));
}

TEST(Sort, AlongTheFirstDimensionWithACustomComparator) {
  OpRunner runner;
  const auto by_square = runner.region({scalar_type(f32), scalar_type(f32)}, [](Builder& b, const Values& p) {
    return Values{b.compare(b(OpKind::Multiply, p[0], p[0]), b(OpKind::Multiply, p[1], p[1]), ir::Comparison::Gt)};
  });
  const auto sorted =
      runner.run(OpKind::Sort, {tensor<float>({3, 2}, {1, 0, -3, 4, 2, -5})}, ir::SortAttrs{0, true}, {by_square});
  EXPECT_EQ(values<float>(sorted), (Floats{-3, -5, 2, 4, 1, 0}));
}

TEST(TopK, TotalOrderAndTies) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  OpRunner runner;
  const auto results = runner.run_multi(OpKind::TopK, {tensor<float>({2, 4}, {1, 3, 3, -2, -0.0f, 0.0f, nan, -1})},
                                        ir::TopKAttrs{2, true});
  EXPECT_EQ(values<float>(results[0])[0], 3);
  EXPECT_EQ(values<std::int32_t>(results[1]), (std::vector<std::int32_t>{1, 2, 2, 1}));
}

TEST(RngBitGenerator, ThreefryKnownAnswers) {
  // Key and counter 3, one 64-bit element: from the public StableHLO test data (JAX).
  const auto draw = [](ir::RngAlgorithm algorithm, Tensor state, ir::TensorType type) {
    return OpRunner().run_multi(OpKind::RngBitGenerator, {std::move(state)},
                                ir::RngBitGeneratorAttrs{algorithm, std::move(type)});
  };
  const auto one = draw(ir::RngAlgorithm::ThreeFry, vector<std::uint64_t>({3, 3}), {ir::DType::U64, {}});
  EXPECT_EQ(values<std::uint64_t>(one[1])[0], 3349939604322698703ull);
  EXPECT_EQ(values<std::uint64_t>(one[0]), (std::vector<std::uint64_t>{3, 4}));
  // Counter 0, key 0: known answer of Random123 for threefry2x32-20, (0x6b200159, 0x99ba4efe).
  const auto words = draw(ir::RngAlgorithm::ThreeFry, vector<std::uint64_t>({0, 0}), {ir::DType::U32, {2}});
  EXPECT_EQ(values<std::uint32_t>(words[1]), (std::vector<std::uint32_t>{0x6b200159u, 0x99ba4efeu}));
  EXPECT_EQ(values<std::uint64_t>(words[0])[1], 1u);
}

TEST(RngBitGenerator, PhiloxKnownAnswers) {
  // Counter 0, key 0: known answer of Random123 for philox4x32-10.
  OpRunner runner;
  const auto drawn = runner.run_multi(OpKind::RngBitGenerator, {vector<std::uint64_t>({0, 0, 0})},
                                      ir::RngBitGeneratorAttrs{ir::RngAlgorithm::Philox, {ir::DType::U32, {6}}});
  const auto words = values<std::uint32_t>(drawn[1]);
  EXPECT_EQ(words[0], 0x6627e8d5u);
  EXPECT_EQ(words[1], 0xe169c58du);
  EXPECT_EQ(words[2], 0xbc57ac4cu);
  EXPECT_EQ(words[3], 0x9b00dbd8u);
  EXPECT_EQ(values<std::uint64_t>(drawn[0]), (std::vector<std::uint64_t>{0, 2, 0}));
}

}  // namespace
}  // namespace rhino::kernels::reference::test
