// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <rhino/frontend/op_context.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::frontend {
namespace {

using ir::OpKind;
using Kind = AttributeValue::Kind;

/// Dimension numbers of a convolution: `[b, 0, 1, f]` lists or the fields of the raw form.
class ConvolutionDims {
 public:
  ConvolutionDims(OpContext& context, ir::ConvolutionAttrs& attrs) : context_(context) {
    const AttributeValue& value = context.require({"dimension_numbers"});
    if (value.kind != Kind::Dict) context.fail("the dimension numbers are malformed");
    if (find_attribute(value.fields, "input") != nullptr) {
      read(*find_attribute(value.fields, "input"), 'b', 'f', attrs.input_batch, attrs.input_feature,
           attrs.input_spatial);
      read(*find_attribute(value.fields, "kernel"), 'i', 'o', attrs.kernel_input_feature, attrs.kernel_output_feature,
           attrs.kernel_spatial);
      read(*find_attribute(value.fields, "output"), 'b', 'f', attrs.output_batch, attrs.output_feature,
           attrs.output_spatial);
      return;
    }
    attrs.input_batch = one(value, "input_batch_dimension");
    attrs.input_feature = one(value, "input_feature_dimension");
    attrs.input_spatial = many(value, "input_spatial_dimensions");
    attrs.kernel_input_feature = one(value, "kernel_input_feature_dimension");
    attrs.kernel_output_feature = one(value, "kernel_output_feature_dimension");
    attrs.kernel_spatial = many(value, "kernel_spatial_dimensions");
    attrs.output_batch = one(value, "output_batch_dimension");
    attrs.output_feature = one(value, "output_feature_dimension");
    attrs.output_spatial = many(value, "output_spatial_dimensions");
  }

 private:
  std::vector<int> many(const AttributeValue& value, std::string_view key) {
    const AttributeValue* field = find_attribute(value.fields, key);
    return field == nullptr ? std::vector<int>() : context_.dims_of(*field);
  }
  int one(const AttributeValue& value, std::string_view key) {
    const auto all = many(value, key);
    if (all.size() != 1) context_.fail(fmt::format("'{}' is missing", key));
    return all[0];
  }
  void read(const AttributeValue& list, char first_letter, char second_letter, int& first, int& second,
            std::vector<int>& spatial) {
    const std::size_t rank = list.kind == Kind::List ? list.items.size() : 0;
    if (rank < 2) context_.fail("the dimension numbers are malformed");
    spatial.assign(rank - 2, -1);
    first = second = -1;
    for (std::size_t i = 0; i < rank; ++i) {
      const AttributeValue& item = list.items[i];
      if (item.kind == Kind::Word && item.text.size() == 1 && item.text[0] == first_letter) {
        first = static_cast<int>(i);
      } else if (item.kind == Kind::Word && item.text.size() == 1 && item.text[0] == second_letter) {
        second = static_cast<int>(i);
      } else if (item.kind == Kind::Integer && item.integer >= 0 &&
                 static_cast<std::size_t>(item.integer) < spatial.size()) {
        spatial[static_cast<std::size_t>(item.integer)] = static_cast<int>(i);
      } else {
        context_.fail("the dimension numbers are malformed");
      }
    }
    for (const int dim : spatial)
      if (dim < 0) context_.fail("a spatial dimension is missing in the dimension numbers");
    if (first < 0 || second < 0) context_.fail("a dimension is missing in the dimension numbers");
  }

