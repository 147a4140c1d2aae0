// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/text.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/ir/builder.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::ir {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A program of one function under construction.
struct Fixture {
  Program program;
  Builder b;
  Fixture() : b(make(program)) {}

  static Builder make(Program& program) {
    program.main = program.add_function("main");
    return Builder(program, program.main);
  }
  ValueId param(DType dtype, Dims dims) { return b.param({dtype, std::move(dims)}); }
  std::string text(std::vector<ValueId> results) {
    b.set_results(std::move(results));
    verify(program);
    return print(program);
  }
  FunctionId region(std::vector<TensorType> params, const std::function<std::vector<ValueId>(Builder&)>& body) {
    const FunctionId id = program.add_function("region");
    Builder inner(program, id);
    for (TensorType& type : params)
      inner.param(std::move(type));
    inner.set_results(body(inner));
    return id;
  }
};

std::string constant_text(const Literal& literal) {
  Fixture f;
  const std::string text = f.text({f.b.constant(literal)});
  const std::size_t start = text.find("dense");
  return text.substr(start, text.find(" :", start) - start);
}

template <class T>
Literal literal(DType dtype, Dims dims, const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return Literal({dtype, std::move(dims)}, std::move(bytes));
}

TEST(Text, ElementwiseOps) {
  Fixture f;
  const ValueId x = f.param(DType::F32, {2, 3});
  const ValueId y = f.b(OpKind::Add, x, x);
  const ValueId e = f.b(OpKind::Erf, y);
  const ValueId p = f.b.compare(e, x, Comparison::Gt, ComparisonType::Float);
  const ValueId s = f.b.select(p, e, x);
  const ValueId c = f.b.convert(s, DType::BF16);
  const ValueId r = f.b.add(OpKind::ReducePrecision, {s}, ReducePrecisionAttrs{5, 10});
  const ValueId low = f.b.scalar(DType::F32, 0);
  const ValueId clamped = f.b.add(OpKind::Clamp, {low, r, low});
  const ValueId next = f.b(OpKind::NextAfter, clamped, x);
  EXPECT_EQ(f.text({c, next}), R"(module {
  func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xbf16>, tensor<2x3xf32>) {
    %0 = stablehlo.add %arg0, %arg0 : tensor<2x3xf32>
    %1 = chlo.erf %0 : tensor<2x3xf32> -> tensor<2x3xf32>
    %2 = stablehlo.compare  GT, %1, %arg0,  FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %3 = stablehlo.select %2, %1, %arg0 : tensor<2x3xi1>, tensor<2x3xf32>
    %4 = stablehlo.convert %3 : (tensor<2x3xf32>) -> tensor<2x3xbf16>
    %5 = stablehlo.reduce_precision %3, format = e5m10 : tensor<2x3xf32>
    %6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.clamp %6, %5, %6 : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %8 = chlo.next_after %7, %arg0 : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
    return %4, %8 : tensor<2x3xbf16>, tensor<2x3xf32>
  }
}
)");
}

