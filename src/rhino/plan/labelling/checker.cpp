// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/labelling/checker.hpp>

#include <algorithm>
#include <map>
#include <unordered_map>

#include <rhino/base/error.hpp>

namespace rhino::plan::labelling {
namespace {

/// Infinite, with room for sums of two without overflow. Finite numbers stay below a quarter of it.
constexpr Wide unbounded = static_cast<Wide>(1) << 125;
constexpr Wide largest = static_cast<Wide>(1) << 122;

Wide plus(Wide a, Wide b) {
  if (a >= unbounded || b >= unbounded) return unbounded;
  const Wide sum = a + b;
  RHINO_CHECK(sum < largest && sum > -largest, "the certificate's numbers need more than 128 bits");
  return sum;
}

class Replay {
 public:
  Replay(const Problem& problem, const Certificate& certificate) : problem_(problem), certificate_(certificate) {
    RHINO_CHECK(certificate.shift >= 0 && certificate.shift <= 40, "the certificate's shift is {}", certificate.shift);
    price();
    load();
  }

  /// False if the steps leave a node without strategies.
  bool replay() {
    for (std::size_t i = 0; i < certificate_.steps.size(); ++i) {
      const ProofStep& step = certificate_.steps[i];
      at_ = i;
      need(alive(step.node), "it names a node that is not there");
      switch (step.kind) {
        case ProofStep::Kind::Drop: drop(step); break;
        case ProofStep::Kind::Dominated: drop_dominated(step); break;
        case ProofStep::Kind::Separate: separate(step); break;
        case ProofStep::Kind::Eliminate: eliminate(step); break;
      }
    }
    for (const Part& part : parts_)
      if (part.alive && part.live_states() == 0) return false;
    return true;
  }

  Wide bound() {
    send_messages();
    Wide sum = constant_;
    for (const Part& part : parts_)
      if (part.alive) sum = plus(sum, part.least());
    for (const Table& table : tables_)
      if (table.alive) sum = plus(sum, least_of(table));
    if (sum >= unbounded) return unbounded;
    for (const auto& price : certificate_.prices)
      if (problem_.usage_limit) sum = plus(sum, -static_cast<Wide>(price.price) * *problem_.usage_limit);
    // Costs are whole, so a bound may be rounded up.
    const Wide unit = static_cast<Wide>(1) << certificate_.shift;
    return sum >= 0 ? (sum + unit - 1) / unit : -(-sum / unit);
  }

 private:
  struct Part {
    std::vector<Wide> cost;  // unbounded where a strategy is dropped
    std::vector<char> dropped;
    std::unordered_map<int, int> tables;  // neighbour -> table
    bool alive = true;

    int live_states() const { return static_cast<int>(std::count(dropped.begin(), dropped.end(), 0)); }
    Wide least() const {
      Wide least = unbounded;
      for (std::size_t s = 0; s < cost.size(); ++s)
        if (!dropped[s]) least = std::min(least, cost[s]);
      return least;
    }
  };
  struct Table {
    int first = 0;
    int second = 0;
    std::size_t columns = 0;
    std::vector<Wide> cost;
    bool alive = true;
  };

  void need(bool holds, const char* what) const { RHINO_CHECK(holds, "step {} of the certificate: {}", at_, what); }
  bool alive(int v) const { return v >= 0 && v < static_cast<int>(parts_.size()) && parts_[v].alive; }
  bool is_state(int v, int s) const {
    return s >= 0 && s < static_cast<int>(parts_[v].cost.size()) && !parts_[v].dropped[s];
  }
  Wide& entry(Table& table, int v, std::size_t own, std::size_t other) {
    return table.first == v ? table.cost[own * table.columns + other] : table.cost[other * table.columns + own];
  }

  /// The integral of the prices, to charge intervals.
  void price() {
    for (const auto& price : certificate_.prices) {
      RHINO_CHECK(price.price >= 0, "the certificate has a negative price");
      changes_[price.time] += price.price;
    }
    Wide sum = 0;
    for (auto& [time, until] : changes_) {
      until = plus(sum, until);
      sum = until;
    }
  }
  /// Of all points of time before `time`.
  Wide price_before(std::int64_t time) const {
    const auto next = changes_.lower_bound(time);
    return next == changes_.begin() ? 0 : std::prev(next)->second;
  }

