// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <algorithm>
#include <utility>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <rhino/base/error.hpp>
#include <rhino/base/strings.hpp>

namespace rhino::app {

Argument& Argument::required() {
  option_->required();
  return *this;
}

Argument& Argument::range(std::int64_t least, std::int64_t greatest) {
  option_->check(CLI::Range(least, greatest));
  return *this;
}

Argument& Argument::delimiter(char between) {
  option_->delimiter(between);
  return *this;
}

CommandLine::CommandLine(std::string summary, std::string name)
    : name_(std::move(name)), cli_(std::make_unique<CLI::App>(std::move(summary), name_)) {}

CommandLine::~CommandLine() = default;

Argument CommandLine::add_option(const std::string& names, std::string& value, const std::string& doc) {
  return Argument(*cli_->add_option(names, value, doc));
}

Argument CommandLine::add_option(const std::string& names, std::vector<std::string>& values, const std::string& doc) {
  return Argument(*cli_->add_option(names, values, doc)->take_all());
}

Argument CommandLine::add_option(const std::string& names, int& value, const std::string& doc) {
  return Argument(*cli_->add_option(names, value, doc));
}

Argument CommandLine::add_option(const std::string& names, std::int64_t& value, const std::string& doc) {
  return Argument(*cli_->add_option(names, value, doc));
}

Argument CommandLine::add_option(const std::string& names, std::uint64_t& value, const std::string& doc) {
  return Argument(*cli_->add_option(names, value, doc));
}

Argument CommandLine::add_option(const std::string& names, double& value, const std::string& doc) {
  return Argument(*cli_->add_option(names, value, doc));
}

Argument CommandLine::add_flag(const std::string& names, bool& value, const std::string& doc) {
  return Argument(*cli_->add_flag(names, value, doc));
}

bool CommandLine::parse(const std::vector<std::string>& arguments) {
  try {
    cli_->parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes them last one first
    return true;
  } catch (const CLI::CallForHelp&) {
    return false;
  } catch (const CLI::ParseError& error) {
    std::vector<std::string> known;
    for (const CLI::Option* option : cli_->get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
    std::string hint;
    for (const std::string& argument : arguments) {
      const std::string flag = argument.substr(0, argument.find('='));
      if (!flag.starts_with("--") || std::find(known.begin(), known.end(), flag) != known.end()) continue;
      hint = did_you_mean(flag, known);
      break;
    }
    RHINO_FAIL(UsageError, "{}{}; see '{} --help'", error.what(), hint, name_);
  }
}

std::string CommandLine::help() const { return cli_->help(); }

}  // namespace rhino::app
