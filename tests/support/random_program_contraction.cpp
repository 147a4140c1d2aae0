// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "support/random_program_generator.hpp"

namespace rhino::test {

using ir::Dims;
using ir::DType;
using ir::OpKind;
using ir::ReducerKind;

bool Generator::dot_general() {
  const auto x = any([&](Value v) {
    return type(v).rank() >= 1 && (type(v).dtype == DType::F64 || ir::is_signed_int(type(v).dtype));
  });
  if (!x) return false;
  const ir::TensorType lhs = type(*x);
  ir::DotGeneralAttrs attrs;
  attrs.result_dtype = lhs.dtype;
  Dims rhs_dims;
  std::vector<int> parts;  // of each rhs dimension: lhs dimension it goes with, or -1
  double terms = 1;
  for (const int i : permutation(lhs.rank())) {
    const std::int64_t part = pick(0, 9);
    if (part < 2) {
      attrs.lhs_batch.push_back(i);
    } else if (part < 6) {
      attrs.lhs_contracting.push_back(i);
      terms *= static_cast<double>(lhs.dims[static_cast<std::size_t>(i)]);
    } else {
      continue;
    }
    parts.push_back(i);
  }
  for (std::int64_t i = pick(parts.empty() ? 1 : 0, 2); i > 0; --i)
    parts.push_back(-1);
  std::shuffle(parts.begin(), parts.end(), rng_);
  for (const int part : parts)
    rhs_dims.push_back(part < 0 ? size() : lhs.dims[static_cast<std::size_t>(part)]);
  const auto position = [&](int lhs_dimension) {
    return static_cast<int>(std::find(parts.begin(), parts.end(), lhs_dimension) - parts.begin());
  };
  for (const int i : attrs.lhs_batch)
    attrs.rhs_batch.push_back(position(i));
  for (const int i : attrs.lhs_contracting)
    attrs.rhs_contracting.push_back(position(i));
  Dims result;
  for (int i = 0; i < lhs.rank(); ++i)
    if (std::find(attrs.lhs_contracting.begin(), attrs.lhs_contracting.end(), i) == attrs.lhs_contracting.end())
      result.push_back(lhs.dims[static_cast<std::size_t>(i)]);
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i] < 0) result.push_back(rhs_dims[i]);
  if (!small(rhs_dims) || !small(result)) return false;
  Value left = *x;
  Value right = of_type({lhs.dtype, rhs_dims});
  const bool is_exact = !ir::is_float(lhs.dtype);
  const double magnitude = bound(left) * bound(right) * terms;
  if (chance(0.3)) {
    std::swap(left, right);
    std::swap(attrs.lhs_batch, attrs.rhs_batch);
    std::swap(attrs.lhs_contracting, attrs.rhs_contracting);
  }
  return keep(op(OpKind::DotGeneral, {left, right}, attrs), {magnitude, is_exact});
}

ir::WindowDim Generator::window(std::int64_t extent, bool may_dilate) {
  ir::WindowDim w;
  if (chance(0.3)) return w;
  w.size = pick(1, std::min<std::int64_t>(3, extent));
  w.stride = pick(1, 2);
  if (may_dilate && chance(0.25)) w.window_dilation = 2;
  if (may_dilate && chance(0.25)) w.base_dilation = 2;
  w.pad_low = pick(0, w.size - 1);
  w.pad_high = pick(0, w.size - 1);
  return w;
}

namespace {

std::int64_t positions(std::int64_t extent, const ir::WindowDim& w) {
  const std::int64_t padded = (extent - 1) * w.base_dilation + 1 + w.pad_low + w.pad_high;
  const std::int64_t span = (w.size - 1) * w.window_dilation + 1;
  return padded < span ? 0 : (padded - span) / w.stride + 1;
}

std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> result;
  for (std::int64_t d = 1; d <= number; ++d)
    if (number % d == 0) result.push_back(d);
  return result;
}

}  // namespace