  Wide scaled(std::int64_t cost) const {
    return cost >= forbidden ? unbounded : static_cast<Wide>(cost) * (static_cast<Wide>(1) << certificate_.shift);
  }

  void load() {
    parts_.resize(problem_.nodes.size());
    for (std::size_t v = 0; v < parts_.size(); ++v) {
      const Node& node = problem_.nodes[v];
      Part& part = parts_[v];
      const bool counts = problem_.usage_limit && !node.live.empty();
      const Wide price = counts ? price_before(node.live.upper) - price_before(node.live.lower) : 0;
      for (std::size_t s = 0; s < node.cost.size(); ++s) {
        const bool possible = node.cost[s] < forbidden && !(counts && node.usage[s] > *problem_.usage_limit);
        part.dropped.push_back(!possible);
        Wide charge = 0;
        if (possible && price > 0 && node.usage[s] > 0) {
          RHINO_CHECK(price < largest / node.usage[s], "the certificate's numbers need more than 128 bits");
          charge = price * node.usage[s];
        }
        part.cost.push_back(possible ? plus(scaled(node.cost[s]), charge) : unbounded);
      }
    }
    for (const Edge& edge : problem_.edges) {
      std::vector<Wide> cost;
      cost.reserve(edge.cost.size());
      for (const std::int64_t value : edge.cost) cost.push_back(scaled(value));
      add_table(edge.first, edge.second, std::move(cost));
    }
  }

  int table_of(int u, int v) const {
    const auto found = parts_[u].tables.find(v);
    return found == parts_[u].tables.end() ? -1 : found->second;
  }
  void add_table(int u, int v, std::vector<Wide> cost) {
    const int known = table_of(u, v);
    const std::size_t columns = parts_[v].cost.size();
    if (known < 0) {
      const int made = static_cast<int>(tables_.size());
      tables_.push_back({u, v, columns, std::move(cost), true});
      parts_[u].tables[v] = made;
      parts_[v].tables[u] = made;
      return;
    }
    for (std::size_t i = 0; i < parts_[u].cost.size(); ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        Wide& sum = entry(tables_[known], u, i, j);
        sum = plus(sum, cost[i * columns + j]);
      }
  }
  void remove_table(int index) {
    Table& table = tables_[index];
    parts_[table.first].tables.erase(table.second);
    parts_[table.second].tables.erase(table.first);
    table.alive = false;
    table.cost = {};
  }

  Wide least_of(const Table& table) const {
    Wide least = unbounded;
    for (std::size_t i = 0; i < parts_[table.first].cost.size(); ++i)
      for (std::size_t j = 0; j < table.columns; ++j)
        if (!parts_[table.first].dropped[i] && !parts_[table.second].dropped[j])
          least = std::min(least, table.cost[i * table.columns + j]);
    return least;
  }

  void drop(const ProofStep& step) {
    need(is_state(step.node, step.state), "it drops a strategy that is not there");
    Part& part = parts_[step.node];
    bool possible = part.cost[step.state] < unbounded;
    for (const auto& [u, index] : part.tables) {
      bool partner = false;
      for (std::size_t t = 0; t < parts_[u].cost.size() && !partner; ++t)
        partner = !parts_[u].dropped[t] && entry(tables_[index], step.node, step.state, t) < unbounded;
      possible = possible && partner;
    }
    need(!possible, "it drops a strategy that is possible");
    part.dropped[step.state] = 1;
  }

  void drop_dominated(const ProofStep& step) {
    need(is_state(step.node, step.state) && is_state(step.node, step.other) && step.state != step.other,
         "it names a strategy that is not there");
    Part& part = parts_[step.node];
    need(part.cost[step.other] < unbounded, "the better strategy is not possible");
    if (part.cost[step.state] < unbounded) {
      Wide slack = part.cost[step.state] - part.cost[step.other];
      for (const auto& [u, index] : part.tables) {
        Wide most = -unbounded;
        for (std::size_t t = 0; t < parts_[u].cost.size(); ++t) {
          const Wide worse = entry(tables_[index], step.node, step.state, t);
          if (parts_[u].dropped[t] || worse >= unbounded) continue;
          const Wide better = entry(tables_[index], step.node, step.other, t);
          need(better < unbounded, "the better strategy lacks a partner");
          most = std::max(most, better - worse);
        }
        if (most > -unbounded) slack = plus(slack, -most);
      }
      need(slack >= 0, "the strategy is not dominated");
    }
    part.dropped[step.state] = 1;
  }

