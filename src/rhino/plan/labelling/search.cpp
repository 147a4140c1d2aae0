// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/labelling/search.hpp>

#include <algorithm>
#include <cmath>

namespace rhino::plan::labelling {
Search::Search(const Tables& tables, std::uint64_t seed)
    : tables_(tables), dice_(seed), usage_({}), start_(tables.usage_of_nothing()) {
  priced_.assign(tables.all_states(), 0);
  touching_.assign(tables.size(), 0);
  position_.assign(tables.size(), -1);
  start(std::vector<int>(tables.size(), 0));
}

void Search::start(std::span<const int> states) {
  x_.assign(states.begin(), states.end());
  local_ = tables_.all_costs();
  usage_ = UsageTree(start_);
  for (int v = 0; v < tables_.size(); ++v) {
    Real* const local = local_.data() + tables_.offset(v);
    for (const auto& arc : tables_.arcs(v)) {
      const Real* const row = arc.by_other + static_cast<std::size_t>(x_[arc.other]) * tables_.states(v);
      for (int s = 0; s < tables_.states(v); ++s) local[s] += row[s];
    }
    for (const auto& use : tables_.uses(v)) usage_.add(use.lower, use.upper, use.usage[x_[v]]);
  }
  cost_ = tables_.cost_of(x_);
  note_best();
}

void Search::set_prices(const std::vector<Real>& prices) {
  tables_.price(prices, priced_);
  Real sum = 0;
  for (int i = 0; i < tables_.all_states(); ++i) priced_[i] -= tables_.all_costs()[i];
  for (const Real price : prices) sum += price;
  excess_weight_ = 3 * sum;
}

void Search::note_best() {
  if (!(cost_ < best_cost_) || !feasible()) return;
  best_cost_ = cost_;
  best_ = x_;
}

void Search::change_usage(int v, int from, int to) {
  for (const auto& use : tables_.uses(v)) usage_.add(use.lower, use.upper, use.usage[to] - use.usage[from]);
}

void Search::set_state(int v, int state) {
  const int from = x_[v];
  cost_ += local_[tables_.offset(v) + state] - local_[tables_.offset(v) + from];
  for (const auto& arc : tables_.arcs(v)) {
    const std::size_t others = tables_.states(arc.other);
    const Real* const before = arc.by_own + from * others;
    const Real* const after = arc.by_own + state * others;
    Real* const local = local_.data() + tables_.offset(arc.other);
    for (std::size_t s = 0; s < others; ++s) local[s] += after[s] - before[s];
  }
  x_[v] = state;
}

void Search::undo() {
  for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
    change_usage(change->variable, x_[change->variable], change->from);
    set_state(change->variable, change->from);
  }
}

bool Search::accept(Real cost_change, Real excess_before) {
  const Real change = cost_change + excess_weight_ * (static_cast<Real>(excess()) - excess_before);
  if (excess_before == 0 && excess() > 0) return false;
  if (change <= 0) return true;
  return temperature_ > 0 && dice_.uniform() < std::exp(-change / temperature_);
}

/// A random tree of variables in which no two are linked but along the tree.
void Search::grow(int root, int most) {
  tree_.assign(1, root);
  parent_.assign(1, -1);
  up_.assign(1, nullptr);
  position_[root] = 0;
  work_ += 10;
  for (const auto& arc : tables_.arcs(root)) ++touching_[arc.other];
  // Candidates: arcs out of the tree, drawn at random.
  struct Candidate {
    int from;
    const Tables::Arc* arc;
  };
  static thread_local std::vector<Candidate> candidates;
  candidates.clear();
  for (const auto& arc : tables_.arcs(root)) candidates.push_back({0, &arc});
  while (!candidates.empty() && static_cast<int>(tree_.size()) < most) {
    const int pick = dice_.below(static_cast<int>(candidates.size()));
    const Candidate candidate = candidates[pick];
    candidates[pick] = candidates.back();
    candidates.pop_back();
    const int v = candidate.arc->other;
    if (position_[v] >= 0 || touching_[v] != 1) continue;
    const int at = static_cast<int>(tree_.size());
    position_[v] = at;
    tree_.push_back(v);
    parent_.push_back(candidate.from);
    up_.push_back(candidate.arc);
    for (const auto& arc : tables_.arcs(v)) {
      ++touching_[arc.other];
      if (position_[arc.other] < 0) candidates.push_back({at, &arc});
    }
    work_ += static_cast<std::int64_t>(tables_.arcs(v).size());
  }
  for (const int v : tree_) {
    position_[v] = -1;
    for (const auto& arc : tables_.arcs(v)) touching_[arc.other] = 0;
  }
}

