// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rhino/ir/program.hpp>

namespace rhino::kernels::reference {

/// An expectation that does not hold.
struct CheckFailure {
  std::string function;  ///< in which it stands
  std::string check;     ///< "check.expect_close at line 12"
  std::string producer;  ///< the op whose result was checked: "add at line 10"
  std::string detail;    ///< index, got, want, and how far off
};

struct CheckReport {
  std::int64_t functions = 0;  ///< that were run
  std::int64_t checks = 0;     ///< that were evaluated
  std::vector<CheckFailure> failures;
};

/// Functions to run for the checks: the entry if it is `@main`, else every function without parameters that holds
/// checks.
std::vector<ir::FunctionId> functions_to_check(const ir::Program& program);

/// Runs the functions and evaluates StableHLO's test checks on the way: `check.expect_eq`, `expect_close`
/// (max_ulp_difference 3 unless given), `expect_almost_eq` (tolerance 1e-3 unless given), `expect_serialized_eq`
/// against what `interpreter.probe` has seen, and `interpreter.run_parallel` on virtual ranks. All checks are
/// evaluated, also after a failure. Throws InputError for a function with parameters and for what a program does wrong
/// at run time.
CheckReport run_checks(const ir::Program& program, const std::vector<ir::FunctionId>& functions);

}  // namespace rhino::kernels::reference