  void separate(const ProofStep& step) {
    need(alive(step.other), "it names a node that is not there");
    const int index = table_of(step.node, step.other);
    need(index >= 0, "there is no edge");
    Part &own = parts_[step.node], &other = parts_[step.other];
    Table& table = tables_[index];
    const auto first_of = [](const Part& part) {
      return static_cast<std::size_t>(std::find(part.dropped.begin(), part.dropped.end(), 0) - part.dropped.begin());
    };
    const std::size_t row = first_of(own), column = first_of(other);
    need(row < own.cost.size() && column < other.cost.size(), "a node has no strategies");
    const Wide corner = entry(table, step.node, row, column);
    need(corner < unbounded, "the edge is no sum");
    for (std::size_t i = 0; i < own.cost.size(); ++i)
      for (std::size_t j = 0; j < other.cost.size(); ++j) {
        if (own.dropped[i] || other.dropped[j]) continue;
        const Wide here = entry(table, step.node, i, j);
        const Wide left = entry(table, step.node, i, column), up = entry(table, step.node, row, j);
        need(here < unbounded && left < unbounded && up < unbounded && here - left == up - corner, "the edge is no sum");
      }
    for (std::size_t i = 0; i < own.cost.size(); ++i)
      if (!own.dropped[i]) own.cost[i] = plus(own.cost[i], entry(table, step.node, i, column));
    for (std::size_t j = 0; j < other.cost.size(); ++j)
      if (!other.dropped[j]) other.cost[j] = plus(other.cost[j], entry(table, step.node, row, j) - corner);
    remove_table(index);
  }

  void eliminate(const ProofStep& step) {
    const int v = step.node;
    Part& part = parts_[v];
    need(part.live_states() > 0, "the node has no strategies");
    if (part.live_states() == 1) return fix(v);
    if (part.tables.empty()) {
      constant_ = plus(constant_, part.least());
      part.alive = false;
      return;
    }
    if (part.tables.size() == 1) return fold(v, part.tables.begin()->first);
    if (step.other >= 0) return join(v, step.other);
    need(part.tables.size() == 2, "the node has too many neighbours");
    contract(v);
  }

  void fix(int v) {
    Part& part = parts_[v];
    const auto only =
        static_cast<std::size_t>(std::find(part.dropped.begin(), part.dropped.end(), 0) - part.dropped.begin());
    constant_ = plus(constant_, part.cost[only]);
    while (!part.tables.empty()) {
      const auto [u, index] = *part.tables.begin();
      for (std::size_t t = 0; t < parts_[u].cost.size(); ++t)
        parts_[u].cost[t] = plus(parts_[u].cost[t], entry(tables_[index], v, only, t));
      remove_table(index);
    }
    part.alive = false;
  }

  /// The minimum over a node with one neighbour.
  void fold(int v, int u) {
    const int index = table_of(v, u);
    for (std::size_t t = 0; t < parts_[u].cost.size(); ++t) {
      if (parts_[u].dropped[t]) continue;
      Wide least = unbounded;
      for (std::size_t s = 0; s < parts_[v].cost.size(); ++s)
        if (!parts_[v].dropped[s]) least = std::min(least, plus(parts_[v].cost[s], entry(tables_[index], v, s, t)));
      parts_[u].cost[t] = plus(parts_[u].cost[t], least);
    }
    remove_table(index);
    parts_[v].alive = false;
  }

