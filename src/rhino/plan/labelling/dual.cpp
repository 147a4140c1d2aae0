// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/labelling/dual.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rhino::plan::labelling {
namespace {

constexpr Real smallest_scale = 1e-3;
constexpr Real restart_scale = 0.25;

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
  gradient_.assign(tables.times(), 0);
  direction_.assign(tables.times(), 0);
  rounded_.assign(count, 0);
  marginals_.assign(tables.all_states(), 0);
  tables_.price(prices_, priced_);
}

/// Steps of a good size again, from the best prices so far.
void Dual::begin_cycle(Real target) {
  slow_cycles_ = best_bound_ - cycle_bound_ <= 0.005 * (target - best_bound_) ? slow_cycles_ + 1 : 0;
  cycle_bound_ = best_bound_;
  scale_ = restart_scale;
  prices_ = best_prices_;
  messages_ = best_messages_;
  std::fill(direction_.begin(), direction_.end(), Real{0});
  tables_.price(prices_, priced_);
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

void Dual::move_prices(Real target) {
  if (tables_.times() == 0) return;
  Real usage = 0, norm = 0;
  for (int t = 0; t < tables_.times(); ++t) {
    usage += expected_[t];
    Real gradient = usage - static_cast<Real>(tables_.capacity()[t]);
    if (prices_[t] <= 0 && gradient < 0) gradient = 0;
    direction_[t] = 0.7 * direction_[t] + 0.3 * gradient;
    if (prices_[t] <= 0 && direction_[t] < 0) direction_[t] = 0;
    norm += direction_[t] * direction_[t];
  }
  if (norm <= 0) return;
  const Real known = best_bound_ > -infinite ? best_bound_ : tables_.constant();
  const Real room = std::max(target - known, std::abs(known) * 1e-6);
  const Real step = scale_ * room / norm;
  for (int t = 0; t < tables_.times(); ++t) prices_[t] = std::max(Real{0}, prices_[t] + step * direction_[t]);
  tables_.price(prices_, priced_);
}

void Dual::iterate(Real target) {
  pass<true>();
  move_prices(target);
  pass<false>();
  evaluate();
  if (++stalled_ >= 20) {
    if (best_bound_ - last_check_ <= 0.01 * (target - best_bound_)) scale_ *= 0.7;
    last_check_ = best_bound_;
    stalled_ = 0;
    if (scale_ < smallest_scale) begin_cycle(target);
  }
  move_prices(target);
  ++iterations_;
}

}  // namespace rhino::plan::labelling
