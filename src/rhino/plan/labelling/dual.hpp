// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tables.hpp"

namespace rhino::plan::labelling {

/// Ascent on a lower bound: the usage limit is relaxed into a price per point of time (Lagrange multipliers), the remaining
/// cost function network into messages along its links. Messages move by sequential tree-reweighted passes (Kolmogorov,
/// IEEE PAMI 28(10), 2006), prices by projected sub-gradient steps between passes,
/// towards a level above the best bound so far that adapts (Nedic and Bertsekas, SIAM J. Optimization 12(1), 2001). No
/// solution need be known.
class Dual {
 public:
  explicit Dual(const Tables& tables);

  /// One pass over all variables and back, each with a step of the prices.
  void iterate();

  Real best_bound() const noexcept { return best_bound_; }
  const std::vector<Real>& best_prices() const noexcept { return best_prices_; }
  /// Per link, of the best bound: message to the arc's own variable; index of an arc as in Tables.
  const std::vector<Real>& best_messages() const noexcept { return best_messages_; }
  const std::vector<Real>& prices() const noexcept { return prices_; }
  /// States rounded in the last pass: each variable's best one given those before it.
  const std::vector<int>& rounded() const noexcept { return rounded_; }
  /// Costs with prices and messages, per state: what the last pass thinks of each state.
  const std::vector<Real>& marginals() const noexcept { return marginals_; }
  int iterations() const noexcept { return iterations_; }
  /// Whether further iterations are not worth their time.
  bool converged() const noexcept { return slow_cycles_ >= 2; }

 private:
  template <bool Forward>
  void pass();
  void evaluate();
  void move_prices();
  void adapt_level();
  void return_to_best();

  const Tables& tables_;
  std::vector<int> order_, rank_, twin_;  // twin_: per arc, the same link's arc at the other end
  std::vector<Real> weight_;
  std::vector<std::size_t> message_begin_;  // per arc
  std::vector<Real> messages_, best_messages_, prices_, best_prices_, priced_, marginals_, work_;
  std::vector<Real> expected_, square_, direction_;
  std::vector<int> rounded_;
  Real bound_ = -infinite, best_bound_ = -infinite, level_ = 0, record_ = -infinite, cycle_bound_ = -infinite;
  int iterations_ = 0, stalled_ = 0, slow_cycles_ = 0;
};

}  // namespace rhino::plan::labelling
