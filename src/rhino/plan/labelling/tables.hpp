// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "network.hpp"

namespace rhino::plan::labelling {

/// A network laid out for speed: everything in a few arrays, each link's table in both orientations.
class Tables {
 public:
  struct Arc {
    int other = 0;
    int link = 0;
    const Real* by_other = nullptr;  ///< [state of other][own state]
    const Real* by_own = nullptr;    ///< [own state][state of other]
  };
  struct Use {
    int lower = 0;
    int upper = 0;
    const std::int64_t* usage = nullptr;  ///< per state
  };

  explicit Tables(const Network& network);

  int size() const noexcept { return static_cast<int>(states_.size()); }
  int links() const noexcept { return links_; }
  /// Entries of all links' tables.
  std::int64_t entries() const noexcept { return static_cast<std::int64_t>(tables_.size() / 2); }
  int times() const noexcept { return static_cast<int>(capacity_.size()); }
  int states(int v) const noexcept { return states_[v]; }
  /// Where the states of v begin in arrays over all states of all variables.
  int offset(int v) const noexcept { return offset_[v]; }
  int all_states() const noexcept { return offset_.back(); }
  std::span<const Real> cost(int v) const { return {cost_.data() + offset_[v], static_cast<std::size_t>(states_[v])}; }
  const std::vector<Real>& all_costs() const noexcept { return cost_; }
  std::span<const Arc> arcs(int v) const {
    return {arcs_.data() + arc_begin_[v], static_cast<std::size_t>(arc_begin_[v + 1] - arc_begin_[v])};
  }
  int arc_begin(int v) const noexcept { return arc_begin_[v]; }
  std::span<const Use> uses(int v) const {
    return {uses_.data() + use_begin_[v], static_cast<std::size_t>(use_begin_[v + 1] - use_begin_[v])};
  }
  const std::vector<std::int64_t>& capacity() const noexcept { return capacity_; }
  /// Per point of time the usage beyond the capacity where nothing is assigned: the negated capacity.
  std::vector<std::int64_t> usage_of_nothing() const;
  Real constant() const noexcept { return constant_; }

  /// Cost of an assignment (a state per variable), with the constant.
  Real cost_of(std::span<const int> states) const;
  /// Per state of all variables: cost plus usage at a price per point of time.
  void price(std::span<const Real> prices, std::vector<Real>& priced) const;

 private:
  std::vector<int> states_, offset_, arc_begin_, use_begin_;
  std::vector<Real> cost_, tables_;
  std::vector<Arc> arcs_;
  std::vector<Use> uses_;
  std::vector<std::int64_t> usage_, capacity_;
  Real constant_ = 0;
  int links_ = 0;
};

}  // namespace rhino::plan::labelling
