// SPDX-License-Identifier: Apache-2.0
#pragma once

// Internal to ir/: the inference functions named in op_list.def and what they share.

#include <span>
#include <string_view>
#include <vector>

#include <rhino/base/error.hpp>
#include <rhino/base/math.hpp>
#include <rhino/ir/op_info.hpp>

/// Throws InputError "<op>: message" unless the condition holds; `context` is the InferContext in scope.
#define RHINO_OP_CHECK(condition, format, ...) \
  RHINO_CHECK(condition, "{}: " format, qualified_op_name(context.kind) __VA_OPT__(, ) __VA_ARGS__)

namespace rhino::ir::infer {

using Types = std::vector<TensorType>;

#define RHINO_OP(Kind, spelling, Attrs, rule, factors, cost) Types infer_##rule(const InferContext& context);
#include <rhino/ir/op_list.def>
#undef RHINO_OP

template <class Attrs>
const Attrs& attributes(const InferContext& context) {
  return std::get<Attrs>(context.attrs);
}

/// Exactly `count` operands.
void check_operand_count(const InferContext& context, std::size_t count);
/// At least `count` operands.
void check_operand_count_at_least(const InferContext& context, std::size_t count);

/// Dimensions >= 0 and a size in bytes that fits into 64 bits; `what` names the type in the message.
void check_type(const InferContext& context, const TensorType& type, std::string_view what);

/// Operand `index` is a scalar.
void check_scalar(const InferContext& context, std::size_t index, std::string_view name);

/// Operands [first, end) are integer scalars of one type.
void check_scalar_indices(const InferContext& context, std::size_t first);

/// Every entry is in [0, rank) and no entry occurs twice.
void check_dimension_list(const InferContext& context, std::string_view name, const std::vector<int>& list, int rank);
/// The same, and ascending.
void check_sorted_dimension_list(const InferContext& context, std::string_view name, const std::vector<int>& list,
                                 int rank);
void check_dimension(const InferContext& context, std::string_view name, std::int64_t dimension, std::int64_t rank);

/// One number per dimension.
void check_length(const InferContext& context, std::string_view name, std::size_t length, std::size_t expected);

/// Region `index` has these parameter and result types.
void check_region(const InferContext& context, std::size_t index, std::string_view name, const Types& params,
                  const Types& results);

bool contains(const std::vector<int>& list, int entry);

/// "[1, 2]".
std::string list_text(const std::vector<int>& list);

/// Sizes, strides and dilations are positive; no window but a convolution's is reversed.
void check_window(const InferContext& context, const std::vector<WindowDim>& window, bool may_dilate);
/// Number of positions of a window along a dimension of `size` elements.
std::int64_t window_positions(std::int64_t size, const WindowDim& window);

}  // namespace rhino::ir::infer
