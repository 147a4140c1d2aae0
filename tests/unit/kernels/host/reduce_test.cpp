// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <rhino/kernels/host/host_backend.hpp>

#include "backend_pair.hpp"

namespace rhino::kernels::host::test {
namespace {

using ir::DType;
using ir::ReducerKind;

ir::Program reduce_program(const ir::TensorType& type, ReducerKind kind, std::vector<int> dimensions) {
  ir::Program program;
  program.main = program.add_function("main");
  const ir::FunctionId reducer = ir::make_reducer(program, kind, type.dtype);
  ir::Builder builder(program, program.main);
  const ir::ValueId x = builder.param(type);
  const ir::ValueId init = builder.constant(ir::reducer_identity(kind, type.dtype));
  builder.set_results({builder.add(ir::OpKind::Reduce, {x, init}, ir::ReduceAttrs{std::move(dimensions)}, {reducer})});
  return program;
}

TEST(Reduce, EveryKindOnEveryTypeAndLayout) {
  Randomness random(1);
  const std::vector<ir::Dims> shapes{{1000}, {7, 300}, {130, 9}, {5, 6, 7}, {3, 1, 40, 2}, {2, 3, 4, 5, 6}, {1, 1}, {0, 4}, {65, 1, 33}};
  for (DType dtype : {DType::I1, DType::I32, DType::I64, DType::U32, DType::U64, DType::F32, DType::F64}) {
    for (ReducerKind kind : {ReducerKind::Add, ReducerKind::Multiply, ReducerKind::Maximum, ReducerKind::Minimum,
                             ReducerKind::And, ReducerKind::Or, ReducerKind::Xor}) {
      const bool bitwise = kind == ReducerKind::And || kind == ReducerKind::Or || kind == ReducerKind::Xor;
      if (bitwise && ir::is_float(dtype)) continue;
      for (const ir::Dims& shape : shapes) {
        for (unsigned mask = 0; mask < (1u << shape.size()); ++mask) {
          std::vector<int> dimensions;
          for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
            if ((mask >> d & 1u) != 0) dimensions.push_back(d);
          }
          const ir::TensorType type{dtype, shape};
          const ir::Program program = reduce_program(type, kind, dimensions);
          ASSERT_TRUE(has_own_kernel(program));
          const double relative = dtype == DType::F32 ? 1e-4 : 1e-12;
          ASSERT_EQ(compare_ops(program, {random.tensor(type, 0.5, 1.5)}, {relative, 1e-30}), "")
              << to_string(type) << " mask " << mask << " kind " << static_cast<int>(kind);
        }
      }
    }
  }
}

TEST(Reduce, NotANumberAndZerosOfMaximum) {
  for (DType dtype : {DType::F32, DType::F64}) {
    for (std::int64_t size : {3, 40, 500}) {
      const ir::TensorType type{dtype, {4, size}};
      Tensor x(type);
      const auto set = [&](std::int64_t row, std::int64_t column, double value) {
        const auto at = static_cast<std::size_t>(row * size + column);
        if (dtype == DType::F32) x.as<float>()[at] = static_cast<float>(value);
        else x.as<double>()[at] = value;
      };
      for (std::int64_t k = 0; k < size; ++k) set(0, k, -1.0 - static_cast<double>(k)), set(1, k, -0.0), set(2, k, 5), set(3, k, -3);
      set(0, size / 2, std::numeric_limits<double>::quiet_NaN());
      set(1, size - 1, 0.0);
      set(2, 1, std::numeric_limits<double>::infinity());
      set(3, 0, -std::numeric_limits<double>::infinity());
      for (ReducerKind kind : {ReducerKind::Maximum, ReducerKind::Minimum}) {
        for (int dimension : {0, 1}) {
          EXPECT_EQ(compare_ops(reduce_program(type, kind, {dimension}), {x}, {}), "") << size << " " << dimension;
        }
      }
    }
  }
}

TEST(Reduce, LongSumsAreAccurate) {
  // A million ones and small parts: a running sum in f32 would lose them.
  const ir::TensorType type{DType::F32, {1 << 20}};
  Tensor x(type);
  double want = 0;
  for (std::size_t i = 0; i < x.as<float>().size(); ++i) want += x.as<float>()[i] = 1.0f + static_cast<float>(i % 7) * 1e-3f;
  const ir::Program program = reduce_program(type, ReducerKind::Add, {0});
  std::vector<void*> results;
  Tensor y(ir::TensorType{DType::F32, {}});
  const float zero = 0;
  const auto& op = program.entry().ops.back();
  const auto backend = make_backend();
  run_kernel(*backend->make(program, program.entry(), op), {x.bytes.data(), &zero}, {y.bytes.data()});
  EXPECT_NEAR(y.as<float>()[0] / want, 1.0, 2e-6);
}

}  // namespace
}  // namespace rhino::kernels::host::test
