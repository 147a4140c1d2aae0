// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/file.hpp>
#include <rhino/memory/arena_csv.hpp>
#include <rhino/memory/arena_plan.hpp>

#include "commands.hpp"

namespace rhino::app {
namespace command_bench_arena {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string file, output, check;
  std::int64_t capacity = 0, alignment = 1, work = 0;
  double seconds = 60;
};

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

/// Two blocks that must lie where they are and are in each other's way leave nothing to plan.
void check_fixed(const memory::ArenaTable& table) {
  memory::ArenaProblem fixed;
  std::vector<std::int64_t> offsets;
  std::int64_t height = 0;
  for (const memory::ArenaBlock& block : table.problem.blocks) {
    if (!block.offset) continue;
    fixed.blocks.push_back(block);
    offsets.push_back(*block.offset);
    height = std::max(height, *block.offset + block.size);
  }
  const std::string problem = find_placement_error(fixed, offsets, height);
  RHINO_CHECK(problem.empty(), "of the blocks with a fixed offset, {}", problem);
}

/// `rhino bench arena FILE --check OUT`: OUT must have the blocks of FILE, each with an offset.
int check(const Options& options, memory::ArenaTable table) {
  const memory::ArenaTable placed = memory::read_arena_csv(options.check);
  RHINO_CHECK(placed.ids.size() == table.ids.size(), "{} has {} blocks, {} has {}", options.check, placed.ids.size(), options.file,
              table.ids.size());
  std::vector<std::int64_t> offsets;
  std::int64_t height = 0;
  for (std::size_t b = 0; b < table.ids.size(); ++b) {
    const memory::ArenaBlock& want = table.problem.blocks[b];
    const memory::ArenaBlock& have = placed.problem.blocks[b];
    RHINO_CHECK(placed.ids[b] == table.ids[b] && have.lower == want.lower && have.upper == want.upper && have.size == want.size,
                "block {} of {} is another one than that of {}", b, options.check, options.file);
    RHINO_CHECK(have.offset.has_value(), "block {} of {} has no offset", b, options.check);
    offsets.push_back(*have.offset);
    height = std::max(height, *have.offset + have.size);
  }
  const std::int64_t capacity = options.capacity > 0 ? options.capacity : height;
  const std::string problem = find_placement_error(table.problem, offsets, capacity);
  if (!problem.empty()) {
    fmt::print("not valid: {}\n", problem);
    return 1;
  }
  fmt::print("valid, height {}\n", height);
  return 0;
}

int run(const Options& options) {
  const auto begin = Clock::now();
  memory::ArenaTable table = memory::read_arena_csv(options.file);
  table.problem.alignment = options.alignment;
  if (!options.check.empty()) return check(options, std::move(table));
  check_fixed(table);
  memory::ArenaOptions arena;
  arena.capacity = options.capacity;
  if (options.work > 0) {
    arena.limits.nodes = options.work;
  } else {
    arena.limits.nodes = std::int64_t{1} << 50;
    arena.limits.stop = [&] { return since(begin) > options.seconds; };
  }
  arena.on_better = [&](std::int64_t height) { fmt::print(stderr, "{:8.2f} s  height {}\n", since(begin), height); };
  const memory::ArenaPlan plan = memory::plan_arena(table.problem, arena);
  const double seconds = since(begin);
  if (plan.offsets.empty()) {
    const bool proved = plan.status == memory::ArenaStatus::Infeasible;
    fmt::print("{}\n", proved ? "no placement fits the capacity: proved" : "no placement within the capacity was found in the time given");
    fmt::print("capacity {} load {} bound {} seconds {:.2f}\n", options.capacity, plan.load, plan.bound, seconds);
    return 1;
  }
  const std::string problem = find_placement_error(table.problem, plan.offsets, options.capacity > 0 ? options.capacity : plan.height);
  RHINO_ASSERT(problem.empty(), "{}", problem);
  if (!options.output.empty()) write_file(options.output, to_arena_csv(table, plan.offsets));
  fmt::print("height {} load {} bound {} fragmentation {:.4f}% {} seconds {:.2f}\n", plan.height, plan.load, plan.bound,
             percent(plan.height - plan.load, plan.load), plan.status == memory::ArenaStatus::Optimal ? "optimal" : "feasible", seconds);
  return 0;
}

Action declare(CommandLine& cli) {
  auto options = std::make_shared<Options>();
  cli.add_option("FILE", options->file, "Blocks as CSV: id,lower,upper,size with half-open times; offset: where a block must lie").required();
  cli.add_option("--capacity", options->capacity, "Bytes that must do; without it: as few as possible").range(0, std::int64_t{1} << 60);
  cli.add_option("--alignment", options->alignment, "Of all offsets, in bytes").range(1, std::int64_t{1} << 40);
  cli.add_option("--seconds", options->seconds, "Seconds to search (default 60)");
  cli.add_option("--work", options->work, "Nodes to search instead of a time: gives the same on every machine").range(0, std::int64_t{1} << 50);
  cli.add_option("-o,--output", options->output, "CSV to write, with the offsets");
  cli.add_option("--check", options->check, "Check the offsets in this CSV instead of finding some");
  return [options] { return run(*options); };
}

}  // namespace command_bench_arena

const Command bench_arena_command = {
    "bench arena", "place blocks in an arena, with proof",
    "rhino bench arena A.csv --capacity 1048576 --seconds 10 -o placed.csv\n"
    "rhino bench arena A.csv\n"
    "rhino bench arena A.csv --check placed.csv",
    command_bench_arena::declare};

}  // namespace rhino::app
