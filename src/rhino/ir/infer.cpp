// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/infer.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace rhino::ir {
namespace infer {

void check_operand_count(const InferContext& context, std::size_t count) {
  RHINO_OP_CHECK(context.operands.size() == count, "expected {} operand{}, got {}", count, count == 1 ? "" : "s",
                 context.operands.size());
}

void check_operand_count_at_least(const InferContext& context, std::size_t count) {
  RHINO_OP_CHECK(context.operands.size() >= count, "expected at least {} operand{}, got {}", count,
                 count == 1 ? "" : "s", context.operands.size());
}

void check_type(const InferContext& context, const TensorType& type, std::string_view what) {
  for (const std::int64_t size : type.dims)
    RHINO_OP_CHECK(size >= 0, "{} {} has a negative dimension", what, to_string(type));
  try {
    static_cast<void>(type.bytes());
  } catch (const InputError&) {
    RHINO_FAIL(InputError, "{}: {} {} has more bytes than 64 bits can count", qualified_op_name(context.kind), what,
               to_string(type));
  }
}

void check_scalar(const InferContext& context, std::size_t index, std::string_view name) {
  RHINO_OP_CHECK(context.operands[index].rank() == 0, "operand {} ({}) is {}, expected a scalar", index, name,
                 to_string(context.operands[index]));
}

void check_scalar_indices(const InferContext& context, std::size_t first) {
  for (std::size_t i = first; i < context.operands.size(); ++i) {
    const TensorType& type = context.operands[i];
    RHINO_OP_CHECK(type.rank() == 0 && is_integer(type.dtype),
                   "operand {} (start index {}) is {}, expected a scalar integer", i, i - first, to_string(type));
    RHINO_OP_CHECK(type == context.operands[first],
                   "operand {} (start index {}) is {}, expected {} like the other start indices", i, i - first,
                   to_string(type), to_string(context.operands[first]));
  }
}

void check_dimension_list(const InferContext& context, std::string_view name, const std::vector<int>& list, int rank) {
  std::vector<bool> seen(static_cast<std::size_t>(std::max(rank, 0)), false);
  for (const int dimension : list) {
    check_dimension(context, name, dimension, rank);
    RHINO_OP_CHECK(!seen[static_cast<std::size_t>(dimension)], "{} = {} names dimension {} twice", name,
                   list_text(list), dimension);
    seen[static_cast<std::size_t>(dimension)] = true;
  }
}

void check_sorted_dimension_list(const InferContext& context, std::string_view name, const std::vector<int>& list,
                                 int rank) {
  check_dimension_list(context, name, list, rank);
  RHINO_OP_CHECK(std::is_sorted(list.begin(), list.end()), "{} = {} must be ascending", name, list_text(list));
}

void check_dimension(const InferContext& context, std::string_view name, std::int64_t dimension, std::int64_t rank) {
  RHINO_OP_CHECK(dimension >= 0 && dimension < rank, "{} has dimension {}, expected one in [0, {})", name, dimension,
                 rank);
}

void check_length(const InferContext& context, std::string_view name, std::size_t length, std::size_t expected) {
  RHINO_OP_CHECK(length == expected, "{} has {} entries, expected {}", name, length, expected);
}

namespace {

std::string types_text(const Types& types) {
  std::string text = "(";
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (i != 0) text += ", ";
    text += to_string(types[i]);
  }
  return text + ")";
}

}  // namespace

void check_region(const InferContext& context, std::size_t index, std::string_view name, const Types& params,
                  const Types& results) {
  const Function& region = context.program.function(context.regions[index]);
  const auto matches = [&](const std::vector<ValueId>& ids, const Types& expected) {
    return std::equal(ids.begin(), ids.end(), expected.begin(), expected.end(),
                      [&](ValueId id, const TensorType& type) { return region.type(id) == type; });
  };
  RHINO_OP_CHECK(matches(region.params, params), "the {} takes {}, expected {}", name, types_text(region.param_types()),
                 types_text(params));
  RHINO_OP_CHECK(matches(region.results, results), "the {} returns {}, expected {}", name,
                 types_text(region.result_types()), types_text(results));
}

bool contains(const std::vector<int>& list, int entry) {
  return std::find(list.begin(), list.end(), entry) != list.end();
}

