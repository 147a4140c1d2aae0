// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "backend_pair.hpp"

namespace rhino::kernels::host::test {
namespace {

using ir::DType;

TEST(Transpose, EveryPermutationAndWidth) {
  Randomness random(1);
  for (const ir::Dims& shape : std::vector<ir::Dims>{{5}, {17, 40}, {64, 64}, {3, 33, 18}, {2, 8, 1, 16}, {2, 3, 4, 5, 6}, {4, 0, 3}, {1, 1}}) {
    std::vector<int> order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    do {
      for (DType dtype : {DType::I8, DType::BF16, DType::F32, DType::F64}) {
        ir::Program program;
        program.main = program.add_function("main");
        ir::Builder builder(program, program.main);
        const ir::TensorType type{dtype, shape};
        builder.set_results({builder.transpose(builder.param(type), order)});
        ASSERT_TRUE(has_own_kernel(program));
        ASSERT_EQ(compare_ops(program, {random.tensor(type)}, {}), "") << to_string(type);
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

/// Random shapes of rank 1 to 4 through one op that `build` makes.
template <class Build>
void check_random(Build build, int cases) {
  for (int seed = 0; seed < cases; ++seed) {
    Randomness random(static_cast<std::uint64_t>(seed));
    ir::TensorType type{random.one_of(std::vector<DType>{DType::I1, DType::F16, DType::F32, DType::F64}), {}};
    for (std::int64_t d = random.integer(1, 4); d > 0; --d) type.dims.push_back(random.integer(1, 9));
    ir::Program program;
    program.main = program.add_function("main");
    ir::Builder builder(program, program.main);
    std::vector<Tensor> arguments;
    const auto param = [&](const ir::TensorType& of) {
      arguments.push_back(random.tensor(of));
      return builder.param(of);
    };
    builder.set_results({build(random, builder, type, param)});
    ASSERT_TRUE(has_own_kernel(program));
    ASSERT_EQ(compare_ops(program, arguments, {}), "") << "seed " << seed << " " << to_string(type);
  }
}

TEST(Movement, PadWithNegativeAndInteriorPadding) {
  check_random([](Randomness& random, ir::Builder& builder, const ir::TensorType& type, auto param) {
    ir::Dims low, high, interior;
    for (std::int64_t size : type.dims) {
      interior.push_back(random.integer(0, 2));
      const std::int64_t reach = (size - 1) * (interior.back() + 1) + 1;
      low.push_back(random.integer(-std::min<std::int64_t>(3, reach), 3));
      high.push_back(random.integer(std::max<std::int64_t>(-3, -reach - low.back()), 3));
    }
    const ir::ValueId x = param(type), padding = param({type.dtype, {}});
    return builder.pad(x, padding, low, high, interior);
  }, 300);
}

TEST(Movement, Concatenate) {
  check_random([](Randomness& random, ir::Builder& builder, const ir::TensorType& type, auto param) {
    const int dimension = static_cast<int>(random.integer(0, type.rank() - 1));
    std::vector<ir::ValueId> parts;
    for (std::int64_t n = random.integer(1, 4); n > 0; --n) {
      ir::TensorType part = type;
      part.dims[static_cast<std::size_t>(dimension)] = random.integer(0, 5);
      parts.push_back(param(part));
    }
    return builder.concatenate(parts, dimension);
  }, 150);
}

TEST(Movement, ReverseAndSliceAndBroadcast) {
  check_random([](Randomness& random, ir::Builder& builder, const ir::TensorType& type, auto param) {
    std::vector<int> dimensions;
    for (int d = 0; d < type.rank(); ++d) {
      if (random.chance(0.5)) dimensions.push_back(d);
    }
    return builder.add(ir::OpKind::Reverse, {param(type)}, ir::DimensionsAttrs{dimensions});
  }, 100);
  check_random([](Randomness& random, ir::Builder& builder, const ir::TensorType& type, auto param) {
    ir::Dims start, limit, stride;
    for (std::int64_t size : type.dims) {
      start.push_back(random.integer(0, size));
      limit.push_back(random.integer(start.back(), size));
      stride.push_back(random.integer(1, 3));
    }
    return builder.slice(param(type), start, limit, stride);
  }, 100);
  check_random([](Randomness& random, ir::Builder& builder, const ir::TensorType& type, auto param) {
    ir::Dims result;
    std::vector<int> dimensions;
    for (std::int64_t size : type.dims) {
      if (random.chance(0.4)) result.push_back(random.integer(1, 4));
      dimensions.push_back(static_cast<int>(result.size()));
      result.push_back(size == 1 ? random.integer(1, 3) : size);
    }
    return builder.broadcast(param(type), result, dimensions);
  }, 100);
}

}  // namespace
}  // namespace rhino::kernels::host::test
