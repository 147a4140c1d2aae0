// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/plan/labelling/checker.hpp>
#include <rhino/plan/labelling/file.hpp>
#include <rhino/plan/labelling/solve.hpp>

#include "commands.hpp"

namespace rhino::app {
namespace command_bench_labelling {

namespace labelling = plan::labelling;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string file;
  double seconds = 60;
  int threads = 2;
  std::uint64_t seed = 1;
  std::int64_t work = 0;
  std::string output;
  std::string check;
  Clock::time_point begin = Clock::now();
};

/// Gap of a cost above a bound, in percent of the cost.
double gap(labelling::Wide cost, labelling::Wide bound) {
  if (cost <= bound) return 0;
  return 100 * static_cast<double>(cost - bound) / std::max(1.0, std::abs(static_cast<double>(cost)));
}

int check(const labelling::Problem& problem, const Options& options) {
  const auto evaluation = labelling::evaluate(problem, labelling::read_assignment(options.check));
  const std::string limit = problem.usage_limit ? std::to_string(*problem.usage_limit) : "none";
  fmt::print("cost {} peak usage {} at {} (limit {}){}\n", labelling::to_string(evaluation.cost),
             labelling::to_string(evaluation.peak_usage), evaluation.peak_time, limit,
             evaluation.allowed ? "" : ", and a forbidden choice");
  fmt::print("{}\n", evaluation.feasible(problem) ? "feasible" : "not feasible");
  return evaluation.feasible(problem) ? 0 : 1;
}

int run(const Options& options) {
  const labelling::Problem problem = labelling::read_problem(options.file);
  if (!options.check.empty()) return check(problem, options);
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - options.begin).count(); };
  labelling::Options how;
  how.seconds = options.seconds;
  how.threads = options.threads;
  how.seed = options.seed;
  how.work = options.work;
  how.begin = options.begin;
  double shown = -1;
  how.on_progress = [&](const labelling::Progress& progress) {
    if (progress.seconds < shown + 0.5) return;
    shown = progress.seconds;
    fmt::print(stderr, "{:8.2f} s  cost {}  bound {:.0f}\n", progress.seconds, labelling::to_string(*progress.cost),
               progress.bound);
  };
  fmt::print(stderr, "{:8.2f} s  read {}: {} nodes, {} edges\n", elapsed(), problem.name, problem.nodes.size(),
             problem.edges.size());
  const labelling::Solution solution = labelling::solve(problem, how);
  if (solution.status == labelling::Status::Infeasible) {
    fmt::print("no assignment is feasible (proved) seconds {:.2f}\n", elapsed());
    return 1;
  }
  const std::string bound = solution.bound ? labelling::to_string(*solution.bound) : "unknown";
  if (solution.status == labelling::Status::Unknown) {
    fmt::print("no feasible assignment was found; bound {} seconds {:.2f}\n", bound, elapsed());
    return 1;
  }
  if (!options.output.empty()) labelling::write_assignment(options.output, solution.assignment);
  if (solution.status == labelling::Status::Optimal) fmt::print("optimal (proved)\n");
  const double percent = solution.bound ? gap(solution.cost, *solution.bound) : 100;
  fmt::print("cost {} bound {} gap {:.4f}% seconds {:.2f}\n", labelling::to_string(solution.cost), bound, percent,
             elapsed());
  return 0;
}

Action declare(CommandLine& cli) {
  auto options = std::make_shared<Options>();
  cli.add_option("FILE", options->file, "A problem in the contest's JSON, packed by gzip or not").required();
  cli.add_option("--seconds", options->seconds, "Time limit, from the start of the program (default 60)");
  cli.add_option("--threads", options->threads, "1 or 2 (default 2)").range(1, 2);
  cli.add_option("--seed", options->seed, "Of the random choices (default 1)");
  cli.add_option("--work", options->work,
                 "Limit of table look-ups; if the time does not end it before, equal limits give equal answers");
  cli.add_option("-o,--output", options->output, "Write the strategies, a JSON array");
  cli.add_option("--check", options->check, "Do not solve: evaluate the strategies in this file");
  return [options] { return run(*options); };
}

}  // namespace command_bench_labelling

const Command bench_labelling_command = {
    "bench labelling", "choose one strategy per node under a memory limit (files of the ASPLOS 2025 contest)",
    "rhino bench labelling problem.json.gz --seconds 60 -o solution.json\n"
    "rhino bench labelling problem.json.gz --check solution.json",
    command_bench_labelling::declare};

}  // namespace rhino::app
