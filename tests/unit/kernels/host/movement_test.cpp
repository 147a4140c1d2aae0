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

}  // namespace
}  // namespace rhino::kernels::host::test
