// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "command_line.hpp"

namespace rhino::app {

/// What runs when a command was chosen and its flags are read; gives the program's exit code. Errors are thrown; the
/// program prints them and exits by their kind (rhino/base/error.hpp).
using Action = std::function<int()>;

/// One command of the program, `rhino NAME`; a name may be two words (`bench order`). One file each, command_<name>.cpp;
/// the table is in commands.cpp.
struct Command {
  const char* name;
  const char* summary;   ///< one line, for `rhino --help`
  const char* examples;  ///< one command line per line, for `rhino NAME --help`
  /// Declares flags and arguments on `cli` and gives the action that will use their values.
  Action (*declare)(CommandLine& cli);
};

}  // namespace rhino::app
