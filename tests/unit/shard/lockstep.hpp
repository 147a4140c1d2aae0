// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <rhino/ir/program.hpp>
#include <rhino/shard/layout.hpp>

namespace rhino::shard::testing {

/// A local tensor of doubles.
struct Local {
  ir::Dims dims;
  std::vector<double> data;
};

/// Content of padding; nothing that is compared may come from it.
inline constexpr double padding_value = -777.25;

/// The part of a global tensor that `device` holds in `layout`; padding is padding_value. For a partial layout, devices
/// hold values whose combination over the partial axes is the global value.
Local scatter(const std::vector<double>& global, const ir::Dims& dims, const Layout& layout, const MeshShape& mesh,
              std::int64_t device);

/// Number of elements of `local` that differ from what scatter() would give, padding not counted. Partial layouts are
/// combined first, so all devices are given.
std::int64_t mismatches(const std::vector<Local>& locals, const std::vector<double>& global, const ir::Dims& dims,
                        const Layout& layout, const MeshShape& mesh);

/// Runs the entry function on all devices op by op. Knows the ops that resharding emits; parameter 0 is the tensor,
/// parameter 1 the number of the device.
std::vector<Local> run_lockstep(const ir::Program& program, std::vector<Local> inputs);

}  // namespace rhino::shard::testing
