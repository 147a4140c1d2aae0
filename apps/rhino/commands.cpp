// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include <fmt/format.h>

#include <rhino/base/strings.hpp>

namespace rhino::app {
namespace {

constexpr const Command* kCommands[] = {
    &import_command,
    &model_command,
    &show_command,
    &train_command,
    &plan_command,
    &verify_command,
    &calibrate_command,
    &eval_command,
    &bench_arena_command,
    &bench_labelling_command,
    &bench_order_command,
    &info_command,
    &help_command,
};

}  // namespace

std::span<const Command* const> commands() { return kCommands; }

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command* command : commands()) names.emplace_back(command->name);
  return names;
}

std::string program_help() {
  std::string help =
      "Rhino finds a near-optimal way to run a tensor program on many devices, and runs it.\n\n"
      "usage: rhino COMMAND [ARGUMENTS]        rhino COMMAND --help shows a command's flags and examples\n"
      "       mpirun -n N rhino COMMAND ...    the same on N ranks\n\ncommands:\n";
  for (const Command* command : commands()) help += fmt::format("  {:<16} {}\n", command->name, command->summary);
  help +=
      "\n`rhino help decks` lists the keys of a deck (TOML), `rhino --version` prints the version.\n"
      "exit codes: 0 done; 1 ran, and the answer is no; 2 wrong flags or deck; 3 wrong file or program;\n"
      "            4 the machine failed (disk, memory, MPI, a lost rank); 70 a fault of Rhino itself\n"
      "environment: RHINO_LOG=debug|info|warn|error|off sets which messages are shown;\n"
      "             RHINO_CALIBRATION=FILE is what `calibrate` writes and planning for this machine reads\n";
  return help;
}

std::string command_help(const Command& command) {
  CommandLine flags(command.summary, fmt::format("rhino {}", command.name));
  command.declare(flags);
  std::string help = flags.help();
  help += "\nexamples:\n";
  for (const std::string_view line : split(command.examples, '\n')) help += fmt::format("  {}\n", trim(line));
  return help;
}

std::string command_table_markdown() {
  std::string table = "| command | what it does | example |\n|---|---|---|\n";
  for (const Command* command : commands())
    table += fmt::format("| `rhino {}` | {} | `{}` |\n", command->name, command->summary,
                         trim(split(command->examples, '\n').front()));
  return table;
}

}  // namespace rhino::app
