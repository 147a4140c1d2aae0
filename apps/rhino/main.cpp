// SPDX-License-Identifier: Apache-2.0
// The command line program: reads flags, calls the library, reports errors. Nothing else happens here.
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/strings.hpp>

#include "commands.hpp"
#include "mpi_session.hpp"

namespace rhino::app {
namespace {

const Command* command_named(std::string_view name) {
  for (const Command* command : commands()) {
    if (name == command->name) return command;
  }
  return nullptr;
}

struct Call {
  const Command& command;
  std::vector<std::string> arguments;
};

/// The command that a command line begins with: two words (`bench order`) before one.
Call find_command(const std::vector<std::string>& line) {
  for (const std::size_t words : {std::size_t{2}, std::size_t{1}}) {
    if (line.size() < words) continue;
    const std::string name = words == 2 ? line[0] + ' ' + line[1] : line[0];
    if (const Command* command = command_named(name))
      return {*command, {line.begin() + static_cast<std::ptrdiff_t>(words), line.end()}};
  }
  std::string family;
  for (const std::string& name : command_names()) {
    if (name.starts_with(line[0] + ' ')) family += fmt::format("{}'{}'", family.empty() ? "" : ", ", name);
  }
  if (!family.empty()) RHINO_FAIL(UsageError, "'{}' needs a second word: there is {}", line[0], family);
  RHINO_FAIL(UsageError, "there is no command '{}'{}; see 'rhino --help'", line[0],
             did_you_mean(line[0], command_names()));
}

int run_command(const Command& command, const std::vector<std::string>& arguments) {
  CommandLine flags(command.summary, fmt::format("rhino {}", command.name));
  const Action action = command.declare(flags);
  if (!flags.parse(arguments)) {
    fmt::print("{}", command_help(command));
    return 0;
  }
  return action();
}

int run_program(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    fmt::print(stderr, "{}", program_help());
    return exit_code(ErrorKind::Usage);
  }
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h") {
    fmt::print("{}", program_help());
    return 0;
  }
  if (first == "--version") {
    fmt::print("rhino {}\n", RHINO_VERSION);
    return 0;
  }
  const Call call = find_command(arguments);
  return run_command(call.command, call.arguments);
}

// Standard output may be a full disk or a closed pipe: what was printed must have arrived.
int finish(int code) {
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (written || code != 0) return code;
  return end_with_error(exit_code(ErrorKind::Environment), "cannot write to standard output");
}

}  // namespace
}  // namespace rhino::app

int main(int argc, char** argv) {
  using rhino::app::end_with_error;
  try {
    return rhino::app::finish(rhino::app::run_program({argv + 1, argv + argc}));
  } catch (const rhino::Error& error) {
    return end_with_error(rhino::exit_code(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    return end_with_error(rhino::exit_code(rhino::ErrorKind::Environment), "out of memory");
  } catch (const std::system_error& error) {
    return end_with_error(rhino::exit_code(rhino::ErrorKind::Environment), error.what());
  } catch (const std::exception& error) {
    return end_with_error(rhino::exit_code(rhino::ErrorKind::Internal),
                          fmt::format("internal error: {}; please report it", error.what()));
  }
}
