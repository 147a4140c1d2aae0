// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include <rhino/base/file.hpp>

#include "support/test_data.hpp"

namespace rhino::test {

/// Runs a script in the Python environment of tools/setup_python; false if there is none or it lacks `module`. A script that
/// fails fails the test.
inline bool run_python(const std::string& module, const std::string& script) {
  const char* venv = std::getenv("RHINO_VENV");
  const std::string python = "'" + (venv != nullptr ? std::string(venv) : source_path(".venv").string()) + "/bin/python'";
  if (std::system((python + " -c 'import " + module + "' 2> /dev/null").c_str()) != 0) return false;
  write_file("script.py", script);
  EXPECT_EQ(std::system((python + " script.py").c_str()), 0) << script;
  return true;
}

}  // namespace rhino::test
