// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/recipes.hpp>

#include <algorithm>

#include <fmt/core.h>

#include <rhino/base/error.hpp>
#include <rhino/cluster/mesh.hpp>

namespace rhino::plan {

using ir::Function;
using ir::Op;
using ir::OpKind;
using ir::ValueId;
using shard::AxisId;
using shard::Layout;

namespace {

/// A weight and the dimensions of it that a product or convolution uses as output and as input features.
struct WeightUse {
  ValueId param;
  int output_dim = -1;
  int input_dim = -1;
};

/// Follows a value back to a parameter through ops that keep its dimensions in place; transposes are followed too and
/// `dims` (positions in the value) are carried along. Invalid if it ends elsewhere.
ValueId trace_to_param(const Function& function, ValueId value, std::vector<int>& dims) {
  for (;;) {
    const Op* producer = function.producer(value);
    if (producer == nullptr) return value;
    switch (producer->kind) {
      case OpKind::Convert:
      case OpKind::OptimizationBarrier:
        break;
      case OpKind::Transpose: {
        const auto& permutation = producer->as<ir::DimensionsAttrs>().dimensions;
        for (int& dim : dims) {
          if (dim >= 0) dim = permutation[static_cast<std::size_t>(dim)];
        }
        break;
      }
      default:
        return {};
    }
    value = producer->operands[function.value(value).result_index];
  }
}

/// The dimension of an operand of a dot that is neither batch nor contracting, the largest if there are several.
int free_dim(const ir::Dims& dims, const std::vector<int>& batch, const std::vector<int>& contracting) {
  int best = -1;
  for (int d = 0; d < static_cast<int>(dims.size()); ++d) {
    if (std::count(batch.begin(), batch.end(), d) + std::count(contracting.begin(), contracting.end(), d) > 0) continue;
    if (best < 0 || dims[static_cast<std::size_t>(d)] > dims[static_cast<std::size_t>(best)]) best = d;
  }
  return best;
}

std::vector<WeightUse> weight_uses(const Function& function, const ir::Signature& signature) {
  std::vector<WeightUse> uses;
  std::vector<bool> seen(function.values.size(), false);
  const auto note = [&](ValueId operand, int output_dim, int input_dim) {
    std::vector<int> dims{output_dim, input_dim};
    const ValueId param = trace_to_param(function, operand, dims);
    if (!param.valid() || seen[param.index()]) return;
    const auto& info = signature.params[function.value(param).result_index];
    if (info.role != ir::ParamRole::State || info.kind != ir::StateKind::Param) return;
    seen[param.index()] = true;
    uses.push_back({param, dims[0], dims[1]});
  };
  for (const Op& op : function.ops) {
    if (op.kind == OpKind::DotGeneral) {
      const auto& attrs = op.as<ir::DotGeneralAttrs>();
      const auto first = [](const std::vector<int>& dims) { return dims.empty() ? -1 : dims.front(); };
      note(op.operands[1], free_dim(function.type(op.operands[1]).dims, attrs.rhs_batch, attrs.rhs_contracting),
           first(attrs.rhs_contracting));
      note(op.operands[0], free_dim(function.type(op.operands[0]).dims, attrs.lhs_batch, attrs.lhs_contracting),
           first(attrs.lhs_contracting));
    } else if (op.kind == OpKind::Convolution) {
      const auto& attrs = op.as<ir::ConvolutionAttrs>();
      note(op.operands[1], attrs.kernel_output_feature, attrs.kernel_input_feature);
    }
  }
  return uses;
}

std::vector<AxisId> axes_of(const Recipe& recipe, AxisUse use) {
  std::vector<AxisId> axes;
  for (std::size_t a = 0; a < recipe.uses.size(); ++a) {
    if (recipe.uses[a] == use) axes.push_back(static_cast<AxisId>(a));
  }
  return axes;
}

}  // namespace

std::string to_string(const Recipe& recipe) {
  std::string text;
  for (std::size_t a = 0; a < recipe.uses.size(); ++a) {
    const shard::MeshAxis& axis = recipe.mesh.axes()[a];
    text += fmt::format("{}{} {}={}", text.empty() ? "" : ", ", recipe.uses[a] == AxisUse::Data ? "data" : "tensor", axis.name,
                        axis.size);
  }
  return text.empty() ? "one device" : text;
}

shard::Sharding make_sharding(const ir::Program& program, const ir::Signature& signature, const Recipe& recipe) {
  const Function& entry = program.entry();
  std::vector<shard::Seed> seeds;
  const std::vector<AxisId> data = axes_of(recipe, AxisUse::Data);
  const std::vector<AxisId> tensor = axes_of(recipe, AxisUse::Tensor);
  if (!data.empty()) {
    for (std::size_t i = 0; i < entry.params.size(); ++i) {
      const ir::Dims& dims = entry.type(entry.params[i]).dims;
      if (signature.params[i].role != ir::ParamRole::Batch || dims.empty() || dims[0] < 2) continue;
      seeds.push_back({entry.params[i], Layout::split(dims, 0, data)});
    }
  }
  if (!tensor.empty()) {
    const std::int64_t parts = recipe.mesh.group_size(tensor);
    bool previous_by_output = false;
    for (const WeightUse& use : weight_uses(entry, signature)) {
      const ir::Dims& dims = entry.type(use.param).dims;
      const auto size = [&](int dim) { return dim < 0 ? std::int64_t{0} : dims[static_cast<std::size_t>(dim)]; };
      // A layer that widens is split by what it makes; one that narrows back by what it takes in: then the activations in
      // between are split and need no exchange.
      const bool widens = size(use.output_dim) > size(use.input_dim);
      const bool keeps = size(use.output_dim) == size(use.input_dim);
      bool by_output = widens || (keeps && !previous_by_output);
      if (size(by_output ? use.output_dim : use.input_dim) < parts) by_output = !by_output;
      const int dim = by_output ? use.output_dim : use.input_dim;
      if (dim < 0 || size(dim) < parts) continue;
      seeds.push_back({use.param, Layout::split(dims, dim, tensor)});
      previous_by_output = by_output;
    }
  }
  shard::PropagateOptions options;
  const auto updates = signature.updates();
  for (std::size_t i = 0; i < updates.size(); ++i) {
    if (updates[i]) options.tied.emplace_back(static_cast<std::uint32_t>(i), *updates[i]);
  }
  return shard::propagate(program, recipe.mesh, seeds, options);
}

std::vector<Recipe> enumerate_recipes(std::int64_t devices, int max_axes) {
  std::vector<Recipe> recipes;
  for (const shard::MeshShape& mesh : cluster::mesh_shapes(devices, max_axes)) {
    const auto axes = static_cast<std::size_t>(mesh.rank());
    for (std::size_t bits = 0; bits < (std::size_t{1} << axes); ++bits) {
      // Two axes of one use in a row are one longer axis, which has a recipe of its own.
      Recipe recipe{mesh, {}};
      bool repeated = false;
      for (std::size_t a = 0; a < axes; ++a) {
        recipe.uses.push_back(((bits >> a) & 1) != 0 ? AxisUse::Tensor : AxisUse::Data);
        repeated = repeated || (a > 0 && recipe.uses[a] == recipe.uses[a - 1]);
      }
      if (!repeated) recipes.push_back(std::move(recipe));
    }
  }
  return recipes;
}

}  // namespace rhino::plan
