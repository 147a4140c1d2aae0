// SPDX-License-Identifier: Apache-2.0
#include <rhino/base/error.hpp>

#include <string>

#include <gtest/gtest.h>

namespace rhino {
namespace {

TEST(Error, CheckThrowsInputErrorWithFormattedMessage) {
  const int line = __LINE__ + 2;
  try {
    RHINO_CHECK(1 > 2, "value {} of {}", 7, "seven");
    FAIL() << "no exception";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "value 7 of seven");
    EXPECT_EQ(error.kind(), ErrorKind::Input);
    EXPECT_EQ(error.line(), line);
    EXPECT_TRUE(std::string(error.file()).ends_with("tests/unit/base/error_test.cpp")) << error.file();
    EXPECT_EQ(error.rank(), 0);
  }
}

TEST(Error, CheckThatHoldsEvaluatesNoArguments) {
  int calls = 0;
  const auto count = [&calls] { return ++calls; };
  RHINO_CHECK(true, "{}", count());
  EXPECT_EQ(calls, 0);
}

TEST(Error, EachKindHasItsOwnExitCode) {
  EXPECT_EQ(exit_code(ErrorKind::Usage), 2);
  EXPECT_EQ(exit_code(ErrorKind::Input), 3);
  EXPECT_EQ(exit_code(ErrorKind::Environment), 4);
  EXPECT_EQ(exit_code(ErrorKind::Internal), 70);
  EXPECT_THROW(RHINO_CHECK_AS(UsageError, false, "flag"), UsageError);
  EXPECT_THROW(RHINO_FAIL(EnvironmentError, "disk"), EnvironmentError);
}

TEST(Error, AssertNamesTheCondition) {
  try {
    RHINO_ASSERT(2 + 2 == 5);
    FAIL() << "no exception";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("2 + 2 == 5"), std::string::npos) << error.what();
  }
  try {
    RHINO_ASSERT(false, "size {}", 3);
    FAIL() << "no exception";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("size 3"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace rhino
