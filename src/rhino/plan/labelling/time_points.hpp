// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "network.hpp"
#include "problem.hpp"

namespace rhino::plan::labelling {

/// The points of time at which a sum of usages can be at its greatest: those after which a node ends, and before which,
/// since the last such point, one began. What is live at any other point is live at one of these.
class TimePoints {
 public:
  TimePoints() = default;
  explicit TimePoints(const Problem& problem);

  /// The points within an interval, as a range of their numbers.
  std::pair<int, int> range(const Interval& interval) const;

  /// Makes the items of the network relative to each one's least usage, leaves out the points at which no assignment can
  /// be over the limit or only where it is at a neighbouring point too, and sets the capacities and items by the points that stay (`kept`: as the problem numbers them).
  /// False if the least usages alone are over the limit somewhere.
  bool renumber(Network& network, const std::vector<Item>& fixed, std::int64_t limit,
                std::vector<std::int64_t>& kept) const;

 private:
  std::vector<std::int64_t> points_;
};

}  // namespace rhino::plan::labelling
