// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/process.hpp"

namespace rhino::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

auto lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

TEST(CommandLine, HelpListsCommands) {
  const ProcessResult help = run_rhino("--help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.output, HasSubstr("  info "));
  EXPECT_EQ(help.errors, "");
}

TEST(CommandLine, EachListedCommandHasHelpWithExamples) {
  const std::string help = run_rhino("--help").output;
  std::size_t at = help.find("commands:\n") + 10;
  int count = 0;
  while (help.compare(at, 2, "  ") == 0) {
    const std::string name = help.substr(at + 2, help.find("  ", at + 2) - at - 2);  // may be two words
    const ProcessResult result = run_rhino(name + " --help");
    EXPECT_EQ(result.exit_code, 0) << name;
    const std::size_t examples = result.output.find("examples:\n");
    ASSERT_NE(examples, std::string::npos) << name;
    EXPECT_NE(result.output.find("rhino " + name, examples), std::string::npos) << name;
    at = help.find('\n', at) + 1;
    ++count;
  }
  EXPECT_GE(count, 2);
}

TEST(CommandLine, WithoutCommandItShowsHelpAndFails) {
  const ProcessResult result = run_rhino("");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("usage:"));
}

TEST(CommandLine, WrongCommandsAndFlagsNameTheNearest) {
  ProcessResult result = run_rhino("inof");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.errors,
            "rhino: error (rank 0): there is no command 'inof' (did you mean 'info'?); see 'rhino --help'\n");
  result = run_rhino("help decks --markdwon");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("(did you mean '--markdown'?)"));
  EXPECT_EQ(lines(result.errors), 1);
  result = run_rhino("help dekcs");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("(did you mean 'decks'?)"));
}

TEST(CommandLine, FullOutputIsAnError) {
  const ProcessResult result = run_rhino("--help > /dev/full");
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.errors, HasSubstr("cannot write to standard output"));
}

TEST(CommandLine, OneMessageWhereAllRanksFail) {
  const ProcessResult result = run_process(rhino_on_ranks(3) + " inof");
  EXPECT_NE(result.exit_code, 0);
  const std::string start = "rhino: error";
  std::size_t count = 0;
  for (std::size_t at = result.errors.find(start); at != std::string::npos; at = result.errors.find(start, at + 1))
    ++count;
  EXPECT_EQ(count, 1u) << result.errors;
}

TEST(CommandLine, InfoShowsEveryRank) {
  const ProcessResult result = run_process(rhino_on_ranks(3) + " info");
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, StartsWith("rhino "));
  for (const char* part : {"MPI ", "HDF5 ", "Kokkos ", "device ", "ranks     3", "rank 0 ", "rank 2 "})
    EXPECT_THAT(result.output, HasSubstr(part));
}

}  // namespace
}  // namespace rhino::test
