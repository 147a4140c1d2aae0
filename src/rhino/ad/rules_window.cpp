// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include <rhino/ad/lifted_reduction.hpp>
#include <rhino/ad/rules.hpp>

// Convolution, windows, and the largest elements.

namespace rhino::ad {

using ir::ConvolutionAttrs;
using ir::Dims;
using ir::OpKind;
using ir::ReducerKind;
using ir::TensorType;
using ir::ValueId;
using ir::WindowDim;

namespace {

/// Size with `dilation - 1` holes between neighbours.
std::int64_t dilated(std::int64_t size, std::int64_t dilation) { return size == 0 ? 0 : (size - 1) * dilation + 1; }

/// The window that brings a cotangent back to the input: strides and base dilations change places.
WindowDim input_window(const WindowDim& forward, std::int64_t input, std::int64_t output) {
  WindowDim window = forward;
  window.stride = forward.base_dilation;
  window.base_dilation = forward.stride;
  window.reversal = false;
  const std::int64_t reach = dilated(forward.size, forward.window_dilation);
  window.pad_low = reach - forward.pad_low - 1;
  window.pad_high =
      dilated(input, forward.base_dilation) + reach - 1 - dilated(output, forward.stride) - window.pad_low;
  return window;
}

/// The window in which the cotangent moves over the input to give the gradient of the kernel.
WindowDim kernel_window(const WindowDim& forward, std::int64_t input, std::int64_t output) {
  WindowDim window = forward;
  window.size = output;
  window.stride = forward.window_dilation;
  window.window_dilation = forward.stride;
  window.reversal = false;
  const std::int64_t total = dilated(output, forward.stride) + dilated(forward.size, forward.window_dilation) -
                             dilated(input, forward.base_dilation) - 1;
  window.pad_high = total - forward.pad_low;
  return window;
}

/// A kernel of `groups` groups with input and output features exchanged group by group: [.., in / groups, out] becomes
/// [.., out / groups, in] in the places of the two.
ValueId exchange_features(Rule& r, ValueId kernel, const ConvolutionAttrs& attrs) {
  const std::int64_t groups = attrs.feature_group_count;
  if (groups == 1) return kernel;  // the attributes say which is which
  const Dims dims = r.type(kernel).dims;
  const int in = attrs.kernel_input_feature, out = attrs.kernel_output_feature;
  Dims split;  // out becomes [groups, out / groups]
  std::vector<int> place(dims.size());
  for (int d = 0; d < static_cast<int>(dims.size()); ++d) {
    place[at(d)] = static_cast<int>(split.size());
    if (d == out) split.push_back(groups);
    split.push_back(d == out ? dims[at(d)] / groups : dims[at(d)]);
  }
  std::vector<int> permutation;
  Dims merged;
  for (int d = 0; d < static_cast<int>(dims.size()); ++d) {
    if (d == out) {
      permutation.insert(permutation.end(), {place[at(out)], place[at(in)]});
      merged.push_back(groups * dims[at(in)]);
    } else if (d == in) {
      permutation.push_back(place[at(out)] + 1);
      merged.push_back(dims[at(out)] / groups);
    } else {
      permutation.push_back(place[at(d)]);
      merged.push_back(dims[at(d)]);
    }
  }
  return r.b.reshape(r.b.transpose(r.b.reshape(kernel, split), permutation), merged);
}

ValueId input_gradient(Rule& r, const ConvolutionAttrs& forward, const TensorType& input, ValueId cotangent) {
  ConvolutionAttrs attrs = forward;
  ValueId kernel = exchange_features(r, r.operand(1), forward);
  if (forward.feature_group_count == 1) std::swap(attrs.kernel_input_feature, attrs.kernel_output_feature);
  std::vector<int> turned;
  for (std::size_t i = 0; i < forward.window.size(); ++i) {
    attrs.window[i] = input_window(forward.window[i], input.dims[at(forward.input_spatial[i])],
                                   r.type(cotangent).dims[at(forward.output_spatial[i])]);
    if (!forward.window[i].reversal && forward.window[i].size > 1) turned.push_back(forward.kernel_spatial[i]);
  }
  if (!turned.empty()) kernel = r.b.add(OpKind::Reverse, {kernel}, ir::DimensionsAttrs{turned});
  std::swap(attrs.input_batch, attrs.output_batch);
  std::swap(attrs.input_feature, attrs.output_feature);
  std::swap(attrs.input_spatial, attrs.output_spatial);
  attrs.result_dtype = input.dtype;
  return r.b.add(OpKind::Convolution, {cotangent, kernel}, std::move(attrs));
}

ValueId kernel_gradient(Rule& r, const ConvolutionAttrs& forward, ValueId operand, ValueId cotangent) {
  ConvolutionAttrs attrs = forward;
  const TensorType input = r.type(operand), kernel = r.type(r.operand(1));
  std::vector<int> turned;
  for (std::size_t i = 0; i < forward.window.size(); ++i) {
    attrs.window[i] = kernel_window(forward.window[i], input.dims[at(forward.input_spatial[i])],
                                    r.type(cotangent).dims[at(forward.output_spatial[i])]);
    if (forward.window[i].reversal && forward.window[i].size > 1) turned.push_back(forward.kernel_spatial[i]);
  }
  attrs.input_batch = forward.input_feature;
  attrs.input_feature = forward.input_batch;
  attrs.kernel_input_feature = forward.output_batch;
  attrs.kernel_output_feature = forward.output_feature;
  attrs.kernel_spatial = forward.output_spatial;
  attrs.output_batch = forward.kernel_input_feature;
  attrs.output_feature = forward.kernel_output_feature;
  attrs.output_spatial = forward.kernel_spatial;
  attrs.feature_group_count = 1;
  attrs.batch_group_count = forward.feature_group_count;
  attrs.result_dtype = kernel.dtype;
  const ValueId gradient = r.b.add(OpKind::Convolution, {operand, cotangent}, std::move(attrs));
  return turned.empty() ? gradient : r.b.add(OpKind::Reverse, {gradient}, ir::DimensionsAttrs{turned});
}

/// The `groups` major parts of dimension `from` become major parts of dimension `to`: [groups * batch, features] and
/// [batch, groups * features] are the inputs of a convolution by groups of the batch and of the same one by groups of
/// features.
ValueId move_groups(Rule& r, ValueId input, std::int64_t groups, int from, int to) {
  Dims split, merged = r.type(input).dims;
  std::vector<int> place;  // of each dimension, once the groups stand apart in front of `from`
  for (int d = 0; d < static_cast<int>(merged.size()); ++d) {
    if (d == from) split.push_back(groups);
    place.push_back(static_cast<int>(split.size()));
    split.push_back(d == from ? merged[at(d)] / groups : merged[at(d)]);
  }
  std::vector<int> permutation;
  for (int d = 0; d < static_cast<int>(merged.size()); ++d) {
    if (d == to) permutation.push_back(place[at(from)] - 1);
    permutation.push_back(place[at(d)]);
  }
  merged[at(from)] /= groups;
  merged[at(to)] *= groups;
  return r.b.reshape(r.b.transpose(r.b.reshape(input, split), permutation), merged);
}

}  // namespace

void rule_convolution(Rule& r) {
  ConvolutionAttrs attrs = r.op.as<ConvolutionAttrs>();
  const ir::DType dtype = r.type(r.operand(0)).dtype;
  const ValueId cotangent = r.type(r.cotangent()).dtype == dtype ? r.cotangent() : r.b.convert(r.cotangent(), dtype);
  ValueId input = r.operand(0);
  const std::int64_t batch_groups = attrs.batch_group_count;
  if (batch_groups != 1) {
    input = move_groups(r, input, batch_groups, attrs.input_batch, attrs.input_feature);
    attrs.feature_group_count = batch_groups;
    attrs.batch_group_count = 1;
  }
  if (r.needs(1)) r.add(1, kernel_gradient(r, attrs, input, cotangent));
  if (!r.needs(0)) return;
  ValueId gradient = input_gradient(r, attrs, r.type(input), cotangent);
  if (batch_groups != 1) gradient = move_groups(r, gradient, batch_groups, attrs.input_feature, attrs.input_batch);
  r.add(0, gradient);
}

namespace {

void window_sum(Rule& r) {
  const auto& attrs = r.op.as<ir::ReduceWindowAttrs>();
  const TensorType input = r.type(r.operand(0)), output = r.type(r.cotangent());
  if (r.needs(0)) {
    ir::ReduceWindowAttrs back = attrs;
    for (std::size_t d = 0; d < back.window.size(); ++d)
      back.window[d] = input_window(attrs.window[d], input.dims[d], output.dims[d]);
    const ValueId zero = r.b.scalar(input.dtype, 0);
    r.add(0, r.b.add(OpKind::ReduceWindow, {r.cotangent(), zero}, std::move(back),
                     {r.reducer(ReducerKind::Add, input.dtype)}));
  }
  if (r.needs(1)) r.add(1, r.sum_all(r.cotangent()));
}

/// Whether no element of the input or of the windows is left out.
bool undilated(const std::vector<WindowDim>& window) {
  return std::ranges::all_of(window, [](const WindowDim& d) { return d.base_dilation == 1 && d.window_dilation == 1; });
}

void window_extremum(Rule& r, ir::Comparison direction) {
  const auto& attrs = r.op.as<ir::ReduceWindowAttrs>();
  const ir::DType dtype = r.type(r.operand(0)).dtype;
  const ir::FunctionId choose = r.program().add_function("choose");
  ir::Builder chooser(r.program(), choose);
  const ValueId left = chooser.param({dtype, {}}), right = chooser.param({dtype, {}});
  chooser.set_results({chooser.compare(left, right, direction)});
  const ValueId zero = r.b.scalar(dtype, 0);
  r.add(0, r.b.add(OpKind::SelectAndScatter, {r.operand(0), r.cotangent(), zero},
                   ir::SelectAndScatterAttrs{attrs.window}, {choose, r.reducer(ReducerKind::Add, dtype)}));
}

}  // namespace

void rule_reduce_window(Rule& r) {
  const ReducerKind kind = ir::classify_reducer(r.program().function(r.op.regions[0]));
  const bool plain = r.operand_count() == 2, from_identity = !r.needs(1);
  if (plain && kind == ReducerKind::Add) return window_sum(r);
  if (plain && from_identity && undilated(r.op.as<ir::ReduceWindowAttrs>().window)) {
    if (kind == ReducerKind::Maximum) return window_extremum(r, ir::Comparison::Ge);
    if (kind == ReducerKind::Minimum) return window_extremum(r, ir::Comparison::Le);
  }
  rule_lifted_reduction(r);
}

namespace {

/// Direction of a `select` of select_and_scatter that compares its two elements; nullopt for anything else.
std::optional<ir::Comparison> direction_of(const ir::Function& select) {
  const ir::Op* compare = select.results.size() == 1 ? select.producer(select.results[0]) : nullptr;
  if (compare == nullptr || compare->kind != OpKind::Compare || compare->operands != select.params) return std::nullopt;
  return compare->as<ir::CompareAttrs>().direction;
}

}  // namespace

void rule_select_and_scatter(Rule& r) {
  const auto direction = direction_of(r.program().function(r.op.regions[0]));
  const bool largest = direction == ir::Comparison::Ge || direction == ir::Comparison::Gt;
  if (!direction || (!largest && *direction != ir::Comparison::Le && *direction != ir::Comparison::Lt))
    r.refuse("there is no rule for this select function");
  if (ir::classify_reducer(r.program().function(r.op.regions[1])) != ReducerKind::Add)
    r.refuse("only sums of what is scattered have a rule");
  if (r.needs(2)) r.add(2, r.sum_all(r.cotangent()));
  if (!r.needs(1)) return;
  // Where each element of the source went depends on the operand, but not smoothly: the cotangents at those places come
  // along with the extremum of each window.
  const ir::DType dtype = r.type(r.operand(0)).dtype, carried = r.type(r.operand(1)).dtype;
  const ir::FunctionId reducer = r.program().add_function("choose_with");
  ir::Builder b(r.program(), reducer);
  const ValueId left = b.param({dtype, {}}), left_carried = b.param({carried, {}});
  const ValueId right = b.param({dtype, {}}), right_carried = b.param({carried, {}});
  const ValueId chosen = b.compare(left, right, *direction);
  b.set_results({b.select(chosen, left, right), b.select(chosen, left_carried, right_carried)});
  const ReducerKind kind = largest ? ReducerKind::Maximum : ReducerKind::Minimum;
  const ValueId start = r.b.constant(ir::reducer_identity(kind, dtype)), zero = r.b.scalar(carried, 0);
  const auto& window = r.op.as<ir::SelectAndScatterAttrs>().window;
  r.add(1, r.b.add_multi(OpKind::ReduceWindow, {r.operand(0), r.cotangent(), start, zero},
                         ir::ReduceWindowAttrs{window}, {reducer})[1]);
}

void rule_top_k(Rule& r) {
  if (!r.cotangent(0).valid()) return;
  const TensorType input = r.type(r.operand(0));
  const int last = input.rank() - 1;
  ir::ScatterAttrs attrs;
  for (int d = 0; d < last; ++d)
    attrs.input_batching_dims.push_back(d);
  attrs.scatter_indices_batching_dims = attrs.input_batching_dims;
  attrs.inserted_window_dims = attrs.scatter_dims_to_operand_dims = {last};
  attrs.index_vector_dim = input.rank();
  attrs.unique_indices = true;
  const ir::FunctionId add = r.reducer(ReducerKind::Add, input.dtype);
  r.add_onto(0, [=, positions = r.result(1), g = r.cotangent(0)](ir::Builder& b, ValueId base) {
    if (!base.valid()) base = b.full(input, 0);
    return b.add(OpKind::Scatter, {base, positions, g}, attrs, {add});
  });
}

}  // namespace rhino::ad
