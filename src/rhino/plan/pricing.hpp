// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <rhino/cluster/mesh.hpp>
#include <rhino/ir/program.hpp>
#include <rhino/ir/signature.hpp>
#include <rhino/plan/plan.hpp>
#include <rhino/shard/reshard.hpp>
#include <rhino/shard/sharding.hpp>

namespace rhino::plan {

/// Predicts time and memory of shardings of one program on one mesh. Remembers what resharding costs, since the same pairs
/// of layouts come back all the time. Not thread-safe.
class Pricer {
 public:
  /// Program must outlive the pricer.
  Pricer(const ir::Program& program, const cluster::Mesh& mesh);
  /// For a folded program: how many ops and parameters of the whole those of the entry stand for (one each if empty). Their
  /// times and bytes count so often.
  Pricer(const ir::Program& program, const cluster::Mesh& mesh, std::vector<double> op_weight, std::vector<double> param_weight);

  const ir::Program& program() const { return program_; }
  const cluster::Mesh& mesh() const { return mesh_; }
  /// Factor map of an op, computed once.
  const shard::FactorMap& factors(ir::FunctionId function, ir::OpId op);

  /// Seconds that one device computes for an op under a strategy, once; 0 for control flow and constants.
  double op_seconds(ir::FunctionId function, ir::OpId op, const shard::Strategy& strategy);
  /// Seconds to bring a tensor from one layout to another.
  double reshard_seconds(const ir::TensorType& type, const shard::Layout& from, const shard::Layout& to);

  /// Layouts in which the values of a function are left by their producers.
  std::vector<shard::Layout> value_layouts(ir::FunctionId function, const shard::Sharding& sharding);
  /// Layout that an op of `function` wants for an operand.
  shard::Layout wanted_layout(ir::FunctionId function, ir::OpId op, std::size_t operand, const shard::Sharding& sharding);

  /// Time of one step of the whole program, run in program order. Communication hides behind computation where the device
  /// overlaps the two (cluster::Device::overlap).
  PredictedTime price(const shard::Sharding& sharding);
  /// Bytes of one rank: states and batch at their local sizes, plus the largest sum of local values alive at once in
  /// program order. An estimate from above of what the lowering needs without in-place updates.
  std::int64_t bytes_per_rank(const shard::Sharding& sharding);

 private:
  struct PairKey {
    ir::TensorType type;
    shard::Layout from, to;
    bool operator==(const PairKey&) const = default;
  };
  struct PairHash {
    std::size_t operator()(const PairKey& key) const;
  };

  class Timeline;

  bool is_short_lived(std::size_t op, std::size_t death) const;
  double weight(ir::FunctionId function, std::size_t op) const {
    return op_weight_.empty() || function != program_.main ? 1.0 : op_weight_[op];
  }
  PredictedTime price_function(ir::FunctionId function, const shard::Sharding& sharding, int depth);

  const ir::Program& program_;
  cluster::Mesh mesh_;
  shard::ReshardCost cost_;
  std::vector<double> op_weight_, param_weight_;
  std::vector<std::vector<shard::FactorMap>> factors_;
  std::vector<std::vector<bool>> known_;
  std::unordered_map<PairKey, double, PairHash> pairs_;
};

}  // namespace rhino::plan
