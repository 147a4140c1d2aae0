// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include <rhino/ir/program.hpp>

namespace rhino::ir {

struct PrintOptions {
  /// Constants with more elements than this are printed as `dense_resource<name>` (their bytes are then kept elsewhere);
  /// the default prints all inline.
  std::int64_t resource_threshold = INT64_MAX;
  bool locations = false;  ///< print `loc("..")`
};

/// StableHLO text of a program (pretty form where one exists). frontend::parse_stablehlo reads it back to an equivalent
/// program.
std::string print(const Program& program, const PrintOptions& options = {});

/// One op as one line of text, for messages.
std::string print_op(const Program& program, const Function& function, const Op& op);

}  // namespace rhino::ir
