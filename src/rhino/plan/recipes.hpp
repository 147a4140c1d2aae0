// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <rhino/ir/program.hpp>
#include <rhino/ir/signature.hpp>
#include <rhino/shard/sharding.hpp>

namespace rhino::plan {

/// What a mesh axis is used for in a starting plan.
enum class AxisUse : std::uint8_t { Data, Tensor };

/// A starting plan: a mesh and a use for each of its axes.
struct Recipe {
  shard::MeshShape mesh;
  std::vector<AxisUse> uses;
};

/// "data x=4", "tensor x=2, data y=2".
std::string to_string(const Recipe& recipe);

/// Completes a recipe to a sharding of the whole program: batches split along their first dimension over the data axes;
/// weights of products and convolutions split over the tensor axes, alternately by output and by input features as their
/// shapes suggest; the rest by propagation.
shard::Sharding make_sharding(const ir::Program& program, const ir::Signature& signature, const Recipe& recipe);

/// All recipes for a number of devices: every mesh of at most `max_axes` axes with every use of its axes, in a fixed order.
/// The first is plain data parallelism, the second plain tensor parallelism.
std::vector<Recipe> enumerate_recipes(std::int64_t devices, int max_axes);

}  // namespace rhino::plan
