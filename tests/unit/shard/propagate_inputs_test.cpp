// SPDX-License-Identifier: Apache-2.0
// What a few seeds make of the shipped training steps: only the collectives that an expert would write.
#include <map>

#include <gtest/gtest.h>

#include <rhino/base/file.hpp>
#include <rhino/frontend/stablehlo.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/shard/partition.hpp>

#include <support/test_data.hpp>

namespace rhino::shard {
namespace {

struct Outcome {
  std::map<ir::OpKind, int> collectives;
  Sharding sharding;
};

/// Propagates seeds (parameter number, layout) through inputs/NAME/step.mlir, whose first `state` parameters are
/// replaced by its first results, and partitions.
Outcome shard_input(const std::string& name, const MeshShape& mesh, std::uint32_t state,
                    const std::vector<std::pair<std::size_t, std::string>>& seeds) {
  ir::Program program = frontend::parse_stablehlo(read_file(test::source_path("inputs/" + name + "/step.mlir")));
  ir::inline_calls(program);
  ir::eliminate_dead_code(program);
  std::vector<Seed> list;
  for (const auto& [param, text] : seeds)
    list.push_back({program.entry().params.at(param), parse_layout(text, mesh)});
  PropagateOptions options;
  for (std::uint32_t i = 0; i < state; ++i)
    options.tied.emplace_back(i, i);
  Outcome outcome;
  outcome.sharding = propagate(program, mesh, list, options);
  check_sharding(program, outcome.sharding);
  const PartitionedProgram partitioned = partition(program, outcome.sharding);
  for (const ir::Function& function : partitioned.local.functions)
    for (const ir::Op& op : function.ops)
      if (ir::is_collective(op.kind) && op.kind != ir::OpKind::PartitionId) ++outcome.collectives[op.kind];
  return outcome;
}

using Collectives = std::map<ir::OpKind, int>;

TEST(PropagateInputs, BatchSplitOfGptReducesGradientsAndTheLossOnly) {
  const MeshShape mesh({{"x", 4}});
  const Outcome outcome = shard_input("gpt_tiny", mesh, 76, {{76, "[12:x, 65:_]"}});
  EXPECT_EQ(outcome.collectives, (Collectives{{ir::OpKind::AllReduce, 26}}));
  for (const Layout& layout : outcome.sharding.functions[0].results)
    EXPECT_TRUE(layout.is_replicated());
}

TEST(PropagateInputs, BatchSplitOfDropoutMakesMasksInParts) {
  const MeshShape mesh({{"x", 4}});
  const Outcome outcome = shard_input("gpt_tiny_dropout", mesh, 77, {{77, "[12:x, 65:_]"}});
  EXPECT_EQ(outcome.collectives, (Collectives{{ir::OpKind::AllReduce, 26}}));
}

// Two reductions forward and two backward for two blocks; biases and moments follow.
TEST(PropagateInputs, SplitOfTheFeedForwardWeights) {
  const MeshShape mesh({{"x", 4}});
  const Outcome outcome =
      shard_input("gpt_tiny", mesh, 76,
                  {{52, "[256:x, 64:_]"}, {60, "[64:_, 256:x]"}, {62, "[256:x, 64:_]"}, {70, "[64:_, 256:x]"}});
  EXPECT_EQ(outcome.collectives, (Collectives{{ir::OpKind::AllReduce, 4}}));
  const auto& params = outcome.sharding.functions[0].params;
  EXPECT_EQ(to_string(params[59], mesh), "[256:x]");        // bias
  EXPECT_EQ(to_string(params[10], mesh), "[64:_, 256:x]");  // first moment of weight 60
}

// A fused [q|k|v] is split by heads without moving an activation.
TEST(PropagateInputs, StridedSplitOfTheAttentionWeights) {
  const MeshShape mesh({{"x", 4}});
  const Outcome outcome = shard_input("gpt_tiny", mesh, 76, {{58, "[64:_, 3:_*64:x]"}, {68, "[64:_, 3:_*64:x]"}});
  EXPECT_EQ(outcome.collectives, (Collectives{{ir::OpKind::AllReduce, 4}}));
  EXPECT_EQ(to_string(outcome.sharding.functions[0].params[57], mesh), "[64:x, 64:_]");  // the projection follows
}

TEST(PropagateInputs, SplitsReachIntoLoops) {
  const MeshShape mesh({{"x", 4}});
  const Outcome outcome =
      shard_input("gpt_tiny_scan", mesh, 46,
                  {{32, "[3:_, 128:x, 64:_]"}, {40, "[3:_, 64:_, 128:x]"}, {38, "[3:_, 64:_, 3:_*64:x]"}});
  EXPECT_EQ(outcome.collectives, (Collectives{{ir::OpKind::AllReduce, 4}}));  // per iteration, forward and backward
}

TEST(PropagateInputs, BatchSplitOfImageModels) {
  const MeshShape mesh({{"x", 4}});
  const Outcome resnet = shard_input("resnet_tiny", mesh, 64, {{64, "[16:x, 16:_, 16:_, 1:_]"}, {65, "[16:x]"}});
  EXPECT_EQ(resnet.collectives.size(), 1u);
  EXPECT_GT(resnet.collectives.at(ir::OpKind::AllReduce), 0);
  const Outcome unet = shard_input("unet_tiny", mesh, 79, {{79, "[16:x, 32:_, 32:_]"}, {80, "[16:x, 32:_, 32:_]"}});
  EXPECT_EQ(unet.collectives.size(), 1u);
}

}  // namespace
}  // namespace rhino::shard
