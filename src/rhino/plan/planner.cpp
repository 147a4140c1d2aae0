// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/planner.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include <rhino/base/error.hpp>
#include <rhino/base/log.hpp>
#include <rhino/base/strings.hpp>
#include <rhino/plan/fold.hpp>
#include <rhino/plan/local_search.hpp>
#include <rhino/plan/pricing.hpp>
#include <rhino/plan/recipes.hpp>
#include <rhino/plan/state_split.hpp>

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
  std::int64_t least_bytes = 0;  ///< with the training state split as far as it goes
  std::int64_t held_bytes = 0;   ///< of those `bytes` for states and the batch
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

std::vector<Proposal> starting_plans(const std::string& strategy, std::int64_t devices, int level) {
  const std::vector<Recipe> recipes = enumerate_recipes(devices, level >= 2 ? 3 : 2);
  if (devices == 1 || strategy == "data") return {{recipes[0], false}};
  if (strategy == "tensor") return {{recipes[1], false}};
  std::vector<Proposal> proposals;
  for (const Recipe& recipe : recipes) proposals.push_back({recipe, false});
  return proposals;
}

/// Of level 1: how many starting plans are searched from, the fastest ones and the leanest ones.
constexpr std::size_t kFromFastest = 6, kFromLeanest = 3;

/// Programs of more ops are planned without keeping each candidate.
constexpr std::size_t kLargestKept = 20'000;

/// The starting plans that are worth improving: those that fit `limit` once their states are split, and the leanest ones.
std::vector<Proposal> plans_to_improve(const std::vector<Proposal>& starting, const std::vector<Verdict>& verdicts, std::int64_t limit,
                                       int level) {
  std::vector<std::size_t> order(starting.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<bool> chosen(starting.size(), level >= 2);
  const auto choose = [&](std::size_t count, auto key) {
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(verdicts[a]) < key(verdicts[b]); });
    for (std::size_t i = 0; i < std::min(count, order.size()); ++i) chosen[order[i]] = true;
  };
  choose(kFromFastest, [&](const Verdict& v) { return std::pair(v.least_bytes > limit, v.compute + v.communication); });
  choose(kFromLeanest, [](const Verdict& v) { return v.least_bytes; });
  std::vector<Proposal> improved;
  for (std::size_t i = 0; i < starting.size(); ++i) {
    if (chosen[i]) improved.push_back({starting[i].recipe, true});
  }
  return improved;
}

/// What is searched: the program, or in its place one with repeated blocks folded.
class Subject {
 public:
  Subject(const ir::Program& program, const ir::Signature& signature, bool fold) : whole_(program), whole_signature_(signature) {
    if (fold) folded_ = fold_repeats(program, signature);
  }

  bool is_folded() const { return folded_.has_value(); }
  const ir::Program& program() const { return folded_ ? folded_->program : whole_; }
  const ir::Signature& signature() const { return folded_ ? folded_->signature : whole_signature_; }
  Pricer pricer(const cluster::Mesh& mesh) const {
    return folded_ ? Pricer(folded_->program, mesh, folded_->op_weight, folded_->param_weight) : Pricer(whole_, mesh);
  }
  shard::Sharding whole(shard::Sharding sharding) const { return folded_ ? unfold(*folded_, whole_, sharding) : std::move(sharding); }

 private:
  const ir::Program& whole_;
  const ir::Signature& whole_signature_;
  std::optional<FoldedProgram> folded_;
};

/// Deterministic: every rank makes the same sharding of a proposal.
shard::Sharding make(const Proposal& proposal, const Subject& subject, Pricer& pricer, std::int64_t limit, int level) {
  shard::Sharding sharding = make_sharding(subject.program(), subject.signature(), proposal.recipe);
  if (proposal.improved) {
    LocalSearchOptions options;
    if (level >= 2) {
      options.sweeps = 16;
      options.work_limit *= 10;
    }
    improve(pricer, subject.signature(), sharding, options);
    StateSplitter(pricer, subject.signature()).fit(sharding, limit);
  }
  return sharding;
}

/// A proposal on the whole program.
struct Finalist {
  shard::Sharding sharding;
  PredictedTime time;
  std::int64_t bytes = 0;
};

double best_seconds(const std::optional<Finalist>& best) {
  return best ? best->time.total : std::numeric_limits<double>::infinity();
}

}  // namespace

