// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rhino/base/hash.hpp>
#include <rhino/ir/program.hpp>
#include <rhino/shard/sharding.hpp>

namespace rhino::ir {
struct Signature;
}

namespace rhino::plan {

enum class Schedule : std::uint8_t { None, GPipe, OneForwardOneBackward, Interleaved, TokenLevel };

/// Where a predicted second goes.
struct PredictedTime {
  double compute = 0;        ///< seconds per step
  double communication = 0;  ///< seconds per step, not counting what hides behind compute
  double total = 0;
};

/// A candidate that was considered, for reports.
struct Candidate {
  std::string name;  ///< e.g. "data x=4", "tensor x=2, data y=2", "search from data x=4"
  double seconds = 0;
  std::int64_t bytes_per_rank = 0;
  bool feasible = true;
};

/// Everything that was decided about how a Program runs on many devices. A value: equal inputs give an equal Plan whatever the
/// number of searching ranks. Stages, micro-batches, schedule and recomputation have their places, but no planner uses them yet.
struct Plan {
  static constexpr int format_version = 1;

  Hash128 program_hash;        ///< of the Program that it belongs to (plan::hash)
  std::int64_t devices = 1;
  std::string strategy_name;   ///< how it came about: "auto", "data", "tensor", or a name of the user's
  shard::Sharding sharding;    ///< mesh, and the strategy of each op

  // Pipeline and time.
  std::int64_t stages = 1;
  std::vector<std::uint32_t> stage_of_op;  ///< per op of the entry function; empty with one stage
  std::int64_t micro_batches = 1;
  Schedule schedule = Schedule::None;

  // Memory.
  std::vector<std::uint32_t> recomputed_ops;        ///< ops of the entry function that run again in the backward pass
  std::vector<std::uint32_t> optimizer_sharded;     ///< state parameters split over axes on which their weight is whole
  std::vector<std::int64_t> bytes_per_rank;         ///< exact arena bytes; one entry per rank (one in all if equal)

  // What the planner believes.
  PredictedTime predicted;
  double lower_bound_seconds = 0;  ///< no plan of the searched space is faster (0: not proven)
  std::vector<Candidate> candidates;

  // What reproduces it.
  std::uint64_t seed = 0;
  int level = 1;
  std::string cluster_name;
  std::string options;  ///< resolved [plan] section of the deck
  bool operator==(const Plan&) const;
};

/// Hash of what a plan depends on: functions, ops, attributes and types (not names or locations).
Hash128 hash(const ir::Program& program);

/// Throws InputError unless `plan` belongs to `program`, is complete and fits `devices`.
void check_plan(const Plan& plan, const ir::Program& program, std::int64_t devices);

/// Text form: header, mesh, candidates, layouts of the parameters (by path, where `signature` is given) and of the operands
/// and results of products and convolutions.
std::string to_string(const Plan& plan, const ir::Program& program, const ir::Signature* signature = nullptr);

}  // namespace rhino::plan
