// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <rhino/frontend/onnx_context.hpp>

namespace rhino::frontend::onnx {
namespace {

using ir::ReducerKind;

/// Dimensions to reduce, and whether they are kept with size 1. No dimensions at all: nothing is reduced.
struct Reduced {
  std::vector<int> dimensions;
  bool keep = true;
};

Reduced reduced(Context& c) {
  const int rank = c.in(0).rank();
  Reduced result{{}, c.integer("keepdims", 1) != 0};
  const auto axes = c.integers("axes", 1);
  if (axes && !axes->empty())
    result.dimensions = c.dimensions(*axes, rank);
  else if (c.integer("noop_with_empty_axes", 0) == 0)
    for (int i = 0; i < rank; ++i)
      result.dimensions.push_back(i);
  return result;
}

/// One reduction with what is done to the elements before and to the sums afterwards.
template <class Before, class After>
void reduce(Context& c, ReducerKind kind, Before before, After after) {
  const Reduced over = reduced(c);
  const Tensor x = before(c.in(0));
  c.out(after(over.dimensions.empty() ? x : c.g.reduce(kind, x, over.dimensions, over.keep)));
}

Tensor same(const Tensor& x) { return x; }

template <ReducerKind kind>
void plain(Context& c) {
  reduce(c, kind, same, same);
}

void reduce_mean(Context& c) {
  const Reduced over = reduced(c);
  c.out(over.dimensions.empty() ? c.in(0) : c.g.mean(c.in(0), over.dimensions, over.keep));
}

void reduce_sum_square(Context& c) {
  reduce(
      c, ReducerKind::Add, [](const Tensor& x) { return x * x; }, same);
}

void reduce_l1(Context& c) {
  reduce(
      c, ReducerKind::Add, [&](const Tensor& x) { return c.g.abs(x); }, same);
}

void reduce_l2(Context& c) {
  reduce(
      c, ReducerKind::Add, [](const Tensor& x) { return x * x; }, [&](const Tensor& x) { return c.g.sqrt(x); });
}

void reduce_log_sum_exp(Context& c) {
  const Reduced over = reduced(c);
  const Tensor x = c.in(0);
  if (over.dimensions.empty()) return c.out(x);
  const Tensor most = c.g.max(x, over.dimensions, true);
  const Tensor sum = c.g.log(c.g.sum(c.g.exp(x - most), over.dimensions, true)) + most;
  c.out(over.keep ? sum : c.g.reshape(sum, c.g.max(x, over.dimensions, false).dims()));
}

/// The first (or last) place of the largest (or smallest) element.
template <bool largest>
void argument_of_extreme(Context& c) {
  const Tensor x = c.in(0);
  const int axis = c.dimension(c.integer("axis", 0), x.rank());
  const std::int64_t size = x.dim(axis);
  const Tensor extreme = c.g.reduce(largest ? ReducerKind::Maximum : ReducerKind::Minimum, x, {axis}, true);
  const bool last = c.integer("select_last_index", 0) != 0;
  const Tensor place = c.g.iota({DType::I64, x.dims()}, axis);
  const Tensor chosen = c.g.select(c.g.equal(x, extreme), place, c.g.scalar_int(DType::I64, last ? -1 : size));
  c.out(c.g.reduce(last ? ReducerKind::Maximum : ReducerKind::Minimum, chosen, {axis}, c.integer("keepdims", 1) != 0));
}

/// Up to opset 12 over all dimensions from the axis on together, from 13 on over the axis alone.
template <bool logarithm>
void softmax(Context& c) {
  Tensor x = c.in(0);
  const Dims dims = x.dims();
  const bool flattened = c.opset < 13;
  int axis = c.dimension(c.integer("axis", flattened ? 1 : -1), x.rank());
  if (flattened && axis != x.rank() - 1) {
    std::int64_t rows = 1;
    for (int i = 0; i < axis; ++i)
      rows *= dims[static_cast<std::size_t>(i)];
    x = c.g.reshape(x, {rows, -1});
    axis = 1;
  }
  Tensor result;
  if (logarithm) {
    const Tensor shifted = x - c.g.max(x, {axis}, true);
    result = shifted - c.g.log(c.g.sum(c.g.exp(shifted), {axis}, true));
  } else {
    result = c.g.softmax(x, axis);
  }
  c.out(result.dims() == dims ? result : c.g.reshape(result, dims));
}

/// x centred and scaled over `dimensions`; mean and 1 / deviation go to results 1 and 2 if those are asked for.
Tensor normalised(Context& c, const Tensor& x, const std::vector<int>& dimensions, double epsilon, bool report) {
  const Tensor mean = c.g.mean(x, dimensions, true);
  const Tensor centred = x - mean;
  const Tensor scale = c.g.rsqrt(c.g.mean(centred * centred, dimensions, true) + epsilon);
  if (report) {
    c.out(1, mean);
    c.out(2, scale);
  }
  return centred * scale;
}

/// Half precision is normalised in f32.
DType working_type(DType dtype) { return dtype == DType::F64 ? DType::F64 : DType::F32; }

void layer_normalization(Context& c) {
  const Tensor x = c.in(0);
  const int first = c.dimension(c.integer("axis", -1), x.rank());
  std::vector<int> dimensions;
  for (int i = first; i < x.rank(); ++i)
    dimensions.push_back(i);
  const Tensor wide = c.g.convert(x, working_type(x.dtype()));
  Tensor y = c.g.convert(normalised(c, wide, dimensions, c.real("epsilon", 1e-5), true), x.dtype()) * c.in(1);
  if (c.has(2)) y = y + c.in(2);
  c.out(y);
}

void rms_normalization(Context& c) {
  const Tensor x = c.in(0);
  std::vector<int> dimensions;
  for (int i = c.dimension(c.integer("axis", -1), x.rank()); i < x.rank(); ++i)
    dimensions.push_back(i);
  const Tensor wide = c.g.convert(x, working_type(x.dtype()));
  const Tensor scale = c.g.rsqrt(c.g.mean(wide * wide, dimensions, true) + c.real("epsilon", 1e-5));
  c.out(c.g.convert(wide * scale, x.dtype()) * c.in(1));
}

/// A weight of the second dimension, to be multiplied with [n, features, any..].
Tensor per_feature(Context& c, const Tensor& weight, int rank) {
  Dims dims(static_cast<std::size_t>(rank), 1);
  dims[1] = weight.type().elements();
  return c.g.reshape(weight, std::move(dims));
}

/// Statistics of every group of features, example by example; an instance norm has groups of one feature.
void group_normalization(Context& c) {
  const Tensor x = c.in(0), scale = c.in(1), bias = c.in(2);
  if (x.rank() < 3) c.fail("its operand has no spatial dimensions");
  const std::int64_t features = x.dim(1);
  const std::int64_t groups = c.op() == "InstanceNormalization" ? features : c.integer("num_groups", 0);
  if (groups < 1 || features % groups != 0) c.fail(fmt::format("{} features are no {} groups", features, groups));
  Tensor apart = c.g.reshape(x, {x.dim(0), groups, -1});
  Tensor y = normalised(c, apart, {2}, c.real("epsilon", 1e-5), false);
  // Before opset 21 there is one scale per group.
  if (scale.type().elements() == groups && groups != features) {
    y = y * per_feature(c, scale, 3) + per_feature(c, bias, 3);
    return c.out(c.g.reshape(y, x.dims()));
  }
  if (scale.type().elements() != features || bias.type().elements() != features)
    c.fail(fmt::format("{} features are scaled by a {}", features, ir::to_string(scale.type())));
  c.out(c.g.reshape(y, x.dims()) * per_feature(c, scale, x.rank()) + per_feature(c, bias, x.rank()));
}

}  // namespace

void add_reduction_converters(ConverterTable& table) {
  table.insert({
      {"ArgMax", argument_of_extreme<true>},
      {"ArgMin", argument_of_extreme<false>},
      {"GroupNormalization", group_normalization},
      {"InstanceNormalization", group_normalization},
      {"LayerNormalization", layer_normalization},
      {"LogSoftmax", softmax<true>},
      {"RMSNormalization", rms_normalization},
      {"ReduceL1", reduce_l1},
      {"ReduceL2", reduce_l2},
      {"ReduceLogSumExp", reduce_log_sum_exp},
      {"ReduceMax", plain<ReducerKind::Maximum>},
      {"ReduceMean", reduce_mean},
      {"ReduceMin", plain<ReducerKind::Minimum>},
      {"ReduceProd", plain<ReducerKind::Multiply>},
      {"ReduceSum", plain<ReducerKind::Add>},
      {"ReduceSumSquare", reduce_sum_square},
      {"Softmax", softmax<false>},
  });
}

}  // namespace rhino::frontend::onnx
