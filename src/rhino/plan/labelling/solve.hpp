// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "certificate.hpp"
#include "problem.hpp"

namespace rhino::plan::labelling {

enum class Status {
  Optimal,     ///< feasible, and its cost is the proven bound
  Feasible,    ///< feasible
  Infeasible,  ///< proved: nothing is feasible
  Unknown,     ///< nothing feasible was found
};

struct Progress {
  double seconds = 0;  ///< since Options::begin
  std::optional<Wide> cost;
  double bound = 0;  ///< as the solver sees it, not yet certified
};

struct Options {
  double seconds = 60;    ///< of wall time since `begin`; infinite is allowed if `work` is set
  std::int64_t work = 0;  ///< if > 0, the limit is this number of table look-ups, and the answer depends on nothing else
  int threads = 2;        ///< 1 or 2; with a work limit the answer is the same
  std::uint64_t seed = 1;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  std::function<void(const Progress&)> on_progress;  ///< called by solve's own thread when the cost improves
};

struct Solution {
  Status status = Status::Unknown;
  std::vector<int> assignment;  ///< a strategy per node; empty if none was found
  Wide cost = 0;
  std::optional<Wide> bound;  ///< what check_bound computes from the certificate
  Certificate certificate;    ///< of the bound, or of Status::Infeasible if check_infeasible accepts it
  double seconds_to_first = 0;
  std::int64_t work = 0;
};

/// Chooses the strategies. Anytime: the best found within the limits; never infeasible. Throws InputError as check_problem,
/// UsageError for options that make no sense.
Solution solve(const Problem& problem, const Options& options = {});

}  // namespace rhino::plan::labelling
