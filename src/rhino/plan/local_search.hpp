// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <rhino/ir/signature.hpp>
#include <rhino/plan/pricing.hpp>

namespace rhino::plan {

struct LocalSearchOptions {
  int sweeps = 4;                         ///< passes over all ops, forward and backward in turn
  std::int64_t work_limit = 4'000'000;    ///< candidate strategies priced in all; a limit in work, not in time, keeps plans reproducible
};

/// Improves a sharding op by op: each op of the entry function takes the strategy that is cheapest for itself and the
/// resharding towards its neighbours as they are; states take the layout that their readers and their update like best.
/// Control flow keeps its layouts. Deterministic. Returns the number of changes.
std::int64_t improve(Pricer& pricer, const ir::Signature& signature, shard::Sharding& sharding,
                     const LocalSearchOptions& options = {});

}  // namespace rhino::plan
