// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/labelling/tables.hpp>

namespace rhino::plan::labelling {

Tables::Tables(const Network& network)
    : capacity_(network.capacity), constant_(network.constant), links_(static_cast<int>(network.links.size())) {
  const int count = network.size();
  std::vector<std::vector<int>> around(count);
  std::size_t entries = 0;
  for (std::size_t l = 0; l < network.links.size(); ++l) {
    around[network.links[l].first].push_back(static_cast<int>(l));
    around[network.links[l].second].push_back(static_cast<int>(l));
    entries += network.links[l].cost.size();
  }
  tables_.resize(2 * entries);
  std::vector<const Real*> by_first(network.links.size()), by_second(network.links.size());
  Real* next = tables_.data();
  for (std::size_t l = 0; l < network.links.size(); ++l) {
    const Link& link = network.links[l];
    const int rows = network.variables[link.first].states(), columns = network.variables[link.second].states();
    by_first[l] = next;
    for (const Real cost : link.cost) *next++ = cost;
    by_second[l] = next;
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < rows; ++i) *next++ = link.cost[static_cast<std::size_t>(i) * columns + j];
  }
  offset_.push_back(0);
  arc_begin_.push_back(0);
  use_begin_.push_back(0);
  std::size_t usages = 0;
  for (const Variable& variable : network.variables) usages += variable.items.size() * variable.cost.size();
  usage_.reserve(usages);  // pointers into it stay
  for (int v = 0; v < count; ++v) {
    const Variable& variable = network.variables[v];
    states_.push_back(variable.states());
    offset_.push_back(offset_.back() + variable.states());
    cost_.insert(cost_.end(), variable.cost.begin(), variable.cost.end());
    for (const int l : around[v]) {
      const Link& link = network.links[l];
      const bool leads = link.first == v;
      arcs_.push_back({leads ? link.second : link.first, l, leads ? by_second[l] : by_first[l],
                       leads ? by_first[l] : by_second[l]});
    }
    arc_begin_.push_back(static_cast<int>(arcs_.size()));
    for (const Item& item : variable.items) {
      uses_.push_back({item.lower, item.upper, usage_.data() + usage_.size()});
      usage_.insert(usage_.end(), item.usage.begin(), item.usage.end());
    }
    use_begin_.push_back(static_cast<int>(uses_.size()));
  }
}

std::vector<std::int64_t> Tables::usage_of_nothing() const {
  std::vector<std::int64_t> usage(capacity_.size());
  for (std::size_t t = 0; t < usage.size(); ++t) usage[t] = -capacity_[t];
  return usage;
}

Real Tables::cost_of(std::span<const int> x) const {
  Real sum = constant_;
  for (int v = 0; v < size(); ++v) {
    sum += cost_[offset_[v] + x[v]];
    for (const Arc& arc : arcs(v))
      if (arc.other > v) sum += arc.by_own[static_cast<std::size_t>(x[v]) * states_[arc.other] + x[arc.other]];
  }
  return sum;
}

void Tables::price(std::span<const Real> prices, std::vector<Real>& priced) const {
  priced = cost_;
  std::vector<Real> until(prices.size() + 1, 0);
  for (std::size_t t = 0; t < prices.size(); ++t) until[t + 1] = until[t] + prices[t];
  for (int v = 0; v < size(); ++v)
    for (const Use& use : uses(v)) {
      const Real price = until[use.upper] - until[use.lower];
      if (price == 0) continue;
      for (int s = 0; s < states_[v]; ++s) priced[offset_[v] + s] += price * static_cast<Real>(use.usage[s]);
    }
}

}  // namespace rhino::plan::labelling
