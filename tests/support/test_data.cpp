// SPDX-License-Identifier: Apache-2.0
#include "support/test_data.hpp"

namespace rhino::test {

std::filesystem::path data_path(const std::string& relative) {
  return std::filesystem::path(RHINO_TEST_DATA_DIR) / relative;
}

std::filesystem::path source_path(const std::string& relative) {
  return std::filesystem::path(RHINO_TEST_SOURCE_DIR) / relative;
}

}  // namespace rhino::test
