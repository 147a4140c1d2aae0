// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/labelling/solve.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <thread>

#include <rhino/base/error.hpp>

#include "branch.hpp"
#include "checker.hpp"
#include "dual.hpp"
#include "proof.hpp"
#include "reduction.hpp"
#include "search.hpp"
#include "tables.hpp"

namespace rhino::plan::labelling {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t most_round_work = 20'000'000;  // table look-ups of each of the two jobs of a round
constexpr std::int64_t first_branch_work = 1'000'000;  // of a first attempt, which solves the small ones
constexpr int closing_iterations = 100;                // of the bound, where the answer is known already
constexpr std::int64_t branch_work = 400'000'000;
constexpr std::int64_t bound_share = 6;                // look-ups of the bound are that much faster than those of a search
constexpr double dual_share = 0.5;               // of the limit, at most
constexpr double closing_seconds = 0.2;          // kept back to write the answer

/// Rounds of two jobs that know of each other only what was known when the round began, so that one thread and two give
/// the same answer. One job raises the bound, then searches too; the other one searches.
class Solver {
 public:
  Solver(const Problem& problem, const Options& options) : problem_(problem), options_(options) {
    if (options.work > 0) round_work_ = std::clamp<std::int64_t>(options.work / 20, 1, most_round_work);
  }

  Solution run() {
    reduction_ = reduce(problem_);
    if (reduction_.infeasible) {
      solution_.status = Status::Infeasible;
      solution_.certificate.steps = reduction_.steps;
      return std::move(solution_);
    }
    tables_ = std::make_unique<Tables>(reduction_.network);
    dual_ = std::make_unique<Dual>(*tables_);
    for (const std::uint64_t stream : {0, 1})
      searches_.push_back(std::make_unique<Search>(*tables_, 2 * options_.seed + stream));
    note_answer();
    branch(first_branch_work);
    if (exhausted_)
      for (int i = 0; i < closing_iterations && best_cost_ > dual_->best_bound(); ++i) dual_->iterate();
    while (!finished()) round();
    return close();
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - options_.begin).count(); }

  /// Which part of the limit is spent, as seen at the beginning of a round.
  double spent() const {
    if (options_.work > 0) return static_cast<double>(work_) / static_cast<double>(options_.work);
    return elapsed() / std::max(options_.seconds - closing_seconds, 1e-3);
  }

  bool finished() const { return optimal_ || exhausted_ || spent() >= 1 || elapsed() + 1.5 * round_seconds_ >= options_.seconds - closing_seconds; }

  void round() {
    const double now = spent(), begin = elapsed();
    const bool raising = !dual_done_;
    // What the searching job may know of the bounding one.
    if (raising) {
      prices_ = dual_->prices();
      rounded_ = dual_->rounded();
    }
    const auto first = [&] {
      if (raising) {
        raise_bound();
      } else {
        search(0, now);
      }
    };
    const auto second = [&] { search(1, now); };
    if (options_.threads > 1) {
      std::thread helper(first);
      second();
      helper.join();
    } else {
      first();
      second();
    }
    work_ += 2 * round_work_;
    ++rounds_;
    note_answer();
    round_seconds_ = elapsed() - begin;
    if (raising && (dual_->converged() || now >= dual_share)) finish_dual();
    share();
  }

  /// A cost that prices may aim at: of an answer, or some way above the bound.
  Real target_of_bound() const {
    if (best_cost_ < infinite) return best_cost_;
    const Real bound = std::max(dual_->best_bound(), tables_->constant());
    return bound + 0.5 * std::abs(bound) + 1;
  }

  void raise_bound() {
    const std::int64_t each = 4 * tables_->entries() + 20 * tables_->all_states() + 10 * tables_->times() + 1000;
    const std::int64_t count = std::max<std::int64_t>(1, bound_share * round_work_ / each);
    for (std::int64_t i = 0; i < count; ++i) dual_->iterate();
  }

  void search(int which, double now) {
    Search& search = *searches_[which];
    if (!dual_done_) return explore(search);
    const double begin = anneal_begin_, length = std::max(1 - begin, 1e-9);
    const double part = std::clamp((now - begin) / length, 0.0, 1.0);
    search.set_temperature(first_temperature(which) * std::pow(cooling, part));
    search.run(round_work_);
  }

  /// While the prices still move: what they suggest, made feasible.
  void explore(Search& search) {
    const std::int64_t end = search.work_done() + round_work_;
    search.set_temperature(0);
    std::vector<Real> prices = prices_;
    for (std::size_t t = 0; t < prices.size(); ++t) prices[t] += surcharge_;
    search.set_prices(prices);
    search.start(rounded_);
    search.descend(round_work_ / 4, 1);
    if (search.repair(round_work_ / 2))
      surcharge_ *= 0.5;
    else
      surcharge_ = std::max(4 * surcharge_, least_surcharge());
    if (search.feasible() && search.work_done() < end) search.run(end - search.work_done());
  }

