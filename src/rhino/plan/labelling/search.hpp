// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tables.hpp"
#include "usage_tree.hpp"

namespace rhino::plan::labelling {

/// A fast generator of the search's own (xorshift64*): its numbers are part of what makes answers reproducible.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 0x2545f4914f6cdd1dULL) {
    for (int i = 0; i < 8; ++i) next();
  }
  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1dULL;
  }
  /// Uniform in [0, count).
  int below(int count) { return static_cast<int>((static_cast<Wide>(next()) & 0xffffffffffffffff) * count >> 64); }
  Real uniform() { return static_cast<Real>(next() >> 11) * 0x1p-53; }

 private:
  __extension__ typedef unsigned __int128 Wide;
  std::uint64_t state_;
};

/// Local search on a network: simulated annealing whose moves optimise random trees of variables exactly (by dynamic
/// programming, with random noise of the temperature's size) under prices for usage; single variables too. While some
/// point of time is over the limit, the excess counts as cost.
class Search {
 public:
  Search(const Tables& tables, std::uint64_t seed);

  /// Starts over from these states.
  void start(std::span<const int> states);
  /// Prices per point of time that guide the moves.
  void set_prices(const std::vector<Real>& prices);
  void set_temperature(Real temperature) { temperature_ = temperature; }
  /// Makes moves that cost about `work` table look-ups.
  void run(std::int64_t work);

  /// Optimises trees without noise under the prices, whatever the limit, until nothing improves or the work is spent.
  void descend(std::int64_t work, Real price_factor);
  /// Tries to get under the limit everywhere by the cheapest changes at the greatest excess. True if it succeeded.
  bool repair(std::int64_t work);

  bool feasible() const { return usage_.greatest() <= 0; }
  std::int64_t excess() const { return std::max<std::int64_t>(0, usage_.greatest()); }
  Real cost() const noexcept { return cost_; }
  const std::vector<int>& states() const noexcept { return x_; }
  bool has_best() const noexcept { return !best_.empty() || tables_.size() == 0; }
  Real best_cost() const noexcept { return best_cost_; }
  const std::vector<int>& best() const noexcept { return best_; }
  std::int64_t work_done() const noexcept { return work_; }

 private:
  struct Change {
    int variable;
    int from;
  };

  void set_state(int v, int state);
  void change_usage(int v, int from, int to);
  void grow(int root, int most);
  void optimise_tree(Real noise, Real price_factor);
  void try_tree();
  void try_flip();
  bool accept(Real cost_change, Real excess_before);
  void undo();
  void note_best();

  const Tables& tables_;
  Dice dice_;
  std::vector<int> x_, best_;
  std::vector<Real> local_;   // per state: its cost given the neighbours' states
  std::vector<Real> priced_;  // per state: the prices of its usage
  UsageTree usage_;           // usage less capacity
  std::vector<std::int64_t> start_;
  Real cost_ = 0, best_cost_ = infinite, temperature_ = 0, excess_weight_ = 0;
  std::int64_t work_ = 0;
  // A tree of variables: in the order in which it grew, with each one's parent.
  std::vector<int> tree_, parent_, touching_, position_;
  std::vector<const Tables::Arc*> up_;
  std::vector<Real> score_;
  std::vector<int> choice_, score_begin_, choice_begin_, chosen_;
  std::vector<Change> changes_;
};

}  // namespace rhino::plan::labelling
