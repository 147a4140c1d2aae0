// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gtest/gtest.h>

#include <rhino/ad/gradient.hpp>

#include "gradient_check.hpp"

namespace rhino::ad::test {
namespace {

using ir::Builder;
using ir::Dims;
using ir::OpKind;
using ir::ValueId;

TEST(DotRule, AllKinds) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const int batch = static_cast<int>(random.integer(0, 2));
    const int contracting = static_cast<int>(random.integer(0, 2));
    ir::DotGeneralAttrs attrs;
    attrs.result_dtype = ir::DType::F64;
    const int ranks[2] = {batch + contracting + static_cast<int>(random.integer(0, 2)),
                          batch + contracting + static_cast<int>(random.integer(0, 2))};
    Dims dims[2] = {random.dims(ranks[0], 3), random.dims(ranks[1], 3)};
    const std::vector<int> orders[2] = {random.permutation(ranks[0]), random.permutation(ranks[1])};
    for (int i = 0; i < batch + contracting; ++i) {
      const int l = orders[0][static_cast<std::size_t>(i)];
      const int r = orders[1][static_cast<std::size_t>(i)];
      dims[1][static_cast<std::size_t>(r)] = dims[0][static_cast<std::size_t>(l)];
      (i < batch ? attrs.lhs_batch : attrs.lhs_contracting).push_back(l);
      (i < batch ? attrs.rhs_batch : attrs.rhs_contracting).push_back(r);
    }
    check_gradient(random, {dims[0], dims[1]}, [&](Builder& b, const auto& x) { return std::vector{b.add(OpKind::DotGeneral, {x[0], x[1]}, attrs)}; });
  }
}

TEST(DotRule, DenseLayerNeedsNoTransposition) {
  ir::Program program;
  program.main = program.add_function("main");
  Builder b(program, program.main);
  const ValueId x = b.param({ir::DType::F32, {5, 4}});
  const ValueId w = b.param({ir::DType::F32, {4, 3}});
  const ValueId y = b.add(OpKind::DotGeneral, {x, w}, ir::DotGeneralAttrs{{}, {}, {1}, {0}, ir::DType::F32});
  gradient(program, program.main, b.reduce(y, ir::ReducerKind::Add, {0, 1}), std::vector{x, w});
  const auto& ops = program.entry().ops;
  EXPECT_EQ(std::count_if(ops.begin(), ops.end(), [](const ir::Op& op) { return op.kind == OpKind::Transpose; }), 0);
  EXPECT_EQ(std::count_if(ops.begin(), ops.end(), [](const ir::Op& op) { return op.kind == OpKind::DotGeneral; }), 3);
}

}  // namespace
}  // namespace rhino::ad::test
