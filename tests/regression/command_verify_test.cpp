// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/test_data.hpp"

namespace rhino::test {
namespace {

using testing::HasSubstr;

ProcessResult verify(const std::string& arguments) { return run_process(rhino_program() + " verify " + arguments, 110); }

std::string deck(const std::string& name) { return source_path("inputs/" + name + ".toml").string(); }

TEST(Verify, UnevenRanksGiveTheResultsOfOne) {
  for (const char* plan : {"auto", "data", "tensor"}) {
    const auto result = verify(deck("mlp_digits") + " --ranks 3 --plan " + plan);
    EXPECT_EQ(result.exit_code, 0) << plan << "\n" << result.output << result.errors;
    EXPECT_THAT(result.output, HasSubstr("results are equal on all devices"));
    EXPECT_THAT(result.output, HasSubstr("params/"));
  }
}

TEST(Verify, APlanFileIsVerifiedOnItsOwnDevices) {
  const auto planned = run_process(rhino_program() + " plan " + deck("mlp_digits") + " --ranks 2 --plan tensor -o plan.h5");
  ASSERT_EQ(planned.exit_code, 0) << planned.errors;
  const auto result = verify(deck("mlp_digits") + " plan.h5");
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_THAT(result.output, HasSubstr("on 2 devices"));
}

TEST(Verify, ATighterToleranceThanRoundingFails) {
  const auto result = verify(deck("mlp_digits") + " --ranks 4 --plan data --promote none --tolerance 0");
  EXPECT_EQ(result.exit_code, 1) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("DIFFERENT"));
  EXPECT_THAT(result.output, HasSubstr("first op that differs: "));
}

TEST(Verify, WrongArguments) {
  EXPECT_EQ(verify(deck("mlp_digits") + " a.h5 b.h5").exit_code, 2);
  EXPECT_EQ(verify(deck("mlp_digits") + " missing.h5").exit_code, 2);  // the deck names a file that is not there
  EXPECT_EQ(verify(deck("mlp_digits") + " --promote f16").exit_code, 2);
}

}  // namespace
}  // namespace rhino::test
