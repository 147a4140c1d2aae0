// SPDX-License-Identifier: Apache-2.0
#include <rhino/cost/cost_model.hpp>

#include <gtest/gtest.h>

#include <rhino/ir/builder.hpp>

namespace rhino::cost {
namespace {

using ir::DType;
using ir::OpKind;
using ir::ValueId;

class OpWorkTest : public testing::Test {
 protected:
  OpWorkTest() { program_.main = program_.add_function("main"); }

  /// Work of the last op on the types that it has.
  OpWork last() const {
    const ir::Function& entry = program_.entry();
    const ir::Op& op = entry.ops.back();
    std::vector<ir::TensorType> in;
    std::vector<ir::TensorType> out;
    for (ValueId v : op.operands) in.push_back(entry.type(v));
    for (ValueId v : op.results) out.push_back(entry.type(v));
    return op_work(program_, op, in, out);
  }

  ir::Program program_;
};

TEST_F(OpWorkTest, AProductCountsMultiplyAndAdd) {
  ir::Builder b(program_, program_.main);
  const ValueId x = b.param({DType::F32, {2, 3, 5}});
  const ValueId y = b.param({DType::F32, {2, 5, 7}});
  b.add(OpKind::DotGeneral, {x, y}, ir::DotGeneralAttrs{{0}, {0}, {2}, {1}, DType::F32});
  EXPECT_EQ(last().flops, 2.0 * 2 * 3 * 7 * 5);
  EXPECT_EQ(last().bytes, 4.0 * (2 * 3 * 5 + 2 * 5 * 7 + 2 * 3 * 7));
}

TEST_F(OpWorkTest, AConvolutionCountsItsTaps) {
  ir::Builder b(program_, program_.main);
  const ValueId x = b.param({DType::F32, {1, 8, 8, 4}});
  const ValueId k = b.param({DType::F32, {3, 3, 4, 6}});
  ir::ConvolutionAttrs attrs;
  attrs.window = {{3, 1, 1, 1, 1, 1, false}, {3, 1, 1, 1, 1, 1, false}};
  attrs.input_batch = 0, attrs.input_spatial = {1, 2}, attrs.input_feature = 3;
  attrs.kernel_spatial = {0, 1}, attrs.kernel_input_feature = 2, attrs.kernel_output_feature = 3;
  attrs.output_batch = 0, attrs.output_spatial = {1, 2}, attrs.output_feature = 3;
  b.add(OpKind::Convolution, {x, k}, attrs);
  EXPECT_EQ(last().flops, 2.0 * 8 * 8 * 6 * 9 * 4);
}

TEST_F(OpWorkTest, ElementwiseAndTranscendental) {
  ir::Builder b(program_, program_.main);
  const ValueId x = b.param({DType::F64, {10}});
  b.add(OpKind::Add, {x, x});
  EXPECT_EQ(last().flops, 10);
  EXPECT_EQ(last().transcendentals, 0);
  b.add(OpKind::Exponential, {x});
  EXPECT_EQ(last().transcendentals, 10);
  b.reshape(x, {2, 5});
  EXPECT_EQ(last().bytes, 0);
}

TEST_F(OpWorkTest, ASliceReadsWhatItReturns) {
  ir::Builder b(program_, program_.main);
  const ValueId x = b.param({DType::F32, {1000}});
  b.slice(x, {10}, {20}, {1});
  EXPECT_EQ(last().bytes, 2.0 * 4 * 10);
}

TEST_F(OpWorkTest, ACountedLoopIsItsBodyTimesItsTrips) {
  const ir::FunctionId condition = program_.add_function("condition");
  const ir::FunctionId body = program_.add_function("body");
  {
    ir::Builder b(program_, condition);
    const ValueId i = b.param({DType::I32, {}});
    b.param({DType::F32, {100}});
    b.set_results({b.compare(i, b.scalar_int(DType::I32, 7), ir::Comparison::Lt)});
  }
  {
    ir::Builder b(program_, body);
    const ValueId i = b.param({DType::I32, {}});
    const ValueId x = b.param({DType::F32, {100}});
    b.set_results({b.add(OpKind::Add, {i, b.scalar_int(DType::I32, 1)}), b.add(OpKind::Multiply, {x, x})});
  }
  ir::Builder b(program_, program_.main);
  const ValueId x = b.param({DType::F32, {100}});
  b.add_multi(OpKind::While, {b.scalar_int(DType::I32, 0), x}, ir::NoAttrs{}, {condition, body});
  EXPECT_EQ(trip_count(program_, program_.entry().ops.back()), 7);
  EXPECT_EQ(last().flops, 7.0 * (1 + 100));
  EXPECT_EQ(trip_count(program_, program_.function(body).ops.back()), std::nullopt);
}

TEST(OpSeconds, IsTheLargerOfArithmeticAndMemory) {
  cluster::Device device = cluster::default_cpu_cluster(1).device;
  device.flops_f32 = 1e9;
  device.memory_bandwidth = 1e9;
  device.transcendental_rate = 1e6;
  EXPECT_DOUBLE_EQ(op_seconds({2e9, 0, 1e9, {1, 1000, 1000, 1000}}, OpKind::DotGeneral, DType::F32, device), 2.0);
  EXPECT_DOUBLE_EQ(op_seconds({2e3, 0, 3e9, {1, 10, 10, 10}}, OpKind::DotGeneral, DType::F32, device), 3.0);
  EXPECT_DOUBLE_EQ(op_seconds({0, 5e6, 0}, OpKind::Exponential, DType::F32, device), 5.0);
}

TEST(OpSeconds, BlocksAndRoundsOfUnitsAreFilledOrLost) {
  cluster::Device device = cluster::default_cpu_cluster(1).device;
  device.flops_f32 = 1e9;
  device.memory_bandwidth = 1e15;
  device.units = 4, device.tile_m = 100, device.tile_n = 100;
  const auto seconds = [&](double m, double n, double k) {
    return op_seconds({2 * m * n * k, 0, 0, {1, m, n, k}}, OpKind::DotGeneral, DType::F32, device);
  };
  EXPECT_DOUBLE_EQ(seconds(200, 200, 300), 2.0 * 200 * 200 * 300 / 1e9);  // four blocks, one round
  EXPECT_DOUBLE_EQ(seconds(201, 200, 300), 2 * seconds(200, 200, 300));   // six blocks, two rounds
  EXPECT_DOUBLE_EQ(seconds(150, 200, 300), seconds(200, 200, 300));
  EXPECT_DOUBLE_EQ(seconds(100, 100, 300), seconds(200, 200, 300));       // three units idle: too short to split the sum
  EXPECT_DOUBLE_EQ(seconds(100, 100, 2048), seconds(200, 200, 512));      // the sum is split over the units
}

/// `cluster` of two nodes of four.
cluster::Cluster two_nodes() {
  cluster::Cluster cluster = cluster::default_cpu_cluster(4);
  cluster.levels = {{"node", 4, 1e9, 1e-3}, {"network", 2, 1e8, 1e-2}};
  return cluster;
}

TEST(CollectiveSeconds, FollowsAlphaAndBeta) {
  const cluster::Mesh mesh = cluster::lay_out(shard::MeshShape({{"x", 4}}), two_nodes());
  using shard::ReshardKind;
  EXPECT_DOUBLE_EQ(collective_seconds(ReshardKind::AllReduce, 4e9, {0}, mesh), 2 * 3 * (1e-3 + 1.0));
  EXPECT_DOUBLE_EQ(collective_seconds(ReshardKind::AllReduce, 4, {0}, mesh), 2 * 2 * (1e-3 + 4e-9)) << "a tree for small ones";
  EXPECT_DOUBLE_EQ(collective_seconds(ReshardKind::AllGather, 1e9, {0}, mesh), 2e-3 + 3.0);
  EXPECT_DOUBLE_EQ(collective_seconds(ReshardKind::ReduceScatter, 4e9, {0}, mesh), 2e-3 + 3.0);
  EXPECT_DOUBLE_EQ(collective_seconds(ReshardKind::AllToAll, 4e9, {0}, mesh), 3 * (1e-3 + 1.0));
  EXPECT_DOUBLE_EQ(collective_seconds(ReshardKind::AllReduce, 4e9, {}, mesh), 0);
  EXPECT_LT(collective_seconds(ReshardKind::Slice, 4e9, {0}, mesh), collective_seconds(ReshardKind::AllGather, 1e9, {0}, mesh));
}

TEST(CollectiveSeconds, AreHierarchicalOverLevels) {
  using shard::ReshardKind;
  const cluster::Mesh mesh = cluster::lay_out(shard::MeshShape({{"x", 8}}), two_nodes());
  // Reduce inside, all-reduce a quarter across, gather inside.
  EXPECT_DOUBLE_EQ(collective_seconds(ReshardKind::AllReduce, 4e8, {0}, mesh), (2e-3 + 0.3) + 2 * (1e-2 + 0.5) + (2e-3 + 0.3));
  EXPECT_DOUBLE_EQ(collective_seconds(ReshardKind::AllGather, 1e8, {0}, mesh), (1e-2 + 1.0) + (2e-3 + 0.6));
  EXPECT_DOUBLE_EQ(collective_seconds(ReshardKind::ReduceScatter, 8e8, {0}, mesh), (2e-3 + 0.6) + (1e-2 + 1.0));
  // The same devices by two axes cost the same.
  const cluster::Mesh two = cluster::lay_out(shard::MeshShape({{"x", 2}, {"y", 4}}), two_nodes());
  for (const ReshardKind kind : {ReshardKind::AllReduce, ReshardKind::AllGather, ReshardKind::ReduceScatter, ReshardKind::AllToAll})
    EXPECT_DOUBLE_EQ(collective_seconds(kind, 8e8, {0, 1}, two), collective_seconds(kind, 8e8, {0}, mesh));
  EXPECT_LT(collective_seconds(ReshardKind::AllReduce, 4e8, {1}, two), collective_seconds(ReshardKind::AllReduce, 4e8, {0}, two));
}

}  // namespace
}  // namespace rhino::cost