bool Generator::convolution() {
  const int spatial = static_cast<int>(pick(1, 2));
  auto x = any([&](Value v) { return type(v).dtype == DType::F64 && type(v).rank() == spatial + 2; });
  if (!x || chance(0.3)) x = fresh({DType::F64, dims(spatial + 2)});
  const Dims image = type(*x).dims;
  ir::ConvolutionAttrs attrs;
  attrs.result_dtype = DType::F64;
  const auto numbers = [&](int& first, int& second, std::vector<int>& rest) {
    std::vector<int> order = permutation(spatial + 2);
    first = order[0];
    second = order[1];
    rest.assign(order.begin() + 2, order.end());
  };
  numbers(attrs.input_batch, attrs.input_feature, attrs.input_spatial);
  numbers(attrs.kernel_input_feature, attrs.kernel_output_feature, attrs.kernel_spatial);
  numbers(attrs.output_batch, attrs.output_feature, attrs.output_spatial);
  const std::int64_t batch = image[static_cast<std::size_t>(attrs.input_batch)];
  const std::int64_t features = image[static_cast<std::size_t>(attrs.input_feature)];
  if (chance(0.4)) {
    attrs.feature_group_count = choose(divisors(features));
  } else if (chance(0.3)) {
    attrs.batch_group_count = choose(divisors(batch));
  }
  ir::TensorType kernel{DType::F64, Dims(static_cast<std::size_t>(spatial) + 2)};
  kernel.dims[static_cast<std::size_t>(attrs.kernel_input_feature)] = features / attrs.feature_group_count;
  const std::int64_t out_features = attrs.feature_group_count * attrs.batch_group_count * pick(1, 3);
  kernel.dims[static_cast<std::size_t>(attrs.kernel_output_feature)] = out_features;
  Dims result{batch / attrs.batch_group_count, out_features};
  double terms = static_cast<double>(features / attrs.feature_group_count);
  for (int i = 0; i < spatial; ++i) {
    const std::int64_t extent = image[static_cast<std::size_t>(attrs.input_spatial[static_cast<std::size_t>(i)])];
    ir::WindowDim w = window(extent, true);
    if (chance(0.15)) w.pad_low -= 1;
    w.reversal = chance(0.2);
    attrs.window.push_back(w);
    kernel.dims[static_cast<std::size_t>(attrs.kernel_spatial[static_cast<std::size_t>(i)])] = w.size;
    terms *= static_cast<double>(w.size);
    result.push_back(positions(extent, w));
    if (result.back() < 1) return false;
  }
  if (!small(kernel.dims) || !small(result)) return false;
  const Value weights = of_type(kernel);
  return keep(op(OpKind::Convolution, {*x, weights}, attrs), {bound(*x) * bound(weights) * terms, false});
}

bool Generator::reduce() {
  auto x = any([&](Value v) { return type(v).rank() >= 1; });
  if (!x) return false;
  const DType dtype = type(*x).dtype;
  std::vector<int> dimensions = subset(type(*x).rank(), 0.5);
  if (dimensions.empty()) dimensions.push_back(static_cast<int>(pick(0, type(*x).rank() - 1)));
  if (chance(0.2)) std::shuffle(dimensions.begin(), dimensions.end(), rng_);
  double terms = 1;
  for (const int i : dimensions)
    terms *= static_cast<double>(type(*x).dims[static_cast<std::size_t>(i)]);
  std::vector<ReducerKind> kinds;
  if (dtype == DType::I1) {
    kinds = {ReducerKind::And, ReducerKind::Or, ReducerKind::Xor};
  } else if (ir::is_integer(dtype)) {
    kinds = {ReducerKind::Add, ReducerKind::Maximum, ReducerKind::Minimum, ReducerKind::And,
             ReducerKind::Or,  ReducerKind::Xor,     ReducerKind::Multiply};
  } else if (dtype == DType::F32) {
    kinds = {ReducerKind::Maximum, ReducerKind::Minimum};
  } else {
    kinds = {ReducerKind::Add, ReducerKind::Add, ReducerKind::Maximum, ReducerKind::Minimum, ReducerKind::Multiply};
  }
  const ReducerKind kind = choose(kinds);
  ValueFacts result = facts(*x);
  if (kind == ReducerKind::Add) result = {bound(*x) * terms, result.exact && dtype != DType::F64};
  if (kind == ReducerKind::Multiply) {
    if (dtype == DType::F64) x = bounded(*x);
    result = {dtype == DType::F64 ? 1.0 : 0x1p62, dtype != DType::F64};
  }
  if (kind == ReducerKind::And || kind == ReducerKind::Or || kind == ReducerKind::Xor)
    result.bound = std::max(1.0, 2 * result.bound);
  return keep(b_.reduce(*x, kind, dimensions), result);
}

