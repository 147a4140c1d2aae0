// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/labelling/branch.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rhino::plan::labelling {
Branch::Branch(const Tables& tables, const Dual& dual, Real incumbent)
    : tables_(tables), x_(tables.size(), -1), usage_(tables.usage_of_nothing()), best_cost_(incumbent) {
  const bool known = !dual.best_messages().empty() || tables.links() == 0;
  std::vector<Real> prices = dual.best_prices();
  prices.resize(tables.times(), 0);
  std::vector<Real> priced;
  tables.price(prices, priced);
  bound_ = tables.constant();
  for (int t = 0; t < tables.times(); ++t) bound_ -= prices[t] * static_cast<Real>(tables.capacity()[t]);
  // The message of each arc to its own variable, and where each link's first arc begins.
  std::vector<const Real*> to_first(tables.links(), nullptr), to_second(tables.links(), nullptr);
  std::vector<Real> zeros(known ? 0 : 1 << 20, 0);
  const Real* next = dual.best_messages().data();
  excess_.resize(tables.size());
  tables_excess_.resize(tables.size());
  for (int v = 0; v < tables.size(); ++v) {
    const int states = tables.states(v);
    excess_[v].assign(priced.begin() + tables.offset(v), priced.begin() + tables.offset(v) + states);
    for (const auto& arc : tables.arcs(v)) {
      (to_first[arc.link] == nullptr ? to_first : to_second)[arc.link] = next;
      for (int s = 0; s < states && known; ++s) excess_[v][s] += next[s];
      if (known) next += states;
    }
  }
  for (int v = 0; v < tables.size(); ++v) {
    const Real low = *std::min_element(excess_[v].begin(), excess_[v].end());
    bound_ += low;
    for (Real& value : excess_[v]) value -= low;
    for (const auto& arc : tables.arcs(v)) {
      tables_excess_[v].emplace_back();
      if (arc.other < v) continue;
      auto& table = tables_excess_[v].back();
      const auto others = static_cast<std::size_t>(tables.states(arc.other));
      table.assign(arc.by_own, arc.by_own + tables.states(v) * others);
      for (std::size_t i = 0; i < table.size() && known; ++i)
        table[i] -= to_first[arc.link][i / others] + to_second[arc.link][i % others];
      const Real lowest = *std::min_element(table.begin(), table.end());
      bound_ += lowest;
      for (Real& value : table) value -= lowest;
    }
  }
  tolerance_ = 1e-9 * (1 + std::abs(bound_));
}

Real Branch::least(int v) const { return *std::min_element(excess_[v].begin(), excess_[v].end()); }

/// The free variable with the fewest states that may still be within the incumbent; then the largest regret.
int Branch::choose() const {
  int best = -1;
  Real best_regret = -1;
  for (int v = 0; v < tables_.size(); ++v) {
    if (x_[v] >= 0) continue;
    Real low = infinite, second = infinite;
    for (const Real value : excess_[v]) {
      if (value < low) {
        second = low;
        low = value;
      } else {
        second = std::min(second, value);
      }
    }
    const Real regret = second - low;
    if (regret > best_regret) best = v, best_regret = regret;
    if (regret == infinite) break;
  }
  return best;
}

bool Branch::descend(Real bound) {
  const int v = choose();
  work_ += 4 * tables_.all_states();
  if (work_ > limit_) return false;
  if (v < 0) {
    const Real cost = tables_.cost_of(x_);
    if (cost < best_cost_) {
      best_cost_ = cost;
      best_ = x_;
    }
    return true;
  }
  const int states = tables_.states(v);
  std::vector<int> order(states);
  std::iota(order.begin(), order.end(), 0);
  const std::vector<Real> own = excess_[v];
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return own[a] < own[b]; });
  const Real low = own[order[0]];
  bool complete = true;
  for (const int s : order) {
    if (own[s] == infinite || bound + (own[s] - low) > best_cost_ - 1 + tolerance_) break;
    for (const auto& use : tables_.uses(v)) usage_.add(use.lower, use.upper, use.usage[s]);
    if (usage_.greatest() <= 0) {
      x_[v] = s;
      Real now = bound + (own[s] - low);
      std::vector<Saved> saved;
      const auto arcs = tables_.arcs(v);
      for (std::size_t a = 0; a < arcs.size(); ++a) {
        const int u = arcs[a].other;
        if (x_[u] >= 0) continue;
        saved.push_back({u, excess_[u]});
        const Real before = least(u);
        const auto count = static_cast<std::size_t>(tables_.states(u));
        if (u > v) {
          const Real* const row = tables_excess_[v][a].data() + s * count;
          for (std::size_t t = 0; t < count; ++t) excess_[u][t] += row[t];
        } else {
          const auto back = tables_.arcs(u);
          std::size_t b = 0;
          while (back[b].other != v) ++b;
          for (std::size_t t = 0; t < count; ++t) excess_[u][t] += tables_excess_[u][b][t * states + s];
        }
        now += least(u) - before;
        work_ += 2 * static_cast<std::int64_t>(count);
      }
      if (now <= best_cost_ - 1 + tolerance_) complete = descend(now);
      for (auto it = saved.rbegin(); it != saved.rend(); ++it) excess_[it->variable] = std::move(it->excess);
      x_[v] = -1;
    }
    for (const auto& use : tables_.uses(v)) usage_.add(use.lower, use.upper, -use.usage[s]);
    if (!complete) return false;
  }
  return true;
}

bool Branch::run(std::int64_t work) {
  limit_ = work_ + work;
  if (tables_.size() > 2000) return false;
  if (bound_ > best_cost_ - 1 + tolerance_) return true;
  return descend(bound_);
}

}  // namespace rhino::plan::labelling
