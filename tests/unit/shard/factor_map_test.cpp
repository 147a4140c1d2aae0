// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/builder.hpp>
#include <rhino/shard/factor_map.hpp>

namespace rhino::shard {
namespace {

using ir::DType;
using ir::OpKind;
using ir::TensorType;
using ir::ValueId;

/// `P0:4*N1:3 _ | R2:5 -> ..`: per tensor its dimensions, per dimension kind, number and size of its factors.
std::string show(const TensorFactors& tensor) {
  std::string text = "[";
  for (const auto& parts : tensor) {
    if (text.size() > 1) text += ' ';
    if (parts.empty()) text += '_';
    for (std::size_t i = 0; i < parts.size(); ++i)
      text += fmt::format("{}{}:{}", i > 0 ? "*" : "", parts[i].factor, parts[i].size);
  }
  return text + "]";
}

std::string show(const FactorMap& map) {
  std::string text;
  for (const Factor& factor : map.factors) {
    text += "PRHhMON"[static_cast<int>(factor.kind)];
    if (makes_partial(factor.kind)) text += "+Xnao"[static_cast<int>(factor.reduction)];
  }
  text += ":";
  for (const auto& tensor : map.operands)
    text += " " + show(tensor);
  text += " ->";
  for (const auto& tensor : map.results)
    text += " " + show(tensor);
  return text;
}

class FactorMapTest : public ::testing::Test {
 protected:
  FactorMapTest() : builder_(program_, program_.main = program_.add_function("main")) {}

  ValueId in(ir::Dims dims, DType dtype = DType::F32) { return builder_.param({dtype, std::move(dims)}); }
  const ir::Op& last() { return builder_.function().ops.back(); }
  FactorMap map() { return factor_map(program_, builder_.function(), last()); }
  std::string shown() { return show(map()); }
  ir::FunctionId reducer(ir::ReducerKind kind, DType dtype = DType::F32) { return make_reducer(program_, kind, dtype); }
  ValueId zero(DType dtype = DType::F32) { return builder_.scalar(dtype, 0); }
  bool carries(PartialKind kind, std::vector<bool> partial) {
    return carries_partial(program_, builder_.function(), last(), kind, partial);
  }

