// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <rhino/kernels/host/op_kernels.hpp>

namespace rhino::kernels::host {

/// The elementwise op that a well-known reducer applies; nothing for Other.
std::optional<ir::OpKind> reducer_op(ir::ReducerKind kind);

/// Whether a region `(a, b)` is `b`.
bool returns_second(const ir::Function& region);

/// The comparison `a ? b` that a region is, if it is one.
std::optional<ir::Comparison> comparison_of(const ir::Function& region);

/// Whether operand `i` is a constant equal to the identity element of the reducer.
bool is_identity(const OpContext& context, std::size_t i, ir::ReducerKind kind);

}  // namespace rhino::kernels::host
