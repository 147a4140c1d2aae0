// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/process.hpp"

namespace rhino::test {
namespace {

using testing::HasSubstr;

/// Writes a text into the test's own folder and evaluates it.
ProcessResult eval(const std::string& text, const std::string& flags = "") {
  const std::string path = std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".mlir";
  std::ofstream(path) << text;
  return run_process(rhino_program() + " eval " + flags + " " + path);
}

std::string program(const std::string& checks) {
  return R"(func.func @main() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.add %0, %0 : tensor<2xf32>
)" + checks +
         "\n  func.return\n}\n";
}

TEST(Eval, ChecksThatHold) {
  const auto result = eval(program("  check.expect_eq_const %1, dense<[2.0, 4.0]> : tensor<2xf32>"), "--summary");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("1 checks hold"));
  EXPECT_THAT(result.output, HasSubstr("1 passed, 0 failed, 0 errors, 0 unsupported, 0 disabled (1 checks)"));
}

TEST(Eval, AFailureNamesOpIndexGotAndWant) {
  const auto result =
      eval(program("  check.expect_eq_const %1, dense<[2.0, 5.0]> : tensor<2xf32>\n"
                   "  check.expect_almost_eq_const %1, dense<[2.0, 4.0001]> : tensor<2xf32>\n"
                   "  check.expect_close %1, %0, max_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output,
              HasSubstr("@main: check.expect_eq at line 4 of the result of add at line 3 does not hold at "
                        "index [1]: got 4, want 5 (1 of 2 elements differ"));
  EXPECT_THAT(result.output, HasSubstr("check.expect_close at line 6"));
  EXPECT_THAT(result.output, Not(HasSubstr("almost_eq")));
}

TEST(Eval, SeveralModulesAndTheirLines) {
  const auto result = eval(program("  check.expect_eq %0, %0 : tensor<2xf32>") + "\n// -----\n" +
                               program("  check.expect_eq %0, %1 : tensor<2xf32>"),
                           "--summary");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("check.expect_eq at line 12 of the result of constant at line 10"));
  EXPECT_THAT(result.output, HasSubstr("1 passed, 1 failed"));
}

TEST(Eval, UnsupportedIsCountedApart) {
  const std::string complex =
      "func.func @main() {\n  %0 = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>\n  func.return\n}\n";
  auto result = eval(complex, "--summary");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.output, HasSubstr("unsupported: "));
  EXPECT_THAT(result.output, HasSubstr("0 passed, 0 failed, 0 errors, 1 unsupported"));
  result = eval(complex, "--summary --quiet --allow-unsupported");
  EXPECT_EQ(result.exit_code, 0);
}

TEST(Eval, DisabledFilesAreNotRun) {
  const std::string text =
      "// RUN-DISABLED(inaccurate): stablehlo-opt -inline %s | stablehlo-translate --interpret\n"
      "// RUN: diff %t.0 %t.1\n" +
      program("  check.expect_eq %0, %1 : tensor<2xf32>");
  auto result = eval(text, "--summary");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output, HasSubstr("1 disabled"));
  result = eval(text, "--run-disabled");
  EXPECT_EQ(result.exit_code, 1);
}

TEST(Eval, BadTextsAndFilesAreErrors) {
  EXPECT_EQ(eval("func.func @main() {").exit_code, 3);
  EXPECT_EQ(eval("").exit_code, 3);
  EXPECT_EQ(run_process(rhino_program() + " eval no_such_file.mlir").exit_code, 3);
  EXPECT_EQ(run_process(rhino_program() + " eval . --only '['").exit_code, 2);
}

TEST(Eval, ProgramsWithoutChecksPrintTheirResults) {
  const auto result = eval(
      "func.func @main() -> tensor<2xi8> {\n  %0 = stablehlo.constant dense<[1, -2]> : tensor<2xi8>\n  return %0 : "
      "tensor<2xi8>\n}\n");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "result 0: tensor<2xi8> = 1, -2\n");
}

TEST(Eval, PassesBeforeTheRun) {
  const std::string text = program("  check.expect_eq_const %1, dense<[2.0, 5.0]> : tensor<2xf32>");
  // Folding makes the checked value a constant; the check itself stays.
  const auto result = eval(text, "--simplify fold,dead");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("got 4, want 5"));
  const auto wrong = eval(text, "--simplify foldd");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.errors, HasSubstr("there is no pass 'foldd'"));
}

TEST(Eval, ReducersMayWorkInWiderTypes) {
  const auto result = eval(R"(func.func @main() {
  %0 = stablehlo.constant dense<[100, 100, 2]> : tensor<3xi8>
  %1 = stablehlo.constant dense<0> : tensor<i8>
  %2 = "stablehlo.reduce"(%0, %1) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %4 = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %4 : tensor<i32>
  }) {dimensions = array<i64: 0>} : (tensor<3xi8>, tensor<i8>) -> tensor<i32>
  check.expect_eq_const %2, dense<202> : tensor<i32>
  %5 = stablehlo.constant dense<[1]> : tensor<1xi64>
  %6 = stablehlo.constant dense<100> : tensor<i8>
  %7 = "stablehlo.scatter"(%0, %5, %6) ({
    ^bb0(%a: tensor<i16>, %b: tensor<i16>):
      %8 = stablehlo.add %a, %b : tensor<i16>
      stablehlo.return %8 : tensor<i16>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>} : (tensor<3xi8>, tensor<1xi64>, tensor<i8>) -> tensor<3xi16>
  check.expect_eq_const %7, dense<[100, 200, 2]> : tensor<3xi16>
  func.return
})");
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
}

TEST(Eval, CollectivesOnVirtualRanks) {
  const auto result = eval(R"(module @groups {
  func.func @program(%x : tensor<2xi64>) -> tensor<2xi64> {
    %0 = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %1 = stablehlo.add %a, %b : tensor<i64>
        stablehlo.return %1 : tensor<i64>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
    return %0 : tensor<2xi64>
  }
  func.func @main() {
    %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %1 = stablehlo.constant dense<[10, 20]> : tensor<2xi64>
    %2:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@program], [@program]]} : (tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>)
    check.expect_eq_const %2#0, dense<[11, 22]> : tensor<2xi64>
    check.expect_eq_const %2#1, dense<[11, 22]> : tensor<2xi64>
    func.return
  }
})");
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
}

}  // namespace
}  // namespace rhino::test
