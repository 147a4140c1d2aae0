// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/labelling/reduction.hpp>

#include <algorithm>
#include <cmath>
#include <deque>

#include <rhino/base/error.hpp>

#include "time_points.hpp"

namespace rhino::plan::labelling {
namespace {

constexpr std::size_t largest_table = 4096;      // of an edge that an elimination makes
constexpr std::size_t dominance_budget = 20000;  // of a variable: pairs of states x degree
constexpr Real largest_exact = 9.0e15;

Real real_of(std::int64_t cost) { return cost >= forbidden ? infinite : static_cast<Real>(cost); }

class Reducer {
 public:
  explicit Reducer(const Problem& problem) : problem_(problem) {}

  Reduction run() {
    load();
    while (!infeasible_ && !(simple_.empty() && costly_.empty())) {
      auto& queue = simple_.empty() ? costly_ : simple_;
      const int v = queue.front();
      queue.pop_front();
      if (&queue == &simple_) {
        nodes_[v].queued = false;
        if (nodes_[v].alive) simplify(v);
      } else {
        nodes_[v].queued_costly = false;
        if (nodes_[v].alive) drop_dominated(v);
      }
    }
    return finish();
  }

 private:
  struct Work : Variable {
    std::vector<int> links;
    std::vector<int> label;  // strategy of the node per state
    std::vector<Reduction::Member> members;
    bool alive = true;
    bool queued = false;
    bool queued_costly = false;
  };
  struct WorkLink : Link {
    bool alive = true;
    int other(int v) const { return v == first ? second : first; }
  };

  void load();
  Reduction finish();

  void touch(int v) {
    if (!nodes_[v].queued) {
      nodes_[v].queued = true;
      simple_.push_back(v);
    }
    if (!nodes_[v].queued_costly) {
      nodes_[v].queued_costly = true;
      costly_.push_back(v);
    }
  }
  void touch_around(int v) {
    touch(v);
    for (const int l : nodes_[v].links) touch(links_[l].other(v));
  }

  Real& entry(WorkLink& link, int v, int state, int other_state) {
    return link.first == v ? link.cost[static_cast<std::size_t>(state) * nodes_[link.second].cost.size() + other_state]
                           : link.cost[static_cast<std::size_t>(other_state) * nodes_[link.second].cost.size() + state];
  }

  int link_between(int u, int v) const {
    const int from = nodes_[u].links.size() < nodes_[v].links.size() ? u : v;
    for (const int l : nodes_[from].links)
      if (links_[l].other(from) == (from == u ? v : u)) return l;
    return -1;
  }
  void detach(int l) {
    WorkLink& link = links_[l];
    link.alive = false;
    for (const int end : {link.first, link.second}) std::erase(nodes_[end].links, l);
    link.cost = {};
  }
  /// Adds a table [states of u][states of v] to the link of u and v.
  void add_table(int u, int v, std::vector<Real> table) {
    const int l = link_between(u, v);
    if (l < 0) {
      const int made = static_cast<int>(links_.size());
      WorkLink link;
      link.first = u;
      link.second = v;
      link.cost = std::move(table);
      links_.push_back(std::move(link));
      nodes_[u].links.push_back(made);
      nodes_[v].links.push_back(made);
      return;
    }
    WorkLink& link = links_[l];
    const int rows = nodes_[u].states(), columns = nodes_[v].states();
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) entry(link, u, i, j) += table[static_cast<std::size_t>(i) * columns + j];
  }

  void step(ProofStep::Kind kind, int node, int state, int other) { steps_.push_back({kind, node, state, other}); }

  void simplify(int v);
  bool drop_unsupported(int v);
  void drop_states(int v, const std::vector<char>& dropped);
  void fix(int v);
  bool separate(int l);
  bool follows(int l, int v, std::vector<int>& function);
  void join(int v, int u, int l, const std::vector<int>& function);
  bool eliminate(int v);
  void drop_dominated(int v);
  bool dominates(int v, int better, int worse);
  bool no_choice_of_usage(int v) const;
  void settle_usage(int v);
  void adopt(int u, std::vector<Reduction::Member> members, const std::vector<int>& function);

