// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <rhino/plan/plan.hpp>

namespace rhino::io {

/// Writes a plan: equal strategies and layouts once, everything else as named attributes and data sets; the file appears only
/// when complete. Local. Throws EnvironmentError if it cannot be written.
void write_plan(const plan::Plan& plan, const std::string& path);

/// Reads what write_plan wrote; the result is equal to the plan that was written. Whether it fits a program and a number of
/// devices is plan::check_plan's question. Local. Throws InputError for a file that is missing, damaged, edited, of another
/// kind or of a newer format.
plan::Plan read_plan(const std::string& path);

}  // namespace rhino::io
