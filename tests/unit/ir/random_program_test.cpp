// SPDX-License-Identifier: Apache-2.0
#include "support/random_program.hpp"

#include <set>

#include <gtest/gtest.h>

#include <rhino/ir/op_info.hpp>
#include <rhino/ir/text.hpp>

namespace rhino::test {
namespace {

TEST(RandomProgram, SameSeedSameProgram) {
  Rng first(7);
  Rng second(7);
  EXPECT_TRUE(ir::equivalent(random_program(first), random_program(second)));
}

TEST(RandomProgram, HasArgumentsForItsParameters) {
  Rng rng(1);
  for (int i = 0; i < 20; ++i) {
    const ir::Program program = random_program(rng);
    const auto arguments = random_arguments(program, rng);
    const auto types = program.entry().param_types();
    ASSERT_EQ(arguments.size(), types.size());
    for (std::size_t j = 0; j < types.size(); ++j)
      EXPECT_EQ(arguments[j].type(), types[j]);
    EXPECT_FALSE(program.entry().results.empty());
  }
}

TEST(RandomProgram, KeepsToItsLimits) {
  RandomProgramOptions options;
  options.control_flow = false;
  options.random_bits = false;
  options.max_elements = 64;
  Rng rng(2);
  for (int i = 0; i < 100; ++i) {
    const ir::Program program = random_program(rng, options);
    for (const ir::Value& value : program.entry().values)
      EXPECT_LE(value.type.elements(), 64 * 8);
    for (const ir::Op& op : program.entry().ops) {
      EXPECT_NE(op.kind, ir::OpKind::While);
      EXPECT_NE(op.kind, ir::OpKind::RngBitGenerator);
    }
  }
}

TEST(RandomProgram, MeetsEveryOpKind) {
  std::set<ir::OpKind> seen;
  Rng rng(3);
  for (int i = 0; i < 600; ++i) {
    const ir::Program program = random_program(rng);
    for (const ir::Function& function : program.functions)
      for (const ir::Op& op : function.ops)
        seen.insert(op.kind);
  }
  for (int i = 0; i < ir::op_kind_count; ++i) {
    const auto kind = static_cast<ir::OpKind>(i);
    const bool left_out = ir::is_collective(kind) || kind == ir::OpKind::PartitionId || kind == ir::OpKind::ReplicaId ||
                          kind == ir::OpKind::CustomCall;
    EXPECT_EQ(seen.count(kind), left_out ? 0u : 1u) << ir::op_name(kind);
  }
}

}  // namespace
}  // namespace rhino::test
