// SPDX-License-Identifier: Apache-2.0
// Convolution of all kinds, windows and top_k against central differences.
#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include <rhino/ad/gradient.hpp>
#include <rhino/base/error.hpp>

#include "gradient_check.hpp"

namespace rhino::ad::test {
namespace {

using ir::Builder;
using ir::Dims;
using ir::OpKind;
using ir::ReducerKind;
using ir::ValueId;

/// A window that fits `size` elements.
ir::WindowDim random_window(Random& random, std::int64_t size, bool convolution) {
  ir::WindowDim window;
  window.size = random.integer(1, 3);
  window.stride = random.integer(1, 3);
  window.window_dilation = convolution ? random.integer(1, 2) : 1;
  window.base_dilation = convolution ? random.integer(1, 2) : 1;
  window.reversal = convolution && random.coin();
  window.pad_low = random.integer(0, window.size - 1);
  window.pad_high = random.integer(0, window.size - 1);
  const std::int64_t reach = (window.size - 1) * window.window_dilation + 1;
  const std::int64_t padded = (size - 1) * window.base_dilation + 1 + window.pad_low + window.pad_high;
  if (padded < reach) window.pad_high += reach - padded;
  return window;
}

TEST(ConvolutionRule, AllKinds) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    Random random(seed);
    const int spatial = static_cast<int>(random.integer(1, 3)), rank = spatial + 2;
    const std::int64_t groups = random.integer(1, 2), batch_groups = groups == 1 && seed % 3 == 0 ? 2 : 1;
    const std::vector<int> input = random.permutation(rank), kernel = random.permutation(rank),
                           output = random.permutation(rank);
    ir::ConvolutionAttrs attrs;
    attrs.result_dtype = ir::DType::F64;
    attrs.feature_group_count = groups;
    attrs.batch_group_count = batch_groups;
    attrs.input_batch = input[0];
    attrs.input_feature = input[1];
    attrs.kernel_input_feature = kernel[0];
    attrs.kernel_output_feature = kernel[1];
    attrs.output_batch = output[0];
    attrs.output_feature = output[1];
    Dims x(static_cast<std::size_t>(rank)), w = x;
    const auto set = [](Dims& dims, int d, std::int64_t size) { dims[static_cast<std::size_t>(d)] = size; };
    const std::int64_t features = random.integer(1, 2);
    set(x, input[0], batch_groups * random.integer(1, 2));
    set(x, input[1], groups * features);
    set(w, kernel[0], features);
    set(w, kernel[1], groups * batch_groups * random.integer(1, 2));
    for (int i = 2; i < rank; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::int64_t size = random.integer(1, spatial == 3 ? 3 : 5);
      attrs.input_spatial.push_back(input[at]);
      attrs.kernel_spatial.push_back(kernel[at]);
      attrs.output_spatial.push_back(output[at]);
      attrs.window.push_back(random_window(random, size, true));
      set(x, input[at], size);
      set(w, kernel[at], attrs.window.back().size);
    }
    SCOPED_TRACE(seed);
    check_gradient(random, {x, w}, [&](Builder& b, const auto& p) {
      return std::vector{b.add(OpKind::Convolution, {p[0], p[1]}, attrs)};
    });
  }
}

TEST(WindowRule, SumsExtremaAndProducts) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    Random random(seed);
    const ReducerKind kind = std::array{ReducerKind::Add, ReducerKind::Maximum, ReducerKind::Minimum, ReducerKind::Multiply}[seed % 4];
    const Dims dims = random.dims(static_cast<int>(random.integer(1, 3)), 5);
    const bool dilated = kind == ReducerKind::Add || kind == ReducerKind::Multiply || seed % 8 < 4;
    ir::ReduceWindowAttrs attrs;
    for (const std::int64_t size : dims) {
      attrs.window.push_back(random_window(random, size, dilated));
      attrs.window.back().reversal = false;
    }
    SCOPED_TRACE(seed);
    check_gradient(random, {dims}, [&](Builder& b, const auto& p) {
      const ir::FunctionId reducer = ir::make_reducer(b.program(), kind, ir::DType::F64);
      const ValueId start = b.constant(ir::reducer_identity(kind, ir::DType::F64));
      const ValueId y = b.add(OpKind::ReduceWindow, {p[0], start}, attrs, {reducer});
      // Windows that hold nothing but padding give infinities, which the weighted sum of the check cannot take.
      const ValueId bound = b.full(b.type(y), 1e3);
      return std::vector{
          b.add(OpKind::Select, {b.compare(b(OpKind::Abs, y), bound, ir::Comparison::Lt), y, b.full(b.type(y), 0)})};
    });
  }
}

