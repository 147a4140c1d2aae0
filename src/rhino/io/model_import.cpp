// SPDX-License-Identifier: Apache-2.0
#include <rhino/io/model_import.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/file.hpp>
#include <rhino/base/hash.hpp>
#include <rhino/base/strings.hpp>
#include <rhino/frontend/import.hpp>
#include <rhino/frontend/roles.hpp>
#include <rhino/io/state_import.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::io {

InitRecipe default_recipe(const ir::ParamInfo& param, const ir::TensorType& type) {
  InitRecipe recipe;
  const bool weight = param.role == ir::ParamRole::Const || param.kind == ir::StateKind::Param;
  const bool statistics = param.role == ir::ParamRole::State && param.kind == ir::StateKind::Statistics;
  if (!ir::is_float(type.dtype) || !(weight || statistics)) return recipe;
  const std::string_view leaf = split(param.path, '/').back();
  for (const std::string_view word : {"scale", "gamma", "var", "variance"})
    if (leaf.find(word) != std::string_view::npos) return {InitRecipe::Kind::Constant, 1, 0, 0};
  if (statistics) return recipe;
  recipe.seed = hash64(param.path);
  if (type.rank() < 2) {
    recipe.kind = InitRecipe::Kind::Normal;
    recipe.b = 0.02;
  } else {
    const double fan_in = static_cast<double>(type.elements()) / static_cast<double>(std::max<std::int64_t>(1, type.dims.back()));
    recipe.kind = InitRecipe::Kind::TruncatedNormal;
    recipe.b = 1.0 / std::sqrt(std::max(1.0, fan_in));
  }
  return recipe;
}

void simplify_program(ir::Program& program, bool simplify, const ir::OpEvaluator& evaluate) {
  ir::inline_calls(program);
  if (simplify) {
    ir::simplify_identities(program);
    if (evaluate) ir::fold_constants(program, evaluate);
    ir::simplify_identities(program);
    ir::eliminate_common_subexpressions(program);
    ir::eliminate_dead_code(program);
  }
  ir::verify(program);
}

ImportedModel import_model(const ImportRequest& request) {
  ImportedModel imported;
  Model& model = imported.model;
  frontend::ImportOptions options;
  options.source_name = request.program_path;
  options.elided_constants_as_inputs = request.elided_constants_as_inputs;
  model.program = frontend::import_text(read_file(request.program_path), options);
  simplify_program(model.program, request.simplify, request.evaluate);

  frontend::RoleOptions roles;
  if (!request.manifest_path.empty()) {
    roles.manifest_text = read_file(request.manifest_path, std::int64_t{1} << 28);
    RHINO_CHECK(!trim(roles.manifest_text).empty(), "'{}' is empty", request.manifest_path);
    roles.manifest_name = request.manifest_path;
  }
  roles.rules = request.roles;
  frontend::InferredRoles inferred = frontend::infer_roles(model.program, roles);
  model.signature = std::move(inferred.signature);
  imported.assumptions = std::move(inferred.assumptions);

  const ir::Function& main = model.program.entry();
  if (!request.state_path.empty()) {
    model.state = import_state(request.state_path, model.signature, main);
  } else {
    for (std::size_t i = 0; i < model.signature.params.size(); ++i) {
      const ir::ParamInfo& param = model.signature.params[i];
      if (param.role == ir::ParamRole::Batch) continue;
      model.state.emplace(param.path, default_recipe(param, main.type(main.params[i])));
    }
    if (request.values_matter && !model.state.empty())
      imported.assumptions.push_back(fmt::format(
          "no state was given: the {} initial values are made up by role (weights at random by fan-in, scales one, the rest "
          "zero)",
          model.state.size()));
  }
  model.meta["source"] = std::filesystem::path(request.program_path).filename().string();
  return imported;
}

}  // namespace rhino::io
