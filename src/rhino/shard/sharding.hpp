// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <rhino/ir/program.hpp>
#include <rhino/shard/factor_map.hpp>
#include <rhino/shard/layout.hpp>

namespace rhino::shard {

/// Decisions for one function: layouts in which parameters arrive and results leave, and a strategy per op.
/// Parameters and results are never partial in the entry function.
struct FunctionSharding {
  std::vector<Layout> params;
  std::vector<Layout> results;
  std::vector<Strategy> ops;
  bool operator==(const FunctionSharding&) const = default;
};

/// Decisions for a whole program on a mesh. `functions[f]` is used for the entry and for the bodies of `while` and the
/// branches of `case` (whose parameter and result layouts are those of the op around them: loop-carried values have one
/// layout at the start and end of each iteration). Reducers and comparators have none (empty entry).
struct Sharding {
  MeshShape mesh;
  std::vector<FunctionSharding> functions;
  bool operator==(const Sharding&) const = default;
};

/// Everything replicated.
Sharding replicated_sharding(const ir::Program& program, const MeshShape& mesh);

/// Layout that a value is given at the start.
struct Seed {
  ir::ValueId value;  ///< of the entry function
  Layout layout;
};

struct PropagateOptions {
  /// State mapping of the entry: (parameter, result) pairs that must have equal layouts.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> tied;
  /// Whether partial sums are carried past their producer where the ops allow it; otherwise they are reduced at once.
  bool carry_partials = false;
};

/// Completes a few seeds to decisions for the whole program: forward from the seeds through the factor maps, backward
/// to parameters without a seed, with conflicts settled in favour of the larger tensor; always valid for partition().
Sharding propagate(const ir::Program& program, const MeshShape& mesh, const std::vector<Seed>& seeds,
                   const PropagateOptions& options = {});

/// Throws InputError unless partition() can use it: layouts fit, strategies fit, loop-carried layouts agree.
void check_sharding(const ir::Program& program, const Sharding& sharding);

}  // namespace rhino::shard
