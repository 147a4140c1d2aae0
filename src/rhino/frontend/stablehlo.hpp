// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <rhino/frontend/import.hpp>
#include <rhino/ir/program.hpp>

namespace rhino::frontend {

/// Reads one module of StableHLO text (pretty or generic form, `mhlo.` and `chlo.` names too).
///
/// All functions are kept; the entry is `@main`, else the first public function, else the first one. Normalised on
/// the way: tuples are removed, `if` becomes `case`, `dot`, `einsum` become `dot_general`, batch normalisation and
/// the composite `chlo` ops are decomposed, `composite` becomes a call. What a region uses of its surroundings becomes
/// explicit (see ir::Program). Test checks stay as custom calls: `check.expect_*` with operands (got, want), where the
/// want of the `_const` forms is a constant; `interpreter.run_parallel` with its programs as regions in row-major
/// order and the grid "rows x columns" as backend_config; `interpreter.probe` with its probe id as backend_config.
/// Argument and result attributes and argument locations ("loc") become param_notes and result_notes.
///
/// Time is linear in the size of the text. Throws ImportError or UnsupportedError.
ir::Program parse_stablehlo(std::string_view text, const ImportOptions& options = {});

}  // namespace rhino::frontend
