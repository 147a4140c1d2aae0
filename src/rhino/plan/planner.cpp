// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/planner.hpp>

#include <cstring>
#include <limits>

#include <fmt/core.h>

#include <rhino/base/error.hpp>
#include <rhino/base/log.hpp>
#include <rhino/base/strings.hpp>
#include <rhino/plan/local_search.hpp>
#include <rhino/plan/pricing.hpp>
#include <rhino/plan/recipes.hpp>

namespace rhino::plan {

namespace {

/// A candidate: a recipe, taken as it is or improved op by op.
struct Proposal {
  Recipe recipe;
  bool improved = false;
};

/// What is published about a candidate.
struct Verdict {
  double compute = 0;
  double communication = 0;
  std::int64_t bytes = 0;
};

std::vector<std::byte> pack(const Verdict& verdict) {
  std::vector<std::byte> out(sizeof(Verdict));
  std::memcpy(out.data(), &verdict, sizeof(Verdict));
  return out;
}

Verdict unpack(const std::vector<std::byte>& bytes) {
  RHINO_ASSERT(bytes.size() == sizeof(Verdict), "a candidate's result has {} bytes", bytes.size());
  Verdict verdict;
  std::memcpy(&verdict, bytes.data(), sizeof(Verdict));
  return verdict;
}

std::string name_of(const Proposal& proposal) {
  return (proposal.improved ? "search from " : "") + to_string(proposal.recipe);
}

std::vector<Proposal> propose(const std::string& strategy, std::int64_t devices, int level) {
  std::vector<Recipe> recipes = enumerate_recipes(devices, level >= 2 ? 3 : 2);
  std::vector<Proposal> proposals;
  if (devices == 1) return {{recipes.front(), false}};
  if (strategy == "data") return {{recipes[0], false}};
  if (strategy == "tensor") return {{recipes[1], false}};
  for (const Recipe& recipe : recipes) proposals.push_back({recipe, false});
  for (const Recipe& recipe : recipes) proposals.push_back({recipe, true});
  return proposals;
}

/// Deterministic: every rank makes the same sharding of a proposal.
shard::Sharding make(const Proposal& proposal, const ir::Program& program, const ir::Signature& signature, Pricer& pricer,
                     int level) {
  shard::Sharding sharding = make_sharding(program, signature, proposal.recipe);
  if (proposal.improved) {
    LocalSearchOptions options;
    if (level >= 2) {
      options.sweeps = 16;
      options.work_limit *= 10;
    }
    improve(pricer, signature, sharding, options);
  }
  return sharding;
}

}  // namespace

Plan find_plan(const ir::Program& program, const ir::Signature& signature, const cluster::Cluster& cluster,
               const PlannerOptions& options, SearchBoard& board) {
  RHINO_CHECK_AS(UsageError, options.strategy == "auto" || options.strategy == "data" || options.strategy == "tensor",
                 "plan.strategy is \"{}\"; known are auto, data, tensor and the path of a plan file", options.strategy);
  const std::int64_t devices = cluster.devices();
  const std::vector<Proposal> proposals = propose(options.strategy, devices, options.level);
  board.begin(static_cast<std::int64_t>(proposals.size()));
  while (const auto drawn = board.draw()) {
    const Proposal& proposal = proposals[static_cast<std::size_t>(*drawn)];
    Pricer pricer(program, cluster::lay_out(proposal.recipe.mesh, cluster));
    const shard::Sharding sharding = make(proposal, program, signature, pricer, options.level);
    const PredictedTime time = pricer.price(sharding);
    board.publish(*drawn, pack({time.compute, time.communication, pricer.bytes_per_rank(sharding)}));
    board.announce(time.total);
  }
  const auto results = board.agree();

  const std::int64_t limit =
      options.memory_limit > 0 ? options.memory_limit : static_cast<std::int64_t>(cluster.device.memory_bytes);
  Plan plan;
  std::size_t winner = proposals.size();
  double best = std::numeric_limits<double>::infinity();
  std::int64_t least_bytes = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    const Verdict verdict = unpack(results[i]);
    const double seconds = verdict.compute + verdict.communication;
    const bool feasible = verdict.bytes <= limit;
    plan.candidates.push_back({name_of(proposals[i]), seconds, verdict.bytes, feasible});
    least_bytes = std::min(least_bytes, verdict.bytes);
    if (feasible && seconds < best) {
      best = seconds;
      winner = i;
    }
  }
  RHINO_CHECK(winner < proposals.size(), "no plan fits {} per rank: the leanest of {} candidates needs about {}, {} too much; "
              "raise plan.memory_limit, use more ranks or a smaller batch",
              human_bytes(limit), proposals.size(), human_bytes(least_bytes),
              human_bytes(least_bytes - limit));

  Pricer pricer(program, cluster::lay_out(proposals[winner].recipe.mesh, cluster));
  plan.sharding = make(proposals[winner], program, signature, pricer, options.level);
  plan.program_hash = hash(program);
  plan.devices = devices;
  plan.strategy_name = options.strategy;
  plan.predicted = pricer.price(plan.sharding);
  plan.seed = options.seed;
  plan.level = options.level;
  plan.cluster_name = cluster.name;
  plan.options = fmt::format("strategy = \"{}\", level = {}, memory_limit = {}", options.strategy, options.level, options.memory_limit);
  return plan;
}

}  // namespace rhino::plan
