// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rhino/zoo/model_builder.hpp>
#include <rhino/zoo/settings.hpp>

namespace rhino::zoo {

/// Turns a forward pass into a whole step: in training gradient and update as the settings say (keys of every model),
/// then results and roles. An invalid loss means that there is none. Takes what the builder has built; the builder is
/// not used any more.
BuiltModel finish_step(ModelBuilder& builder, const Tensor& loss, const Settings& settings);

/// Keys that every model has, with their defaults.
const char* common_defaults();
BuildPolicy policy_of(const Settings& settings);

}  // namespace rhino::zoo