TEST(Text, Movement) {
  Fixture f;
  const ValueId x = f.param(DType::F32, {2, 3});
  const ValueId i = f.param(DType::I32, {});
  f.b.broadcast(x, {2, 4, 3}, {0, 2});
  f.b.reshape(x, {6});
  f.b.transpose(x, {1, 0});
  f.b.add(OpKind::Reverse, {x}, DimensionsAttrs{{1}});
  f.b.concatenate({x, x}, 1);
  f.b.slice(x, {0, 1}, {2, 3}, {1, 2});
  f.b.pad(x, f.b.scalar(DType::F32, 1), {0, -1}, {1, 2}, {0, 1});
  f.b.dynamic_slice(x, {i, i}, {1, 2});
  f.b.add(OpKind::DynamicUpdateSlice, {x, x, i, i});
  f.b.iota({DType::I64, {4, 2}}, 1);
  f.b.add(OpKind::OptimizationBarrier, {x});
  const std::string text = f.text({});
  for (const char* line :
       {"stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x4x3xf32>\n",
        "stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<6xf32>\n",
        "stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>\n",
        "stablehlo.reverse %arg0, dims = [1] : tensor<2x3xf32>\n",
        "stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>\n",
        "stablehlo.slice %arg0 [0:2, 1:3:2] : (tensor<2x3xf32>) -> tensor<2x1xf32>\n",
        "low = [0, -1], high = [1, 2], interior = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x6xf32>\n",
        "stablehlo.dynamic_slice %arg0, %arg1, %arg1, sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) "
        "-> tensor<1x2xf32>\n",
        "stablehlo.dynamic_update_slice %arg0, %arg0, %arg1, %arg1 : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<i32>, "
        "tensor<i32>) -> tensor<2x3xf32>\n",
        "stablehlo.iota dim = 1 : tensor<4x2xi64>\n", "stablehlo.optimization_barrier %arg0 : tensor<2x3xf32>\n",
        "    return\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(Text, ContractionsAndRandomBits) {
  Fixture f;
  const ValueId a = f.param(DType::F32, {5, 2, 3});
  const ValueId b = f.param(DType::F32, {5, 3, 4});
  f.b.add(OpKind::DotGeneral, {a, b}, DotGeneralAttrs{{0}, {0}, {2}, {1}});
  f.b.add(OpKind::DotGeneral, {a, b}, DotGeneralAttrs{{}, {}, {2}, {1}});
  const ValueId image = f.param(DType::F32, {1, 8, 9, 4});
  const ValueId kernel = f.param(DType::F32, {3, 3, 2, 6});
  ConvolutionAttrs conv;
  conv.window = {{3, 2, 0, 1}, {3, 1, 1, 1, 1, 2, true}};
  conv.input_batch = 0, conv.input_feature = 3, conv.input_spatial = {1, 2};
  conv.kernel_input_feature = 2, conv.kernel_output_feature = 3, conv.kernel_spatial = {0, 1};
  conv.output_batch = 0, conv.output_feature = 3, conv.output_spatial = {1, 2};
  conv.feature_group_count = 2;
  f.b.add(OpKind::Convolution, {image, kernel}, conv);
  const ValueId state = f.param(DType::U64, {2});
  f.b.add_multi(OpKind::RngBitGenerator, {state}, RngBitGeneratorAttrs{RngAlgorithm::ThreeFry, {DType::U32, {7}}});
  f.b.add_multi(OpKind::TopK, {a}, TopKAttrs{2, true});
  const std::string text = f.text({});
  for (const char* line :
       {"%0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : "
        "(tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>\n",
        "%1 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [1] : ",
        "stablehlo.convolution(%arg2, %arg3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = "
        "[2, 1], pad = [[0, 1], [1, 1]], rhs_dilate = [1, 2], reverse = [false, true]} {batch_group_count = 1 : i64, "
        "feature_group_count = 2 : i64} : (tensor<1x8x9x4xf32>, tensor<3x3x2x6xf32>) -> tensor<1x4x7x6xf32>\n",
        "%3:2 = stablehlo.rng_bit_generator %arg4, algorithm =  THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, "
        "tensor<7xui32>)\n",
        "%4:2 = chlo.top_k(%arg0, k = 2) : tensor<5x2x3xf32> -> (tensor<5x2x2xf32>, tensor<5x2x2xi32>)\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(Text, ReduceIsCompactOnlyForPlainReducers) {
  Fixture f;
  const ValueId x = f.param(DType::F32, {2, 3});
  const ValueId i = f.b.iota({DType::I32, {2, 3}}, 1);
  f.b.reduce(x, ReducerKind::Maximum, {1});
  const TensorType sf{DType::F32, {}};
  const TensorType si{DType::I32, {}};
  const FunctionId larger = f.region({sf, si, sf, si}, [](Builder& b) -> std::vector<ValueId> {
    const auto p = b.function().params;
    const ValueId gt = b.compare(p[0], p[2], Comparison::Gt);
    return {b.select(gt, p[0], p[2]), b.select(gt, p[1], p[3])};
  });
  f.b.add_multi(OpKind::Reduce, {x, i, f.b.scalar(DType::F32, -INFINITY), f.b.scalar_int(DType::I32, 0)},
                ReduceAttrs{{0}}, {larger});
  const std::string text = f.text({});
  EXPECT_THAT(text, HasSubstr("stablehlo.reduce(%arg0 init: %1) applies stablehlo.maximum across dimensions = [1] : "
                              "(tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>\n"));
  EXPECT_THAT(text, HasSubstr("dense<0xFF800000> : tensor<f32>"));
  EXPECT_THAT(
      text,
      HasSubstr(
          R"(    %5:2 = stablehlo.reduce(%arg0 init: %3), (%0 init: %4) across dimensions = [0] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
     reducer(%arg1: tensor<f32>, %arg2: tensor<f32>) (%arg3: tensor<i32>, %arg4: tensor<i32>)  {
      %6 = stablehlo.compare  GT, %arg1, %arg2 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %7 = stablehlo.select %6, %arg1, %arg2 : tensor<i1>, tensor<f32>
      %8 = stablehlo.select %6, %arg3, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %7, %8 : tensor<f32>, tensor<i32>
    }
)"));
}

TEST(Text, GenericOps) {
  Fixture f;
  const ValueId x = f.param(DType::F32, {10, 4});
  const ValueId indices = f.param(DType::I32, {5, 1});
  GatherAttrs gather;
  gather.offset_dims = {1};
  gather.collapsed_slice_dims = {0};
  gather.start_index_map = {0};
  gather.index_vector_dim = 1;
  gather.slice_sizes = {1, 4};
  const ValueId rows = f.b.add(OpKind::Gather, {x, indices}, gather);
  ScatterAttrs scatter;
  scatter.update_window_dims = {1};
  scatter.inserted_window_dims = {0};
  scatter.scatter_dims_to_operand_dims = {0};
  scatter.index_vector_dim = 1;
  scatter.unique_indices = true;
  const FunctionId add = make_reducer(f.program, ReducerKind::Add, DType::F32);
  f.b.add(OpKind::Scatter, {x, indices, rows}, scatter, {add});
  const ValueId zero = f.b.scalar(DType::F32, 0);
  f.b.add(OpKind::ReduceWindow, {x, zero}, ReduceWindowAttrs{{{2, 2, 1, 1}, {}}}, {add});
  const TensorType s{DType::F32, {}};
  const FunctionId ge = f.region({s, s}, [](Builder& b) -> std::vector<ValueId> {
    return {b.compare(b.function().params[0], b.function().params[1], Comparison::Ge, ComparisonType::Float)};
  });
  f.b.add(OpKind::SelectAndScatter, {x, f.b.full({DType::F32, {5, 2}}, 1), zero},
          SelectAndScatterAttrs{{{2, 2}, {2, 2}}}, {ge, add});
  f.b.add_multi(OpKind::Sort, {x}, SortAttrs{1, true}, {ge});
  const std::string text = f.text({});
  for (const char* line :
       {"%0 = \"stablehlo.gather\"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
        "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : "
        "(tensor<10x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>\n",
        "    %1 = \"stablehlo.scatter\"(%arg0, %arg1, %0) <{scatter_dimension_numbers = #stablehlo.scatter<"
        "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = "
        "1>, unique_indices = true}> ({\n"
        "    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):\n"
        "      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>\n"
        "      stablehlo.return %2 : tensor<f32>\n"
        "    }) : (tensor<10x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<10x4xf32>\n",
        "\"stablehlo.reduce_window\"(%arg0, %3) <{padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>, "
        "window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 2, 1>}> ({\n",
        "<{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({\n", "    }, {\n    ^bb0(",
        "<{dimension = 1 : i64, is_stable = true}> ({\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(Text, LoopsBranchesAndCalls) {
  Fixture f;
  const TensorType s{DType::I32, {}};
  const ValueId n = f.param(DType::I32, {});
  const FunctionId condition = f.region({s, s}, [](Builder& b) -> std::vector<ValueId> {
    return {b.compare(b.function().params[0], b.function().params[1], Comparison::Lt)};
  });
  const FunctionId body = f.region({s, s}, [](Builder& b) -> std::vector<ValueId> {
    const auto p = b.function().params;
    return {b(OpKind::Add, p[0], b.scalar_int(DType::I32, 1)), p[1]};
  });
  const ValueId zero = f.b.scalar_int(DType::I32, 0);
  const auto loop = f.b.add_multi(OpKind::While, {zero, n}, NoAttrs{}, {condition, body});
  const FunctionId first = f.region({s}, [](Builder& b) -> std::vector<ValueId> { return {b.function().params[0]}; });
  const FunctionId second =
      f.region({s}, [](Builder& b) -> std::vector<ValueId> { return {b(OpKind::Negate, b.function().params[0])}; });
  const ValueId chosen = f.b.add(OpKind::Case, {n, loop[0]}, NoAttrs{}, {first, second});
  const FunctionId callee =
      f.region({s}, [](Builder& b) -> std::vector<ValueId> { return {b(OpKind::Abs, b.function().params[0])}; });
  f.program.function(callee).name = "main";  // as the entry: one of them must be renamed
  const ValueId result = f.b.add(OpKind::Call, {chosen}, NoAttrs{}, {callee});
  EXPECT_EQ(f.text({result}), R"(module {
  func.func public @main(%arg0: tensor<i32>) -> (tensor<i32>) {
    %0 = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.while(%iterArg_1 = %0, %iterArg_2 = %arg0) : tensor<i32>, tensor<i32>
     cond {
      %2 = stablehlo.compare  LT, %iterArg_1, %iterArg_2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %3 = stablehlo.constant dense<1> : tensor<i32>
      %4 = stablehlo.add %iterArg_1, %3 : tensor<i32>
      stablehlo.return %4, %iterArg_2 : tensor<i32>, tensor<i32>
    }
    %5 = "stablehlo.case"(%arg0) ({
      stablehlo.return %1#0 : tensor<i32>
    }, {
      %6 = stablehlo.negate %1#0 : tensor<i32>
      stablehlo.return %6 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %7 = func.call @main_0(%5) : (tensor<i32>) -> tensor<i32>
    return %7 : tensor<i32>
  }
  func.func private @main_0(%arg0: tensor<i32>) -> (tensor<i32>) {
    %0 = stablehlo.abs %arg0 : tensor<i32>
    return %0 : tensor<i32>
  }
}
)");
}

TEST(Text, CollectivesAndCustomCalls) {
  Fixture f;
  const ValueId x = f.param(DType::F32, {4});
  CollectiveAttrs groups;
  groups.groups = std::make_shared<const ReplicaGroups>(ReplicaGroups{{0, 2}, {1, 3}});
  groups.group_size = 2;
  const FunctionId add = make_reducer(f.program, ReducerKind::Add, DType::F32);
  f.b.add(OpKind::AllReduce, {x}, groups, {add});
  f.b.add(OpKind::AllGather, {x}, groups);
  groups.mode = GroupMode::CrossReplica;
  f.b.add(OpKind::AllToAll, {x}, groups);
  f.b.add(OpKind::PartitionId, {});
  f.b.add_multi(OpKind::CustomCall, {x, x}, CustomCallAttrs{"check.expect_eq", "a\"b", true, {}});
  const std::string text = f.text({});
  for (const char* line :
       {"\"stablehlo.all_reduce\"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, "
        "replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({\n",
        "<{all_gather_dim = 0 : i64, channel_handle",
        "<{concat_dimension = 0 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, split_count = 2 : "
        "i64, split_dimension = 0 : i64}>",
        "stablehlo.partition_id : tensor<ui32>\n",
        "    stablehlo.custom_call @check.expect_eq(%arg0, %arg0) {backend_config = \"a\\\"b\", has_side_effect = "
        "true} "
        ": (tensor<4xf32>, tensor<4xf32>) -> ()\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(Text, NotesOfParametersAndResults) {
  Fixture f;
  const ValueId x = f.param(DType::F32, {});
  f.program.entry().param_notes = {{{"tf.aliasing_output", "0 : i32"}, {"jax.buffer_donor", "true"}}};
  f.program.entry().result_notes = {{{"jax.result_info", "loss"}}};
  EXPECT_THAT(f.text({x}),
              HasSubstr("@main(%arg0: tensor<f32> {tf.aliasing_output = 0 : i32, jax.buffer_donor = true}) -> "
                        "(tensor<f32> {jax.result_info = \"loss\"}) {\n"));
}

TEST(Text, FloatsReadBackBitByBit) {
  EXPECT_EQ(constant_text(Literal::splat({DType::F32, {}}, 0.1)), "dense<1.000000e-01>");
  EXPECT_EQ(constant_text(Literal::splat({DType::F64, {}}, 0.1)), "dense<1.000000e-01>");
  EXPECT_EQ(constant_text(Literal::splat({DType::F64, {}}, 1.0 / 3)), "dense<3.333333333333333e-01>");
  EXPECT_EQ(constant_text(Literal::splat({DType::F64, {}}, 1e300)), "dense<1.000000e+300>");
  EXPECT_EQ(constant_text(Literal::splat({DType::F32, {}}, -0.0)), "dense<-0.000000e+00>");
  EXPECT_EQ(constant_text(Literal::splat({DType::F32, {}}, NAN)), "dense<0x7FC00000>");
  EXPECT_EQ(constant_text(Literal::splat({DType::BF16, {}}, INFINITY)), "dense<0x7F80>");
  EXPECT_EQ(constant_text(Literal::splat({DType::F64, {}}, -INFINITY)), "dense<0xFFF0000000000000>");
  EXPECT_EQ(constant_text(Literal::splat({DType::F16, {}}, 65504)), "dense<6.550400e+04>");
  EXPECT_EQ(constant_text(Literal::splat({DType::F32, {}}, 16777217.0 * 3)), "dense<5.0331652e+07>");
}

TEST(Text, EveryPrintedFloatIsExact) {
  // A walk through bit patterns of all exponents; MLIR reads a decimal number as double first.
  std::uint64_t bits = 0x0123456789abcdef;
  for (int i = 0; i < 3000; ++i) {
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    const auto single = std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 32));
    const auto twice = std::bit_cast<double>(bits);
    if (std::isfinite(single)) {
      const std::string text = constant_text(Literal::splat({DType::F32, {}}, single)).substr(6);
      ASSERT_EQ(static_cast<float>(std::strtod(text.c_str(), nullptr)), single) << text;
      ASSERT_EQ(std::strtof(text.c_str(), nullptr), single) << text;
    }
    if (std::isfinite(twice)) {
      const std::string text = constant_text(Literal::splat({DType::F64, {}}, twice)).substr(6);
      ASSERT_EQ(std::strtod(text.c_str(), nullptr), twice) << text;
    }
  }
}

TEST(Text, IntegersAndBooleans) {
  EXPECT_EQ(constant_text(literal<std::int8_t>(DType::I8, {2, 2}, {1, -2, 3, -128})), "dense<[[1, -2], [3, -128]]>");
  EXPECT_EQ(constant_text(Literal::splat_int({DType::U64, {3}}, -1)), "dense<18446744073709551615>");
  EXPECT_EQ(constant_text(literal<std::uint8_t>(DType::I1, {2}, {1, 0})), "dense<[true, false]>");
  EXPECT_EQ(constant_text(Literal({DType::I32, {0, 2}}, {})), "dense<>");
  EXPECT_EQ(constant_text(literal<std::int32_t>(DType::I32, {1, 1, 2}, {4, 5})), "dense<[[[4, 5]]]>");
}

TEST(Text, LargeConstantsAreBlobsButBooleansAreListed) {
  std::vector<std::uint16_t> numbers(101);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<std::uint16_t>(i * 257 + 0xA0);
  const std::string text = constant_text(literal(DType::U16, {101}, numbers));
  EXPECT_EQ(text.substr(0, 18), "dense<\"0xA000A101A");
  EXPECT_EQ(text.size(), std::strlen("dense<\"0x\">") + 404);
  EXPECT_THAT(constant_text(literal(DType::I1, {101}, std::vector<std::uint8_t>(101, 1))), HasSubstr("true, true"));
  EXPECT_EQ(constant_text(Literal::splat({DType::F32, {1000}}, 2)), "dense<2.000000e+00>");
}

TEST(Text, ResourcesOnRequest) {
  Fixture f;
  const Literal small = literal<float>(DType::F32, {1}, {1.0f});
  const Literal large = literal<float>(DType::F32, {2}, {1.0f, 2.0f});
  f.b.set_results({f.b.constant(small), f.b.constant(large), f.b.full({DType::F32, {9}}, 1)});
  PrintOptions options;
  options.resource_threshold = 1;
  std::vector<NamedLiteral> resources;
  const std::string text = print(f.program, options, &resources);
  EXPECT_THAT(text, HasSubstr("stablehlo.constant dense_resource<constant_0> : tensor<2xf32>\n"));
  EXPECT_THAT(text, HasSubstr("dense<[1.000000e+00]>"));
  EXPECT_THAT(text, Not(HasSubstr("dialect_resources")));
  ASSERT_EQ(resources.size(), 1u);
  EXPECT_EQ(resources[0].name, "constant_0");
  EXPECT_EQ(resources[0].value, large);
  options.resource_section = true;
  EXPECT_THAT(print(f.program, options), HasSubstr("      constant_0: \"0x040000000000803F00000040\"\n"));
}

TEST(Text, OneOpForMessages) {
  Fixture f;
  const ValueId x = f.param(DType::F32, {2, 3});
  const ValueId sum = f.b.reduce(x, ReducerKind::Add, {0});
  f.b.set_results({sum});
  const Function& main = f.program.entry();
  EXPECT_EQ(print_op(f.program, main, *main.producer(sum)),
            "%2 = stablehlo.reduce(%arg0 init: %1) applies stablehlo.add across dimensions = [0] : (tensor<2x3xf32>, "
            "tensor<f32>) -> tensor<3xf32>");
  const FunctionId ge = f.region({{DType::F32, {}}, {DType::F32, {}}}, [](Builder& b) -> std::vector<ValueId> {
    return {b.compare(b.function().params[0], b.function().params[1], Comparison::Ge)};
  });
  const ValueId sorted = f.b.add(OpKind::Sort, {sum}, SortAttrs{0, false}, {ge});
  EXPECT_THAT(print_op(f.program, f.program.entry(), *f.program.entry().producer(sorted)),
              HasSubstr("\"stablehlo.sort\"(%2) <{dimension = 0 : i64}> ({..}) : (tensor<3xf32>) -> tensor<3xf32>"));
}

}  // namespace
}  // namespace rhino::ir