  OpContext& context_;
};

void set_padding(OpContext& context, std::vector<ir::WindowDim>& window, const std::vector<std::int64_t>& pairs) {
  if (pairs.size() != 2 * window.size()) context.fail("the padding does not fit the number of window dimensions");
  for (std::size_t i = 0; i < window.size(); ++i) {
    window[i].pad_low = pairs[2 * i];
    window[i].pad_high = pairs[2 * i + 1];
  }
}

std::vector<Bound> convolution(OpContext& context, const std::vector<std::int64_t>* padding_operand) {
  ir::ConvolutionAttrs attrs;
  const ConvolutionDims dims(context, attrs);
  attrs.feature_group_count = context.integer_or({"feature_group_count"}, 1);
  attrs.batch_group_count = context.integer_or({"batch_group_count"}, 1);
  attrs.result_dtype = context.result_type().dtype;
  const std::size_t spatial = attrs.kernel_spatial.size();
  const ir::TensorType kernel = context.operand_type(1);
  attrs.window.resize(spatial);
  for (std::size_t i = 0; i < spatial; ++i) {
    const auto dim = static_cast<std::size_t>(attrs.kernel_spatial[i]);
    if (dim >= kernel.dims.size()) context.fail("the dimension numbers do not fit the kernel");
    attrs.window[i].size = kernel.dims[dim];
  }
  // The pretty form keeps these in `window = {..}`.
  const AttributeValue* pretty = context.find({"window"});
  const auto list = [&](std::string_view generic, std::string_view keyword, std::size_t count,
                        std::int64_t otherwise) -> std::vector<std::int64_t> {
    const AttributeValue* value =
        pretty != nullptr && pretty->kind == Kind::Dict ? find_attribute(pretty->fields, keyword) : nullptr;
    if (value == nullptr) return context.integers_or({generic}, count, otherwise);
    auto all = context.integers_of(*value);
    if (all.size() != count) context.fail(fmt::format("'{}' has {} values, but needs {}", keyword, all.size(), count));
    return all;
  };
  const auto strides = list("window_strides", "stride", spatial, 1);
  const auto lhs_dilation = list("lhs_dilation", "lhs_dilate", spatial, 1);
  const auto rhs_dilation = list("rhs_dilation", "rhs_dilate", spatial, 1);
  const auto reversal = list("window_reversal", "reverse", spatial, 0);
  for (std::size_t i = 0; i < spatial; ++i) {
    attrs.window[i].stride = strides[i];
    attrs.window[i].base_dilation = lhs_dilation[i];
    attrs.window[i].window_dilation = rhs_dilation[i];
    attrs.window[i].reversal = reversal[i] != 0;
  }
  set_padding(context, attrs.window,
              padding_operand != nullptr ? *padding_operand : list("padding", "pad", 2 * spatial, 0));
  return results(context.builder.add(OpKind::Convolution, {context.operand(0), context.operand(1)}, std::move(attrs)));
}

std::vector<Bound> read_convolution(OpContext& context) {
  context.expect_operands(2);
  return convolution(context, nullptr);
}

std::vector<Bound> read_dynamic_conv(OpContext& context) {
  context.expect_operands(3);
  const auto padding = context.constant_integers(context.operand(2), "the padding");
  return convolution(context, &padding);
}

/// Window attributes of reduce_window and select_and_scatter.
std::vector<ir::WindowDim> read_window(OpContext& context) {
  const auto sizes = context.integers({"window_dimensions"});
  const std::size_t rank = sizes.size();
  std::vector<ir::WindowDim> window(rank);
  const auto strides = context.integers_or({"window_strides"}, rank, 1);
  const auto base_dilations = context.integers_or({"base_dilations"}, rank, 1);
  const auto window_dilations = context.integers_or({"window_dilations"}, rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    window[i].size = sizes[i];
    window[i].stride = strides[i];
    window[i].base_dilation = base_dilations[i];
    window[i].window_dilation = window_dilations[i];
  }
  set_padding(context, window, context.integers_or({"padding"}, 2 * rank, 0));
  return window;
}

/// Inputs and initial values of a reduction in the types of its reducer.
std::vector<ir::ValueId> reduction_values(OpContext& context, ir::FunctionId reducer) {
  const std::size_t inputs = std::max<std::size_t>(context.operands.size() / 2, 1);
  return context.values_widened(reducer, [=](std::size_t i) { return static_cast<int>(i % inputs); });
}

std::vector<Bound> read_reduce_window(OpContext& context) {
  context.expect_regions(1);
  ir::ReduceWindowAttrs attrs{read_window(context)};
  const ir::FunctionId reducer = context.region_by_copy(0, "window_reducer");
  return results(
      context.builder.add_multi(OpKind::ReduceWindow, reduction_values(context, reducer), std::move(attrs), {reducer}));
}

std::vector<Bound> read_select_and_scatter(OpContext& context) {
  context.expect_regions(2);
  ir::SelectAndScatterAttrs attrs{read_window(context)};
  const ir::FunctionId select = context.region_by_copy(0, "select");
  const ir::FunctionId scatter = context.region_by_copy(1, "scatter");
  return results(
      context.builder.add_multi(OpKind::SelectAndScatter, context.values(), std::move(attrs), {select, scatter}));
}

/// `applies stablehlo.add`: a reducer of one op.
ir::FunctionId simple_reducer(OpContext& context) {
  std::string name = context.word({"applies"});
  for (const std::string_view dialect : {"stablehlo.", "mhlo."})
    if (name.starts_with(dialect)) name.erase(0, dialect.size());
  const auto kind = ir::op_kind_from_name(name);
  if (!kind || !ir::is_elementwise(*kind)) context.fail(fmt::format("{} is not an op of two operands", in_quotes(name)));
  const ir::DType dtype = context.operand_type(0).dtype;
  const ir::FunctionId function = context.assembler.new_function("reducer");
  ir::Builder builder(context.assembler.program(), function);
  const ir::ValueId a = builder.param({dtype, {}});
  const ir::ValueId b = builder.param({dtype, {}});
  builder.set_results({builder.add(*kind, {a, b})});
  return function;
}

std::vector<Bound> read_reduce(OpContext& context) {
  ir::ReduceAttrs attrs{context.dims({"dimensions"})};
  if (context.operands.empty()) context.fail("needs operands");
  const ir::FunctionId reducer =
      context.has({"applies"}) ? simple_reducer(context) : context.region_by_copy(0, "reducer");
  return results(
      context.builder.add_multi(OpKind::Reduce, reduction_values(context, reducer), std::move(attrs), {reducer}));
}

}  // namespace

void add_window_readers(OpReaders& readers) {
  readers["convolution"] = read_convolution;
  readers["dynamic_conv"] = read_dynamic_conv;
  readers["reduce_window"] = read_reduce_window;
  readers["select_and_scatter"] = read_select_and_scatter;
  readers["reduce"] = read_reduce;
}

}  // namespace rhino::frontend
