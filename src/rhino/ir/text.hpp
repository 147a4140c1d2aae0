// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <rhino/ir/program.hpp>

namespace rhino::ir {

struct PrintOptions {
  /// Constants with more elements than this are printed as `dense_resource<name>`; splats never are. The default prints all
  /// inline.
  std::int64_t resource_threshold = INT64_MAX;
  /// Print the bytes of these constants in a `dialect_resources` section at the end; else the caller keeps them elsewhere.
  bool resource_section = false;
  bool locations = false;  ///< print `loc("..")`
};

/// A constant that the text refers to as `dense_resource<name>`.
struct NamedLiteral {
  std::string name;
  Literal value;
};

/// StableHLO text of a program (pretty form where one exists). frontend::parse_stablehlo reads it back to an equivalent
/// program. Functions that only serve as regions are written inline; entry and call targets are functions of the text.
/// @param resources if given, receives the constants printed as `dense_resource`, in order of appearance
std::string print(const Program& program, const PrintOptions& options = {},
                  std::vector<NamedLiteral>* resources = nullptr);

/// One op as one line of text, for messages: values by their number, regions as `{..}`, large constants shortened.
std::string print_op(const Program& program, const Function& function, const Op& op);

}  // namespace rhino::ir
