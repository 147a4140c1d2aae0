// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/test_data.hpp"

namespace rhino::test {
namespace {

using testing::HasSubstr;

std::string input(const std::string& file) { return "'" + source_path("inputs/" + file).string() + "'"; }

std::string contents(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// One line that begins as all our errors do.
void expect_one_error_line(const ProcessResult& result, int exit_code, const std::string& part) {
  EXPECT_EQ(result.exit_code, exit_code) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr(part));
  EXPECT_THAT(result.errors, testing::MatchesRegex("rhino: error [^\n]*\n"));
}

TEST(ImportAndShow, AStepBecomesAModel) {
  const auto imported = run_rhino("import " + input("mlp_digits/step.mlir") + " --state " + input("mlp_digits/state.npz") +
                              " --manifest " + input("mlp_digits/manifest.json") + " -o mlp.h5");
  EXPECT_EQ(imported.exit_code, 0) << imported.errors;
  EXPECT_EQ(imported.errors, "");
  EXPECT_THAT(imported.output, HasSubstr("params/layer1/w"));
  EXPECT_THAT(imported.output, HasSubstr("wrote mlp.h5"));
  const auto shown = run_rhino("show mlp.h5");
  EXPECT_EQ(shown.exit_code, 0) << shown.errors;
  EXPECT_THAT(shown.output, HasSubstr("parameters 16522"));
  EXPECT_THAT(shown.output, HasSubstr("dot_general"));
  EXPECT_THAT(shown.output, HasSubstr("FLOP per step"));
  // The printed program is a program that imports to the same text.
  const auto text = run_rhino("show mlp.h5 --text");
  std::ofstream("again.mlir") << text.output;
  const auto again = run_rhino("show again.mlir --text");
  EXPECT_EQ(again.output, text.output);
}

TEST(ImportAndShow, AssumptionsAreSaid) {
  const auto result = run_rhino("import " + input("mlp_digits/step.mlir"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output, HasSubstr("nothing written"));
  EXPECT_THAT(result.errors, HasSubstr("no state was given"));
}

TEST(ImportAndShow, RolesOfTheUser) {
  const auto result = run_rhino("import " + input("mlp_digits/step.mlir") + " --roles 'params/*=optimizer,result:accuracy=loss'");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output, HasSubstr("optimizer"));
  expect_one_error_line(run_rhino("import " + input("mlp_digits/step.mlir") + " --roles 'parms/*=optimizer'"), 2, "matches no parameter");
}

TEST(ImportAndShow, BrokenInputsAreOneLine) {
  ASSERT_EQ(run_rhino("import " + input("mlp_digits/step.mlir") + " --state " + input("mlp_digits/state.npz") + " -o good.h5").exit_code, 0);
  const std::string good = contents("good.h5");
  for (std::size_t size = 0; size < good.size(); size += 8192) {
    std::ofstream("cut.h5", std::ios::binary) << good.substr(0, size);
    expect_one_error_line(run_rhino("show cut.h5"), 3, "cut.h5");
  }
  expect_one_error_line(run_rhino("show " + input("mlp_digits/data.h5")), 3, "not a model file");
  expect_one_error_line(run_rhino("show absent.h5"), 3, "absent.h5");
  expect_one_error_line(run_rhino("show " + input("mlp_digits/state.npz")), 3, "state.npz");
  expect_one_error_line(run_rhino("import " + input("mlp_digits/step.mlir") + " --manifest " + input("gpt_tiny/manifest.json")), 3,
                        "manifest.json lists 77 arguments, but the program has 9");
  expect_one_error_line(run_rhino("import " + input("mlp_digits/step.mlir") + " --state " + input("gpt_tiny/state.npz")), 3,
                        "has no value for the state");
}

std::string onnx(const std::string& name) {
  return "import '" + source_path("tests/unit/frontend/data/onnx/" + name + ".onnx").string() + "' ";
}

TEST(ImportOnnx, TheForwardGraphBecomesAModel) {
  const auto imported = run_rhino(onnx("gpt2") + "--dims batch=2,sequence=6 -o gpt2.h5");
  EXPECT_EQ(imported.exit_code, 0) << imported.errors;
  EXPECT_THAT(imported.output, HasSubstr("params/h/1/c_attn/weight"));
  EXPECT_THAT(imported.output, HasSubstr("2x6x20xf32"));
  EXPECT_EQ(run_rhino("show gpt2.h5").exit_code, 0);
}

TEST(ImportOnnx, ALossMakesATrainingStep) {
  const auto imported = run_rhino(onnx("resnet") + "--batch 2 --loss cross_entropy --optimizer adamw --set learning_rate=0.01,clip=1 "
                              "--frozen 'layer1/*' -o resnet.h5");
  EXPECT_EQ(imported.exit_code, 0) << imported.errors;
  EXPECT_THAT(imported.output, HasSubstr("optimizer/fc/weight/m"));
  EXPECT_THAT(imported.output, HasSubstr("statistics/layer1/conv1/weight"));
  EXPECT_THAT(imported.output, HasSubstr("labels"));
  // Running statistics have their next values; what is frozen has none.
  const auto shown = run_rhino("show resnet.h5").output;
  EXPECT_THAT(shown, testing::ContainsRegex("result [0-9]+ +state[^\n]* statistics/bn1/running_mean"));
  EXPECT_THAT(shown, testing::Not(testing::ContainsRegex("result [0-9]+ +state[^\n]* statistics/layer1/")));
}

TEST(ImportOnnx, WrongRequestsAreOneLine) {
  expect_one_error_line(run_rhino(onnx("mlp")), 3, "dimensions without a size: batch");
  expect_one_error_line(run_rhino(onnx("mlp") + "--batch 4 --optimizer adam"), 2, "give --loss too");
  expect_one_error_line(run_rhino(onnx("mlp") + "--batch 4 --loss hinge"), 2, "one of cross_entropy, mse, bce");
  expect_one_error_line(run_rhino(onnx("mlp") + "--batch 4 --loss mse --optimizer adamm"), 2, "adamm");
  expect_one_error_line(run_rhino(onnx("mlp") + "--batch 4 --loss mse --output-name outptu"), 2, "did you mean 'output'");
  expect_one_error_line(run_rhino(onnx("mlp") + "--batch 4 --loss mse --frozen 'head/*'"), 2, "matches no weight");
  expect_one_error_line(run_rhino(onnx("mlp") + "--batch 4 --loss mse --frozen '*'"), 3, "no weight to train");
  expect_one_error_line(run_rhino(onnx("mlp") + "--dims batch"), 2, "not NAME=SIZE");
  expect_one_error_line(run_rhino(onnx("mlp") + "--dims batch=4 --batch 4"), 2, "given twice");
  expect_one_error_line(run_rhino(onnx("mlp") + "--batch 4 --manifest x.json"), 2, "ONNX model");
  expect_one_error_line(run_rhino("import " + input("mlp_digits/step.mlir") + " --batch 4"), 2, "is none");
  expect_one_error_line(run_rhino("import absent.onnx --batch 4"), 3, "absent.onnx");
  expect_one_error_line(run_rhino("show '" + source_path("tests/unit/frontend/data/onnx/mlp.onnx").string() + "'"), 3, "rhino import");
}

TEST(ImportAndShow, AnUnwritableOutputLeavesNothing) {
  const std::string import = "import " + input("mlp_digits/step.mlir") + " --state " + input("mlp_digits/state.npz") + " -o ";
  expect_one_error_line(run_rhino(import + "absent/m.h5"), 4, "absent/m.h5");
  std::filesystem::create_directories("full");
  // As on a full disk: files of this process may not grow beyond 32 KiB.
  const auto result = run_process("ulimit -f 32; trap '' XFSZ; " + rhino_program() + " " + import + "full/m.h5");
  expect_one_error_line(result, 4, "cannot write 'full/m.h5'");
  EXPECT_TRUE(std::filesystem::is_empty("full"));
}

}  // namespace
}  // namespace rhino::test
