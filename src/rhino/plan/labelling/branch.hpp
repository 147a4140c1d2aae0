// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "dual.hpp"
#include "tables.hpp"
#include "usage_tree.hpp"

namespace rhino::plan::labelling {

/// Depth-first branch and bound on the costs that the dual's messages and prices leave: all at least zero above its bound,
/// so that what is chosen only adds. Proves optimality where the gap or the network is small.
class Branch {
 public:
  /// Looks for assignments that cost less than `incumbent`.
  Branch(const Tables& tables, const Dual& dual, Real incumbent);

  /// True if everything was searched: then best(), or else the incumbent, is optimal; and if there is neither, nothing is
  /// feasible. `work`: table look-ups.
  bool run(std::int64_t work);

  Real best_cost() const noexcept { return best_cost_; }
  const std::vector<int>& best() const noexcept { return best_; }
  std::int64_t work_done() const noexcept { return work_; }

 private:
  struct Saved {
    int variable;
    std::vector<Real> excess;
  };
  bool descend(Real bound);
  int choose() const;
  Real least(int v) const;

  const Tables& tables_;
  std::vector<std::vector<Real>> excess_;               // per variable and state
  std::vector<std::vector<std::vector<Real>>> tables_excess_;  // per variable and arc: [own][other], only from lower index
  std::vector<int> x_, best_;
  UsageTree usage_;
  Real bound_ = 0, best_cost_ = infinite;
  Real tolerance_ = 0;
  std::int64_t work_ = 0, limit_ = 0;
};

}  // namespace rhino::plan::labelling
