// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rhino/ir/program.hpp>

namespace rhino::ir {

/// What shape inference sees of an op that is not built yet.
struct InferContext {
  const Program& program;  ///< owner of the regions
  OpKind kind;
  const Attributes& attrs;
  std::span<const TensorType> operands;
  std::span<const FunctionId> regions;
};

/// Result types of an op; checks operand types, attributes and regions on the way.
/// Throws InputError with a message that names the op, the operand and what was expected.
std::vector<TensorType> infer_result_types(const InferContext& context);

/// Name with its dialect, as in the text form: "stablehlo.add", "chlo.erf", "call".
std::string qualified_op_name(OpKind kind);

/// Kind by spelling ("add", "chlo.erf"); nullopt for an unknown name.
std::optional<OpKind> op_kind_from_name(std::string_view name);

bool is_elementwise(OpKind kind);  ///< every result element depends on the same-index element of each (non-scalar) operand
bool is_collective(OpKind kind);
bool has_regions(OpKind kind);

/// Checks the whole program: SSA order, types, attributes (by inference), regions, no recursion, results.
/// Throws InputError naming function, op, line and operand.
void verify(const Program& program);

}  // namespace rhino::ir
