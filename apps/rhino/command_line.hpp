// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace rhino::app {

/// A flag or an argument of a command, to be refined where it is declared.
class Argument {
 public:
  explicit Argument(CLI::Option& option) : option_(&option) {}
  /// The command line must have it.
  Argument& required();
  /// Its value must lie in this range, both ends included.
  Argument& range(std::int64_t least, std::int64_t greatest);
  /// One word may hold several values, split by this.
  Argument& delimiter(char between);

 private:
  CLI::Option* option_;
};

/// The flags and arguments of one command. A thin front of CLI11, whose headers take longer to compile than any command.
class CommandLine {
 public:
  CommandLine(std::string summary, std::string name);
  ~CommandLine();

  /// A flag with a value ("-o,--output") or, without dashes, an argument by position; `value` keeps its content where the
  /// command line does not have it, and must outlive the parsing.
  Argument add_option(const std::string& names, std::string& value, const std::string& doc);
  /// Any number of values, also of flags given several times.
  Argument add_option(const std::string& names, std::vector<std::string>& values, const std::string& doc);
  Argument add_option(const std::string& names, int& value, const std::string& doc);
  Argument add_option(const std::string& names, std::int64_t& value, const std::string& doc);
  Argument add_option(const std::string& names, std::uint64_t& value, const std::string& doc);
  Argument add_option(const std::string& names, double& value, const std::string& doc);
  /// A flag without a value.
  Argument add_flag(const std::string& names, bool& value, const std::string& doc);

  /// Sets the values from a command line. False if it asks for help. Throws UsageError that names what is wrong and the
  /// nearest flag.
  bool parse(const std::vector<std::string>& arguments);
  std::string help() const;

 private:
  std::string name_;
  std::unique_ptr<CLI::App> cli_;
};

}  // namespace rhino::app
