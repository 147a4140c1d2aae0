// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <rhino/cluster/mesh.hpp>
#include <rhino/ir/program.hpp>
#include <rhino/ir/signature.hpp>
#include <rhino/plan/plan.hpp>
#include <rhino/plan/search_board.hpp>

namespace rhino::plan {

struct PlannerOptions {
  std::string strategy = "auto";  ///< "auto", "data" (batch split) or "tensor" (weights split, the rest replicated)
  int level = 1;                  ///< 1: meshes of at most two axes; 2: three, and a longer search
  std::int64_t memory_limit = 0;  ///< bytes per rank; 0: that of the cluster's device
  std::int64_t reserve = 0;       ///< bytes of that limit kept free: by how much an earlier plan was found to need more than estimated
  std::uint64_t seed = 0;
};

/// Finds a Plan for `program` on all devices of `cluster`. Collective over the board: candidates are enumerated in one fixed
/// order, drawn and priced by whichever rank comes first, and the winner is the least (seconds, candidate), so that the Plan
/// does not depend on the number of ranks. "auto" prices the data and tensor plans too and is never predicted slower.
/// Training state is split over the axes on which a plan would hold equal copies of it where that is faster, or as far as the
/// memory limit asks for (StateSplitter). Throws InputError if nothing fits the limit, with what the leanest plan needs.
Plan find_plan(const ir::Program& program, const ir::Signature& signature, const cluster::Cluster& cluster,
               const PlannerOptions& options, SearchBoard& board);

}  // namespace rhino::plan
