// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace rhino::test {

/// A file or folder of the public test data (CMake option RHINO_TEST_DATA_DIR); it may not exist.
std::filesystem::path data_path(const std::string& relative);

/// A file of the source tree.
std::filesystem::path source_path(const std::string& relative);

}  // namespace rhino::test

/// Skips the current test (visibly) where the public test data lacks `relative`.
#define RHINO_SKIP_WITHOUT_DATA(relative)                                                        \
  do {                                                                                           \
    if (!std::filesystem::exists(::rhino::test::data_path(relative)))                            \
      GTEST_SKIP() << "no test data at " << ::rhino::test::data_path(relative);                  \
  } while (false)
