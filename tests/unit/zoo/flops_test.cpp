// SPDX-License-Identifier: Apache-2.0
// Work and size of whole training steps.
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/cost/cost_model.hpp>
#include <rhino/zoo/zoo.hpp>

namespace rhino::zoo {
namespace {

double flops_of(const BuiltModel& model) {
  const ir::Function& main = model.program.entry();
  double flops = 0;
  for (const ir::Op& op : main.ops) {
    std::vector<ir::TensorType> operands, results;
    for (const ir::ValueId value : op.operands)
      operands.push_back(main.type(value));
    for (const ir::ValueId value : op.results)
      results.push_back(main.type(value));
    flops += cost::op_work(model.program, op, operands, results).flops;
  }
  return flops;
}

void expect_formula(const char* family, const char* preset, const std::vector<std::string>& settings) {
  const BuiltModel model = build_model(family, preset, settings);
  const double formula = std::atof(model.meta.at("formula_flops").c_str());
  EXPECT_NEAR(flops_of(model) / formula, 1, 0.02) << family << " " << preset;
}

TEST(Flops, OfTransformersFollowTheFormula) {
  for (const char* preset : {"124M", "355M", "774M", "1.5B", "1.3B", "2.7B", "6.7B", "13B", "175B", "1T"})
    expect_formula("gpt", preset, {"optimizer=sgd"});
  for (const char* preset : {"8B", "62B", "540B"})
    expect_formula("palm", preset, {"optimizer=sgd"});
  for (const char* preset : {"7B", "70B", "8B"})
    expect_formula("llama", preset, {"optimizer=sgd"});
}

TEST(Flops, OfAScannedStackAreTheSame) {
  expect_formula("gpt", "124M", {"scan=true"});
  expect_formula("llama", "7B", {"scan=true", "optimizer=sgd"});
}

TEST(Flops, FormulaOfGpt3IsThePublishedOne) {
  // Brown et al. 2020, table D.1: 3.14e23 FLOPs for 300 billion tokens, attention left out.
  const BuiltModel model = build_model("gpt", "175B", std::vector<std::string>{"mode=evaluate", "batch=1"});
  const double attention = 12.0 * 96 * 2048 * 2048 * 12288;
  const double formula = std::atof(model.meta.at("formula_flops").c_str()) - attention;
  EXPECT_NEAR(formula / 2048 * 300e9 / 3.14e23, 1, 0.02);
}

}  // namespace
}  // namespace rhino::zoo
