// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace rhino::test {

/// What a finished shell command left behind.
struct ProcessResult {
  int exit_code = -1;  ///< 128 + n if signal n ended it
  std::string output;  ///< standard output
  std::string errors;  ///< standard error
};

/// Runs `command` by the shell in the current folder and waits for its end; after `seconds` it is killed
/// (exit code 124).
ProcessResult run_process(const std::string& command, int seconds = 60);

/// Command line that runs the `rhino` program of this build, alone or on several ranks.
std::string rhino_program();
std::string rhino_on_ranks(int ranks);

/// Runs this build's `rhino` on one rank with arguments as the shell reads them.
ProcessResult run_rhino(const std::string& arguments);

}  // namespace rhino::test