/// The best states of the tree's variables, the others' given, into chosen_.
void Search::optimise_tree(Real noise, Real price_factor) {
  const int count = static_cast<int>(tree_.size());
  score_begin_.assign(1, 0);
  choice_begin_.assign(1, 0);
  for (int i = 0; i < count; ++i) {
    score_begin_.push_back(score_begin_.back() + tables_.states(tree_[i]));
    choice_begin_.push_back(choice_begin_.back() + (i == 0 ? 0 : tables_.states(tree_[parent_[i]])));
  }
  score_.resize(score_begin_.back());
  choice_.resize(choice_begin_.back());
  chosen_.resize(count);
  for (int i = 0; i < count; ++i) {
    const int v = tree_[i], states = tables_.states(v);
    const Real* const local = local_.data() + tables_.offset(v);
    const Real* const priced = priced_.data() + tables_.offset(v);
    Real* const score = score_.data() + score_begin_[i];
    for (int s = 0; s < states; ++s) score[s] = local[s] + price_factor * priced[s];
    if (noise > 0)
      for (int s = 0; s < states; ++s) score[s] += noise * -std::log(dice_.uniform() + 1e-300);
  }
  // What a tree neighbour's present state adds to the local costs does not count.
  for (int i = 1; i < count; ++i) {
    const int v = tree_[i], u = tree_[parent_[i]];
    const auto own = static_cast<std::size_t>(tables_.states(v)), others = static_cast<std::size_t>(tables_.states(u));
    // up_ is the parent's arc to v: by_other is [state of v][state of parent], by_own [state of parent][state of v].
    const Real* const to_parent = up_[i]->by_other + x_[v] * others;
    const Real* const to_child = up_[i]->by_own + x_[u] * own;
    Real* const score = score_.data() + score_begin_[i];
    Real* const above = score_.data() + score_begin_[parent_[i]];
    for (std::size_t s = 0; s < own; ++s) score[s] -= to_child[s];
    for (std::size_t s = 0; s < others; ++s) above[s] -= to_parent[s];
  }
  for (int i = count - 1; i > 0; --i) {
    const auto own = static_cast<std::size_t>(tables_.states(tree_[i]));
    const auto others = static_cast<std::size_t>(tables_.states(tree_[parent_[i]]));
    const Real* const score = score_.data() + score_begin_[i];
    Real* const above = score_.data() + score_begin_[parent_[i]];
    int* const choice = choice_.data() + choice_begin_[i];
    const Real* row = up_[i]->by_own;
    for (std::size_t t = 0; t < others; ++t, row += own) {
      Real least = row[0] + score[0];
      int best = 0;
      for (std::size_t s = 1; s < own; ++s) {
        const Real cost = row[s] + score[s];
        if (cost < least) least = cost, best = static_cast<int>(s);
      }
      above[t] += least;
      choice[t] = best;
    }
    work_ += static_cast<std::int64_t>(own * others);
  }
  chosen_[0] = static_cast<int>(std::min_element(score_.begin(), score_.begin() + score_begin_[1]) - score_.begin());
  for (int i = 1; i < count; ++i) chosen_[i] = choice_[choice_begin_[i] + chosen_[parent_[i]]];
}

