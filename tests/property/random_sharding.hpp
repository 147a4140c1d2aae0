// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rhino/ir/program.hpp>
#include <rhino/shard/sharding.hpp>

#include "random.hpp"

namespace rhino::test {

/// One to three axes of sizes 1 to 6 with at most `largest` devices.
shard::MeshShape random_mesh(Random& random, std::int64_t largest = 12);

/// A valid layout that is not partial; axes on random digits of random dimensions, blocks and strided splits.
shard::Layout random_layout(const ir::Dims& dims, const shard::MeshShape& mesh, Random& random);

/// A random valid strategy for every op, with carried partial values where the ops allow them, and random layouts of
/// parameters and results; parameters often come as their first consumer wants them.
shard::Sharding random_sharding(const ir::Program& program, const shard::MeshShape& mesh, Random& random);

/// `sharding` without `axis`: what was split over it is whole.
shard::Sharding without_axis(const shard::Sharding& sharding, shard::AxisId axis);

}  // namespace rhino::test
