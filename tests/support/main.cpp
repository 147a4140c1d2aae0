// SPDX-License-Identifier: Apache-2.0
// GoogleTest main: exit code 77 (ctest: skipped) if every test that ran was skipped; a filter that selects nothing fails.
#include <gtest/gtest.h>

#include <iostream>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  const auto& all = *testing::UnitTest::GetInstance();
  if (all.test_to_run_count() == 0) {
    std::cerr << "no test was selected\n";
    return 1;
  }
  if (failed == 0 && all.successful_test_count() == 0 && all.skipped_test_count() > 0) return 77;
  return failed;
}