void Search::try_tree() {
  const int root = dice_.below(tables_.size());
  const int most = 2 + static_cast<int>(std::exp(dice_.uniform() * std::log(200.0)));
  grow(root, most);
  const Real factor = dice_.below(4) == 0 ? 0 : dice_.uniform() * 2;
  optimise_tree(temperature_, factor);
  const Real before = cost_, excess_before = static_cast<Real>(excess());
  changes_.clear();
  for (std::size_t i = 0; i < tree_.size(); ++i) {
    const int v = tree_[i];
    if (chosen_[i] == x_[v]) continue;
    changes_.push_back({v, x_[v]});
    change_usage(v, x_[v], chosen_[i]);
    set_state(v, chosen_[i]);
    work_ += 10 * static_cast<std::int64_t>(tables_.uses(v).size()) + 8 * static_cast<std::int64_t>(tables_.arcs(v).size());
  }
  if (changes_.empty()) return;
  if (accept(cost_ - before, excess_before))
    note_best();
  else
    undo();
}

void Search::try_flip() {
  const int v = dice_.below(tables_.size()), states = tables_.states(v);
  int s = dice_.below(states - 1);
  if (s >= x_[v]) ++s;
  const Real* const local = local_.data() + tables_.offset(v);
  const Real change = local[s] - local[x_[v]];
  work_ += 10;
  if (change > 0 && feasible() && (temperature_ <= 0 || dice_.uniform() >= std::exp(-change / temperature_))) return;
  const int from = x_[v];
  const Real excess_before = static_cast<Real>(excess());
  change_usage(v, from, s);
  work_ += 10 * static_cast<std::int64_t>(tables_.uses(v).size());
  const bool good = excess_before == 0 ? excess() == 0 : accept(change, excess_before);
  if (!good) return change_usage(v, s, from);
  set_state(v, s);
  work_ += 8 * static_cast<std::int64_t>(tables_.arcs(v).size());
  note_best();
}

void Search::run(std::int64_t work) {
  if (tables_.size() == 0) return;
  const std::int64_t end = work_ + work;
  while (work_ < end) {
    for (int i = 0; i < 20; ++i) try_flip();
    try_tree();
  }
}

void Search::descend(std::int64_t work, Real price_factor) {
  if (tables_.size() == 0) return;
  const std::int64_t end = work_ + work;
  while (work_ < end) {
    grow(dice_.below(tables_.size()), 400);
    optimise_tree(0, price_factor);
    for (std::size_t i = 0; i < tree_.size(); ++i) {
      const int v = tree_[i];
      if (chosen_[i] == x_[v]) continue;
      change_usage(v, x_[v], chosen_[i]);
      set_state(v, chosen_[i]);
    }
    note_best();
  }
}

bool Search::repair(std::int64_t work) {
  const std::int64_t end = work_ + work;
  while (!feasible() && work_ < end) {
    const int time = usage_.greatest_time();
    const std::int64_t before = excess();
    int best_variable = -1, best_state = -1;
    Real best_ratio = infinite;
    for (int v = 0; v < tables_.size(); ++v) {
      const auto uses = tables_.uses(v);
      const int states = tables_.states(v);
      work_ += static_cast<std::int64_t>(uses.size());
      for (int s = 0; s < states; ++s) {
        std::int64_t change = 0;
        for (const auto& use : uses)
          if (use.lower <= time && time < use.upper) change += use.usage[s] - use.usage[x_[v]];
        if (change >= 0) continue;
        const Real cost = local_[tables_.offset(v) + s] - local_[tables_.offset(v) + x_[v]] +
                          priced_[tables_.offset(v) + s] - priced_[tables_.offset(v) + x_[v]];
        const Real gain = static_cast<Real>(std::min(-change, before));
        const Real ratio = (cost > 0 ? cost / gain : cost * gain) * (0.9 + 0.2 * dice_.uniform());
        if (ratio >= best_ratio) continue;
        change_usage(v, x_[v], s);
        const bool better = excess() < before || usage_.greatest_time() != time;
        change_usage(v, s, x_[v]);
        if (!better) continue;
        best_ratio = ratio;
        best_variable = v;
        best_state = s;
      }
    }
    if (best_variable < 0) return false;
    change_usage(best_variable, x_[best_variable], best_state);
    set_state(best_variable, best_state);
  }
  note_best();
  return feasible();
}

}  // namespace rhino::plan::labelling
