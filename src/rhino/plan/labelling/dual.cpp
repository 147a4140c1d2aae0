// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/labelling/dual.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rhino::plan::labelling {
namespace {

constexpr Real first_level = 0.1, restart_level = 0.01, least_level = 2e-6;  // of the bound: how far above it prices aim
constexpr Real raise = 1.2, lower = 0.7;  // of the level, when it is reached or not
constexpr int patience = 10;              // iterations without enough progress
constexpr Real slow_cycle = 5e-5;         // of the bound: a cycle that gains less is slow
constexpr Real memory = 0.7;              // of past sub-gradients in the direction
constexpr Real least_spread = 1e-9;
constexpr Real spread_memory = 0.99;      // of their squares in the scale of each price

}  // namespace

Dual::Dual(const Tables& tables) : tables_(tables) {
  const int count = tables.size();
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), 0);
  rank_ = order_;
  weight_.resize(count);
  std::vector<int> first_arc(tables.links(), -1);
  std::size_t next = 0;
  for (int v = 0; v < count; ++v) {
    int before = 0, after = 0;
    for (const auto& arc : tables.arcs(v)) {
      const int index = static_cast<int>(message_begin_.size());
      (rank_[arc.other] < rank_[v] ? before : after)++;
      message_begin_.push_back(next);
      next += tables.states(v);
      twin_.push_back(-1);
      if (first_arc[arc.link] < 0) {
        first_arc[arc.link] = index;
      } else {
        twin_[index] = first_arc[arc.link];
        twin_[first_arc[arc.link]] = index;
      }
    }
    weight_[v] = Real{1} / std::max({before, after, 1});
  }
  messages_.assign(next, 0);
  prices_.assign(tables.times(), 0);
  expected_.assign(tables.times() + 1, 0);
  square_.assign(tables.times(), 0);
  direction_.assign(tables.times(), 0);
  rounded_.assign(count, 0);
  marginals_.assign(tables.all_states(), 0);
  tables_.price(prices_, priced_);
}

/// Continues from the best prices and messages so far.
void Dual::return_to_best() {
  prices_ = best_prices_;
  messages_ = best_messages_;
  bound_ = best_bound_;
  std::fill(direction_.begin(), direction_.end(), Real{0});
  tables_.price(prices_, priced_);
}

/// How far above the best bound the prices aim: further while that is reached, less far where it is not. When it has become
/// small, a new cycle begins with a larger one.
void Dual::adapt_level() {
  if (best_bound_ >= record_ + 0.5 * level_) {
    record_ = best_bound_;
    level_ *= raise;
    stalled_ = 0;
  } else if (++stalled_ >= patience) {
    record_ = best_bound_;
    level_ *= lower;
    stalled_ = 0;
    return_to_best();
  }
  const Real size = std::abs(best_bound_) + 1;
  if (level_ >= least_level * size) return;
  slow_cycles_ = best_bound_ - cycle_bound_ <= slow_cycle * size ? slow_cycles_ + 1 : 0;
  cycle_bound_ = best_bound_;
  level_ = restart_level * size;
}

template <bool Forward>
void Dual::pass() {
  const int count = tables_.size();
  std::fill(expected_.begin(), expected_.end(), Real{0});
  std::vector<Real> sum, given;
  for (int k = 0; k < count; ++k) {
    const int v = order_[Forward ? k : count - 1 - k], states = tables_.states(v);
    const auto arcs = tables_.arcs(v);
    Real* const marginal = marginals_.data() + tables_.offset(v);
    std::copy_n(priced_.data() + tables_.offset(v), states, marginal);
    given.assign(marginal, marginal + states);
    int out = 0;
    for (std::size_t a = 0; a < arcs.size(); ++a) {
      const int index = tables_.arc_begin(v) + static_cast<int>(a), u = arcs[a].other;
      Real* const message = messages_.data() + message_begin_[index];
      const bool behind = Forward ? rank_[u] < rank_[v] : rank_[u] > rank_[v];
      if (behind) {
        const Real* const back = messages_.data() + message_begin_[twin_[index]];
        const int others = tables_.states(u);
        std::fill_n(message, states, infinite);
        const Real* row = arcs[a].by_other;
        for (int t = 0; t < others; ++t, row += states) {
          const Real known = back[t];
          for (int s = 0; s < states; ++s) message[s] = std::min(message[s], row[s] - known);
        }
        const Real* const fixed = arcs[a].by_other + static_cast<std::size_t>(rounded_[u]) * states;
        for (int s = 0; s < states; ++s) given[s] += fixed[s];
      } else {
        ++out;
        for (int s = 0; s < states; ++s) given[s] += message[s];
      }
      for (int s = 0; s < states; ++s) marginal[s] += message[s];
    }
    rounded_[v] = static_cast<int>(std::min_element(given.begin(), given.end()) - given.begin());
    const int best = static_cast<int>(std::min_element(marginal, marginal + states) - marginal);
    for (const auto& use : tables_.uses(v)) {
      const Real usage = static_cast<Real>(use.usage[best]);
      expected_[use.lower] += usage;
      expected_[use.upper] -= usage;
    }
    if (out > 0) {
      const Real weight = weight_[v];
      const Real least = marginal[best];
      for (std::size_t a = 0; a < arcs.size(); ++a) {
        const int index = tables_.arc_begin(v) + static_cast<int>(a), u = arcs[a].other;
        if (Forward ? rank_[u] < rank_[v] : rank_[u] > rank_[v]) continue;
        Real* const message = messages_.data() + message_begin_[index];
        for (int s = 0; s < states; ++s)
          if (marginal[s] < infinite) message[s] -= weight * (marginal[s] - least);
      }
    }
  }
}

