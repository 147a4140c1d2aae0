// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backend_pair.hpp"

namespace rhino::kernels::host::test {
namespace {

using ir::DType;
using ir::OpKind;
using ir::ReducerKind;

std::vector<ir::WindowDim> random_window(Randomness& random, const ir::Dims& dims, bool dilation) {
  std::vector<ir::WindowDim> window;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    ir::WindowDim w;
    for (;;) {
      w = {};
      if (random.chance(0.4)) break;
      w.size = random.integer(1, 4);
      w.stride = random.integer(1, 3);
      w.window_dilation = dilation ? random.integer(1, 2) : 1;
      w.pad_low = random.integer(dilation ? -1 : 0, 2);
      w.pad_high = random.integer(dilation ? -1 : 0, 2);
      if (dims[d] + w.pad_low + w.pad_high >= (w.size - 1) * w.window_dilation + 1) break;
    }
    window.push_back(w);
  }
  return window;
}

ir::Dims random_shape(Randomness& random) {
  ir::Dims dims;
  for (std::int64_t d = random.integer(1, 4); d > 0; --d) dims.push_back(random.integer(1, 9));
  return dims;
}

TEST(ReduceWindow, RandomWindowsEqualReference) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Randomness random(seed);
    const DType dtype = random.one_of(std::vector<DType>{DType::F32, DType::F64, DType::I32});
    const ReducerKind kind = random.one_of(std::vector<ReducerKind>{ReducerKind::Add, ReducerKind::Maximum, ReducerKind::Minimum});
    const ir::TensorType type{dtype, random_shape(random)};
    ir::Program program;
    program.main = program.add_function("main");
    const ir::FunctionId reducer = ir::make_reducer(program, kind, dtype);
    ir::Builder builder(program, program.main);
    const ir::ValueId x = builder.param(type), init = builder.constant(ir::reducer_identity(kind, dtype));
    builder.set_results({builder.add(OpKind::ReduceWindow, {x, init}, ir::ReduceWindowAttrs{random_window(random, type.dims, true)}, {reducer})});
    ASSERT_EQ(compare_ops(program, {random.tensor(type, 0.5, 1.5)}, few_units(dtype, 20)), "") << "seed " << seed;
  }
}

TEST(ReduceWindow, RunningSumsBothWays) {
  for (DType dtype : {DType::F32, DType::F64, DType::I32}) {
    for (bool backwards : {false, true}) {
      for (int dimension : {0, 1, 2}) {
        const ir::TensorType type{dtype, {5, 40, 3}};
        std::vector<ir::WindowDim> window(3);
        ir::WindowDim& w = window[static_cast<std::size_t>(dimension)];
        w.size = type.dims[static_cast<std::size_t>(dimension)];
        (backwards ? w.pad_high : w.pad_low) = w.size - 1;
        ir::Program program;
        program.main = program.add_function("main");
        const ir::FunctionId reducer = ir::make_reducer(program, ReducerKind::Add, dtype);
        ir::Builder builder(program, program.main);
        const ir::ValueId x = builder.param(type), init = builder.constant(ir::reducer_identity(ReducerKind::Add, dtype));
        builder.set_results({builder.add(OpKind::ReduceWindow, {x, init}, ir::ReduceWindowAttrs{window}, {reducer})});
        ASSERT_TRUE(has_own_kernel(program));
        Randomness random(7);
        EXPECT_EQ(compare_ops(program, {random.tensor(type, 0.5, 1.5)}, few_units(dtype, 50)), "") << dimension << backwards;
      }
    }
  }
}

TEST(SelectAndScatter, RandomWindowsEqualReference) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Randomness random(seed);
    const DType dtype = random.chance(0.5) ? DType::F32 : DType::F64;
    const ir::TensorType type{dtype, random_shape(random)};
    const auto window = random_window(random, type.dims, false);
    ir::TensorType source = type;
    for (std::size_t d = 0; d < window.size(); ++d) {
      source.dims[d] = (type.dims[d] + window[d].pad_low + window[d].pad_high - window[d].size) / window[d].stride + 1;
    }
    ir::Program program;
    program.main = program.add_function("main");
    const ir::FunctionId add = ir::make_reducer(program, ReducerKind::Add, dtype), select = program.add_function("select");
    {
      ir::Builder builder(program, select);
      const ir::ValueId a = builder.param({dtype, {}}), b = builder.param({dtype, {}});
      builder.set_results({builder.compare(a, b, random.chance(0.8) ? ir::Comparison::Ge : ir::Comparison::Lt, ir::ComparisonType::Float)});
    }
    ir::Builder builder(program, program.main);
    const ir::ValueId x = builder.param(type), s = builder.param(source), init = builder.scalar(dtype, 0);
    builder.set_results({builder.add(OpKind::SelectAndScatter, {x, s, init}, ir::SelectAndScatterAttrs{window}, {select, add})});
    ASSERT_TRUE(has_own_kernel(program));
    // Few distinct values: ties are common.
    Tensor operand(type);
    for (std::size_t i = 0; i < static_cast<std::size_t>(type.elements()); ++i) {
      const double value = static_cast<double>(random.integer(-2, 2));
      if (dtype == DType::F32) operand.as<float>()[i] = static_cast<float>(value);
      else operand.as<double>()[i] = value;
    }
    ASSERT_EQ(compare_ops(program, {operand, random.tensor(source, 0.5, 1.5)}, few_units(dtype, 20)), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace rhino::kernels::host::test
