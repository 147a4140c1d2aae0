// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "op_runner.hpp"

namespace rhino::kernels::reference::test {
namespace {

using ir::Builder;
using ir::OpKind;
using ir::ReducerKind;
using ir::ValueId;
using Values = std::vector<ValueId>;


TEST(Reduce, KnownReducers) {
  const auto input = tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto reduce = [&](ReducerKind kind, float init, std::vector<int> dimensions) {
    OpRunner runner;
    const auto reducer = ir::make_reducer(runner.program, kind, f32);
    return values<float>(
        runner.run(OpKind::Reduce, {input, scalar(init)}, ir::ReduceAttrs{std::move(dimensions)}, {reducer}));
  };
  EXPECT_EQ(reduce(ReducerKind::Add, 0, {0}), (std::vector<float>{5, 7, 9}));
  EXPECT_EQ(reduce(ReducerKind::Add, 10, {1}), (std::vector<float>{16, 25}));
  EXPECT_EQ(reduce(ReducerKind::Multiply, 1, {0, 1}), (std::vector<float>{720}));
  EXPECT_EQ(reduce(ReducerKind::Maximum, -1, {1}), (std::vector<float>{3, 6}));
  EXPECT_EQ(reduce(ReducerKind::Minimum, 100, {}), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(Reduce, EmptyInputGivesTheInitialValue) {
  OpRunner runner;
  const auto reducer = ir::make_reducer(runner.program, ReducerKind::Add, f32);
  EXPECT_EQ(values<float>(
                runner.run(OpKind::Reduce, {tensor<float>({0, 2}, {}), scalar(3.0f)}, ir::ReduceAttrs{{0}}, {reducer})),
            (std::vector<float>{3, 3}));
}

/// (best, position, x, i) -> the larger value with its position, the earlier of equal ones.
ir::FunctionId arg_max(OpRunner& runner) {
  return runner.region({scalar_type(f32), scalar_type(i32), scalar_type(f32), scalar_type(i32)},
                       [](Builder& b, const Values& p) {
                         const auto greater = b.compare(p[0], p[2], ir::Comparison::Gt);
                         const auto equal = b.compare(p[0], p[2], ir::Comparison::Eq);
                         const auto earlier = b.compare(p[1], p[3], ir::Comparison::Lt);
                         const auto keep = b(OpKind::Or, greater, b(OpKind::And, equal, earlier));
                         return Values{b.select(keep, p[0], p[2]), b.select(keep, p[1], p[3])};
                       });
}

TEST(Reduce, VariadicReducer) {
  OpRunner runner;
  const auto reducer = arg_max(runner);
  const auto results =
      runner.run_multi(OpKind::Reduce,
                       {tensor<float>({2, 3}, {1, 7, 7, 9, -1, 2}), tensor<std::int32_t>({2, 3}, {0, 1, 2, 0, 1, 2}),
                        scalar(-std::numeric_limits<float>::infinity()), scalar<std::int32_t>(0)},
                       ir::ReduceAttrs{{1}}, {reducer});
  EXPECT_EQ(values<float>(results[0]), (std::vector<float>{7, 9}));
  EXPECT_EQ(values<std::int32_t>(results[1]), (std::vector<std::int32_t>{1, 0}));
}

TEST(Reduce, VariadicOverManyKeptPositions) {
  // More positions than one chunk of the region runner, first dimension reduced.
  OpRunner runner;
  const auto reducer = arg_max(runner);
  const std::int64_t columns = 1000;
  Tensor x(ir::TensorType{f32, {3, columns}}), position(ir::TensorType{i32, {3, columns}});
  for (std::int64_t r = 0; r < 3; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      x.as<float>()[static_cast<std::size_t>(r * columns + c)] = static_cast<float>((r + c) % 3);
      position.as<std::int32_t>()[static_cast<std::size_t>(r * columns + c)] = static_cast<std::int32_t>(r);
    }
  const auto results = runner.run_multi(OpKind::Reduce, {x, position, scalar(-1.0f), scalar<std::int32_t>(0)},
                                        ir::ReduceAttrs{{0}}, {reducer});
  for (std::int64_t c = 0; c < columns; ++c) {
    ASSERT_EQ(results[0].as<float>()[static_cast<std::size_t>(c)], 2.0f);
    ASSERT_EQ((results[1].as<std::int32_t>()[static_cast<std::size_t>(c)] + c) % 3, 2);
  }
}

TEST(Reduce, RegionThatReadsItsArgumentsSwapped) {
  // (a, b, x, y) -> (b + y, a + x): results lie on the arguments' memory.
  OpRunner runner;
  const auto swap = runner.region({scalar_type(f32), scalar_type(f32), scalar_type(f32), scalar_type(f32)},
                                  [](Builder& b, const Values& p) {
                                    return Values{b(OpKind::Add, p[1], p[3]), b(OpKind::Add, p[0], p[2])};
                                  });
  const auto results =
      runner.run_multi(OpKind::Reduce, {vector<float>({1, 2}), vector<float>({10, 20}), scalar(0.0f), scalar(0.0f)},
                       ir::ReduceAttrs{{0}}, {swap});
  // (0, 0) -> (10, 1) -> (1 + 20, 10 + 2)
  EXPECT_EQ(values<float>(results[0])[0], 21);
  EXPECT_EQ(values<float>(results[1])[0], 12);
}

TEST(Reduce, RegionThatReturnsParameters) {
  // (a, b, x, y) -> (b, a), on enough positions for several chunks.
  OpRunner runner;
  const auto swap = runner.region({scalar_type(f32), scalar_type(f32), scalar_type(f32), scalar_type(f32)},
                                  [](Builder&, const Values& p) {
                                    return Values{p[1], p[0]};
                                  });
  const auto results =
      runner.run_multi(OpKind::Reduce, {Tensor({f32, {1, 700}}), Tensor({f32, {1, 700}}), scalar(1.0f), scalar(2.0f)},
                       ir::ReduceAttrs{{0}}, {swap});
  EXPECT_EQ(values<float>(results[0]), std::vector<float>(700, 2.0f));
  EXPECT_EQ(values<float>(results[1]), std::vector<float>(700, 1.0f));
}

TEST(Reduce, RegionWithControlFlow) {
  // A reducer that calls another function with a loop in it: a + x by counting up.
  OpRunner runner;
  const auto condition = runner.region({scalar_type(i32), scalar_type(i32)}, [](Builder& b, const Values& p) {
    return Values{b.compare(p[1], b.scalar_int(i32, 0), ir::Comparison::Gt)};
  });
  const auto body = runner.region({scalar_type(i32), scalar_type(i32)}, [](Builder& b, const Values& p) {
    return Values{b(OpKind::Add, p[0], b.scalar_int(i32, 1)), b(OpKind::Subtract, p[1], b.scalar_int(i32, 1))};
  });
  const auto reducer = runner.region({scalar_type(i32), scalar_type(i32)}, [&](Builder& b, const Values& p) {
    return Values{b.add_multi(OpKind::While, p, ir::NoAttrs{}, {condition, body})[0]};
  });
  EXPECT_EQ(values<std::int32_t>(runner.run(OpKind::Reduce, {vector<std::int32_t>({3, 4, 5}), scalar<std::int32_t>(1)},
                                            ir::ReduceAttrs{{0}}, {reducer})),
            (std::vector<std::int32_t>{13}));
}

std::vector<float> window_sum(Tensor input, std::vector<ir::WindowDim> window, float init = 0) {
  OpRunner runner;
  const auto reducer = ir::make_reducer(runner.program, ReducerKind::Add, f32);
  return values<float>(runner.run(OpKind::ReduceWindow, {std::move(input), scalar(init)},
                                  ir::ReduceWindowAttrs{std::move(window)}, {reducer}));
}

TEST(ReduceWindow, PaddingStrideDilation) {
  const auto input = vector<float>({1, 2, 3, 4});
  EXPECT_EQ(window_sum(input, {{.size = 2}}), (std::vector<float>{3, 5, 7}));
  EXPECT_EQ(window_sum(input, {{.size = 4, .pad_low = 3}}), (std::vector<float>{1, 3, 6, 10}));
  EXPECT_EQ(window_sum(input, {{.size = 2, .stride = 2}}), (std::vector<float>{3, 7}));
  EXPECT_EQ(window_sum(input, {{.size = 2, .window_dilation = 2}}), (std::vector<float>{4, 6}));
  EXPECT_EQ(window_sum(input, {{.size = 3, .base_dilation = 2}}), (std::vector<float>{3, 2, 5, 3, 7}));
  // Padding counts as the initial value.
  EXPECT_EQ(window_sum(input, {{.size = 2, .pad_low = 1}}, 100), (std::vector<float>{201, 103, 105, 107}));
}

TEST(ReduceWindow, TwoDimensionsAndVariadicRegion) {
  EXPECT_EQ(window_sum(tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}), {{.size = 2}, {.size = 2}}),
            (std::vector<float>{12, 16}));
  OpRunner runner;
  const auto reducer = arg_max(runner);
  const auto results = runner.run_multi(
      OpKind::ReduceWindow,
      {vector<float>({1, 5, 2, 9}), vector<std::int32_t>({0, 1, 2, 3}), scalar(-1.0f), scalar<std::int32_t>(-1)},
      ir::ReduceWindowAttrs{{{.size = 2, .stride = 2}}}, {reducer});
  EXPECT_EQ(values<float>(results[0]), (std::vector<float>{5, 9}));
  EXPECT_EQ(values<std::int32_t>(results[1]), (std::vector<std::int32_t>{1, 3}));
}

TEST(SelectAndScatter, MaxPoolGradient) {
  OpRunner runner;
  const auto select = runner.region({scalar_type(f32), scalar_type(f32)}, [](Builder& b, const Values& p) {
    return Values{b.compare(p[0], p[1], ir::Comparison::Ge)};
  });
  const auto scatter = ir::make_reducer(runner.program, ReducerKind::Add, f32);
  const auto gradient = [&](Tensor operand, Tensor source, std::vector<ir::WindowDim> window) {
    return values<float>(runner.run(OpKind::SelectAndScatter, {std::move(operand), std::move(source), scalar(0.0f)},
                                    ir::SelectAndScatterAttrs{std::move(window)}, {select, scatter}));
  };
  EXPECT_EQ(gradient(vector<float>({1, 5, 2, 5}), vector<float>({10, 20}), {{.size = 2, .stride = 2}}),
            (std::vector<float>{0, 10, 0, 20}));
  // Overlapping windows add up; of equal elements the first one is chosen.
  EXPECT_EQ(gradient(vector<float>({1, 5, 5}), vector<float>({10, 20}), {{.size = 2}}), (std::vector<float>{0, 30, 0}));
  // Padding is never chosen, not even by elements below it.
  EXPECT_EQ(gradient(vector<float>({-3, -2}), vector<float>({1, 2, 3}), {{.size = 2, .pad_low = 1, .pad_high = 1}}),
            (std::vector<float>{1, 5}));
}

}  // namespace
}  // namespace rhino::kernels::reference::test
