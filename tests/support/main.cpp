// SPDX-License-Identifier: Apache-2.0
// GoogleTest main: exit code 77 (ctest: skipped) if every test that ran was skipped.
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  const auto& all = *testing::UnitTest::GetInstance();
  if (failed == 0 && all.successful_test_count() == 0 && all.skipped_test_count() > 0) return 77;
  return failed;
}
