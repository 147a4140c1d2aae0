// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rhino/ir/program.hpp>
#include <rhino/ir/signature.hpp>
#include <rhino/shard/sharding.hpp>

namespace rhino::plan {

/// A step that is planned: its program, the roles of its parameters, and where everything lives.
struct PlannedStep {
  const ir::Program& program;
  const ir::Signature& signature;
  const shard::Sharding& sharding;
};

/// Sharding of a step that evaluates the state of `training` while that is being trained. State and constants are matched
/// by path and arrive in the layouts that they have in training, so that every rank already holds its part; batches are
/// split over the axes that split the training batches; the rest follows by propagation. Throws InputError if a state
/// parameter or constant is unknown to the training step or has another type there.
shard::Sharding evaluation_sharding(const ir::Program& program, const ir::Signature& signature, const PlannedStep& training);

}  // namespace rhino::plan
