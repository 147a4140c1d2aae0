// SPDX-License-Identifier: Apache-2.0
// Factor maps, strategies and propagation on random programs over all op kinds.
#include <set>

#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/ir/text.hpp>
#include <rhino/shard/sharding.hpp>

#include <support/random_program.hpp>

namespace rhino::shard {
namespace {

std::int64_t pick(test::Rng& rng, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(rng);
}

/// What every factor map promises (factor_map.hpp).
void check_map(const FactorMap& map, const ir::Function& function, const ir::Op& op) {
  std::vector<int> in_operands(map.factors.size(), 0), in_results(map.factors.size(), 0);
  const auto check = [&](const TensorFactors& tensor, const ir::TensorType& type, std::vector<int>& seen) {
    ASSERT_EQ(tensor.size(), type.dims.size());
    std::set<int> once;
    for (std::size_t d = 0; d < tensor.size(); ++d) {
      std::int64_t size = 1;
      for (std::size_t i = 0; i < tensor[d].size(); ++i) {
        const DimFactor& part = tensor[d][i];
        ASSERT_TRUE(part.factor >= 0 && part.factor < static_cast<int>(map.factors.size()));
        const Factor& factor = map.factors[static_cast<std::size_t>(part.factor)];
        const bool halo = factor.kind == FactorKind::Halo || factor.kind == FactorKind::HaloReduction;
        EXPECT_TRUE(halo || part.size == factor.size);
        EXPECT_TRUE(halo || part.size != 1);
        EXPECT_TRUE(once.insert(part.factor).second) << "a factor twice in one tensor";
        EXPECT_TRUE(i == 0 || !needs_plain_blocks(factor.kind));
        size *= part.size;
        seen[static_cast<std::size_t>(part.factor)]++;
      }
      EXPECT_EQ(size, type.dims[d]);
    }
  };
  ASSERT_EQ(map.operands.size(), op.operands.size());
  ASSERT_EQ(map.results.size(), op.results.size());
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    check(map.operands[i], function.type(op.operands[i]), in_operands);
  for (std::size_t i = 0; i < op.results.size(); ++i)
    check(map.results[i], function.type(op.results[i]), in_results);
  for (std::size_t f = 0; f < map.factors.size(); ++f) {
    EXPECT_GT(in_operands[f] + in_results[f], 0);
    switch (map.factors[f].kind) {
      case FactorKind::Parallel:
      case FactorKind::Owned:
      case FactorKind::Halo:
        EXPECT_GT(in_results[f], 0);
        break;
      case FactorKind::Reduction:
      case FactorKind::HaloReduction:
      case FactorKind::Masked:
        EXPECT_EQ(in_results[f], 0);
        break;
      case FactorKind::NoSplit:
        break;
    }
  }
}

TEST(RandomPrograms, FactorMapsKeepTheirPromises) {
  test::Rng rng(11);
  std::set<ir::OpKind> kinds;
  int strategies = 0;
  const MeshShape mesh({{"x", 2}, {"y", 3}});
  for (int i = 0; i < 300; ++i) {
    const ir::Program program = test::random_program(rng);
    for (const ir::Function& function : program.functions)
      for (const ir::Op& op : function.ops) {
        kinds.insert(op.kind);
        const FactorMap map = factor_map(program, function, op);
        check_map(map, function, op);
        if (::testing::Test::HasFailure()) FAIL() << ir::print_op(program, function, op);
        check_strategy(map, replicated_strategy(map), mesh, "whole");
        for (std::size_t f = 0; f < map.factors.size(); ++f) {
          const std::int64_t size = map.factors[f].size;
          const AxisId axis = static_cast<AxisId>(pick(rng, 0, 1));
          if (map.factors[f].kind == FactorKind::NoSplit || size % mesh.size(axis) != 0) continue;
          Strategy strategy = replicated_strategy(map);
          strategy.factors[f] = DimLayout{{{size, {axis}}}};
          check_strategy(map, strategy, mesh, std::string(ir::op_name(op.kind)));
          ++strategies;
          // The layouts that a strategy gives imply the strategy again, in each tensor that has the factor.
          for (std::size_t t = 0; t < map.operands.size(); ++t) {
            const Layout layout = operand_layout(map, strategy, static_cast<int>(t), mesh);
            if (layout.is_replicated()) continue;
            const auto implied = factors_from_layout(map, map.operands[t], layout, mesh);
            ASSERT_TRUE(implied.has_value()) << ir::print_op(program, function, op);
            EXPECT_EQ((*implied)[f], strategy.factors[f]);
          }
        }
      }
  }
  EXPECT_GT(strategies, 1000);
  EXPECT_GT(kinds.size(), 60u);
}

TEST(RandomPrograms, PropagationIsValidAndReproducible) {
  test::Rng rng(12);
  int splits = 0, bodies = 0;
  for (int i = 0; i < 200; ++i) {
    const ir::Program program = test::random_program(rng);
    const MeshShape mesh({{"x", pick(rng, 1, 4)}, {"y", pick(rng, 1, 3)}});
    const ir::Function& entry = program.entry();
    std::vector<Seed> seeds;
    for (int s = 0; s < 4; ++s) {
      const ir::ValueId value(
          static_cast<std::size_t>(pick(rng, 0, static_cast<std::int64_t>(entry.values.size()) - 1)));
      const ir::Dims& dims = entry.type(value).dims;
      if (dims.empty()) continue;
      seeds.push_back(
          {value, Layout::split(dims, static_cast<int>(pick(rng, 0, static_cast<std::int64_t>(dims.size()) - 1)),
                                {static_cast<AxisId>(pick(rng, 0, 1))})});
    }
    PropagateOptions options;
    options.carry_partials = pick(rng, 0, 1) == 0;
    const Sharding sharding = propagate(program, mesh, seeds, options);
    ASSERT_NO_THROW(check_sharding(program, sharding)) << ir::print(program);
    ASSERT_EQ(sharding, propagate(program, mesh, seeds, options));
    for (std::size_t f = 0; f < sharding.functions.size(); ++f)
      for (const Strategy& strategy : sharding.functions[f].ops)
        for (const DimLayout& factor : strategy.factors) {
          splits += factor.is_split();
          if (ir::FunctionId(f) != program.main) bodies += factor.is_split();
        }
  }
  EXPECT_GT(splits, 1000);
  EXPECT_GT(bodies, 20);
}

}  // namespace
}  // namespace rhino::shard
