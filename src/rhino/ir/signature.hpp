// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rhino/ir/program.hpp>

namespace rhino::ir {

/// What a parameter of a training step is for.
enum class ParamRole : std::uint8_t { State, Batch, Const };
/// Finer kind of a state parameter.
enum class StateKind : std::uint8_t { Param, Optimizer, Statistics, Step, Key };
enum class ResultRole : std::uint8_t { State, Loss, Metric };

/// Evidence by which a role was decided, strongest first.
enum class Evidence : std::uint8_t { Manifest, User, PathNames, ShapeRun, Assumed };

struct ParamInfo {
  std::string path;  ///< unique name, e.g. "params/block0/w"; data sets and checkpoints use it
  ParamRole role = ParamRole::Batch;
  StateKind kind = StateKind::Param;  ///< meaningful for State only
  Evidence evidence = Evidence::Assumed;
};

struct ResultInfo {
  std::string path;
  ResultRole role = ResultRole::Metric;
  std::uint32_t state_param = 0;  ///< parameter that this result replaces; meaningful for State only
  Evidence evidence = Evidence::Assumed;
};

/// Roles of every parameter and result of a training step. A storage alias is never a state mapping.
struct Signature {
  std::vector<ParamInfo> params;
  std::vector<ResultInfo> results;

  /// Position of the loss result, if one was found.
  std::optional<std::uint32_t> loss() const;
  /// For each parameter the result that replaces it, or nullopt.
  std::vector<std::optional<std::uint32_t>> updates() const;
};

/// Names as manifests, files and tables have them: state batch const; param optimizer statistics step key; state loss metric;
/// manifest user paths shapes assumed.
std::string_view name_of(ParamRole role);
std::string_view name_of(StateKind kind);
std::string_view name_of(ResultRole role);
std::string_view name_of(Evidence evidence);
std::optional<ParamRole> param_role_from_name(std::string_view name);
std::optional<StateKind> state_kind_from_name(std::string_view name);
std::optional<ResultRole> result_role_from_name(std::string_view name);
std::optional<Evidence> evidence_from_name(std::string_view name);

/// Checks a signature against a function: counts, unique paths, each state result equal in type to its parameter, at most
/// one result per state parameter, a scalar floating loss. Throws InputError.
void verify(const Signature& signature, const Function& function);

}  // namespace rhino::ir
