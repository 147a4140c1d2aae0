// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <rhino/ir/program.hpp>
#include <rhino/ir/signature.hpp>

namespace rhino::frontend {

/// What is known about the roles from outside the program.
struct RoleOptions {
  std::string manifest_text;  ///< JSON as tools/export_jax.py writes it; empty: none
  std::string manifest_name = "manifest";  ///< begins messages about it
  /// What the user says, in order; the last match counts and outweighs the manifest. `GLOB=WORD` for parameters, by path or
  /// by number ("opt/*=optimizer", "3=batch"), WORD one of param optimizer statistics step key batch const;
  /// `result:GLOB=WORD` for results, WORD one of loss metric or `state:PATH`.
  std::vector<std::string> rules;
};

/// A signature and what had to be assumed for it: one sentence each, for the user to confirm.
struct InferredRoles {
  ir::Signature signature;
  std::vector<std::string> assumptions;
};

/// Decides the roles of the entry function's parameters and results. Evidence in this order: manifest and user;
/// equal path names (argument locations against `jax.result_info`); the longest run of results that match leading parameters
/// in shape and type, at any offset; assumption. A storage alias is never taken as a state mapping.
/// The result passes ir::verify. Throws InputError for a manifest that is malformed or does not fit the program, UsageError
/// for a rule that is malformed or matches nothing.
InferredRoles infer_roles(const ir::Program& program, const RoleOptions& options = {});

/// The parts of a path as JAX prints it: "state['opt'][0].mu['w']" gives state, opt, 0, mu, w. Text that is no such path
/// gives itself as one part.
std::vector<std::string> split_path(std::string_view path);

/// Shell pattern with `*` and `?`; linear time up to the product of the lengths.
bool glob_match(std::string_view pattern, std::string_view text);

/// Kind of a state parameter by the first telling part of its path and its type.
ir::StateKind guess_kind(std::string_view path, const ir::TensorType& type);

/// The signature as a table for people, one line per parameter and result.
std::string signature_table(const ir::Signature& signature, const ir::Function& function);

}  // namespace rhino::frontend
