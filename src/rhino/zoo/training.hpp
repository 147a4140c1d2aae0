// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rhino/zoo/model_builder.hpp>
#include <rhino/zoo/settings.hpp>

namespace rhino::zoo {

/// Turns a forward pass into an evaluation or training step: gradient and update as the settings say (keys of every
/// model), results and roles. Takes what the builder has built; the builder is not used any more.
BuiltModel finish_step(ModelBuilder& builder, const Tensor& loss, const Settings& settings);

/// Keys that every model has, with their defaults.
const char* common_defaults();
BuildPolicy policy_of(const Settings& settings);

}  // namespace rhino::zoo
