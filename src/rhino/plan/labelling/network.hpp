// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace rhino::plan::labelling {

/// Costs inside of the solver: whole numbers, exact up to 2^53 in sums; infinite where forbidden.
using Real = double;
inline constexpr Real infinite = std::numeric_limits<Real>::infinity();

/// Bytes held over [lower, upper) of the network's own points of time, per state of the variable.
struct Item {
  int lower = 0;
  int upper = 0;
  std::vector<std::int64_t> usage;
};

struct Variable {
  std::vector<Real> cost;  ///< per state
  std::vector<Item> items;

  int states() const noexcept { return static_cast<int>(cost.size()); }
};

struct Link {
  int first = 0;
  int second = 0;
  std::vector<Real> cost;  ///< [state of first][state of second]
};

/// A problem after reduction: at most one link per pair, times renumbered to the points where the limit may bind.
struct Network {
  std::vector<Variable> variables;
  std::vector<Link> links;
  std::vector<std::int64_t> capacity;  ///< per point of time: what the variables' items may use
  Real constant = 0;

  int size() const noexcept { return static_cast<int>(variables.size()); }
  int times() const noexcept { return static_cast<int>(capacity.size()); }
};

}  // namespace rhino::plan::labelling
