// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <rhino/ir/program.hpp>
#include <rhino/shard/reshard.hpp>
#include <rhino/shard/sharding.hpp>

namespace rhino::shard {

/// Where a global value of the entry function lives in the local program.
struct LocalValue {
  ir::ValueId value;  ///< of the local entry function; invalid if the value was optimised away
  Layout layout;
};

/// A per-device program, the same text for every device of the mesh (SPMD): shapes are local, ranks differ only through
/// `partition_id` and the collectives' groups.
struct PartitionedProgram {
  ir::Program local;
  MeshShape mesh;
  std::vector<Layout> params;   ///< of the entry's parameters
  std::vector<Layout> results;  ///< of the entry's results
  std::vector<LocalValue> values;  ///< per value of the global entry function; used by verification and explain
};

struct PartitionOptions {
  ReshardCost cost;  ///< how resharding sequences are chosen; empty: bytes_moved_cost
};

/// Rewrites `program` for one device of the mesh under `sharding`, with collectives where layouts require them, exactly:
/// every element of every result equals that of the global program up to the order of summation. Padding of uneven splits
/// is masked wherever it could be seen (contractions, reductions, windows, sorts, scatters ..).
/// Throws InputError if the sharding does not fit.
PartitionedProgram partition(const ir::Program& program, const Sharding& sharding, const PartitionOptions& options = {});

}  // namespace rhino::shard
