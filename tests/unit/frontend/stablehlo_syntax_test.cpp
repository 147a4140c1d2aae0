// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gtest/gtest.h>

#include "parse_helpers.hpp"

namespace rhino::frontend {
namespace {

using ir::DType;
using ir::OpKind;

const ir::Op& only_op(const ir::Program& program, OpKind kind) {
  const ir::Op* found = nullptr;
  for (const ir::Function& function : program.functions)
    for (const ir::Op& op : function.ops)
      if (op.kind == kind) found = &op;
  RHINO_CHECK(found != nullptr, "no op of that kind");
  return *found;
}

ir::Literal constant(const std::string& literal) {
  return only_op(parse_body("", "  %0 = stablehlo.constant " + literal), OpKind::Constant)
      .as<ir::ConstantAttrs>()
      .value;
}

TEST(StablehloLiterals, SplatsAreNotWrittenOut) {
  const ir::Literal literal = constant("dense<2.5> : tensor<1000x1000x1000xf32>");
  EXPECT_TRUE(literal.is_splat());
  EXPECT_EQ(literal.stored_bytes().size(), 4u);
  EXPECT_EQ(literal.element_as_double(999), 2.5);
}

TEST(StablehloLiterals, NestedListsAndScalars) {
  const ir::Literal literal = constant("dense<[[1, -2, 3], [4, 5, 0x10]]> : tensor<2x3xi16>");
  EXPECT_EQ(literal.element_as_int(1), -2);
  EXPECT_EQ(literal.element_as_int(5), 16);
  EXPECT_EQ(constant("dense<-7> : tensor<i64>").element_as_int(0), -7);
  EXPECT_EQ(constant("dense<18446744073709551615> : tensor<ui64>").element_as_int(0), -1);
  EXPECT_EQ(constant("dense<true> : tensor<i1>").element_as_int(0), 1);
  EXPECT_EQ(constant("dense<> : tensor<0x3xf32>").type().elements(), 0);
  EXPECT_EQ(constant("dense<[[], []]> : tensor<2x0xf32>").type().elements(), 0);
}

TEST(StablehloLiterals, FloatsByBitPatternAndByValue) {
  EXPECT_EQ(constant("dense<0xFF800000> : tensor<f32>").element_as_double(0), -HUGE_VAL);
  EXPECT_EQ(constant("dense<0x7F80> : tensor<bf16>").element_as_double(0), HUGE_VAL);
  EXPECT_TRUE(std::isnan(constant("dense<0x7FF8000000000000> : tensor<f64>").element_as_double(0)));
  EXPECT_EQ(constant("dense<1.000000e-01> : tensor<f16>").element_as_double(0), 0.0999755859375);
  EXPECT_TRUE(std::signbit(constant("dense<-0.0> : tensor<f32>").element_as_double(0)));
  EXPECT_EQ(constant("dense<4.940660e-324> : tensor<f64>").element_as_double(0), 5e-324);
}

TEST(StablehloLiterals, ByteStrings) {
  const ir::Literal literal = constant("dense<\"0x0000803F000000C0\"> : tensor<2xf32>");
  EXPECT_EQ(literal.element_as_double(0), 1.0);
  EXPECT_EQ(literal.element_as_double(1), -2.0);
  EXPECT_TRUE(constant("dense<\"0x0000803F\"> : tensor<7xf32>").is_splat());
}

TEST(StablehloLiterals, BooleansPackedEitherWay) {
  const ir::Literal packed = constant("dense<\"0x0501\"> : tensor<9xi1>");
  const ir::Literal bytes = constant("dense<\"0x010001000000000001\"> : tensor<9xi1>");
  EXPECT_TRUE(packed == bytes);
  EXPECT_EQ(packed.element_as_int(0), 1);
  EXPECT_EQ(packed.element_as_int(1), 0);
  EXPECT_EQ(packed.element_as_int(8), 1);
}

TEST(StablehloLiterals, ResourcesFromTheTextAndFromOutside) {
  const std::string body = "func.func @main() { %0 = stablehlo.constant dense_resource<w> : tensor<2xi16>\n return }\n";
  const ir::Program inside = parse(body + "{-# dialect_resources: { builtin: { w: \"0x02000000FFFF0300\" } } #-}\n");
  EXPECT_EQ(inside.entry().ops[0].as<ir::ConstantAttrs>().value.element_as_int(1), 3);
  ImportOptions options;
  options.resource = [](std::string_view name) -> std::optional<std::vector<std::byte>> {
    if (name != "w") return std::nullopt;
    return std::vector<std::byte>{std::byte{1}, std::byte{0}, std::byte{2}, std::byte{0}};
  };
  const ir::Program outside = parse_stablehlo(body, options);
  EXPECT_EQ(outside.entry().ops[0].as<ir::ConstantAttrs>().value.element_as_int(1), 2);
  EXPECT_NE(message_of<ImportError>(body).find("no data for the resource 'w'"), std::string::npos);
}

TEST(StablehloForms, PrettyAndGenericAreTheSame) {
  const std::string f = "%a: tensor<2x3xf32>, %b: tensor<2x3xf32>, %s: tensor<f32>, %p: tensor<i1>, %i: tensor<i32>";
  expect_same(f, "%0 = stablehlo.add %a, %b : tensor<2x3xf32>",
              "%0 = \"stablehlo.add\"(%a, %b) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>");
  expect_same(
      f, "%0 = stablehlo.compare  LT, %a, %b,  FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>",
      "%0 = \"stablehlo.compare\"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>, "
      "compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>");
  expect_same(f, "%0 = stablehlo.broadcast_in_dim %a, dims = [1, 2] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>",
              "%0 = \"stablehlo.broadcast_in_dim\"(%a) {broadcast_dimensions = dense<[1, 2]> : tensor<2xi64>} : "
              "(tensor<2x3xf32>) -> tensor<4x2x3xf32>");
  expect_same(f, "%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>",
              "%0 = \"mhlo.transpose\"(%a) {permutation = dense<[1, 0]> : tensor<2xi64>} : (tensor<2x3xf32>) -> "
              "tensor<3x2xf32>");
  expect_same(f, "%0 = stablehlo.slice %a [0:2:2, 1:3] : (tensor<2x3xf32>) -> tensor<1x2xf32>",
              "%0 = \"stablehlo.slice\"(%a) <{start_indices = array<i64: 0, 1>, limit_indices = array<i64: 2, 3>, "
              "strides = array<i64: 2, 1>}> : (tensor<2x3xf32>) -> tensor<1x2xf32>");
  expect_same(f,
              "%0 = stablehlo.pad %a, %s, low = [0, -1], high = [1, 0], interior = [0, 2] : (tensor<2x3xf32>, "
              "tensor<f32>) -> tensor<3x6xf32>",
              "%0 = \"stablehlo.pad\"(%a, %s) {edge_padding_low = dense<[0, -1]> : tensor<2xi64>, edge_padding_high = "
              "array<i64: 1, 0>, interior_padding = array<i64: 0, 2>} : (tensor<2x3xf32>, tensor<f32>) -> "
              "tensor<3x6xf32>");
  expect_same(f, "%0 = stablehlo.select %p, %a, %b : tensor<i1>, tensor<2x3xf32>",
              "%0 = \"stablehlo.select\"(%p, %a, %b) : (tensor<i1>, tensor<2x3xf32>, tensor<2x3xf32>) -> "
              "tensor<2x3xf32>");
  expect_same(f,
              "%0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>, "
              "tensor<i32>) -> tensor<1x2xf32>",
              "%0 = \"stablehlo.dynamic_slice\"(%a, %i, %i) <{slice_sizes = array<i64: 1, 2>}> : (tensor<2x3xf32>, "
              "tensor<i32>, tensor<i32>) -> tensor<1x2xf32>");
  expect_same(f, "%0 = stablehlo.reduce_precision %a, format = e5m10 : tensor<2x3xf32>",
              "%0 = \"stablehlo.reduce_precision\"(%a) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : "
              "(tensor<2x3xf32>) -> tensor<2x3xf32>");
  expect_same(f, "%0 = stablehlo.iota dim = 1 : tensor<2x3xi32>",
              "%0 = \"stablehlo.iota\"() <{iota_dimension = 1 : i64}> : () -> tensor<2x3xi32>");
  expect_same(f, "%v, %w = chlo.top_k(%a, k = 2) : tensor<2x3xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)",
              "%v:2 = \"chlo.top_k\"(%a) <{k = 2 : i64}> : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)");
}

TEST(StablehloForms, DotGeneral) {
  const std::string f = "%a: tensor<4x2x3xf32>, %b: tensor<4x3x5xf32>";
  expect_same(
      f,
      "%0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = "
      "[DEFAULT, DEFAULT] : (tensor<4x2x3xf32>, tensor<4x3x5xf32>) -> tensor<4x2x5xf32>",
      "%0 = \"stablehlo.dot_general\"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = "
      "[0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, "
      "precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : "
      "(tensor<4x2x3xf32>, tensor<4x3x5xf32>) -> tensor<4x2x5xf32>");
  expect_same("%a: tensor<2x3xf32>, %b: tensor<3xf32>",
              "%0 = \"mhlo.dot\"(%a, %b) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>",
              "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3xf32>) -> "
              "tensor<2xf32>");
  const ir::Program einsum = parse_body(
      "%a: tensor<4x2x3xf32>, %b: tensor<3x4x5xf32>",
      "%0 = \"stablehlo.einsum\"(%a, %b) {einsum_config = \"bij,jbk->bki\"} : (tensor<4x2x3xf32>, tensor<3x4x5xf32>) "
      "-> tensor<4x5x2xf32>");
  EXPECT_EQ(only_op(einsum, OpKind::Transpose).as<ir::DimensionsAttrs>().dimensions, (std::vector<int>{0, 2, 1}));
}

TEST(StablehloForms, ConvolutionPrettyRawAndOld) {
  const std::string f = "%x: tensor<1x8x9x4xf32>, %k: tensor<3x3x2x6xf32>";
  const std::string type = " : (tensor<1x8x9x4xf32>, tensor<3x3x2x6xf32>) -> tensor<1x4x9x6xf32>";
  const std::string pretty =
      "%0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = "
      "[2, "
      "1], pad = [[0, 1], [1, 1]], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 2 : "
      "i64}" +
      type;
  expect_same(f, pretty,
              "%0 = \"stablehlo.convolution\"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = "
              "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, padding = "
              "dense<[[0, 1], [1, 1]]> : tensor<2x2xi64>, window_reversal = array<i1: false, true>, window_strides = "
              "array<i64: 2, 1>}>" +
                  type);
  expect_same(
      f, pretty,
      "%0 = \"mhlo.convolution\"(%x, %k) {batch_group_count = 1 : i64, dimension_numbers = #mhlo.conv<raw "
      "input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], "
      "kernel_output_feature_dimension = 3, kernel_input_feature_dimension = 2, kernel_spatial_dimensions = [0, "
      "1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, "
      "feature_group_count = 2 : i64, padding = dense<[[0, 1], [1, 1]]> : tensor<2x2xi64>, window_reversal = "
      "dense<[false, true]> : tensor<2xi1>, window_strides = dense<[2, 1]> : tensor<2xi64>, lhs_dilation = "
      "dense<1> : tensor<2xi64>}" +
          type);
}

TEST(StablehloForms, ReduceInAllSpellings) {
  const std::string f = "%x: tensor<2x3xf32>, %c: tensor<f32>";
  const std::string type = " : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>";
  const std::string applies =
      "%0 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [1]" + type;
  expect_same(f, applies,
              "%0 = stablehlo.reduce(%x init: %c) across dimensions = [1]" + type +
                  "\n reducer(%a: tensor<f32>, %b: tensor<f32>) {\n %m = stablehlo.maximum %a, %b : tensor<f32>\n "
                  "stablehlo.return %m : tensor<f32> }");
  expect_same(f, applies,
              "%0 = \"stablehlo.reduce\"(%x, %c) <{dimensions = array<i64: 1>}> ({\n ^bb0(%a: tensor<f32>, %b: "
              "tensor<f32>):\n %m = stablehlo.maximum %a, %b : tensor<f32>\n \"stablehlo.return\"(%m) : (tensor<f32>) "
              "-> ()\n })" +
                  type);
  const ir::Program variadic = parse_body(
      "%x: tensor<4xf32>, %y: tensor<4xi32>, %c: tensor<f32>, %d: tensor<i32>",
      "%0:2 = stablehlo.reduce(%x init: %c), (%y init: %d) across dimensions = [0] : (tensor<4xf32>, tensor<4xi32>, "
      "tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)\n reducer(%a: tensor<f32>, %b: tensor<f32>) (%p: "
      "tensor<i32>, %q: tensor<i32>) {\n stablehlo.return %b, %p : tensor<f32>, tensor<i32>\n }");
  const ir::Op& reduce = only_op(variadic, OpKind::Reduce);
  const ir::Function& reducer = variadic.function(reduce.regions[0]);
  EXPECT_EQ(reducer.results, (std::vector<ir::ValueId>{reducer.params[2], reducer.params[1]}));
}

TEST(StablehloForms, GatherScatterWindows) {
  parse_body("%x: tensor<3x10xf32>, %i: tensor<3x2xi64>",
             "%0 = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
             "collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, "
             "5>, indices_are_sorted = true}> : (tensor<3x10xf32>, tensor<3x2xi64>) -> tensor<3x5xf32>");
  const ir::Program window = parse_body(
      "%x: tensor<4x4xf32>, %c: tensor<f32>",
      "%0 = \"stablehlo.reduce_window\"(%x, %c) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n %1 = stablehlo.add %a, %b "
      ": tensor<f32>\n stablehlo.return %1 : tensor<f32> }) {padding = dense<[[1, 0], [0, 0]]> : tensor<2x2xi64>, "
      "window_dimensions = dense<[2, 1]> : tensor<2xi64>, window_dilations = dense<1> : tensor<2xi64>} : "
      "(tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>");
  EXPECT_EQ(only_op(window, OpKind::ReduceWindow).as<ir::ReduceWindowAttrs>().window[0].pad_low, 1);
}

TEST(StablehloRegions, WhileCarriesWhatItCaptures) {
  const ir::Program program = parse_body(
      "%n: tensor<i32>, %x: tensor<4xf32>",
      "%z = stablehlo.constant dense<0> : tensor<i32>\n %one = stablehlo.constant dense<1> : tensor<i32>\n %0:2 = "
      "stablehlo.while(%i = %z, %acc = %x) : tensor<i32>, tensor<4xf32>\n cond {\n %c = stablehlo.compare LT, %i, %n : "
      "(tensor<i32>, tensor<i32>) -> tensor<i1>\n stablehlo.return %c : tensor<i1>\n } do {\n %j = stablehlo.add %i, "
      "%one : tensor<i32>\n %s = stablehlo.add %acc, %x : tensor<4xf32>\n stablehlo.return %j, %s : tensor<i32>, "
      "tensor<4xf32>\n }\n %r = stablehlo.add %0#1, %0#1 : tensor<4xf32>");
  const ir::Op& loop = only_op(program, OpKind::While);
  ASSERT_EQ(loop.operands.size(), 4u);  // its own two, then %n and %x
  EXPECT_EQ(loop.operands[2], program.entry().params[0]);
  EXPECT_EQ(loop.operands[3], program.entry().params[1]);
  const ir::Function& body = program.function(loop.regions[1]);
  ASSERT_EQ(body.params.size(), 4u);
  EXPECT_EQ(body.results[2], body.params[2]);
  EXPECT_EQ(body.results[3], body.params[3]);
  EXPECT_EQ(body.ops[0].kind, OpKind::Constant);  // small constants are copied into the loop
}

TEST(StablehloRegions, BranchesShareTheirCaptures) {
  const ir::Program program = parse_body(
      "%p: tensor<i1>, %x: tensor<2xf32>, %y: tensor<2xf32>",
      "%0 = \"stablehlo.if\"(%p) ({\n stablehlo.return %y : tensor<2xf32>\n }, {\n %1 = stablehlo.add %x, %y : "
      "tensor<2xf32>\n stablehlo.return %1 : tensor<2xf32>\n }) : (tensor<i1>) -> tensor<2xf32>");
  const ir::Op& op = only_op(program, OpKind::Case);
  ASSERT_EQ(op.operands.size(), 3u);
  EXPECT_EQ(op.operands[1], program.entry().params[2]);  // %y was used first
  EXPECT_EQ(op.operands[2], program.entry().params[1]);
  EXPECT_EQ(program.function(op.regions[0]).params.size(), 2u);
  EXPECT_EQ(program.function(op.regions[1]).params.size(), 2u);
}

TEST(StablehloRegions, ReducersCopyConstants) {
  const std::string reduce =
      "%0 = stablehlo.reduce(%x init: %c) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>\n "
      "reducer(%a: tensor<f32>, %b: tensor<f32>) {\n %1 = stablehlo.multiply %b, %k : tensor<f32>\n %2 = stablehlo.add "
      "%a, %1 : tensor<f32>\n stablehlo.return %2 : tensor<f32>\n }";
  const ir::Program program = parse_body("%x: tensor<4xf32>, %c: tensor<f32>",
                                         "%two = stablehlo.constant dense<2> : tensor<i32>\n %k = stablehlo.convert "
                                         "%two : (tensor<i32>) -> tensor<f32>\n " +
                                             reduce);
  const ir::Function& reducer = program.function(only_op(program, OpKind::Reduce).regions[0]);
  ASSERT_EQ(reducer.ops.size(), 4u);
  EXPECT_EQ(reducer.ops[0].kind, OpKind::Constant);
  EXPECT_EQ(reducer.ops[1].kind, OpKind::Convert);
  const std::string message = message_of<UnsupportedError>(
      "func.func @main(%x: tensor<4xf32>, %c: tensor<f32>, %k: tensor<f32>) {\n" + reduce + "\n return }");
  EXPECT_NE(message.find("stablehlo.multiply: the region uses %k"), std::string::npos) << message;
}

TEST(StablehloModule, FunctionsEntryAndCalls) {
  const ir::Program program = parse(
      "module @m attributes {mhlo.num_partitions = 1 : i32} {\n func.func private @f(%a: tensor<2xf32>) -> "
      "(tensor<2xf32>, tensor<2xf32>) {\n return %a, %a : tensor<2xf32>, tensor<2xf32>\n }\n func.func public "
      "@main(%a: tensor<2xf32>) -> tensor<2xf32> {\n %0:2 = call @f(%a) : (tensor<2xf32>) -> (tensor<2xf32>, "
      "tensor<2xf32>)\n %1 = stablehlo.composite \"my.f\" %0#1 {composite_attributes = {n = 1 : i64}, decomposition = "
      "@\"<lambda>\"} : (tensor<2xf32>) -> tensor<2xf32>\n return %1 : tensor<2xf32>\n }\n func.func private "
      "@\"<lambda>\"(%a: tensor<2xf32>) -> tensor<2xf32> {\n return %a : tensor<2xf32>\n }\n}\n");
  EXPECT_EQ(program.name, "m");
  EXPECT_EQ(program.entry().name, "main");
  EXPECT_EQ(program.entry().ops.size(), 2u);
  EXPECT_TRUE(program.find("<lambda>").valid());
  const ir::Program by_visibility =
      parse("func.func private @a() { return }\n func.func public @b() { return }\n func.func public @c() { return }");
  EXPECT_EQ(by_visibility.entry().name, "b");
}

TEST(StablehloModule, GenericFormOfEverything) {
  const ir::Program program = parse(
      "\"builtin.module\"() <{sym_name = \"m\"}> ({\n \"func.func\"() <{arg_attrs = [{tf.aliasing_output = 0 : i32}], "
      "function_type = (tensor<2xf32>) -> tensor<2xf32>, res_attrs = [{jax.result_info = \"[0]\"}], sym_name = "
      "\"main\"}> ({\n ^bb0(%arg0: tensor<2xf32>):\n %0 = \"stablehlo.abs\"(%arg0) : (tensor<2xf32>) -> "
      "tensor<2xf32>\n \"func.return\"(%0) : (tensor<2xf32>) -> ()\n }) : () -> ()\n}) {mhlo.num_replicas = 1 : i32} : "
      "() -> ()\n");
  EXPECT_EQ(program.entry().param_notes[0], (ir::Notes{{"tf.aliasing_output", "0"}}));
  EXPECT_EQ(program.entry().result_notes[0], (ir::Notes{{"jax.result_info", "[0]"}}));
}

TEST(StablehloModule, LocationsAndAliases) {
  const ir::Program program = parse(
      "#loc1 = loc(\"state['x']\")\n#dims = array<i64: 1, 0>\n!t = tensor<2x3xf32>\nmodule @m {\n func.func @main(%a: "
      "!t {mhlo.sharding = \"{replicated}\"} loc(#loc1)) -> tensor<3x2xf32> {\n %0 = \"stablehlo.transpose\"(%a) "
      "<{permutation = #dims}> : (!t) -> tensor<3x2xf32> loc(#loc5)\n return %0 : tensor<3x2xf32> loc(#loc)\n } "
      "loc(#loc)\n} loc(#loc)\n#loc = loc(unknown)\n#loc4 = loc(\"f.py\":3:4 to :9)\n#loc5 = "
      "loc(callsite(\"jit(f)/transpose\"(#loc4) at fused[#loc4, #loc]))\n");
  EXPECT_EQ(program.entry().ops[0].location.name, "jit(f)/transpose");
  EXPECT_EQ(program.entry().ops[0].location.line, 6u);
  EXPECT_EQ(program.entry().param_notes[0], (ir::Notes{{"mhlo.sharding", "{replicated}"}, {"loc", "state['x']"}}));
}

TEST(StablehloModule, ShardingIsKeptAsNotes) {
  const ir::Program program = parse(
      "module {\n sdy.mesh @mesh = <[\"x\"=2]>\n func.func @main(%a: tensor<4xf32> {sdy.sharding = "
      "#sdy.sharding<@mesh, "
      "[{\"x\"}]>}) -> tensor<4xf32> {\n %0 = stablehlo.abs %a : tensor<4xf32>\n %1 = sdy.sharding_constraint %0 "
      "<@mesh, [{}]> : tensor<4xf32>\n %2 = stablehlo.custom_call @Sharding(%1) {mhlo.sharding = "
      "\"{devices=[2]<=[2]}\"} "
      ": (tensor<4xf32>) -> tensor<4xf32>\n return %2 : tensor<4xf32>\n }\n}\n");
  ASSERT_EQ(program.entry().ops.size(), 1u);
  EXPECT_EQ(program.entry().param_notes[0], (ir::Notes{{"sdy.sharding", "#sdy.sharding<@mesh, [{\"x\"}]>"}}));
  EXPECT_EQ(program.entry().ops[0].notes,
            (ir::Notes{{"sharding", "<@mesh, [{}]>"}, {"mhlo.sharding", "{devices=[2]<=[2]}"}}));
}

TEST(StablehloModule, ShardingOfAParameterInTheBodyJoinsItsOtherNotes) {
  const ir::Program program = parse(
      "func.func @main(%a: tensor<4xf32> {jax.buffer_donor = true}, %b: tensor<4xf32>) {\n %0 = stablehlo.custom_call "
      "@Sharding(%b) {mhlo.sharding = \"{replicated}\"} : (tensor<4xf32>) -> tensor<4xf32>\n return\n}\n");
  EXPECT_EQ(program.entry().param_notes[0], (ir::Notes{{"jax.buffer_donor", "true"}}));
  EXPECT_EQ(program.entry().param_notes[1], (ir::Notes{{"mhlo.sharding", "{replicated}"}}));
}

TEST(StablehloModule, TuplesAreTakenApart) {
  const ir::Program program = parse(
      "func.func @main(%a: tensor<2xf32>, %t: tuple<tensor<i32>, tuple<tensor<2xf32>>>) -> tuple<tensor<2xf32>, "
      "tensor<i32>> {\n %0 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<i32>, tuple<tensor<2xf32>>>) -> "
      "tuple<tensor<2xf32>>\n %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<2xf32>>) -> tensor<2xf32>\n %2 = "
      "\"stablehlo.get_tuple_element\"(%t) <{index = 0 : i32}> : (tuple<tensor<i32>, tuple<tensor<2xf32>>>) -> "
      "tensor<i32>\n %3 = stablehlo.tuple %1, %2 : tuple<tensor<2xf32>, tensor<i32>>\n return %3 : "
      "tuple<tensor<2xf32>, tensor<i32>>\n}\n");
  EXPECT_EQ(program.entry().params.size(), 3u);
  EXPECT_EQ(program.entry().ops.size(), 0u);
  EXPECT_EQ(program.entry().results, (std::vector<ir::ValueId>{program.entry().params[2], program.entry().params[1]}));
}

TEST(StablehloModule, SplitKeepsLineNumbers) {
  const std::string text =
      "// only a comment\n// -----\nfunc.func @a() { return }\n// -----\n\nfunc.func @b() {\n  bad\n}\n";
  const auto modules = split_modules(text);
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(modules[0].first_line, 3u);
  EXPECT_EQ(modules[1].first_line, 5u);
  ImportOptions options;
  options.first_line = modules[1].first_line;
  const std::string message = [&] {
    try {
      parse_stablehlo(modules[1].text, options);
    } catch (const ImportError& error) {
      return std::string(error.what());
    }
    return std::string();
  }();
  EXPECT_EQ(message.rfind("<text>:8:1: bad", 0), 0u) << message;
}

TEST(StablehloNormalisation, DecomposedOps) {
  const std::string x = "%x: tensor<4x3xf32>, %s: tensor<3xf32>, %i: tensor<2xi32>";
  expect_same(x, "%0 = chlo.square %x : tensor<4x3xf32> -> tensor<4x3xf32>",
              "%0 = stablehlo.multiply %x, %x : tensor<4x3xf32>");
  expect_same(
      x, "%0 = chlo.broadcast_add %x, %s : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>",
      "%1 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>\n %0 = stablehlo.add "
      "%x, %1 : tensor<4x3xf32>");
  expect_same(x,
              "%0 = \"stablehlo.broadcast\"(%s) {broadcast_sizes = array<i64: 4>} : (tensor<3xf32>) -> tensor<4x3xf32>",
              "%0 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>");
  expect_same(x, "%0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<4x3xf32>) -> tensor<i32>",
              "%0 = stablehlo.constant dense<3> : tensor<i32>");
  expect_same(x,
              "%0 = stablehlo.custom_call @mhlo.erf(%x) {mhlo.attributes = {}, mhlo.version = 1 : i64} : "
              "(tensor<4x3xf32>) -> tensor<4x3xf32>",
              "%0 = chlo.erf %x : tensor<4x3xf32> -> tensor<4x3xf32>");
  const ir::Program norm = parse_body(
      x,
      "%0:3 = \"stablehlo.batch_norm_training\"(%x, %s, %s) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : "
      "(tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>)");
  EXPECT_EQ(only_op(norm, OpKind::Reduce).as<ir::ReduceAttrs>().dimensions, std::vector<int>{0});
  const ir::Program select = parse_body(
      x,
      "%0 = \"stablehlo.torch_index_select\"(%x, %i) {dim = 0 : i64, batch_dims = 0 : i64} : (tensor<4x3xf32>, "
      "tensor<2xi32>) -> tensor<2x3xf32>");
  EXPECT_EQ(only_op(select, OpKind::Gather).as<ir::GatherAttrs>().offset_dims, std::vector<int>{1});
}

TEST(StablehloNormalisation, DynamicOpsOfKnownShape) {
  expect_same("%x: tensor<3x1xi64>",
              "%d = stablehlo.constant dense<[3, 2]> : tensor<2xi64>\n %0 = stablehlo.dynamic_broadcast_in_dim %x, %d, "
              "dims = [0, 1] : (tensor<3x1xi64>, tensor<2xi64>) -> tensor<3x2xi64>",
              "%d = stablehlo.constant dense<[3, 2]> : tensor<2xi64>\n %0 = stablehlo.broadcast_in_dim %x, dims = [0, "
              "1] : (tensor<3x1xi64>) -> tensor<3x2xi64>");
}

TEST(StablehloNormalisation, CompositesOfKnownOpsAreThose) {
  const ir::Program program = parse(
      "func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<2xi32>) {\n %0 = "
      "stablehlo.composite "
      "\"chlo.erf\" %x {decomposition = @impl, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>\n %1:2 = "
      "stablehlo.composite \"chlo.top_k\" %x {composite_attributes = {k = 2 : i64}, decomposition = @impl} : "
      "(tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)\n return %0, %1#0, %1#1 : tensor<4xf32>, tensor<2xf32>, "
      "tensor<2xi32>\n}\nfunc.func private @impl(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }\n");
  EXPECT_EQ(program.entry().ops[0].kind, OpKind::Erf);
  EXPECT_EQ(program.entry().ops[1].as<ir::TopKAttrs>().k, 2);
}

TEST(StablehloNormalisation, ChecksBecomeCustomCalls) {
  const ir::Program program =
      parse_body("%x: tensor<2xf32>",
                 "check.expect_almost_eq_const %x, dense<[1.0, 2.0]> : tensor<2xf32> {tolerance = 0.5 : f64}");
  const auto& attrs = only_op(program, OpKind::CustomCall).as<ir::CustomCallAttrs>();
  EXPECT_EQ(attrs.target, "check.expect_almost_eq");
  EXPECT_EQ(attrs.backend_config, "tolerance = 0.5");
  EXPECT_TRUE(attrs.has_side_effect);
  EXPECT_EQ(only_op(program, OpKind::CustomCall).operands.size(), 2u);
}

}  // namespace
}  // namespace rhino::frontend