  const Problem& problem_;
  std::vector<Work> nodes_;
  std::vector<WorkLink> links_;
  std::deque<int> simple_, costly_;
  std::vector<Reduction::Elimination> eliminations_;
  std::vector<ProofStep> steps_;
  std::vector<Item> fixed_;  // usage that is decided: one number each
  TimePoints times_;
  int slots_ = 0;
  Real constant_ = 0;
  bool infeasible_ = false;
  bool exact_ = true;
};

void Reducer::load() {
  const int count = static_cast<int>(problem_.nodes.size());
  nodes_.resize(count);
  slots_ = count;
  if (problem_.usage_limit) times_ = TimePoints(problem_);
  Real magnitude = 0;
  const auto note = [&](Real cost) {
    if (cost < infinite) magnitude = std::max(magnitude, std::abs(cost));
  };
  for (int v = 0; v < count; ++v) {
    const Node& node = problem_.nodes[v];
    Work& work = nodes_[v];
    const auto [lower, upper] = times_.range(node.live);
    const bool counts = problem_.usage_limit && !node.live.empty();
    std::vector<int> own;
    Item item{lower, upper, {}};
    for (std::size_t s = 0; s < node.cost.size(); ++s) {
      if (node.cost[s] >= forbidden || (counts && node.usage[s] > *problem_.usage_limit)) continue;
      own.push_back(static_cast<int>(s));
      work.cost.push_back(real_of(node.cost[s]));
      note(work.cost.back());
      item.usage.push_back(node.usage[s]);
    }
    if (own.empty()) infeasible_ = true;
    if (counts && lower < upper) work.items.push_back(std::move(item));
    work.label = own;
    work.members.push_back({v, std::move(own)});
  }
  for (const Edge& edge : problem_.edges) {
    const Work &first = nodes_[edge.first], &second = nodes_[edge.second];
    const std::size_t columns = problem_.nodes[edge.second].cost.size();
    std::vector<Real> table;
    table.reserve(first.cost.size() * second.cost.size());
    for (const int i : first.label)
      for (const int j : second.label) {
        table.push_back(real_of(edge.cost[i * columns + j]));
        note(table.back());
      }
    add_table(edge.first, edge.second, std::move(table));
  }
  exact_ = magnitude * static_cast<Real>(problem_.nodes.size() + problem_.edges.size()) < largest_exact;
  for (int v = 0; v < count; ++v) touch(v);
}

void Reducer::drop_states(int v, const std::vector<char>& dropped) {
  Work& node = nodes_[v];
  std::vector<int> kept;
  for (int s = 0; s < node.states(); ++s)
    if (!dropped[s]) kept.push_back(s);
  for (const int l : node.links) {
    WorkLink& link = links_[l];
    const int u = link.other(v), others = nodes_[u].states();
    std::vector<Real> table(kept.size() * others);
    const bool leads = link.first == v;
    for (std::size_t i = 0; i < kept.size(); ++i)
      for (int j = 0; j < others; ++j)
        table[leads ? i * others + j : j * kept.size() + i] = entry(link, v, kept[i], j);
    link.cost.swap(table);
  }
  const auto keep = [&](auto& values) {
    for (std::size_t i = 0; i < kept.size(); ++i) values[i] = values[kept[i]];
    values.resize(kept.size());
  };
  keep(node.cost);
  keep(node.label);
  for (Item& item : node.items) keep(item.usage);
  for (auto& member : node.members) keep(member.state);
  if (kept.empty()) infeasible_ = true;
  touch_around(v);
}

/// Drops what costs infinitely much or has no partner on some link.
bool Reducer::drop_unsupported(int v) {
  Work& node = nodes_[v];
  std::vector<char> dropped(node.cost.size(), 0);
  bool any = false;
  for (int s = 0; s < node.states(); ++s) {
    bool possible = node.cost[s] < infinite;
    for (std::size_t k = 0; possible && k < node.links.size(); ++k) {
      WorkLink& link = links_[node.links[k]];
      const int others = nodes_[link.other(v)].states();
      possible = false;
      for (int t = 0; t < others && !possible; ++t) possible = entry(link, v, s, t) < infinite;
    }
    if (possible) continue;
    dropped[s] = 1;
    any = true;
    step(ProofStep::Kind::Drop, v, node.label[s], 0);
  }
  if (any) drop_states(v, dropped);
  return any;
}

bool Reducer::no_choice_of_usage(int v) const {
  for (const Item& item : nodes_[v].items)
    for (const std::int64_t usage : item.usage)
      if (usage != item.usage[0]) return false;
  return true;
}

/// The usage of a variable without a choice of usage is decided.
void Reducer::settle_usage(int v) {
  for (Item& item : nodes_[v].items) {
    item.usage.resize(1);
    if (item.usage[0] > 0) fixed_.push_back(std::move(item));
  }
  nodes_[v].items.clear();
}

/// A variable with one state: its costs go to its neighbours.
void Reducer::fix(int v) {
  Work& node = nodes_[v];
  step(ProofStep::Kind::Eliminate, v, 0, -1);
  settle_usage(v);
  constant_ += node.cost[0];
  touch_around(v);
  while (!node.links.empty()) {
    const int l = node.links.back(), u = links_[l].other(v);
    for (int t = 0; t < nodes_[u].states(); ++t) nodes_[u].cost[t] += entry(links_[l], v, 0, t);
    detach(l);
  }
  eliminations_.push_back({-1, -1, 0, {0}, std::move(node.members)});
  node.alive = false;
}

/// A link that is a sum of two functions of one variable each becomes costs of these variables.
bool Reducer::separate(int l) {
  WorkLink& link = links_[l];
  const int rows = nodes_[link.first].states(), columns = nodes_[link.second].states();
  for (const Real cost : link.cost)
    if (cost == infinite) return false;
  for (int i = 1; i < rows; ++i) {
    const Real* row = link.cost.data() + static_cast<std::size_t>(i) * columns;
    for (int j = 1; j < columns; ++j)
      if (row[j] - row[0] != link.cost[j] - link.cost[0]) return false;
  }
  for (int i = 0; i < rows; ++i) nodes_[link.first].cost[i] += link.cost[static_cast<std::size_t>(i) * columns];
  for (int j = 0; j < columns; ++j) nodes_[link.second].cost[j] += link.cost[j] - link.cost[0];
  step(ProofStep::Kind::Separate, link.first, 0, link.second);
  touch(link.first);
  touch(link.second);
  detach(l);
  return true;
}

/// Whether each state of v's neighbour on the link allows one state of v only; then that state per state of the neighbour.
bool Reducer::follows(int l, int v, std::vector<int>& function) {
  WorkLink& link = links_[l];
  const int others = nodes_[link.other(v)].states();
  if (others < nodes_[v].states()) return false;
  function.assign(others, -1);
  for (int t = 0; t < others; ++t)
    for (int s = 0; s < nodes_[v].states(); ++s) {
      if (entry(link, v, s, t) == infinite) continue;
      if (function[t] >= 0) return false;
      function[t] = s;
    }
  return std::find(function.begin(), function.end(), -1) == function.end();
}

void Reducer::adopt(int u, std::vector<Reduction::Member> members, const std::vector<int>& function) {
  for (auto& member : members) {
    std::vector<int> states(function.size());
    for (std::size_t t = 0; t < function.size(); ++t) states[t] = member.state[function[t]];
    nodes_[u].members.push_back({member.slot, std::move(states)});
  }
}

/// v, whose state is a function of u's, becomes a part of u. The cost of their link counts.
void Reducer::join(int v, int u, int l, const std::vector<int>& function) {
  step(ProofStep::Kind::Eliminate, v, 0, u);
  const int states = nodes_[u].states();
  for (int t = 0; t < states; ++t) nodes_[u].cost[t] += nodes_[v].cost[function[t]] + entry(links_[l], v, function[t], t);
  detach(l);
  touch_around(v);
  while (!nodes_[v].links.empty()) {
    const int k = nodes_[v].links.back(), w = links_[k].other(v), others = nodes_[w].states();
    std::vector<Real> table(static_cast<std::size_t>(states) * others);
    for (int t = 0; t < states; ++t)
      for (int j = 0; j < others; ++j) table[static_cast<std::size_t>(t) * others + j] = entry(links_[k], v, function[t], j);
    detach(k);
    add_table(u, w, std::move(table));
  }
  for (const Item& item : nodes_[v].items) {
    auto same = std::find_if(nodes_[u].items.begin(), nodes_[u].items.end(),
                             [&](const Item& other) { return other.lower == item.lower && other.upper == item.upper; });
    if (same == nodes_[u].items.end())
      same = nodes_[u].items.insert(same, Item{item.lower, item.upper, std::vector<std::int64_t>(states, 0)});
    for (int t = 0; t < states; ++t) same->usage[t] += item.usage[function[t]];
  }
  adopt(u, std::move(nodes_[v].members), function);
  nodes_[v] = Work{};
  nodes_[v].alive = false;
  touch_around(u);
}

/// The minimum over a variable without a choice of usage that has at most two neighbours.
bool Reducer::eliminate(int v) {
  Work& node = nodes_[v];
  if (node.links.size() > 2 || !no_choice_of_usage(v)) return false;
  const int states = node.states();
  if (node.links.empty()) {
    const auto best = static_cast<int>(std::min_element(node.cost.begin(), node.cost.end()) - node.cost.begin());
    settle_usage(v);
    step(ProofStep::Kind::Eliminate, v, 0, -1);
    constant_ += node.cost[best];
    eliminations_.push_back({-1, -1, 0, {best}, std::move(node.members)});
    node.alive = false;
    return true;
  }
  const int u = links_[node.links[0]].other(v);
  if (node.links.size() == 1) {
    WorkLink& link = links_[node.links[0]];
    std::vector<int> function(nodes_[u].cost.size());
    for (std::size_t t = 0; t < function.size(); ++t) {
      Real least = infinite;
      for (int s = 0; s < states; ++s) {
        const Real cost = node.cost[s] + entry(link, v, s, static_cast<int>(t));
        if (cost < least) least = cost, function[t] = s;
      }
    }
    settle_usage(v);
    join(v, u, node.links[0], function);
    return true;
  }
  const int w = links_[node.links[1]].other(v);
  const int rows = nodes_[u].states(), columns = nodes_[w].states();
  const std::size_t size = static_cast<std::size_t>(rows) * columns;
  if (size > largest_table || size * states > 64 * largest_table) return false;
  std::vector<Real> table(size, infinite);
  std::vector<int> best(size, 0);
  for (int i = 0; i < rows; ++i)
    for (int s = 0; s < states; ++s) {
      const Real half = node.cost[s] + entry(links_[node.links[0]], v, s, i);
      if (half == infinite) continue;
      for (int j = 0; j < columns; ++j) {
        const Real cost = half + entry(links_[node.links[1]], v, s, j);
        const std::size_t at = static_cast<std::size_t>(i) * columns + j;
        if (cost < table[at]) table[at] = cost, best[at] = s;
      }
    }
  settle_usage(v);
  step(ProofStep::Kind::Eliminate, v, 0, -1);
  // Slots that remember the neighbours' states as they are numbered now.
  const auto remember = [&](int node_index) {
    std::vector<int> same(nodes_[node_index].cost.size());
    for (std::size_t i = 0; i < same.size(); ++i) same[i] = static_cast<int>(i);
    nodes_[node_index].members.push_back({slots_, std::move(same)});
    return slots_++;
  };
  const int first = remember(u), second = remember(w);
  eliminations_.push_back({first, second, columns, std::move(best), std::move(node.members)});
  detach(node.links[1]);
  detach(node.links[0]);
  node.alive = false;
  add_table(u, w, std::move(table));
  touch_around(u);
  touch_around(w);
  return true;
}

void Reducer::simplify(int v) {
  if (drop_unsupported(v)) return;
  if (infeasible_) return;
  if (nodes_[v].states() == 1) return fix(v);
  for (std::size_t k = 0; k < nodes_[v].links.size();)
    if (!separate(nodes_[v].links[k])) ++k;
  std::vector<int> function;
  for (const int l : std::vector<int>(nodes_[v].links)) {
    const int u = links_[l].other(v);
    if (follows(l, v, function)) return join(v, u, l, function);
    if (follows(l, u, function)) return join(u, v, l, function);
  }
  eliminate(v);
}

bool Reducer::dominates(int v, int better, int worse) {
  Work& node = nodes_[v];
  for (const Item& item : node.items)
    if (item.usage[better] > item.usage[worse]) return false;
  Real slack = node.cost[worse] - node.cost[better];
  for (const int l : node.links) {
    WorkLink& link = links_[l];
    const int others = nodes_[link.other(v)].states();
    Real most = -infinite;
    for (int t = 0; t < others; ++t) {
      const Real bad = entry(link, v, worse, t);
      if (bad == infinite) continue;
      most = std::max(most, entry(link, v, better, t) - bad);
      if (most == infinite) return false;
    }
    slack -= most;
  }
  return slack >= 0;
}

void Reducer::drop_dominated(int v) {
  Work& node = nodes_[v];
  const std::size_t states = node.cost.size();
  if (!exact_ || states * states * (node.links.size() + 1) > dominance_budget) return;
  std::vector<char> dropped(states, 0);
  bool any = false;
  for (std::size_t worse = 0; worse < states; ++worse)
    for (std::size_t better = 0; better < states && !dropped[worse]; ++better) {
      if (better == worse || dropped[better] || !dominates(v, static_cast<int>(better), static_cast<int>(worse))) continue;
      dropped[worse] = 1;
      any = true;
      step(ProofStep::Kind::Dominated, v, node.label[worse], node.label[better]);
    }
  if (any) drop_states(v, dropped);
}

Reduction Reducer::finish() {
  Reduction result;
  result.infeasible = infeasible_;
  result.steps = std::move(steps_);
  result.slots = slots_;
  result.nodes = static_cast<int>(problem_.nodes.size());
  result.eliminations = std::move(eliminations_);
  if (infeasible_) return result;
  std::vector<int> number(nodes_.size(), -1);
  Network& network = result.network;
  network.constant = constant_;
  for (std::size_t v = 0; v < nodes_.size(); ++v) {
    if (!nodes_[v].alive) continue;
    number[v] = network.size();
    network.variables.push_back(std::move(static_cast<Variable&>(nodes_[v])));
    result.origin.push_back(static_cast<int>(v));
    result.strategies.push_back(static_cast<int>(problem_.nodes[v].cost.size()));
    result.labels.push_back(std::move(nodes_[v].label));
    result.members.push_back(std::move(nodes_[v].members));
  }
  for (WorkLink& link : links_) {
    if (!link.alive) continue;
    link.first = number[link.first];
    link.second = number[link.second];
    network.links.push_back(std::move(static_cast<Link&>(link)));
  }
  if (problem_.usage_limit && !times_.renumber(network, fixed_, *problem_.usage_limit, result.times))
    result.infeasible = true;
  return result;
}

}  // namespace

std::vector<int> Reduction::expand(std::span<const int> states) const {
  std::vector<int> value(slots, -1);
  for (std::size_t v = 0; v < members.size(); ++v)
    for (const Member& member : members[v]) value[member.slot] = member.state[states[v]];
  for (auto step = eliminations.rbegin(); step != eliminations.rend(); ++step) {
    const std::size_t at =
        step->first_slot < 0 ? 0 : static_cast<std::size_t>(value[step->first_slot]) * step->columns + value[step->second_slot];
    for (const Member& member : step->members) value[member.slot] = member.state[step->best[at]];
  }
  value.resize(nodes);
  return value;
}

Reduction reduce(const Problem& problem) { return Reducer(problem).run(); }

}  // namespace rhino::plan::labelling
