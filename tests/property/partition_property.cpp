// SPDX-License-Identifier: Apache-2.0
// Random programs, random meshes, random decisions: the partitioned program must give what the whole one gives.
//
//   partition_property [--seed N] [--first N] [--cases N (0: without end)] [--op NAME] [--coverage] [--quiet]
//
// Exit code 0 if all cases are equal (and, with --coverage, nothing was left out), 1 otherwise.
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/op_info.hpp>

#include "command_line.hpp"
#include "partition_case.hpp"
#include "single_op_programs.hpp"

namespace {

using namespace rhino;

int run(const std::vector<std::string>& arguments) {
  app::CommandLine app("Partitioned programs against whole ones, at random", "partition_property");
  std::uint64_t seed = 1;
  std::int64_t first = 0, cases = 1000, failures_allowed = 0;
  std::string op_name;
  bool coverage = false;
  app.add_option("--seed", seed, "Seed of all cases");
  app.add_option("--first", first, "Number of the first case");
  app.add_option("--cases", cases, "How many cases; 0: until stopped");
  app.add_option("--op", op_name, "Only this op");
  app.add_option("--keep-going", failures_allowed, "Stop only after so many failures");
  app.add_flag("--coverage", coverage, "Print what was exercised, and fail if something was not");
  if (!app.parse(arguments)) {
    fmt::print("{}", app.help());
    return 0;
  }

  std::optional<ir::OpKind> only;
  if (!op_name.empty()) {
    only = ir::op_kind_from_name(op_name);
    if (!only) {
      fmt::print(stderr, "unknown op {}\n", op_name);
      return 2;
    }
  }
  test::Coverage covered;
  std::int64_t failures = 0, done = 0;
  for (std::int64_t number = first; cases == 0 || number < first + cases; ++number, ++done) {
    const test::PartitionCase tried = test::make_case(seed, number, only);
    covered.add(tried);
    if (!test::find_fault(tried)) continue;
    ++failures;
    const test::PartitionCase small = test::shrink(tried);
    fmt::print("case {} of seed {} fails; repeat it by --seed {} --first {} --cases 1{}\n{}{}\n\n", number, seed, seed, number,
               only ? " --op " + op_name : "", test::describe(small), test::find_fault(small).value_or("(only before it was made smaller)"));
    std::fflush(stdout);
    if (failures > failures_allowed) return 1;
  }
  bool complete = true;
  if (coverage) {
    fmt::print("{}", covered.table());
    for (const std::string& gap : covered.gaps(only ? std::vector<ir::OpKind>{*only} : test::single_op_kinds())) {
      fmt::print("not exercised: {}\n", gap);
      complete = false;
    }
  }
  fmt::print("{} cases, {} failures\n", done, failures);
  return failures == 0 && complete ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
