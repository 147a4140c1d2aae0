// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/labelling/time_points.hpp>

#include <algorithm>

namespace rhino::plan::labelling {

TimePoints::TimePoints(const Problem& problem) {
  std::vector<std::pair<std::int64_t, bool>> events;  // time, whether a node begins
  for (const Node& node : problem.nodes) {
    if (node.live.empty() || *std::max_element(node.usage.begin(), node.usage.end()) == 0) continue;
    events.emplace_back(node.live.lower, true);
    events.emplace_back(node.live.upper, false);
  }
  std::sort(events.begin(), events.end());
  bool began = false;
  for (const auto& [time, begins] : events) {
    if (!begins && began) points_.push_back(time - 1);
    began = begins;
  }
}

std::pair<int, int> TimePoints::range(const Interval& interval) const {
  const auto number = [&](std::int64_t time) {
    return static_cast<int>(std::lower_bound(points_.begin(), points_.end(), time) - points_.begin());
  };
  return {number(interval.lower), number(interval.upper)};
}

bool TimePoints::renumber(Network& network, const std::vector<Item>& fixed, std::int64_t limit,
                          std::vector<std::int64_t>& kept) const {
  const std::size_t count = points_.size();
  std::vector<Wide> least(count + 1, 0), most(count + 1, 0);
  const auto add = [](std::vector<Wide>& sums, const Item& item, std::int64_t usage) {
    sums[item.lower] += usage;
    sums[item.upper] -= usage;
  };
  for (const Item& item : fixed) {
    add(least, item, item.usage[0]);
    add(most, item, item.usage[0]);
  }
  for (Variable& variable : network.variables)
    for (Item& item : variable.items) {
      const auto [low, high] = std::minmax_element(item.usage.begin(), item.usage.end());
      const std::int64_t base = *low;
      add(least, item, base);
      add(most, item, *high);
      for (std::int64_t& usage : item.usage) usage -= base;
    }
  std::vector<int> number(count + 1, 0);
  Wide low = 0, high = 0;
  for (std::size_t i = 0; i < count; ++i) {
    low += least[i];
    high += most[i];
    if (low > limit) return false;
    number[i] = static_cast<int>(kept.size());
    if (high <= limit) continue;
    kept.push_back(points_[i]);
    network.capacity.push_back(static_cast<std::int64_t>(limit - low));
  }
  number[count] = static_cast<int>(kept.size());
  for (Variable& variable : network.variables) {
    for (Item& item : variable.items) {
      item.lower = number[item.lower];
      item.upper = number[item.upper];
    }
    std::erase_if(variable.items, [](const Item& item) {
      return item.lower >= item.upper || std::all_of(item.usage.begin(), item.usage.end(), [](auto u) { return u == 0; });
    });
  }
  return true;
}

}  // namespace rhino::plan::labelling
