// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <rhino/io/model_file.hpp>
#include <rhino/ir/passes.hpp>

namespace rhino::io {

/// What `rhino import` and a deck's [model] section say.
struct ImportRequest {
  std::string program_path;  ///< StableHLO or HLO text
  std::string state_path;    ///< .npz or .safetensors; empty: initial values are made up by role
  bool values_matter = true; ///< false: nobody reads initial values, so made-up ones are not worth a word
  std::string manifest_path;
  std::vector<std::string> roles;  ///< frontend::RoleOptions::rules
  bool elided_constants_as_inputs = false;
  bool simplify = true;
  ir::OpEvaluator evaluate;  ///< for constant folding; none: nothing is folded
};

struct ImportedModel {
  Model model;
  std::vector<std::string> assumptions;  ///< what had to be assumed, one sentence each, for the user to confirm
};

/// Reads a training step: text to program, calls inlined, simplified, verified; roles; initial state. Local.
/// Throws InputError for files that are malformed or do not fit each other, UsageError for bad role rules.
ImportedModel import_model(const ImportRequest& request);

/// A recipe for a parameter of which nothing but role, path and type is known: weights by fan-in, scales one, optimizer
/// state, counters and keys zero; the seed comes from the path.
InitRecipe default_recipe(const ir::ParamInfo& param, const ir::TensorType& type);

/// The passes of an import: calls inlined, then (if `simplify`) identities, constants, common subexpressions and dead code.
void simplify_program(ir::Program& program, bool simplify, const ir::OpEvaluator& evaluate);

}  // namespace rhino::io