/// The bound of the messages and prices as they are.
void Dual::evaluate() {
  Real sum = tables_.constant();
  std::vector<Real> total;
  for (int v = 0; v < tables_.size(); ++v) {
    const int states = tables_.states(v);
    const auto arcs = tables_.arcs(v);
    total.assign(priced_.data() + tables_.offset(v), priced_.data() + tables_.offset(v) + states);
    for (std::size_t a = 0; a < arcs.size(); ++a) {
      const int index = tables_.arc_begin(v) + static_cast<int>(a);
      const Real* const own = messages_.data() + message_begin_[index];
      for (int s = 0; s < states; ++s) total[s] += own[s];
      if (arcs[a].other < v) continue;
      const Real* const back = messages_.data() + message_begin_[twin_[index]];
      const int others = tables_.states(arcs[a].other);
      Real least = infinite;
      const Real* row = arcs[a].by_other;
      for (int t = 0; t < others; ++t, row += states) {
        Real lowest = infinite;
        for (int s = 0; s < states; ++s) lowest = std::min(lowest, row[s] - own[s]);
        least = std::min(least, lowest - back[t]);
      }
      sum += least;
    }
    sum += *std::min_element(total.begin(), total.end());
  }
  for (int t = 0; t < tables_.times(); ++t) sum -= prices_[t] * static_cast<Real>(tables_.capacity()[t]);
  bound_ = sum;
  if (bound_ > best_bound_) {
    best_bound_ = bound_;
    best_prices_ = prices_;
    best_messages_ = messages_;
  }
}

/// A step to the level along the mean of the recent sub-gradients, each price scaled by how much its own ones vary.
void Dual::move_prices() {
  if (tables_.times() == 0) return;
  Real usage = 0, norm = 0;
  for (int t = 0; t < tables_.times(); ++t) {
    usage += expected_[t];
    Real gradient = usage - static_cast<Real>(tables_.capacity()[t]);
    square_[t] = spread_memory * square_[t] + (1 - spread_memory) * gradient * gradient;
    if (prices_[t] <= 0 && gradient < 0) gradient = 0;
    direction_[t] = memory * direction_[t] + (1 - memory) * gradient;
    if (prices_[t] <= 0 && direction_[t] < 0) direction_[t] = 0;
    norm += direction_[t] * direction_[t] / (std::sqrt(square_[t]) + least_spread);
  }
  if (norm <= 0) return;
  const Real step = (best_bound_ + level_ - bound_) / norm;
  for (int t = 0; t < tables_.times(); ++t)
    prices_[t] = std::max(Real{0}, prices_[t] + step * direction_[t] / (std::sqrt(square_[t]) + least_spread));
  tables_.price(prices_, priced_);
}

void Dual::iterate() {
  pass<true>();
  if (iterations_ > 0) move_prices();
  pass<false>();
  evaluate();
  if (iterations_ == 0) {
    record_ = cycle_bound_ = best_bound_;
    level_ = first_level * (std::abs(best_bound_) + 1);
  }
  adapt_level();
  move_prices();
  ++iterations_;
}

}  // namespace rhino::plan::labelling
