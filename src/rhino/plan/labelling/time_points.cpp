// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/labelling/time_points.hpp>

#include <algorithm>

namespace rhino::plan::labelling {
namespace {

bool no_usage(const Item& item) {
  return std::all_of(item.usage.begin(), item.usage.end(), [](std::int64_t usage) { return usage == 0; });
}

/// A point at which the limit may bind, and what changed since the candidate before it.
struct Candidate {
  std::size_t point = 0;
  std::int64_t capacity = 0;
  bool begun = false;  ///< items began
  bool ended = false;  ///< items ended
};

/// Appends a candidate, without those that others imply: where one's items are among a neighbour's, and the neighbour may
/// hold no more, the limit at the neighbour is enough. False if it is the new one that is implied.
bool keep_binding(std::vector<Candidate>& binding, Candidate next) {
  while (!binding.empty()) {
    Candidate& last = binding.back();
    if (!next.ended && last.capacity >= next.capacity) {
      next.begun = next.begun || last.begun;
      next.ended = last.ended;
      binding.pop_back();
      continue;
    }
    if (!next.begun && next.capacity >= last.capacity) return false;
    break;
  }
  binding.push_back(next);
  return true;
}

}  // namespace

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
  std::vector<char> begins(count + 1, 0), ends(count + 1, 0);
  for (const Variable& variable : network.variables)
    for (const Item& item : variable.items) {
      if (no_usage(item)) continue;
      begins[item.lower] = 1;
      ends[item.upper] = 1;
    }
  std::vector<Candidate> binding;
  Wide low = 0, high = 0;
  bool begun = false, ended = false;
  for (std::size_t i = 0; i < count; ++i) {
    low += least[i];
    high += most[i];
    if (low > limit) return false;
    begun = begun || begins[i];
    ended = ended || ends[i];
    if (high <= limit) continue;
    if (keep_binding(binding, {i, static_cast<std::int64_t>(limit - low), begun, ended})) begun = ended = false;
  }
  std::size_t point = 0;
  for (const Candidate& candidate : binding) {
    for (; point <= candidate.point; ++point) number[point] = static_cast<int>(kept.size());
    kept.push_back(points_[candidate.point]);
    network.capacity.push_back(candidate.capacity);
  }
  for (; point < count; ++point) number[point] = static_cast<int>(kept.size());
  number[count] = static_cast<int>(kept.size());
  for (Variable& variable : network.variables) {
    for (Item& item : variable.items) {
      item.lower = number[item.lower];
      item.upper = number[item.upper];
    }
    std::erase_if(variable.items, [](const Item& item) {
      return item.lower >= item.upper || no_usage(item);
    });
  }
  return true;
}

}  // namespace rhino::plan::labelling