bool Generator::variadic_reduce() {
  const auto x = any([&](Value v) { return type(v).rank() >= 1 && exact(v) && type(v).dtype != DType::I1; });
  if (!x) return false;
  const ir::TensorType input = type(*x);
  std::vector<int> dimensions = subset(input.rank(), 0.5);
  if (dimensions.empty()) dimensions.push_back(static_cast<int>(pick(0, input.rank() - 1)));
  const ir::TensorType value{input.dtype, {}};
  if (input.dtype == DType::F64 && chance(0.4)) {
    const Value y = of_type(input);
    const ir::FunctionId both =
        function("sum_and_max", std::vector<ir::TensorType>(4, value), [](ir::Builder& b) -> std::vector<Value> {
          const auto p = b.function().params;
          return {b(OpKind::Add, p[0], p[2]), b(OpKind::Maximum, p[1], p[3])};
        });
    const ValueFacts second = facts(y);
    const double sum = bound(*x) * static_cast<double>(input.elements());
    const std::vector<Value> results = b_.add_multi(
        OpKind::Reduce,
        {*x, y, b_.scalar(DType::F64, 0), b_.constant(ir::reducer_identity(ReducerKind::Maximum, DType::F64))},
        ir::ReduceAttrs{dimensions}, {both});
    keep(results[1], second);
    return keep(results[0], {sum, false});
  }
  // The first largest element and where it is.
  const int along = dimensions.front();
  const ir::TensorType index{DType::I32, {}};
  const ir::FunctionId larger =
      function("argmax", {value, index, value, index}, [](ir::Builder& b) -> std::vector<Value> {
        const auto p = b.function().params;
        const Value wins = b.compare(p[0], p[2], ir::Comparison::Gt);
        const Value ties = b.compare(p[0], p[2], ir::Comparison::Eq);
        const Value first = b.compare(p[1], p[3], ir::Comparison::Lt);
        const Value by_index = b(OpKind::Or, wins, b(OpKind::And, ties, first));
        return {b.select(wins, p[0], p[2]), b.select(by_index, p[1], p[3])};
      });
  const Value indices = b_.iota({DType::I32, input.dims}, along);
  const ValueFacts best = facts(*x);
  const std::vector<Value> results = b_.add_multi(
      OpKind::Reduce,
      {*x, indices, b_.constant(ir::reducer_identity(ReducerKind::Maximum, input.dtype)), b_.scalar_int(DType::I32, 0)},
      ir::ReduceAttrs{dimensions}, {larger});
  keep(results[0], best);
  return keep(results[1], {static_cast<double>(input.dims[static_cast<std::size_t>(along)]), true});
}

