// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/kernels/reference/virtual_ranks.hpp>

#include "op_runner.hpp"

namespace rhino::kernels::reference::test {
namespace {

using ir::Builder;
using ir::GroupMode;
using ir::OpKind;
using Floats = std::vector<float>;
using Values = std::vector<ir::ValueId>;


ir::CollectiveAttrs collective(ir::ReplicaGroups groups, GroupMode mode = GroupMode::FlattenedIds) {
  ir::CollectiveAttrs attrs;
  attrs.group_size = groups.empty() ? 1 : static_cast<std::int64_t>(groups[0].size());
  attrs.groups = std::make_shared<const ir::ReplicaGroups>(std::move(groups));
  attrs.mode = mode;
  return attrs;
}

/// One function for all ranks: one op on a vector.
std::vector<Floats> run_everywhere(RankGrid grid, OpKind kind, ir::CollectiveAttrs attrs, std::vector<Floats> inputs,
                                   bool reduces = false) {
  ir::Program program;
  std::vector<ir::FunctionId> regions;
  if (reduces) regions.push_back(ir::make_reducer(program, ir::ReducerKind::Add, f32));
  const ir::FunctionId main = program.add_function("main");
  Builder b(program, main);
  const auto x = b.param({f32, {static_cast<std::int64_t>(inputs[0].size())}});
  b.set_results({b.add(kind, {x}, std::move(attrs), regions)});
  std::vector<VirtualRank> ranks;
  for (auto& input : inputs) {
    VirtualRank rank{&program, main, {}};
    rank.arguments.push_back(vector<float>(input));
    ranks.push_back(std::move(rank));
  }
  std::vector<Floats> outputs;
  for (const auto& results : run_ranks(grid, std::move(ranks)))
    outputs.push_back(values<float>(results[0]));
  return outputs;
}

TEST(VirtualRanks, AllReduceInGroups) {
  EXPECT_EQ(run_everywhere({1, 4}, OpKind::AllReduce, collective({{0, 2}, {3, 1}}), {{1}, {2}, {4}, {8}}, true),
            (std::vector<Floats>{{5}, {10}, {5}, {10}}));
}

TEST(VirtualRanks, GroupModes) {
  const RankGrid grid{2, 2};  // processes: (0,0) (0,1) (1,0) (1,1)
  const std::vector<Floats> inputs{{1}, {2}, {4}, {8}};
  EXPECT_EQ(run_everywhere(grid, OpKind::AllReduce, collective({{0, 1}}, GroupMode::CrossReplica), inputs, true),
            (std::vector<Floats>{{5}, {10}, {5}, {10}}));
  EXPECT_EQ(run_everywhere(grid, OpKind::AllReduce, collective({{0, 1}}, GroupMode::CrossPartition), inputs, true),
            (std::vector<Floats>{{3}, {3}, {12}, {12}}));
  EXPECT_EQ(
      run_everywhere(grid, OpKind::AllReduce, collective({{0, 1}}, GroupMode::CrossReplicaAndPartition), inputs, true),
      (std::vector<Floats>{{15}, {15}, {15}, {15}}));
  EXPECT_EQ(run_everywhere(grid, OpKind::AllReduce, collective({{0}, {1}}, GroupMode::CrossReplicaAndPartition), inputs,
                           true),
            (std::vector<Floats>{{3}, {3}, {12}, {12}}));
  EXPECT_EQ(run_everywhere(grid, OpKind::AllReduce, collective({{0, 3}, {1, 2}}), inputs, true),
            (std::vector<Floats>{{9}, {6}, {6}, {9}}));
}

TEST(VirtualRanks, NoGroupsMeansEverybody) {
  EXPECT_EQ(run_everywhere({3, 1}, OpKind::AllReduce, collective({}, GroupMode::CrossReplica), {{1}, {2}, {4}}, true),
            (std::vector<Floats>{{7}, {7}, {7}}));
}

TEST(VirtualRanks, GatherScatterAllToAllKeepGroupOrder) {
  const auto attrs = collective({{1, 0}});
  EXPECT_EQ(run_everywhere({1, 2}, OpKind::AllGather, attrs, {{1, 2}, {3, 4}}),
            (std::vector<Floats>{{3, 4, 1, 2}, {3, 4, 1, 2}}));
  EXPECT_EQ(run_everywhere({1, 2}, OpKind::ReduceScatter, attrs, {{1, 2}, {30, 40}}, true),
            (std::vector<Floats>{{42}, {31}}));
  EXPECT_EQ(run_everywhere({1, 2}, OpKind::AllToAll, attrs, {{1, 2}, {3, 4}}), (std::vector<Floats>{{4, 2}, {3, 1}}));
}

TEST(VirtualRanks, BroadcastAndPermute) {
  EXPECT_EQ(run_everywhere({1, 3}, OpKind::CollectiveBroadcast, collective({{2, 0}}), {{1}, {2}, {3}}),
            (std::vector<Floats>{{3}, {0}, {3}}));
  EXPECT_EQ(run_everywhere({1, 3}, OpKind::CollectivePermute, collective({{0, 1}, {1, 2}}), {{1}, {2}, {3}}),
            (std::vector<Floats>{{0}, {1}, {2}}));
  EXPECT_EQ(run_everywhere({1, 3}, OpKind::CollectivePermute, collective({{0, 1}, {1, 0}}), {{1}, {2}, {3}}),
            (std::vector<Floats>{{2}, {1}, {0}}));
}

TEST(VirtualRanks, DeviceIds) {
  ir::Program program;
  const ir::FunctionId main = program.add_function("main");
  Builder b(program, main);
  const Values ids{b.add(OpKind::ReplicaId, {}), b.add(OpKind::PartitionId, {})};
  b.set_results(ids);
  std::vector<VirtualRank> ranks(6, VirtualRank{&program, main, {}});
  const auto results = run_ranks({2, 3}, std::move(ranks));
  EXPECT_EQ(values<std::uint32_t>(results[5][0])[0], 1u);
  EXPECT_EQ(values<std::uint32_t>(results[5][1])[0], 2u);
}

TEST(VirtualRanks, CollectivesInsideLoops) {
  // Three times x = sum over ranks of x.
  ir::Program program;
  const auto add = ir::make_reducer(program, ir::ReducerKind::Add, f32);
  const ir::FunctionId condition = program.add_function("condition"), body = program.add_function("body"),
                       main = program.add_function("main");
  {
    Builder b(program, condition);
    const auto i = b.param(scalar_type(ir::DType::I32));
    b.param(scalar_type(f32));
    b.set_results({b.compare(i, b.scalar_int(ir::DType::I32, 3), ir::Comparison::Lt)});
  }
  {
    Builder b(program, body);
    const auto i = b.param(scalar_type(ir::DType::I32)), x = b.param(scalar_type(f32));
    b.set_results({b(OpKind::Add, i, b.scalar_int(ir::DType::I32, 1)),
                   b.add(OpKind::AllReduce, {x}, collective({{0, 1, 2}}), {add})});
  }
  Builder b(program, main);
  const auto x = b.param(scalar_type(f32));
  b.set_results(
      {b.add_multi(OpKind::While, {b.scalar_int(ir::DType::I32, 0), x}, ir::NoAttrs{}, {condition, body})[1]});
  std::vector<VirtualRank> ranks;
  for (const float value : {1.0f, 2.0f, 3.0f}) {
    VirtualRank rank{&program, main, {}};
    rank.arguments.push_back(scalar(value));
    ranks.push_back(std::move(rank));
  }
  for (const auto& results : run_ranks({1, 3}, std::move(ranks)))
    EXPECT_EQ(values<float>(results[0])[0], 54.0f);
}

/// Runs two different functions on two ranks and returns the message of the InputError.
template <class First, class Second>
std::string error_of(First first, Second second) {
  ir::Program program;
  std::vector<VirtualRank> ranks;
  const ir::FunctionId functions[] = {program.add_function("first"), program.add_function("second")};
  const auto add = ir::make_reducer(program, ir::ReducerKind::Add, f32);
  for (int r = 0; r < 2; ++r) {
    Builder b(program, functions[r]);
    const auto x = b.param({f32, {2}});
    b.set_results({r == 0 ? first(b, x, add) : second(b, x, add)});
  }
  for (const auto function : functions) {
    VirtualRank rank{&program, function, {}};
    rank.arguments.push_back(vector<float>({1, 2}));
    ranks.push_back(std::move(rank));
  }
  try {
    run_ranks({1, 2}, std::move(ranks));
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(VirtualRanks, DeadlockIsFoundAndNamed) {
  const auto message = error_of(
      [](Builder& b, ir::ValueId x, ir::FunctionId add) {
        return b.add(OpKind::AllReduce, {x}, collective({{0, 1}}), {add});
      },
      [](Builder&, ir::ValueId x, ir::FunctionId) { return x; });
  EXPECT_NE(message.find("deadlock"), std::string::npos) << message;
  EXPECT_NE(message.find("rank 0 in all_reduce"), std::string::npos) << message;
}

TEST(VirtualRanks, GroupsThatWaitForEachOtherAreADeadlock) {
  const auto message = error_of(
      [](Builder& b, ir::ValueId x, ir::FunctionId add) {
        return b.add(OpKind::AllReduce, {x}, collective({{0, 1}}), {add});
      },
      [](Builder& b, ir::ValueId x, ir::FunctionId add) {
        return b.add(OpKind::AllReduce, {x}, collective({{1, 0}}), {add});
      });
  EXPECT_NE(message.find("rank 1 in all_reduce for ranks 1,0"), std::string::npos) << message;
}

TEST(VirtualRanks, DifferentOpsOfOneGroupDoNotMeet) {
  const auto message = error_of(
      [](Builder& b, ir::ValueId x, ir::FunctionId add) {
        return b.add(OpKind::AllReduce, {x}, collective({{0, 1}}), {add});
      },
      [](Builder& b, ir::ValueId x, ir::FunctionId) {
        return b.add(OpKind::CollectiveBroadcast, {x}, collective({{0, 1}}));
      });
  EXPECT_NE(message.find("meet in different ops"), std::string::npos) << message;
}

TEST(VirtualRanks, AFailingRankWakesTheOthers) {
  ir::CustomCallAttrs attrs;
  attrs.target = "fails";
  attrs.result_types = {{f32, {2}}};
  const auto message = error_of(
      [](Builder& b, ir::ValueId x, ir::FunctionId add) {
        return b.add(OpKind::AllReduce, {x}, collective({{0, 1}}), {add});
      },
      [&](Builder& b, ir::ValueId x, ir::FunctionId) { return b.add(OpKind::CustomCall, {x}, attrs); });
  EXPECT_NE(message.find("custom call \"fails\""), std::string::npos) << message;
}

TEST(VirtualRanks, ProcessOutsideTheGridIsAnError) {
  EXPECT_THROW(run_everywhere({1, 2}, OpKind::AllReduce, collective({{0, 5}}), {{1}, {2}}, true), InputError);
}

}  // namespace
}  // namespace rhino::kernels::reference::test
