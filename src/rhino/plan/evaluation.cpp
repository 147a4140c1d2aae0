// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/evaluation.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rhino/base/error.hpp>

namespace rhino::plan {
namespace {

using shard::AxisId;
using shard::Layout;

const std::vector<Layout>& param_layouts(const PlannedStep& step) {
  return step.sharding.functions[step.program.main.index()].params;
}

/// The state or constant parameter of this path.
std::optional<std::size_t> kept_param(const ir::Signature& signature, const std::string& path) {
  for (std::size_t i = 0; i < signature.params.size(); ++i) {
    if (signature.params[i].role != ir::ParamRole::Batch && signature.params[i].path == path) return i;
  }
  return std::nullopt;
}

/// Axes over which some training batch is split along its examples, first most significant.
std::vector<AxisId> batch_axes(const PlannedStep& training) {
  const std::vector<Layout>& layouts = param_layouts(training);
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    if (training.signature.params[i].role != ir::ParamRole::Batch || layouts[i].dims.empty()) continue;
    std::vector<AxisId> axes;
    for (const shard::SubDim& sub : layouts[i].dims.front().subs) axes.insert(axes.end(), sub.axes.begin(), sub.axes.end());
    if (!axes.empty()) return axes;
  }
  return {};
}

}  // namespace

shard::Sharding evaluation_sharding(const ir::Program& program, const ir::Signature& signature, const PlannedStep& training) {
  const ir::Function& entry = program.entry();
  const ir::Function& trained = training.program.entry();
  const std::vector<AxisId> examples = batch_axes(training);
  std::vector<shard::Seed> seeds;
  std::vector<std::pair<std::size_t, Layout>> state;  // parameter of the evaluation step, layout in training
  for (std::size_t i = 0; i < entry.params.size(); ++i) {
    const ir::TensorType& type = entry.type(entry.params[i]);
    const std::string& path = signature.params[i].path;
    if (signature.params[i].role != ir::ParamRole::Batch) {
      const auto source = kept_param(training.signature, path);
      RHINO_CHECK(source.has_value(), "the evaluation step reads state {}, which the training step does not have", path);
      const ir::TensorType& source_type = trained.type(trained.params[*source]);
      RHINO_CHECK(source_type == type, "state {} is {} in the evaluation step and {} in the training step", path,
                  ir::to_string(type), ir::to_string(source_type));
      state.emplace_back(i, param_layouts(training)[*source]);
      seeds.push_back({entry.params[i], state.back().second});
    } else if (!examples.empty() && !type.dims.empty() && type.dims[0] > 1) {
      seeds.push_back({entry.params[i], Layout::split(type.dims, 0, examples)});
    }
  }
  shard::Sharding sharding = shard::propagate(program, training.sharding.mesh, seeds);
  // Propagation may prefer another layout; the state lies where training left it.
  for (const auto& [param, layout] : state) sharding.functions[program.main.index()].params[param] = layout;
  return sharding;
}

}  // namespace rhino::plan
