// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <rhino/frontend/import.hpp>
#include <rhino/ir/program.hpp>

namespace rhino::frontend {

/// What to do about a module that is optimised already.
inline constexpr std::string_view kOptimisedRemedy =
    "use the text before optimisation: jax.jit(f).lower(..).as_text(), or the *.before_optimizations.txt of "
    "--xla_dump_to";

/// Reads one HLO module as text, before optimisation: what `lower(..).as_text('hlo')` gives (old and new JAX) and what
/// `--xla_dump_to` writes as *.before_optimizations.txt. Every computation becomes a function, the ENTRY computation
/// the entry, named "main"; tuples are taken apart: a tuple parameter becomes several parameters, a tuple root several
/// results.
///
/// Names and paths become notes: "loc" of a parameter is its `op_name`, else its instruction's name; aliasing and
/// donation become "tf.aliasing_output" and "jax.buffer_donor", as in StableHLO from JAX.
///
/// Optimised or scheduled modules are refused, since they hold fusions and calls that are private to a backend.
/// Time is linear in the size of the text. Throws ImportError or UnsupportedError.
ir::Program parse_hlo_text(std::string_view text, const ImportOptions& options = {});

}  // namespace rhino::frontend
