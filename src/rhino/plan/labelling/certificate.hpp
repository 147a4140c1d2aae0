// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace rhino::plan::labelling {

/// One step of the proof of a bound, on the cost function network that the problem becomes when each node's usage is
/// charged to its strategies at the multipliers' prices. Nodes and strategies are those of the problem.
struct ProofStep {
  enum class Kind : std::uint8_t {
    Drop,       ///< strategy `state` of `node` has no partner on some edge, or a sum of infinite cost
    Dominated,  ///< strategy `state` of `node` is never better than strategy `other`
    Separate,   ///< the edge of `node` and `other` is a sum of two functions of one node each
    Eliminate,  ///< the minimum over `node`: it has one strategy, or at most two neighbours, or each strategy of its
                ///< neighbour `other` allows at most one of its own
  };
  Kind kind = Kind::Drop;
  int node = 0;
  int state = 0;
  int other = 0;
};

/// Messages of one edge that is left after the steps: subtracted from the edge's cost and added to the strategies' cost.
struct Message {
  int first = 0;
  int second = 0;
  std::vector<std::int64_t> to_first;   ///< per strategy of the problem's node `first`
  std::vector<std::int64_t> to_second;  ///< per strategy of the problem's node `second`
};

/// Why no assignment can cost less than a bound. All numbers are whole and count 2^-shift of a unit of cost.
struct Certificate {
  struct Price {
    std::int64_t time = 0;
    std::int64_t price = 0;  ///< of one unit of usage at this point of time, >= 0
  };
  std::optional<std::int64_t> claim;  ///< the bound that it must prove, if it was written down with it
  int shift = 0;
  std::vector<Price> prices;
  std::vector<ProofStep> steps;
  std::vector<Message> messages;
};

}  // namespace rhino::plan::labelling