  ir::Program program_;
  ir::Builder builder_;
};

TEST_F(FactorMapTest, Elementwise) {
  builder_(OpKind::Add, in({4, 1, 6}), in({4, 1, 6}));
  EXPECT_EQ(shown(), "PP: [0:4 _ 1:6] [0:4 _ 1:6] -> [0:4 _ 1:6]");
  builder_.select(in({}, DType::I1), in({4}), in({4}));
  EXPECT_EQ(shown(), "P: [] [0:4] [0:4] -> [0:4]");
  builder_(OpKind::Negate, in({0, 3}));
  EXPECT_EQ(shown(), "PNN: [1:0 0:3] -> [2:0 0:3]");
}

TEST_F(FactorMapTest, CreationAndMovement) {
  builder_.iota({DType::I32, {4, 5}}, 1);
  EXPECT_EQ(shown(), "PP: -> [0:4 1:5]");
  builder_.full({DType::F32, {4}}, 1.0);
  EXPECT_EQ(shown(), "P: -> [0:4]");
}

TEST_F(FactorMapTest, TransposeAndBroadcast) {
  builder_.transpose(in({2, 3, 4}), {2, 0, 1});
  EXPECT_EQ(shown(), "PPP: [1:2 2:3 0:4] -> [0:4 1:2 2:3]");
  builder_.broadcast(in({3, 1}), {2, 3, 5}, {1, 2});
  EXPECT_EQ(shown(), "PPP: [1:3 _] -> [0:2 1:3 2:5]");
  builder_.add(OpKind::Reverse, {in({4, 6})}, ir::DimensionsAttrs{{1}});
  EXPECT_EQ(shown(), "PH: [0:4 1:6] -> [0:4 1:6]");
  builder_.add(OpKind::BitcastConvert, {in({4, 2}, DType::U32)}, ir::ConvertAttrs{DType::U64});
  EXPECT_EQ(shown(), "PN: [0:4 1:2] -> [0:4]");
}

TEST_F(FactorMapTest, ReshapeFindsEveryCommonDigit) {
  const auto reshaped = [&](ir::Dims from, ir::Dims to) {
    builder_.reshape(in(std::move(from)), std::move(to));
    return shown();
  };
  EXPECT_EQ(reshaped({6}, {2, 3}), "PP: [0:2*1:3] -> [0:2 1:3]");
  EXPECT_EQ(reshaped({2, 1, 3}, {6}), "PP: [0:2 _ 1:3] -> [0:2*1:3]");
  EXPECT_EQ(reshaped({4, 6}, {8, 3}), "PPP: [0:4 1:2*2:3] -> [0:4*1:2 2:3]");
  EXPECT_EQ(reshaped({4, 6, 5}, {4, 30}), "PPP: [0:4 1:6 2:5] -> [0:4 1:6*2:5]");
  EXPECT_EQ(reshaped({2, 3}, {3, 2}), "NNNN: [0:2 1:3] -> [2:3 3:2]");
  EXPECT_EQ(reshaped({2, 6}, {3, 4}), "NNNNP: [0:2 1:3*4:2] -> [2:3 3:2*4:2]");
  EXPECT_EQ(reshaped({4, 6}, {6, 4}), "PNNNNP: [0:2*1:2 2:3*5:2] -> [0:2*3:3 4:2*5:2]");
  EXPECT_EQ(reshaped({2, 3, 5, 7}, {3, 2, 35}), "NNNNPP: [0:2 1:3 4:5 5:7] -> [2:3 3:2 4:5*5:7]");
  EXPECT_EQ(reshaped({}, {1, 1}), ": [] -> [_ _]");
  EXPECT_EQ(reshaped({1}, {}), ": [_] -> []");
  EXPECT_EQ(reshaped({0, 3}, {0}), "NNN: [0:0 1:3] -> [2:0]");
}

// Along every common factor of a reshape, operand and result have the same digit at every element.
TEST_F(FactorMapTest, ReshapeFactorsAreTrueDigits) {
  const std::vector<ir::Dims> shapes = {{24},      {2, 12},   {12, 2},   {4, 6},    {6, 4},  {3, 8},         {8, 3},
                                        {2, 3, 4}, {4, 3, 2}, {3, 2, 4}, {2, 2, 6}, {1, 24}, {2, 1, 2, 3, 2}};
  const auto digits = [](const TensorFactors& tensor, std::int64_t element, std::size_t factors) {
    std::vector<std::int64_t> found(factors, -1);
    for (auto dim = tensor.rbegin(); dim != tensor.rend(); ++dim)
      for (auto part = dim->rbegin(); part != dim->rend(); ++part) {
        found[static_cast<std::size_t>(part->factor)] = element % part->size;
        element /= part->size;
      }
    return found;
  };
  for (const ir::Dims& from : shapes)
    for (const ir::Dims& to : shapes) {
      builder_.reshape(in(from), to);
      const FactorMap m = map();
      for (std::int64_t e = 0; e < 24; ++e) {
        const auto a = digits(m.operands[0], e, m.factors.size());
        const auto b = digits(m.results[0], e, m.factors.size());
        for (std::size_t f = 0; f < m.factors.size(); ++f) {
          if (m.factors[f].kind == FactorKind::Parallel)
            ASSERT_EQ(a[f], b[f]) << shown();
          else
            ASSERT_TRUE(a[f] < 0 || b[f] < 0) << shown();
        }
      }
    }
}

TEST_F(FactorMapTest, SliceMovesWholeGroups) {
  builder_.slice(in({4, 12}), {0, 4}, {4, 8});
  EXPECT_EQ(shown(), "PM+P: [0:4 1:3*2:4] -> [0:4 2:4]");
  builder_.slice(in({12}), {0}, {8});
  EXPECT_EQ(shown(), "HP: [0:3*1:4] -> [0:2*1:4]");
  builder_.slice(in({100}), {1}, {99});
  EXPECT_EQ(shown(), "H: [0:100] -> [0:98]");
  builder_.slice(in({100}), {7}, {8});
  EXPECT_EQ(shown(), "M+: [0:100] -> [_]");
  builder_.slice(in({12}), {1}, {12}, {3});
  EXPECT_EQ(shown(), "PN: [0:4*1:3] -> [0:4]");
  builder_.slice(in({12}), {1}, {9}, {3});
  EXPECT_EQ(shown(), "H: [0:12] -> [0:3]");
  builder_.slice(in({12}, DType::I1), {1}, {2});
  EXPECT_EQ(shown(), "Mo: [0:12] -> [_]");
  builder_.slice(in({12}), {1}, {1});
  EXPECT_EQ(shown(), "NN: [0:12] -> [1:0]");
}

TEST_F(FactorMapTest, Pad) {
  builder_.pad(in({4, 30}), zero(), {0, 1}, {0, 2}, {0, 0});
  EXPECT_EQ(shown(), "PH: [0:4 1:30] [] -> [0:4 1:33]");
  builder_.pad(in({4}), zero(), {8}, {0}, {0});
  EXPECT_EQ(shown(), "OP: [1:4] [] -> [0:3*1:4]");
  builder_.pad(in({4}), zero(), {1}, {1}, {2});
  EXPECT_EQ(shown(), "PN: [0:4] [] -> [0:4*1:3]");
  builder_.pad(in({30}), zero(), {-29}, {0}, {0});
  EXPECT_EQ(shown(), "N: [0:30] [] -> [_]");
  builder_.pad(in({1}), zero(), {2}, {2}, {0});
  EXPECT_EQ(shown(), "O: [_] [] -> [0:5]");
}

TEST_F(FactorMapTest, Concatenate) {
  builder_.concatenate({in({4, 6}), in({4, 6}), in({4, 6})}, 1);
  EXPECT_EQ(shown(), "POP: [0:4 2:6] [0:4 2:6] [0:4 2:6] -> [0:4 1:3*2:6]");
  builder_.concatenate({in({6}), in({12})}, 0);
  EXPECT_EQ(shown(), "HP: [0:1*1:6] [0:2*1:6] -> [0:3*1:6]");
  builder_.concatenate({in({5}), in({0}), in({14})}, 0);
  EXPECT_EQ(shown(), "HN: [0:5] [1:0] [0:14] -> [0:19]");
  builder_.concatenate({in({1}), in({1})}, 0);
  EXPECT_EQ(shown(), "O: [_] [_] -> [0:2]");
}

TEST_F(FactorMapTest, DotGeneral) {
  builder_.add(OpKind::DotGeneral, {in({2, 3, 4}), in({2, 4, 5})}, ir::DotGeneralAttrs{{0}, {0}, {2}, {1}, DType::F32});
  EXPECT_EQ(shown(), "PR+PP: [0:2 2:3 1:4] [0:2 1:4 3:5] -> [0:2 2:3 3:5]");
}

TEST_F(FactorMapTest, Reduce) {
  builder_.reduce(in({3, 4}), ir::ReducerKind::Maximum, {0});
  EXPECT_EQ(shown(), "RXP: [0:3 1:4] [] -> [1:4]");
  builder_.reduce(in({3, 4}), ir::ReducerKind::Multiply, {1});
  EXPECT_EQ(shown(), "PN: [0:3 1:4] [] -> [0:3]");
  builder_.reduce(in({3}, DType::I1), ir::ReducerKind::Or, {0});
  EXPECT_EQ(shown(), "Ro: [0:3] [] -> []");
}

ir::ConvolutionAttrs convolution(std::vector<ir::WindowDim> window) {
  ir::ConvolutionAttrs attrs;  // b01f_01io->b01f
  attrs.window = std::move(window);
  attrs.input_spatial = attrs.kernel_spatial = attrs.output_spatial = {1, 2};
  attrs.input_batch = attrs.output_batch = 0;
  attrs.input_feature = attrs.output_feature = 3;
  attrs.kernel_spatial = {0, 1};
  attrs.kernel_input_feature = 2;
  attrs.kernel_output_feature = 3;
  return attrs;
}

TEST_F(FactorMapTest, Convolution) {
  ir::WindowDim same3{3, 1, 1, 1, 1, 1, false};
  builder_.add(OpKind::Convolution, {in({2, 8, 10, 4}), in({3, 3, 4, 6})}, convolution({same3, same3}));
  EXPECT_EQ(shown(), "PPR+HHNN: [0:2 3:8 4:10 2:4] [5:3 6:3 2:4 1:6] -> [0:2 3:8 4:10 1:6]");
  // 1x1, and patches
  ir::WindowDim patch{4, 4, 0, 0, 1, 1, false};
  builder_.add(OpKind::Convolution, {in({2, 8, 12, 4}), in({1, 4, 4, 6})}, convolution({ir::WindowDim{}, patch}));
  EXPECT_EQ(shown(), "PPR+PPNN: [0:2 3:8 4:3*5:4 2:4] [_ 6:4 2:4 1:6] -> [0:2 3:8 4:3 1:6]");
  // weight gradient: the window is the image
  ir::WindowDim image{8, 1, 1, 1, 1, 1, false};
  ir::WindowDim full{8, 1, 0, 0, 1, 1, false};
  builder_.add(OpKind::Convolution, {in({2, 8, 8, 4}), in({8, 8, 4, 6})}, convolution({image, full}));
  EXPECT_EQ(shown(), "PPR+h+R+N: [0:2 3:8 4:8 2:4] [3:8 4:8 2:4 1:6] -> [0:2 5:3 _ 1:6]");
}

TEST_F(FactorMapTest, GroupedConvolutions) {
  ir::ConvolutionAttrs grouped = convolution({ir::WindowDim{}, ir::WindowDim{}});
  grouped.feature_group_count = 2;
  builder_.add(OpKind::Convolution, {in({3, 1, 1, 8}), in({1, 1, 4, 6})}, grouped);
  EXPECT_EQ(shown(), "PPPR+: [1:3 _ _ 0:2*3:4] [_ _ 3:4 0:2*2:3] -> [1:3 _ _ 0:2*2:3]");
  ir::ConvolutionAttrs batched = convolution({ir::WindowDim{}, ir::WindowDim{}});
  batched.batch_group_count = 2;
  builder_.add(OpKind::Convolution, {in({6, 1, 1, 4}), in({1, 1, 4, 10})}, batched);
  EXPECT_EQ(shown(), "PPPR+: [0:2*1:3 _ _ 3:4] [_ _ 3:4 0:2*2:5] -> [1:3 _ _ 0:2*2:5]");
}

TEST_F(FactorMapTest, Windows) {
  const ir::WindowDim one, two{2, 2, 0, 0, 1, 1, false}, three{3, 2, 1, 1, 1, 1, false},
      cumulative{6, 1, 5, 0, 1, 1, false};
  builder_.add(OpKind::ReduceWindow, {in({4, 6, 8, 6}), zero()}, ir::ReduceWindowAttrs{{one, two, three, cumulative}},
               {reducer(ir::ReducerKind::Add)});
  EXPECT_EQ(shown(), "PPNHNN: [0:4 1:3*2:2 3:8 4:6] [] -> [0:4 1:3 3:4 5:6]");
  program_.add_function("ge");
  ir::FunctionId ge{program_.functions.size() - 1};
  ir::Builder b(program_, ge);
  const ValueId x = b.param({DType::F32, {}}), y = b.param({DType::F32, {}});
  b.set_results({b.compare(x, y, ir::Comparison::Ge)});
  ir::WindowDim small{2, 2, 0, 0, 1, 1, false};
  builder_.add(OpKind::SelectAndScatter, {in({4, 6, 9}), in({4, 3, 5}), zero()},
               ir::SelectAndScatterAttrs{{one, small, three}}, {ge, reducer(ir::ReducerKind::Add)});
  EXPECT_EQ(shown(), "PPNH: [0:4 1:3*2:2 3:9] [0:4 1:3 3:5] [] -> [0:4 1:3*2:2 3:9]");
}

TEST_F(FactorMapTest, Gather) {
  ir::GatherAttrs rows;  // embedding look-up
  rows.offset_dims = {2};
  rows.collapsed_slice_dims = {0};
  rows.start_index_map = {0};
  rows.index_vector_dim = 2;
  rows.slice_sizes = {1, 8};
  builder_.add(OpKind::Gather, {in({100, 8}), in({2, 3, 1}, DType::I32)}, rows);
  EXPECT_EQ(shown(), "PPM+P: [2:100 3:8] [0:2 1:3 _] -> [0:2 1:3 3:8]");
  ir::GatherAttrs along;  // take_along_axis
  along.collapsed_slice_dims = {1};
  along.operand_batching_dims = {0};
  along.start_indices_batching_dims = {0};
  along.start_index_map = {1};
  along.index_vector_dim = 2;
  along.slice_sizes = {1, 1};
  builder_.add(OpKind::Gather, {in({5, 7}), in({5, 3, 1}, DType::I32)}, along);
  EXPECT_EQ(shown(), "PPM+: [0:5 2:7] [0:5 1:3 _] -> [0:5 1:3]");
}

TEST_F(FactorMapTest, Scatter) {
  ir::ScatterAttrs rows;
  rows.update_window_dims = {1};
  rows.inserted_window_dims = {0};
  rows.scatter_dims_to_operand_dims = {0};
  rows.index_vector_dim = 1;
  builder_.add(OpKind::Scatter, {in({100, 8}), in({3, 1}, DType::I32), in({3, 8})}, rows,
               {reducer(ir::ReducerKind::Add)});
  EXPECT_EQ(shown(), "R+OP: [1:100 2:8] [0:3 _] [0:3 2:8] -> [1:100 2:8]");
  EXPECT_TRUE(carries(PartialKind::Sum, {true, false, true}));
  EXPECT_FALSE(carries(PartialKind::Sum, {false, false, true}));
  builder_.add(OpKind::Scatter, {in({100, 8}), in({3, 1}, DType::I32), in({3, 8})}, rows,
               {reducer(ir::ReducerKind::Multiply)});
  EXPECT_EQ(shown(), "NOP: [1:100 2:8] [0:3 _] [0:3 2:8] -> [1:100 2:8]");
}

TEST_F(FactorMapTest, DynamicSlices) {
  const ValueId i = in({}, DType::I32);
  builder_.dynamic_slice(in({6, 8}), {i, i}, {2, 8});
  EXPECT_EQ(shown(), "M+PN: [0:6 1:8] [] [] -> [2:2 1:8]");
  builder_.add(OpKind::DynamicUpdateSlice, {in({6, 8}), in({2, 8}), i, i});
  EXPECT_EQ(shown(), "OPN: [0:6 1:8] [2:2 1:8] [] [] -> [0:6 1:8]");
}

TEST_F(FactorMapTest, BarrierOperandsAreIndependent) {
  const MeshShape mesh({{"x", 2}});
  builder_.add_multi(OpKind::OptimizationBarrier, {in({4}), in({4})});
  const FactorMap m = map();
  EXPECT_EQ(show(m), "PP: [0:4] [1:4] -> [0:4] [1:4]");
  Strategy strategy = replicated_strategy(m);
  strategy.factors[0] = strategy.factors[1] = DimLayout{{{4, {0}}}};
  check_strategy(m, strategy, mesh, "one axis for each operand");
}

TEST_F(FactorMapTest, SortsAndRandomNumbers) {
  builder_.add_multi(OpKind::TopK, {in({4, 9})}, ir::TopKAttrs{3, true});
  EXPECT_EQ(shown(), "PNNN: [0:4 1:9] -> [0:4 2:3] [0:4 3:3]");
  builder_.add_multi(OpKind::RngBitGenerator, {in({2}, DType::U64)},
                     ir::RngBitGeneratorAttrs{ir::RngAlgorithm::ThreeFry, {DType::U32, {4, 5}}});
  EXPECT_EQ(shown(), "PPNN: [2:2] -> [3:2] [0:4 1:5]");
}

TEST_F(FactorMapTest, CarriedPartials) {
  const auto check = [&](OpKind kind, std::vector<bool> partial) {
    std::vector<ValueId> operands;
    for (std::size_t i = 0; i < partial.size(); ++i)
      operands.push_back(in({4}));
    builder_.add(kind, operands);
    return carries(PartialKind::Sum, partial);
  };
  EXPECT_TRUE(check(OpKind::Add, {true, true}));
  EXPECT_FALSE(check(OpKind::Add, {true, false}));
  EXPECT_TRUE(check(OpKind::Subtract, {true, true}));
  EXPECT_TRUE(check(OpKind::Negate, {true}));
  EXPECT_FALSE(check(OpKind::Abs, {true}));
  EXPECT_TRUE(check(OpKind::Multiply, {false, true}));
  EXPECT_FALSE(check(OpKind::Multiply, {true, true}));
  EXPECT_TRUE(check(OpKind::Divide, {true, false}));
  EXPECT_FALSE(check(OpKind::Divide, {false, true}));
  EXPECT_FALSE(check(OpKind::Maximum, {true, true}));
  builder_(OpKind::Maximum, in({4}), in({4}));
  EXPECT_TRUE(carries(PartialKind::Max, {true, false}));
  EXPECT_FALSE(carries(PartialKind::Min, {true, true}));
  const ValueId x = in({4}), predicate = in({4}, DType::I1), zeros = builder_.full({DType::F32, {4}}, 0.0);
  builder_.select(predicate, x, zeros);
  EXPECT_TRUE(carries(PartialKind::Sum, {false, true, false}));
  builder_.select(predicate, x, builder_.full({DType::F32, {4}}, 1.0));
  EXPECT_FALSE(carries(PartialKind::Sum, {false, true, false}));
  builder_.pad(x, zero(), {1}, {0}, {0});
  EXPECT_TRUE(carries(PartialKind::Sum, {true, false}));
  builder_.convert(x, DType::F64);
  EXPECT_TRUE(carries(PartialKind::Sum, {true}));
  builder_.convert(x, DType::BF16);
  EXPECT_FALSE(carries(PartialKind::Sum, {true}));
  builder_.reduce(in({4, 4}), ir::ReducerKind::Add, {0});
  EXPECT_TRUE(carries(PartialKind::Sum, {true, false}));
  EXPECT_FALSE(carries(PartialKind::Max, {true, false}));
}

TEST_F(FactorMapTest, StrategyGivesLayouts) {
  const MeshShape mesh({{"x", 2}, {"y", 2}});
  const auto text = [&](const Layout& layout) { return to_string(layout, mesh); };
  builder_.add(OpKind::DotGeneral, {in({8, 4}), in({4, 6})}, ir::DotGeneralAttrs{{}, {}, {1}, {0}, DType::F32});
  const FactorMap m = map();
  Strategy strategy = replicated_strategy(m);
  check_strategy(m, strategy, mesh, "dot");
  EXPECT_TRUE(result_layout(m, strategy, 0, mesh).is_replicated());
  strategy.factors[0] = {{{4, {0}}}};           // contracting
  strategy.factors[2] = {{{3, {}}, {2, {1}}}};  // strided
  check_strategy(m, strategy, mesh, "dot");
  EXPECT_EQ(text(operand_layout(m, strategy, 0, mesh)), "[8:_, 4:x]");
  EXPECT_EQ(text(operand_layout(m, strategy, 1, mesh)), "[4:x, 3:_*2:y]");
  EXPECT_EQ(text(result_layout(m, strategy, 0, mesh)), "[8:_, 3:_*2:y] partial(+,x)");
  EXPECT_EQ(factors_from_layout(m, m.operands[1], operand_layout(m, strategy, 1, mesh), mesh), strategy.factors);
  strategy.factors[1] = {{{8, {1}}}};
  EXPECT_THROW(check_strategy(m, strategy, mesh, "dot"), InputError);  // y twice
}

TEST_F(FactorMapTest, StrategyChecks) {
  const MeshShape mesh({{"x", 2}, {"y", 3}});
  builder_.reshape(in({5, 3}), {15});
  const FactorMap m = map();
  Strategy strategy = replicated_strategy(m);
  strategy.factors[0] = {{{5, {0}}}};
  check_strategy(m, strategy, mesh, "uneven first factor");
  EXPECT_EQ(to_string(result_layout(m, strategy, 0, mesh), mesh), "[5:x*3:_]");
  strategy = replicated_strategy(m);
  strategy.factors[1] = {{{3, {0}}}};
  EXPECT_THROW(check_strategy(m, strategy, mesh, "uneven second factor"), InputError);
  EXPECT_FALSE(factors_from_layout(m, m.results[0], Layout::split({15}, 0, {0}), mesh).has_value());
  EXPECT_TRUE(factors_from_layout(m, m.results[0], Layout::split({15}, 0, {1}), mesh).has_value() == false);
  builder_.slice(in({100}), {1}, {99});
  const FactorMap halo = map();
  strategy = replicated_strategy(halo);
  strategy.factors[0] = {{{49, {}}, {2, {0}}}};
  EXPECT_THROW(check_strategy(halo, strategy, mesh, "strided halo"), InputError);
  strategy.factors[0] = {{{98, {0}}}};
  check_strategy(halo, strategy, mesh, "halo");
  EXPECT_EQ(to_string(operand_layout(halo, strategy, 0, mesh), mesh), "[100:x]");
  EXPECT_EQ(to_string(result_layout(halo, strategy, 0, mesh), mesh), "[98:x]");
  EXPECT_EQ(factors_from_layout(halo, halo.operands[0], Layout::split({100}, 0, {0}), mesh), strategy.factors);
  builder_.reduce(in({6}), ir::ReducerKind::Multiply, {0});
  const FactorMap whole = map();
  strategy = replicated_strategy(whole);
  strategy.factors[0] = {{{6, {0}}}};
  EXPECT_THROW(check_strategy(whole, strategy, mesh, "must stay whole"), InputError);
  EXPECT_FALSE(factors_from_layout(whole, whole.operands[0], Layout::split({6}, 0, {0}), mesh).has_value());
}

}  // namespace
}  // namespace rhino::shard