Plan find_plan(const ir::Program& program, const ir::Signature& signature, const cluster::Cluster& cluster,
               const PlannerOptions& options, SearchBoard& board) {
  RHINO_CHECK_AS(UsageError, options.strategy == "auto" || options.strategy == "data" || options.strategy == "tensor",
                 "plan.strategy is \"{}\"; known are auto, data, tensor and the path of a plan file", options.strategy);
  const std::int64_t devices = cluster.devices();
  const Subject subject(program, signature, devices > 1);
  const std::int64_t limit =
      options.memory_limit > 0 ? options.memory_limit : static_cast<std::int64_t>(cluster.device.memory_bytes);
  // The bytes of a folded program are an estimate.
  const std::int64_t usable = limit - options.reserve;
  const std::int64_t target = subject.is_folded() ? usable - usable / 32 : usable;
  Plan plan;
  const auto updates = signature.updates();
  std::vector<Proposal> proposals;
  std::vector<Verdict> verdicts;
  Verdict leanest;
  leanest.bytes = std::numeric_limits<std::int64_t>::max();
  // What this rank made, by candidate, so that it need not make it again; not where that would fill the memory.
  std::map<std::size_t, shard::Sharding> made;
  const bool keep = subject.program().entry().ops.size() < kLargestKept;
  // Prices proposals together with the other ranks and adds them to the candidates.
  const auto price_round = [&](const std::vector<Proposal>& round) {
    board.begin(static_cast<std::int64_t>(round.size()));
    while (const auto drawn = board.draw()) {
      const Proposal& proposal = round[static_cast<std::size_t>(*drawn)];
      Pricer pricer = subject.pricer(cluster::lay_out(proposal.recipe.mesh, cluster));
      const shard::Sharding sharding = make(proposal, subject, pricer, target, options.level);
      const PredictedTime time = pricer.price(sharding);
      const std::int64_t bytes = pricer.bytes_per_rank(sharding, subject.signature().updates());
      const std::int64_t least = proposal.improved ? bytes : StateSplitter(pricer, subject.signature()).least_bytes(sharding);
      board.publish(*drawn, pack({time.compute, time.communication, bytes, least, pricer.held_bytes(sharding)}));
      board.announce(time.total);
      if (keep) made.emplace(proposals.size() + static_cast<std::size_t>(*drawn), sharding);
    }
    const auto results = board.agree();
    for (std::size_t i = 0; i < round.size(); ++i) {
      const Verdict verdict = unpack(results[i]);
      plan.candidates.push_back({name_of(round[i]), verdict.compute + verdict.communication, verdict.bytes, verdict.bytes <= usable});
      proposals.push_back(round[i]);
      verdicts.push_back(verdict);
      if (verdict.bytes < leanest.bytes) leanest = verdict;
    }
  };
  const std::vector<Proposal> starting = starting_plans(options.strategy, devices, options.level);
  price_round(starting);
  if (options.strategy == "auto" && devices > 1) price_round(plans_to_improve(starting, verdicts, target, options.level));
  std::vector<std::size_t> by_time(proposals.size());
  std::iota(by_time.begin(), by_time.end(), std::size_t{0});
  std::stable_sort(by_time.begin(), by_time.end(),
                   [&](std::size_t a, std::size_t b) { return plan.candidates[a].seconds < plan.candidates[b].seconds; });

  // On the whole program: the fastest that fits, and of a folded one also the plain plans, whose prices were estimates too.
  std::optional<Finalist> best;
  const auto consider = [&](std::size_t i) {
    const cluster::Mesh mesh = cluster::lay_out(proposals[i].recipe.mesh, cluster);
    Pricer all(program, mesh);
    const auto known = made.find(i);
    Finalist finalist;
    if (known != made.end()) {
      finalist.sharding = subject.whole(known->second);
    } else {
      Pricer few = subject.pricer(mesh);
      finalist.sharding = subject.whole(make(proposals[i], subject, few, target, options.level));
    }
    finalist.bytes = all.bytes_per_rank(finalist.sharding, updates);
    if (finalist.bytes > usable) return false;
    finalist.time = all.price(finalist.sharding);
    if (!best || finalist.time.total < best->time.total) best = std::move(finalist);
    return true;
  };
  for (const std::size_t i : by_time) {
    if (plan.candidates[i].feasible && consider(i)) break;
  }
  if (subject.is_folded() && options.strategy == "auto") {
    for (const std::size_t plain : {std::size_t{0}, std::size_t{1}}) {
      if (plain < proposals.size() && plan.candidates[plain].feasible && plan.candidates[plain].seconds < 1.2 * best_seconds(best)) consider(plain);
    }
  }
  RHINO_CHECK(best.has_value(),
              "no plan fits {} per rank: the leanest of {} candidates needs about {}, {} of it for states and the batch and {} for "
              "what is alive at once in a step; raise plan.memory_limit, use more ranks or a smaller batch",
              human_bytes(limit), proposals.size(), human_bytes(leanest.bytes + options.reserve), human_bytes(leanest.held_bytes),
              human_bytes(leanest.bytes + options.reserve - leanest.held_bytes));

  plan.sharding = std::move(best->sharding);
  plan.predicted = best->time;
  plan.program_hash = hash(program);
  plan.devices = devices;
  plan.strategy_name = options.strategy;
  plan.seed = options.seed;
  plan.level = options.level;
  plan.cluster_name = cluster.name;
  plan.options = fmt::format("strategy = \"{}\", level = {}, memory_limit = {}", options.strategy, options.level, options.memory_limit);
  return plan;
}

}  // namespace rhino::plan
