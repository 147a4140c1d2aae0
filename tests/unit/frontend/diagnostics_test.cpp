// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "parse_helpers.hpp"

namespace rhino::frontend {
namespace {

struct Case {
  std::string body;     ///< ops of a function with parameters %x: tensor<4xf32>, %i: tensor<i32>; begins in line 2
  std::string message;  ///< a part of the message, from its line on
  bool unsupported = false;
};

std::string function(const std::string& body) {
  return "func.func @main(%x: tensor<4xf32>, %i: tensor<i32>) {\n" + body + "\n  return\n}\n";
}

TEST(Diagnostics, NameOpLineAndWhatIsWrong) {
  const std::vector<Case> cases = {
      {"%0 = stablehlo.frobnicate %x : tensor<4xf32>", ":2:6: stablehlo.frobnicate: this op is not supported", true},
      {"%0 = stablehlo.add %x, %y : tensor<4xf32>", ":2:24: stablehlo.add: %y is not defined here"},
      {"%0 = stablehlo.add %x, %x#1 : tensor<4xf32>", ":2:24: stablehlo.add: %x#1 is not defined here"},
      {"\n%0 = stablehlo.add %x, %i : tensor<4xf32>", ":3:24: stablehlo.add: operand 1 (%i) is tensor<i32>"},
      {"%0 = stablehlo.transpose %x, dims = [0] : (tensor<4xf32>) -> tensor<5xf32>",
       ":2:6: stablehlo.transpose: result 0 is tensor<4xf32>, but the type of the op says tensor<5xf32>"},
      {"%0 = stablehlo.transpose %x, dims = [1] : (tensor<4xf32>) -> tensor<4xf32>", ":2:6: stablehlo.transpose: "},
      {"%0 = stablehlo.abs %x, foo = 1 : tensor<4xf32>", "stablehlo.abs: unknown attribute 'foo'"},
      {"%0 = \"stablehlo.concatenate\"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>",
       "stablehlo.concatenate: the attribute 'dimension' is missing"},
      {"%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<3xf32>", ":2:25: stablehlo.constant: a list"},
      {"%0 = stablehlo.constant dense<[[1.0], 2.0]> : tensor<2x1xf32>", "stablehlo.constant: "},
      {"%0 = stablehlo.constant dense<300> : tensor<2xi8>", "'300' does not fit into i8"},
      {"%0 = stablehlo.constant dense<-1> : tensor<ui8>", "'-1' does not fit into ui8"},
      {"%0 = stablehlo.constant dense<\"0x00\"> : tensor<2xf32>", "a byte string of 1 bytes does not fit"},
      {"%0 = stablehlo.constant dense<\"0x0g\"> : tensor<1xi8>", "other than hexadecimal digits"},
      {"%0 = stablehlo.constant dense<1> : tensor<99999999999999999999xi8>", "too large"},
      {"%0 = stablehlo.constant dense<1> : tensor<4294967296x4294967296x4294967296xi8>", "too many elements"},
      {"%0 = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>", "complex numbers are not supported", true},
      {"%0 = stablehlo.constant dense<1> : tensor<2xi4>", "elements of type 'i4' are not supported", true},
      {"%0 = stablehlo.constant dense<1.0> : tensor<2xf8E4M3FN>", "elements of type 'f8E4M3FN'", true},
      {"%0 = stablehlo.abs %x : tensor<?xf32>", "stablehlo.abs: dynamic shapes are not supported", true},
      {"%0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>",
       "quantised types are not supported", true},
      {"%0 = stablehlo.after_all : !stablehlo.token", "tokens", true},
      {"%0 = stablehlo.custom_call @cu_threefry2x32(%x) : (tensor<4xf32>) -> tensor<4xf32>",
       "lower the program for CPU", true},
      {"%0 = stablehlo.custom_call @whatever(%x) : (tensor<4xf32>) -> tensor<4xf32>",
       ":2:6: stablehlo.custom_call: the custom call 'whatever' is not supported", true},
      {"%0 = \"stablehlo.rng\"(%x, %x, %x) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
       "jax.random", true},
      {"%0 = call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>", "call: there is no function 'g'"},
      {"%0 = stablehlo.abs %x : tensor<4xf32>\n%0 = stablehlo.abs %x : tensor<4xf32>",
       ":3:1: stablehlo.abs: %0 is defined twice"},
      {"%0:2 = stablehlo.abs %x : tensor<4xf32>", "stablehlo.abs: this op has only 1 results"},
      {"%0 = stablehlo.abs %x", "stablehlo.abs: expected ':' and the type of the op"},
      {"%0 = stablehlo.dynamic_iota %i, dim = 0 : (tensor<i32>) -> tensor<4xi32>", "dynamic shapes are not supported",
       true},
      {"%0 = stablehlo.constant dense_resource<__elided__> : tensor<4xf32>", "--elided-constants-as-inputs"},
      {"return %i : tensor<i32>\n%0 = stablehlo.abs %x : tensor<4xf32>", "there are ops after the return"},
  };
  for (const Case& test : cases) {
    const std::string text = function(test.body);
    const std::string message = message_of<ImportError>(text);
    EXPECT_NE(message.find(test.message), std::string::npos) << test.body << "\n gives: " << message;
    EXPECT_EQ(message.rfind("t.mlir:", 0), 0u) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_EQ(!message_of<UnsupportedError>(text).empty(), test.unsupported) << test.body;
  }
}

TEST(Diagnostics, OfModules) {
  const auto message = [](const std::string& text) { return message_of<ImportError>(text); };
  EXPECT_NE(message("").find("empty"), std::string::npos);
  EXPECT_NE(message("// nothing\n").find("empty"), std::string::npos);
  EXPECT_NE(message("module {\n}\n").find("no function"), std::string::npos);
  EXPECT_NE(message("hello world").find("neither"), std::string::npos);
  EXPECT_NE(message("func.func @a() { return }\nfunc.func @a() { return }").find("two functions 'a'"),
            std::string::npos);
  EXPECT_NE(message("func.func @a() { call @a() : () -> ()\n return }").find("calls itself"), std::string::npos);
  EXPECT_NE(message("func.func @a()").find("without body"), std::string::npos);
  EXPECT_NE(message("func.func @a() -> tensor<f32> { return }").find("not of the declared type"), std::string::npos);
  EXPECT_NE(message("func.func @a() { %0 = stablehlo.constant dense<1> : tensor<i32> }").find("no return"),
            std::string::npos);
  EXPECT_NE(message("module {\nfunc.func @a() {").find("cut off"), std::string::npos);
  EXPECT_NE(message(std::string("ML\xEFR\x01", 5)).find("bytecode"), std::string::npos);
  EXPECT_NE(message("\x1f\x8b\x08").find("gunzip"), std::string::npos);
  EXPECT_NE(message("\x89HDF\r\n").find("HDF5"), std::string::npos);
  EXPECT_NE(message(std::string("\x0a\x03jit\x12\x00", 7)).find("binary"), std::string::npos);
}

TEST(Diagnostics, TextCutOffBetweenTheLocationsAtItsEnd) {
  const std::string text = "func.func @main(%x: tensor<f32> loc(#loc1)) {\n  return loc(#loc2)\n}\n#loc1 = loc(\"a\")\n";
  EXPECT_NO_THROW(parse(text + "#loc2 = loc(\"b\")\n"));
  for (const std::string rest : {"", "#loc2 = lo"})
    EXPECT_NE(message_of<ImportError>(text + rest).find(":2:15: the location #loc2 is not defined"), std::string::npos)
        << message_of<ImportError>(text + rest);
}

TEST(Diagnostics, DeepNestingIsRefused) {
  const auto repeat = [](const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i)
      all += text;
    return all;
  };
  const std::string deep_list = "func.func @a() { %0 = \"stablehlo.abs\"() {a = " + repeat("[", 100000);
  EXPECT_NE(message_of<ImportError>(deep_list).find("nested too deeply"), std::string::npos);
  const std::string deep_tuple = "func.func @a(%x: " + repeat("tuple<", 100000);
  EXPECT_NE(message_of<ImportError>(deep_tuple).find("nested too deeply"), std::string::npos);
  const std::string deep_region = "func.func @a(%x: tensor<i1>) { " + repeat("\"stablehlo.if\"(%x) ({ ", 100000);
  EXPECT_NE(message_of<ImportError>(deep_region).find("nested too deeply"), std::string::npos);
  const std::string deep_module = repeat("module {", 100000);
  EXPECT_NE(message_of<ImportError>(deep_module).find("nested too deeply"), std::string::npos);
  const std::string deep_location = "func.func @a() { return loc(" + repeat("fused[", 100000);
  EXPECT_NE(message_of<ImportError>(deep_location).find("nested too deeply"), std::string::npos);
  const std::string deep_dense = "func.func @a() { %0 = stablehlo.constant dense<" + repeat("[", 100000) +
                                 repeat("]", 100000) + "> : tensor<f32>\n return }";
  EXPECT_NE(message_of<ImportError>(deep_dense), "");
  const std::string deep_shape = "HloModule m\nENTRY e { ROOT a = " + repeat("(", 100000);
  EXPECT_NE(message_of<ImportError>(deep_shape).find("nested too deeply"), std::string::npos);
}

/// A chain of calls as long as the program, and attribute aliases that double each time: linear in time and memory.
TEST(Diagnostics, LongChainsAreNoProblem) {
  std::string calls = "func.func @f0(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }\n";
  for (int i = 1; i < 20000; ++i)
    calls += "func.func @f" + std::to_string(i) + "(%x: tensor<f32>) -> tensor<f32> { %0 = call @f" +
             std::to_string(i - 1) + "(%x) : (tensor<f32>) -> tensor<f32>\n return %0 : tensor<f32> }\n";
  EXPECT_EQ(parse_stablehlo(calls).functions.size(), 20000u);
  std::string aliases = "#a0 = [1, 2]\n";
  for (int i = 1; i < 1000; ++i) {
    const std::string last = "#a" + std::to_string(i - 1);
    aliases += "#a" + std::to_string(i) + " = [" + last + ", " + last + "]\n";
  }
  aliases +=
      "func.func @main(%x: tensor<f32>) { %0 = \"stablehlo.abs\"(%x) {mhlo.note = #a999} : (tensor<f32>) -> "
      "tensor<f32>\n return }\n";
  EXPECT_EQ(parse_stablehlo(aliases).entry().ops.size(), 1u);
  std::string types = "!t0 = tuple<tensor<f32>, tensor<f32>>\n";
  for (int i = 1; i < 60; ++i) {
    const std::string last = "!t" + std::to_string(i - 1);
    types += "!t" + std::to_string(i) + " = tuple<" + last + ", " + last + ">\n";
  }
  types += "func.func @main(%x: !t59) { return }\n";
  EXPECT_NE(message_of<ImportError>(types).find("too many tensors"), std::string::npos);
}

}  // namespace
}  // namespace rhino::frontend
