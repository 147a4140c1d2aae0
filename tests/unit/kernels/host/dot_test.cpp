// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "backend_pair.hpp"

namespace rhino::kernels::host::test {
namespace {

using ir::DType;

/// A dot_general with random sizes and a random order of the dimensions of both operands.
ir::Program random_dot(Randomness& random, DType in, DType out, std::vector<ir::TensorType>& types) {
  struct Dim {
    std::int64_t size;
    int role;  // 0 batch, 1 free, 2 contracted
    int number;
  };
  std::vector<Dim> lhs, rhs;
  const auto size = [&] { return random.chance(0.15) ? 1 : random.integer(2, random.chance(0.2) ? 40 : 9); };
  for (int i = static_cast<int>(random.integer(0, 2)); i-- > 0;) {
    const std::int64_t n = size();
    lhs.push_back({n, 0, i}), rhs.push_back({n, 0, i});
  }
  for (int i = static_cast<int>(random.integer(0, 2)); i-- > 0;) {
    const std::int64_t n = size();
    lhs.push_back({n, 2, i}), rhs.push_back({n, 2, i});
  }
  for (int i = static_cast<int>(random.integer(0, 2)); i-- > 0;) lhs.push_back({size(), 1, i});
  for (int i = static_cast<int>(random.integer(0, 2)); i-- > 0;) rhs.push_back({size(), 1, i});
  const auto shuffle = [&](std::vector<Dim>& dims) {
    for (std::size_t i = dims.size(); i > 1; --i) std::swap(dims[i - 1], dims[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(i) - 1))]);
  };
  if (random.chance(0.7)) shuffle(lhs), shuffle(rhs);
  ir::DotGeneralAttrs attrs;
  const auto position = [](const std::vector<Dim>& dims, int role, int number) {
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i].role == role && dims[i].number == number) return static_cast<int>(i);
    }
    return -1;
  };
  for (int number = 0; number < 2; ++number) {
    if (position(lhs, 0, number) >= 0) {
      attrs.lhs_batch.push_back(position(lhs, 0, number));
      attrs.rhs_batch.push_back(position(rhs, 0, number));
    }
    if (position(lhs, 2, number) >= 0) {
      attrs.lhs_contracting.push_back(position(lhs, 2, number));
      attrs.rhs_contracting.push_back(position(rhs, 2, number));
    }
  }
  attrs.result_dtype = out;
  types.clear();
  for (const auto* dims : {&lhs, &rhs}) {
    ir::TensorType type{in, {}};
    for (const Dim& dim : *dims) type.dims.push_back(dim.size);
    types.push_back(type);
  }
  ir::Program program;
  program.main = program.add_function("main");
  ir::Builder builder(program, program.main);
  const ir::ValueId a = builder.param(types[0]), b = builder.param(types[1]);
  builder.set_results({builder.add(ir::OpKind::DotGeneral, {a, b}, attrs)});
  return program;
}

TEST(Dot, RandomDimensionsEqualReference) {
  struct Types {
    DType in, out;
    double tolerance;
  };
  for (const Types& types : {Types{DType::F32, DType::F32, 1e-5}, Types{DType::F64, DType::F64, 1e-13},
                             Types{DType::BF16, DType::F32, 1e-5}, Types{DType::BF16, DType::BF16, 1e-2},
                             Types{DType::F16, DType::F16, 2e-3}, Types{DType::F16, DType::F32, 1e-5}}) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      Randomness random(seed);
      std::vector<ir::TensorType> operands;
      const ir::Program program = random_dot(random, types.in, types.out, operands);
      ASSERT_TRUE(has_own_kernel(program));
      // Positive elements: no cancellation, so that relative errors are sharp.
      const Tensor a = random.tensor(operands[0], 0.5, 1.5), b = random.tensor(operands[1], 0.5, 1.5);
      ASSERT_EQ(compare_ops(program, {a, b}, {types.tolerance, 0}), "")
          << ir::dtype_name(types.in) << " seed " << seed << " " << to_string(operands[0]) << " x " << to_string(operands[1]);
    }
  }
}

TEST(Dot, IntegersAreExact) {
  for (DType dtype : {DType::I32, DType::U8, DType::I64}) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      Randomness random(seed);
      std::vector<ir::TensorType> operands;
      const ir::Program program = random_dot(random, dtype, dtype, operands);
      ASSERT_EQ(compare_ops(program, {random.tensor(operands[0]), random.tensor(operands[1])}, {}), "") << seed;
    }
  }
}

}  // namespace
}  // namespace rhino::kernels::host::test
