// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "certificate.hpp"
#include "network.hpp"
#include "problem.hpp"

namespace rhino::plan::labelling {

/// A problem made smaller without losing its best solutions: strategies that are forbidden, without a partner or dominated
/// are dropped; a node whose strategy is a function of a neighbour's joins it; parallel edges are added; edges that are sums
/// become node costs; nodes with at most two neighbours and no choice of usage are eliminated; points of time that cannot
/// be over the limit, or never before another one, are left out.
struct Reduction {
  /// What decides the strategies of some nodes of the problem: per state of the slot's variable.
  struct Member {
    int slot = 0;
    std::vector<int> state;
  };
  /// An eliminated variable: its best state per pair of states of its two neighbours.
  struct Elimination {
    int first_slot = 0;
    int second_slot = 0;
    int columns = 0;
    std::vector<int> best;
    std::vector<Member> members;
  };

  bool infeasible = false;  ///< no assignment avoids all that is forbidden (proved)
  Network network;
  std::vector<std::int64_t> times;       ///< per point of time of the network: the problem's
  std::vector<int> origin;               ///< per variable: the node that it stands for
  std::vector<int> strategies;           ///< per variable: how many strategies that node has
  std::vector<std::vector<int>> labels;  ///< per variable and state: the strategy of that node
  std::vector<ProofStep> steps;          ///< how it came about, for certificates

  std::vector<std::vector<Member>> members;  ///< per variable
  std::vector<Elimination> eliminations;     ///< in the order in which they were made
  int slots = 0;
  int nodes = 0;

  /// The problem's assignment that belongs to a state per variable of the network.
  std::vector<int> expand(std::span<const int> states) const;
};

/// The problem must have passed check_problem. Time: near linear in the size of the tables, apart from dominance.
Reduction reduce(const Problem& problem);

}  // namespace rhino::plan::labelling