std::string list_text(const std::vector<int>& list) { return fmt::format("[{}]", fmt::join(list, ", ")); }

void check_window(const InferContext& context, const std::vector<WindowDim>& window, bool may_dilate) {
  for (std::size_t i = 0; i < window.size(); ++i) {
    const WindowDim& w = window[i];
    RHINO_OP_CHECK(w.size >= (context.kind == OpKind::Convolution ? 0 : 1),
                   "window dimension {} has size {}, expected at least 1", i, w.size);
    RHINO_OP_CHECK(w.stride >= 1, "window dimension {} has stride {}, expected at least 1", i, w.stride);
    RHINO_OP_CHECK(w.base_dilation >= 1, "window dimension {} has base dilation {}, expected at least 1", i,
                   w.base_dilation);
    RHINO_OP_CHECK(w.window_dilation >= 1, "window dimension {} has window dilation {}, expected at least 1", i,
                   w.window_dilation);
    RHINO_OP_CHECK(may_dilate || (w.base_dilation == 1 && w.window_dilation == 1),
                   "window dimension {} is dilated, which this op cannot be", i);
    RHINO_OP_CHECK(context.kind == OpKind::Convolution || !w.reversal,
                   "window dimension {} is reversed, which only a convolution can be", i);
  }
}

std::int64_t window_positions(std::int64_t size, const WindowDim& window) {
  const auto dilated = [](std::int64_t count, std::int64_t dilation) {
    return count == 0 ? 0 : checked_add(checked_multiply(count - 1, dilation), 1);
  };
  const std::int64_t padded =
      checked_add(checked_add(dilated(size, window.base_dilation), window.pad_low), window.pad_high);
  const std::int64_t extent = dilated(window.size, window.window_dilation);
  if (padded < extent || padded <= 0) return 0;
  return (padded - extent) / window.stride + 1;
}

}  // namespace infer

namespace {

/// Number of regions of an op of this kind; -1 for "one or more", -2 for "any".
int region_count(OpKind kind) {
  switch (kind) {
    case OpKind::Reduce:
    case OpKind::ReduceWindow:
    case OpKind::Scatter:
    case OpKind::Sort:
    case OpKind::Call:
    case OpKind::AllReduce:
    case OpKind::ReduceScatter:
      return 1;
    case OpKind::SelectAndScatter:
    case OpKind::While:
      return 2;
    case OpKind::Case:
      return -1;
    case OpKind::CustomCall:
      return -2;
    default:
      return 0;
  }
}

void check_attributes_and_regions(const InferContext& context) {
  switch (context.kind) {
#define RHINO_OP(Kind, spelling, Attrs, rule, factors, cost)                                                     \
  case OpKind::Kind:                                                                                             \
    RHINO_ASSERT(std::holds_alternative<Attrs>(context.attrs), "{} carries attributes of another op", spelling); \
    break;
#include <rhino/ir/op_list.def>
#undef RHINO_OP
  }
  const int count = region_count(context.kind);
  const auto given = static_cast<int>(context.regions.size());
  if (count >= 0) {
    RHINO_OP_CHECK(given == count, "expected {} region{}, got {}", count, count == 1 ? "" : "s", given);
  } else if (count == -1) {
    RHINO_OP_CHECK(given >= 1, "expected at least one region");
  }
  for (const FunctionId region : context.regions)
    RHINO_ASSERT(region.valid() && region.index() < context.program.functions.size(),
                 "{} refers to a function that does not exist", op_name(context.kind));
}

}  // namespace

std::vector<TensorType> infer_result_types(const InferContext& context) {
  check_attributes_and_regions(context);
  std::vector<TensorType> results;
  switch (context.kind) {
#define RHINO_OP(Kind, spelling, Attrs, rule, factors, cost) \
  case OpKind::Kind:                                         \
    results = infer::infer_##rule(context);                  \
    break;
#include <rhino/ir/op_list.def>
#undef RHINO_OP
  }
  for (const TensorType& type : results)
    infer::check_type(context, type, "result type");
  return results;
}

bool has_regions(OpKind kind) { return region_count(kind) != 0; }

}  // namespace rhino::ir
