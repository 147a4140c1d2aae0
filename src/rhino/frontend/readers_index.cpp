// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <rhino/frontend/op_context.hpp>

namespace rhino::frontend {
namespace {

using ir::OpKind;

/// The fields of `#stablehlo.gather<..>` or `#stablehlo.scatter<..>`.
class DimensionNumbers {
 public:
  DimensionNumbers(OpContext& context, OpContext::Keys keys) : context_(context), value_(context.require(keys)) {
    if (value_.kind != AttributeValue::Kind::Dict) context.fail("the dimension numbers are malformed");
  }

  std::vector<int> dims(std::string_view key) {
    const AttributeValue* field = find_attribute(value_.fields, key);
    return field == nullptr ? std::vector<int>() : context_.dims_of(*field);
  }
  int dim(std::string_view key) {
    const auto all = dims(key);
    return all.empty() ? 0 : all[0];
  }

 private:
  OpContext& context_;
  const AttributeValue& value_;
};

ir::GatherAttrs gather_attrs(OpContext& context) {
  DimensionNumbers numbers(context, {"dimension_numbers"});
  ir::GatherAttrs attrs;
  attrs.offset_dims = numbers.dims("offset_dims");
  attrs.collapsed_slice_dims = numbers.dims("collapsed_slice_dims");
  attrs.operand_batching_dims = numbers.dims("operand_batching_dims");
  attrs.start_indices_batching_dims = numbers.dims("start_indices_batching_dims");
  attrs.start_index_map = numbers.dims("start_index_map");
  attrs.index_vector_dim = numbers.dim("index_vector_dim");
  attrs.indices_are_sorted = context.boolean_or({"indices_are_sorted"}, false);
  return attrs;
}

std::vector<Bound> read_gather(OpContext& context) {
  context.expect_operands(2);
  ir::GatherAttrs attrs = gather_attrs(context);
  attrs.slice_sizes = context.integers({"slice_sizes"});
  return results(context.builder.add(OpKind::Gather, context.values(), std::move(attrs)));
}

std::vector<Bound> read_dynamic_gather(OpContext& context) {
  context.expect_operands(3);
  ir::GatherAttrs attrs = gather_attrs(context);
  attrs.slice_sizes = context.constant_integers(context.operand(2), "the slice sizes");
  return results(context.builder.add(OpKind::Gather, {context.operand(0), context.operand(1)}, std::move(attrs)));
}

std::vector<Bound> read_scatter(OpContext& context) {
  context.expect_regions(1);
  DimensionNumbers numbers(context, {"scatter_dimension_numbers"});
  ir::ScatterAttrs attrs;
  attrs.update_window_dims = numbers.dims("update_window_dims");
  attrs.inserted_window_dims = numbers.dims("inserted_window_dims");
  attrs.input_batching_dims = numbers.dims("input_batching_dims");
  attrs.scatter_indices_batching_dims = numbers.dims("scatter_indices_batching_dims");
  attrs.scatter_dims_to_operand_dims = numbers.dims("scatter_dims_to_operand_dims");
  attrs.index_vector_dim = numbers.dim("index_vector_dim");
  attrs.indices_are_sorted = context.boolean_or({"indices_are_sorted"}, false);
  attrs.unique_indices = context.boolean_or({"unique_indices"}, false);
  const ir::FunctionId update = context.region_by_copy(0, "scatter_update");
  // Inputs, indices, updates; the update computation takes one scalar of each input, then one of each update.
  const std::size_t inputs = context.operands.size() / 2;
  const auto values = context.values_widened(update, [=](std::size_t i) {
    if (i == inputs) return -1;
    return static_cast<int>(i < inputs ? i : i - 1);
  });
  return results(context.builder.add_multi(OpKind::Scatter, values, std::move(attrs), {update}));
}

std::vector<Bound> read_dynamic_slice(OpContext& context) {
  return results(context.builder.add(OpKind::DynamicSlice, context.values(),
                                     ir::DynamicSliceAttrs{context.integers({"slice_sizes", "sizes"})}));
}

std::vector<Bound> read_dynamic_update_slice(OpContext& context) {
  return results(context.builder.add(OpKind::DynamicUpdateSlice, context.values()));
}

std::vector<Bound> read_sort(OpContext& context) {
  context.expect_regions(1);
  if (context.operands.empty()) context.fail("needs at least one operand");
  ir::SortAttrs attrs;
  attrs.dimension = static_cast<int>(context.integer_or({"dimension"}, -1));
  if (attrs.dimension < 0) attrs.dimension += context.operand_type(0).rank();
  attrs.is_stable = context.boolean_or({"is_stable"}, false);
  const ir::FunctionId comparator = context.region_by_copy(0, "sort_comparator");
  return results(context.builder.add_multi(OpKind::Sort, context.values(), attrs, {comparator}));
}

std::vector<Bound> read_top_k(OpContext& context) {
  context.expect_operands(1);
  ir::TopKAttrs attrs;
  attrs.k = context.integer({"k"});
  attrs.largest = context.boolean_or({"largest"}, true);
  return results(context.builder.add_multi(OpKind::TopK, context.values(), attrs));
}

/// Picks slices of dimension `dim` by index: a gather.
std::vector<Bound> read_torch_index_select(OpContext& context) {
  context.expect_operands(2);
  const ir::TensorType operand = context.operand_type(0);
  const ir::TensorType index = context.operand_type(1);
  const auto dim = static_cast<int>(context.integer({"dim"}));
  const auto batch = static_cast<int>(context.integer_or({"batch_dims"}, 0));
  if (dim < 0 || dim >= operand.rank() || batch < 0 || batch > dim || batch > index.rank())
    context.fail("dim or batch_dims does not fit the operands");
  ir::GatherAttrs attrs;
  attrs.slice_sizes = operand.dims;
  attrs.slice_sizes[static_cast<std::size_t>(dim)] = 1;
  for (int i = 0; i < batch; ++i) {
    attrs.operand_batching_dims.push_back(i);
    attrs.start_indices_batching_dims.push_back(i);
    attrs.slice_sizes[static_cast<std::size_t>(i)] = 1;
  }
  attrs.collapsed_slice_dims = {dim};
  attrs.start_index_map = {dim};
  attrs.index_vector_dim = index.rank();
  const int picked = index.rank() - batch;  // dimensions of the result that come from the index
  for (int i = batch; i < operand.rank(); ++i)
    if (i != dim) attrs.offset_dims.push_back(i < dim ? i : i - 1 + picked);
  return results(context.builder.add(OpKind::Gather, context.values(), std::move(attrs)));
}

}  // namespace

void add_index_readers(OpReaders& readers) {
  readers["gather"] = read_gather;
  readers["dynamic_gather"] = read_dynamic_gather;
  readers["scatter"] = read_scatter;
  readers["dynamic_slice"] = read_dynamic_slice;
  readers["dynamic_update_slice"] = read_dynamic_update_slice;
  readers["sort"] = read_sort;
  readers["chlo.top_k"] = readers["topk"] = read_top_k;
  readers["torch_index_select"] = read_torch_index_select;
}

}  // namespace rhino::frontend