  /// A small price of all usage: a thousandth of the costs' size for the whole limit.
  Real least_surcharge() const {
    Real capacity = 1, cost = 1;
    for (const std::int64_t value : tables_->capacity()) capacity += static_cast<Real>(value);
    for (int v = 0; v < tables_->size(); ++v)
      for (const Real value : tables_->cost(v))
        if (value < infinite) cost += std::abs(value) / tables_->states(v);
    return 1e-3 * cost / capacity;
  }

  /// One search stays near the best answer, the other one roams further.
  Real first_temperature(int which) const {
    return std::abs(best_at_anneal_) * (which == 0 ? 2e-6 : 3e-5) + 0.1;
  }

  void finish_dual() {
    dual_done_ = true;
    solution_.certificate = make_certificate(reduction_, *tables_, *dual_);
    solution_.bound = check_bound(problem_, solution_.certificate);
    branch(std::min(branch_work, options_.work > 0 ? options_.work / 4 : branch_work));
    anneal_begin_ = spent();
    best_at_anneal_ = best_cost_ < infinite ? best_cost_ : target_of_bound();
    for (auto& search : searches_) {
      search->set_prices(dual_->best_prices());
      search->start(best_.empty() ? dual_->rounded() : best_);
      if (!search->feasible()) search->repair(round_work_);
    }
    note_answer();
  }

  void branch(std::int64_t work) {
    Branch tree(*tables_, *dual_, best_cost_);
    exhausted_ = tree.run(work);
    work_ += tree.work_done();
    if (tree.best_cost() < best_cost_) take(tree.best_cost(), tree.best());
  }

  void take(Real cost, const std::vector<int>& states) {
    const std::vector<int> assignment = reduction_.expand(states);
    const Evaluation evaluation = evaluate(problem_, assignment);
    if (!evaluation.feasible(problem_)) return;
    const bool first = best_cost_ == infinite;
    best_cost_ = cost;
    best_ = states;
    if (first) solution_.seconds_to_first = elapsed();
    if (!first && evaluation.cost >= solution_.cost) return;
    solution_.assignment = assignment;
    solution_.cost = evaluation.cost;
    if (options_.on_progress) options_.on_progress({elapsed(), evaluation.cost, dual_->best_bound()});
  }

  void note_answer() {
    for (const auto& search : searches_)
      if (search->has_best() && search->best_cost() < best_cost_) take(search->best_cost(), search->best());
    optimal_ = solution_.bound && best_cost_ < infinite && solution_.cost <= *solution_.bound;
  }

  /// From time to time the search that is behind continues from where the other one is.
  void share() {
    if (!dual_done_ || rounds_ % 64 != 0) return;
    const int behind = searches_[0]->cost() > searches_[1]->cost() ? 0 : 1;
    const Search& ahead = *searches_[1 - behind];
    if (ahead.feasible()) searches_[behind]->start(std::vector<int>(ahead.states()));
  }

  Solution close() {
    if (!solution_.bound) {
      solution_.certificate = make_certificate(reduction_, *tables_, *dual_);
      solution_.bound = check_bound(problem_, solution_.certificate);
      note_answer();
    }
    solution_.work = work_;
    if (best_cost_ == infinite)
      solution_.status = exhausted_ ? Status::Infeasible : Status::Unknown;
    else
      solution_.status = optimal_ || exhausted_ ? Status::Optimal : Status::Feasible;
    return std::move(solution_);
  }

  static constexpr double cooling = 1e-3;

  const Problem& problem_;
  const Options& options_;
  Solution solution_;
  Reduction reduction_;
  std::unique_ptr<Tables> tables_;
  std::unique_ptr<Dual> dual_;
  std::vector<std::unique_ptr<Search>> searches_;
  std::vector<Real> prices_;
  std::vector<int> rounded_, best_;
  Real best_cost_ = infinite, best_at_anneal_ = infinite;
  Real surcharge_ = 0;
  double anneal_begin_ = 0, round_seconds_ = 0;
  std::int64_t round_work_ = most_round_work, work_ = 0, rounds_ = 0;
  bool dual_done_ = false, optimal_ = false, exhausted_ = false;
};

}  // namespace

Solution solve(const Problem& problem, const Options& options) {
  check_problem(problem);
  RHINO_CHECK_AS(UsageError, options.seconds > 0, "the time limit is {} seconds", options.seconds);
  RHINO_CHECK_AS(UsageError, options.work >= 0, "the work limit is {}", options.work);
  RHINO_CHECK_AS(UsageError, options.threads == 1 || options.threads == 2, "{} threads; 1 or 2 are possible", options.threads);
  return Solver(problem, options).run();
}

}  // namespace rhino::plan::labelling
