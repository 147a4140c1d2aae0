// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/file.hpp>
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
  std::string certificate;
  std::string check;
  std::string check_certificate;
  Clock::time_point begin = Clock::now();
};

/// Gap of a cost above a bound, in percent of the cost.
double gap(labelling::Wide cost, labelling::Wide bound) {
  if (cost <= bound) return 0;
  return 100 * static_cast<double>(cost - bound) / std::max(1.0, std::abs(static_cast<double>(cost)));
}

/// Recomputes what files claim, by code that knows nothing of the solver. 0 if all of it holds.
int check(const labelling::Problem& problem, const Options& options) {
  bool holds = true;
  if (!options.check.empty()) {
    const auto evaluation = labelling::evaluate(problem, labelling::read_assignment(options.check));
    const std::string limit = problem.usage_limit ? std::to_string(*problem.usage_limit) : "none";
    fmt::print("cost {} peak usage {} at {} (limit {}){}\n", labelling::to_string(evaluation.cost),
               labelling::to_string(evaluation.peak_usage), evaluation.peak_time, limit,
               evaluation.allowed ? "" : ", and a forbidden choice");
    holds = evaluation.feasible(problem);
    fmt::print("{}\n", holds ? "feasible" : "not feasible");
  }
  if (!options.check_certificate.empty()) {
    const labelling::Certificate certificate = labelling::read_certificate(options.check_certificate);
    if (labelling::check_infeasible(problem, certificate))
      fmt::print("the certificate proves that nothing is feasible\n");
    else
      fmt::print("the certificate proves the bound {}\n",
                 labelling::to_string(labelling::check_bound(problem, certificate)));
  }
  return holds ? 0 : 1;
}

/// Throws if a file could not be written there: better before the search than after it.
void check_output(const std::string& path) {
  if (!path.empty()) PendingFile{path};
}

void check_options(const Options& options) {
  RHINO_CHECK_AS(UsageError, options.seconds > 0 && std::isfinite(options.seconds), "--seconds must be above 0, not {}",
                 options.seconds);
  RHINO_CHECK_AS(UsageError, options.work >= 0, "--work must not be negative, as {} is", options.work);
  check_output(options.output);
  check_output(options.certificate);
}

void write_proof(const std::string& path, const labelling::Solution& solution) {
  labelling::Certificate certificate = solution.certificate;
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  if (solution.bound && *solution.bound <= largest && *solution.bound >= -largest)
    certificate.claim = static_cast<std::int64_t>(*solution.bound);
  labelling::write_certificate(path, certificate);
}

int run(const Options& options) {
  check_options(options);
  const labelling::Problem problem = labelling::read_problem(options.file);
  if (!options.check.empty() || !options.check_certificate.empty()) return check(problem, options);
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
  if (!options.certificate.empty()) write_proof(options.certificate, solution);
  if (solution.status == labelling::Status::Infeasible) {
    const bool certified = labelling::check_infeasible(problem, solution.certificate);
    fmt::print("no assignment is feasible ({}) seconds {:.2f}\n", certified ? "certified" : "proved by the solver alone", elapsed());
    return 1;
  }
  const std::string bound = solution.bound ? labelling::to_string(*solution.bound) : "unknown";
  if (solution.status == labelling::Status::Unknown) {
    fmt::print("no feasible assignment was found; bound {} seconds {:.2f}\n", bound, elapsed());
    return 1;
  }
  if (!options.output.empty()) labelling::write_assignment(options.output, solution.assignment);
  if (solution.status == labelling::Status::Optimal)
    fmt::print("optimal ({})\n", solution.bound && solution.cost <= *solution.bound
                                     ? "certified"
                                     : "every branch was searched; the certificate alone proves the bound below");
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
  cli.add_option("--certificate", options->certificate, "Write why no answer costs less than the bound");
  cli.add_option("--check", options->check, "Do not solve: evaluate the strategies in this file");
  cli.add_option("--check-certificate", options->check_certificate,
                 "Do not solve: recompute the bound that this file proves, or refuse it");
  return [options] { return run(*options); };
}

}  // namespace command_bench_labelling

const Command bench_labelling_command = {
    "bench labelling", "choose one strategy per node under a memory limit (files of the ASPLOS 2025 contest)",
    "rhino bench labelling problem.json.gz --seconds 60 -o solution.json --certificate proof.json\n"
    "rhino bench labelling problem.json.gz --check solution.json --check-certificate proof.json",
    command_bench_labelling::declare};

}  // namespace rhino::app
