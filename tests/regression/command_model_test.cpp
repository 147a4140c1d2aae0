// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/test_data.hpp"

namespace rhino::test {
namespace {

using testing::HasSubstr;

TEST(ModelCommand, WritesAModelThatShowsWhatItCosts) {
  const auto made = run_rhino("model gpt --preset 124M batch=2 dtype=bf16 -o gpt.h5");
  EXPECT_EQ(made.exit_code, 0) << made.errors;
  EXPECT_THAT(made.output, HasSubstr("124439808 parameters"));
  EXPECT_LT(std::filesystem::file_size("gpt.h5"), 10'000'000u);
  const auto shown = run_rhino("show gpt.h5");
  EXPECT_EQ(shown.exit_code, 0) << shown.errors;
  for (const char* part : {"parameters 124439808 (124.44 M)", "state      ", "FLOP per step", "formula ",
                           "activations ", "params/block11/attention/q/w", "preset     124M", "batch=2"})
    EXPECT_THAT(shown.output, HasSubstr(part));
}

TEST(ModelCommand, ListsModelsAndKeys) {
  const auto list = run_rhino("model --list");
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_THAT(list.output, HasSubstr("Brown et al. 2020"));
  const auto keys = run_rhino("model resnet --preset 50 --keys");
  EXPECT_EQ(keys.exit_code, 0);
  EXPECT_THAT(keys.output, HasSubstr("blocks=3,4,6,3"));
}

TEST(ModelCommand, RefusesInOneLineAndWritesNothing) {
  const auto refused = [](const std::string& arguments, const std::string& part) {
    const auto result = run_rhino("model " + arguments + " -o bad.h5");
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_THAT(result.errors, HasSubstr(part));
    EXPECT_THAT(result.errors, testing::MatchesRegex("rhino: error [^\n]*\n"));
    EXPECT_FALSE(std::filesystem::exists("bad.h5"));
  };
  refused("", "which model?");
  refused("gptt", "did you mean 'gpt'?");
  refused("gpt --preset 175", "did you mean '175B'?");
  refused("gpt haeds=3", "did you mean 'heads'?");
  refused("gpt heads=7", "heads=7 do not divide width=48");
  refused("gpt layers=0", "layers=0");
  refused("glam experts=1", "experts=1 are fewer than the chosen=2");
}

TEST(ModelCommand, ADeckNamesAModelAndOverridesItsKeys) {
  const std::string deck = "train '" + source_path("inputs/zoo/gpt.toml").string() + "' train.steps=2 ";
  const auto trained = run_rhino(deck + "model.settings='layers=1 batch=4' eval.zoo=true eval.batches=1");
  EXPECT_EQ(trained.exit_code, 0) << trained.errors;
  EXPECT_THAT(trained.output, HasSubstr("step      2  loss"));
  const auto wrong = run_rhino(deck + "model.settings='layers=1 bath=4'");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.errors, HasSubstr("did you mean 'batch'?"));
  const auto both = run_rhino(deck + "model.file=other.h5");
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.errors, HasSubstr("not several"));
}

}  // namespace
}  // namespace rhino::test