  /// Each strategy of u allows at most one of v.
  void join(int v, int u) {
    need(alive(u), "it names a node that is not there");
    const int index = table_of(v, u);
    need(index >= 0, "there is no edge");
    std::vector<int> function(parts_[u].cost.size(), -1);
    for (std::size_t t = 0; t < function.size(); ++t) {
      if (parts_[u].dropped[t]) continue;
      for (std::size_t s = 0; s < parts_[v].cost.size(); ++s) {
        if (parts_[v].dropped[s] || entry(tables_[index], v, s, t) >= unbounded) continue;
        need(function[t] < 0, "the node's strategy is no function of its neighbour's");
        function[t] = static_cast<int>(s);
      }
      Wide cost = unbounded;
      if (function[t] >= 0) cost = plus(parts_[v].cost[function[t]], entry(tables_[index], v, function[t], t));
      parts_[u].cost[t] = plus(parts_[u].cost[t], cost);
    }
    remove_table(index);
    while (!parts_[v].tables.empty()) {
      const auto [w, other] = *parts_[v].tables.begin();
      const std::size_t columns = parts_[w].cost.size();
      std::vector<Wide> cost(function.size() * columns, unbounded);
      for (std::size_t t = 0; t < function.size(); ++t)
        for (std::size_t j = 0; j < columns && function[t] >= 0; ++j)
          cost[t * columns + j] = entry(tables_[other], v, function[t], j);
      remove_table(other);
      add_table(u, w, std::move(cost));
    }
    parts_[v].alive = false;
  }

  /// The minimum over a node with two neighbours.
  void contract(int v) {
    auto it = parts_[v].tables.begin();
    const auto [u, first] = *it++;
    const auto [w, second] = *it;
    const std::size_t columns = parts_[w].cost.size();
    std::vector<Wide> cost(parts_[u].cost.size() * columns, unbounded);
    for (std::size_t s = 0; s < parts_[v].cost.size(); ++s) {
      if (parts_[v].dropped[s]) continue;
      for (std::size_t i = 0; i < parts_[u].cost.size(); ++i) {
        if (parts_[u].dropped[i]) continue;
        const Wide half = plus(parts_[v].cost[s], entry(tables_[first], v, s, i));
        if (half >= unbounded) continue;
        for (std::size_t j = 0; j < columns; ++j)
          cost[i * columns + j] = std::min(cost[i * columns + j], plus(half, entry(tables_[second], v, s, j)));
      }
    }
    remove_table(first);
    remove_table(second);
    parts_[v].alive = false;
    add_table(u, w, std::move(cost));
  }

  void send_messages() {
    for (const Message& message : certificate_.messages) {
      RHINO_CHECK(alive(message.first) && alive(message.second), "a message of the certificate is for a node that is not there");
      const int index = table_of(message.first, message.second);
      RHINO_CHECK(index >= 0, "a message of the certificate is for an edge that is not there");
      send(index, message.first, message.to_first);
      send(index, message.second, message.to_second);
    }
  }
  void send(int index, int v, const std::vector<std::int64_t>& message) {
    Part& part = parts_[v];
    RHINO_CHECK(message.size() == part.cost.size(), "a message of the certificate has {} numbers for {} strategies",
                message.size(), part.cost.size());
    Table& table = tables_[index];
    const int u = table.first == v ? table.second : table.first;
    for (std::size_t s = 0; s < message.size(); ++s) {
      part.cost[s] = plus(part.cost[s], message[s]);
      for (std::size_t t = 0; t < parts_[u].cost.size(); ++t) {
        Wide& cost = entry(table, v, s, t);
        cost = plus(cost, -static_cast<Wide>(message[s]));
      }
    }
  }

  const Problem& problem_;
  const Certificate& certificate_;
  std::map<std::int64_t, Wide> changes_;
  std::vector<Part> parts_;
  std::vector<Table> tables_;
  Wide constant_ = 0;
  std::size_t at_ = 0;
};

}  // namespace

Wide check_bound(const Problem& problem, const Certificate& certificate) {
  check_problem(problem);
  Replay replay(problem, certificate);
  RHINO_CHECK(replay.replay(), "the certificate leaves a node without strategies: nothing is feasible");
  const Wide bound = replay.bound();
  RHINO_CHECK(!certificate.claim || bound >= *certificate.claim, "the certificate claims the bound {} but proves only {}",
              *certificate.claim, to_string(bound));
  return bound;
}

bool check_infeasible(const Problem& problem, const Certificate& certificate) {
  check_problem(problem);
  return !Replay(problem, certificate).replay();
}

}  // namespace rhino::plan::labelling
