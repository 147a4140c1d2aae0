// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "command.hpp"

namespace rhino::app {

// To add a command: write command_<name>.cpp that defines its object (what else it defines goes into a namespace named as
// the file: several files may be compiled as one), name the object here and in the table of commands.cpp, and the file in
// CMakeLists.txt.
extern const Command eval_command;
extern const Command help_command;
extern const Command bench_arena_command;
extern const Command bench_labelling_command;
extern const Command bench_order_command;
extern const Command calibrate_command;
extern const Command import_command;
extern const Command info_command;
extern const Command model_command;
extern const Command plan_command;
extern const Command show_command;
extern const Command train_command;
extern const Command verify_command;

/// All commands, in the order in which `rhino --help` shows them.
std::span<const Command* const> commands();

std::vector<std::string> command_names();

/// `rhino --help`, or the help of one command.
std::string program_help();
std::string command_help(const Command& command);

/// The commands as the README's table.
std::string command_table_markdown();

}  // namespace rhino::app