bool Generator::reduce_window() {
  const auto x = any([&](Value v) {
    const DType dtype = type(v).dtype;
    return type(v).rank() >= 1 && (dtype == DType::F64 || dtype == DType::I32 || dtype == DType::I64);
  });
  if (!x) return false;
  const ir::TensorType input = type(*x);
  ir::ReduceWindowAttrs attrs;
  Dims result;
  double terms = 1;
  const bool running = chance(0.25);  // running sum or maximum along one dimension
  const auto along = static_cast<std::size_t>(pick(0, input.rank() - 1));
  for (std::size_t i = 0; i < input.dims.size(); ++i) {
    ir::WindowDim w;
    if (!running) w = window(input.dims[i], true);
    if (running && i == along) {
      w.size = input.dims[i];
      (chance(0.7) ? w.pad_low : w.pad_high) = input.dims[i] - 1;
    }
    attrs.window.push_back(w);
    terms *= static_cast<double>(w.size);
    result.push_back(positions(input.dims[i], w));
    if (result.back() < 1) return false;
  }
  if (!small(result)) return false;
  static const std::vector<ReducerKind> kinds{ReducerKind::Add, ReducerKind::Add, ReducerKind::Maximum,
                                              ReducerKind::Minimum};
  const ReducerKind kind = choose(kinds);
  const ir::FunctionId reducer = ir::make_reducer(program_, kind, input.dtype);
  const Value init = note(b_.constant(ir::reducer_identity(kind, input.dtype)), {0, true});
  const ValueFacts before = facts(*x);
  Value reduced = b_.add(OpKind::ReduceWindow, {*x, init}, attrs, {reducer});
  if (kind == ReducerKind::Add) return keep(reduced, {before.bound * terms, before.exact && input.dtype != DType::F64});
  // A window that holds nothing but padding gives an infinity.
  note(reduced, before);
  const bool is_max = kind == ReducerKind::Maximum;
  const double limit = std::min(before.bound, 1000.0);
  return keep(op(is_max ? OpKind::Maximum : OpKind::Minimum, {reduced, full_like(reduced, is_max ? -limit : limit)}),
              before);
}

bool Generator::select_and_scatter() {
  const auto x = any([&](Value v) { return type(v).dtype == DType::F64 && type(v).rank() >= 1 && exact(v); });
  if (!x) return false;
  const ir::TensorType operand = type(*x);
  ir::SelectAndScatterAttrs attrs;
  ir::TensorType source{DType::F64, {}};
  double terms = 1;
  for (const std::int64_t extent : operand.dims) {
    const ir::WindowDim w = window(extent, false);
    attrs.window.push_back(w);
    terms *= static_cast<double>(w.size);
    source.dims.push_back(positions(extent, w));
    if (source.dims.back() < 1) return false;
  }
  if (!small(source.dims)) return false;
  const ir::TensorType scalar{DType::F64, {}};
  const ir::FunctionId select = function("select", {scalar, scalar}, [](ir::Builder& b) -> std::vector<Value> {
    return {b.compare(b.function().params[0], b.function().params[1], ir::Comparison::Ge)};
  });
  const ir::FunctionId add = ir::make_reducer(program_, ReducerKind::Add, DType::F64);
  const Value values = of_type(source);
  const Value zero = b_.scalar(DType::F64, 0);
  const double magnitude = bound(values) * terms;
  return keep(b_.add(OpKind::SelectAndScatter, {*x, values, zero}, attrs, {select, add}), {magnitude, false});
}

bool Generator::sort() {
  const auto x = any([&](Value v) { return type(v).rank() >= 1 && exact(v); });
  if (!x) return false;
  std::vector<Value> operands{*x};
  if (chance(0.5)) {
    ir::TensorType payload = type(*x);
    payload.dtype = chance(0.6) ? DType::F64 : DType::I32;
    operands.push_back(of_type(payload));
  }
  std::vector<ir::TensorType> types;
  std::vector<ValueFacts> same;
  for (const Value operand : operands) {
    types.push_back(type(operand));
    same.push_back(facts(operand));
  }
  const ir::SortAttrs attrs{static_cast<int>(pick(0, type(*x).rank() - 1)), true};
  const std::vector<Value> results = b_.add_multi(OpKind::Sort, operands, attrs, {comparator(types, chance(0.5))});
  for (std::size_t i = 0; i < results.size(); ++i)
    keep(results[i], same[i]);
  return true;
}

bool Generator::top_k() {
  const auto x = any([&](Value v) { return type(v).rank() >= 1 && exact(v) && type(v).dtype != DType::I1; });
  if (!x) return false;
  const std::int64_t last = type(*x).dims.back();
  const ValueFacts same = facts(*x);
  const std::vector<Value> results = b_.add_multi(OpKind::TopK, {*x}, ir::TopKAttrs{pick(1, last), chance(0.8)});
  keep(results[0], same);
  return keep(results[1], {static_cast<double>(last), true});
}

}  // namespace rhino::test