TEST(WindowRule, CumulativeSum) {
  Random random(1);
  ir::ReduceWindowAttrs attrs{std::vector<ir::WindowDim>(2)};
  attrs.window[1].size = 6;
  attrs.window[1].pad_low = 5;
  check_gradient(random, {{2, 6}}, [&](Builder& b, const auto& p) {
    const ir::FunctionId reducer = ir::make_reducer(b.program(), ReducerKind::Add, ir::DType::F64);
    return std::vector{b.add(OpKind::ReduceWindow, {p[0], b.scalar(ir::DType::F64, 0)}, attrs, {reducer})};
  });
}

/// log(exp(a) + exp(b)), which no kind of reducer has a name for.
ir::FunctionId log_add_exp(ir::Program& program) {
  const ir::FunctionId function = program.add_function("log_add_exp");
  Builder b(program, function);
  const ValueId left = b.param({ir::DType::F64, {}}), right = b.param({ir::DType::F64, {}});
  b.set_results({b(OpKind::Log, b(OpKind::Add, b(OpKind::Exponential, left), b(OpKind::Exponential, right)))});
  return function;
}

TEST(WindowRule, AnyReducer) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Random random(seed);
    const Dims dims = random.dims(2, 7);
    ir::ReduceWindowAttrs attrs;
    for (const std::int64_t size : dims) {
      attrs.window.push_back(random_window(random, size, true));
      attrs.window.back().size = random.integer(1, size);
      attrs.window.back().pad_high += 2 * (size - 1);  // room for it
      attrs.window.back().reversal = false;
    }
    SCOPED_TRACE(seed);
    check_gradient(random, {dims}, [&](Builder& b, const auto& p) {
      const ValueId start = b.scalar(ir::DType::F64, -60);  // nothing to these sums
      return std::vector{b.add(OpKind::ReduceWindow, {p[0], start}, attrs, {log_add_exp(b.program())})};
    });
  }
}

/// Second derivatives: the gradient of an extremum's gradient by what it was weighted with, and by the input.
TEST(WindowRule, SecondDerivativeOfExtrema) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const ReducerKind kind = seed % 2 == 0 ? ReducerKind::Maximum : ReducerKind::Minimum;
    const Dims dims = random.dims(2, 5);
    ir::ReduceWindowAttrs attrs;
    for (const std::int64_t size : dims) {
      attrs.window.push_back(random_window(random, size, false));
      attrs.window.back().pad_low = std::min<std::int64_t>(attrs.window.back().pad_low, size - 1);
    }
    SCOPED_TRACE(seed);
    check_gradient(random, {dims}, [&](Builder& b, const auto& p) {
      const ValueId start = b.constant(ir::reducer_identity(kind, ir::DType::F64));
      const ValueId y = b.add(OpKind::ReduceWindow, {b(OpKind::Multiply, p[0], p[0]), start}, attrs,
                              {ir::make_reducer(b.program(), kind, ir::DType::F64)});
      const ValueId inside = b.select(b.compare(b(OpKind::Abs, y), b.full(b.type(y), 1e3), ir::Comparison::Lt), y, b.full(b.type(y), 0));
      std::vector<int> all;
      for (int d = 0; d < b.type(y).rank(); ++d) all.push_back(d);
      const ValueId loss = b.reduce(b(OpKind::Multiply, inside, b(OpKind::Multiply, inside, inside)), ReducerKind::Add, all);
      return gradient(b.program(), b.program().main, loss, std::vector{p[0]});
    });
  }
}

TEST(TopKRule, GoesToThePlacesThatWereChosen) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    Dims dims = random.dims(static_cast<int>(random.integer(1, 3)), 3);
    dims.back() = random.integer(2, 6);
    check_gradient(random, {dims}, [&](Builder& b, const auto& p) {
      return std::vector{
          b.add_multi(OpKind::TopK, {p[0]}, ir::TopKAttrs{1 + static_cast<std::int64_t>(seed % 2), true})[0]};
    });
  }
}

}  // namespace
}  // namespace rhino::ad::test
