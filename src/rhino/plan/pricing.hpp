// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
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
  /// How many parameters of the whole a parameter of the entry stands for.
  double param_weight(std::size_t param) const { return param_weight_.empty() ? 1.0 : param_weight_[param]; }
  /// Factor map of an op, computed once.
  const shard::FactorMap& factors(ir::FunctionId function, ir::OpId op);

  /// An op under a strategy: in what layouts it wants its operands and leaves its results, and the seconds that one device
  /// computes (0 for control flow, constants and views).
  struct OpPrice {
    std::vector<shard::Layout> operands, results;
    double seconds = 0;
  };
  OpPrice op_price(ir::FunctionId function, ir::OpId op, const shard::Strategy& strategy);
  /// Seconds to bring a value of a function from one layout to another. Copies of one scalar cost nothing: every device makes
  /// its own (shard::partition).
  double reshard_seconds(ir::FunctionId function, ir::ValueId value, const shard::Layout& from, const shard::Layout& to);

  /// Layouts in which the values of a function are left by their producers.
  std::vector<shard::Layout> value_layouts(ir::FunctionId function, const shard::Sharding& sharding);
  /// Layout that an op of `function` wants for an operand. Valid until the op is asked about under another strategy.
  const shard::Layout& wanted_layout(ir::FunctionId function, ir::OpId op, std::size_t operand, const shard::Sharding& sharding);

  /// Time of one step of the whole program, run in program order. Communication hides behind computation where the device
  /// overlaps the two (cluster::Device::overlap); it begins when what is sent is there, as the executor does it.
  PredictedTime price(const shard::Sharding& sharding);
  /// Bytes of one rank that last the whole step: states, batch, constants given as parameters.
  std::int64_t held_bytes(const shard::Sharding& sharding) const;
  /// Bytes of one rank: states and batch at their local sizes, plus the largest sum of local values alive at once in
  /// program order, also of those that were brought into another layout. A state's new value takes the place of the old one
  /// where `updates` (Signature::updates) pairs them and their layouts agree. What shrinks by a change of layout that all its
  /// readers want (a gradient that is summed and scattered) is changed at once; what grows, when it is first read.
  std::int64_t bytes_per_rank(const shard::Sharding& sharding, const std::vector<std::optional<std::uint32_t>>& updates = {});

 private:
  struct PairKey {
    ir::TensorType type;
    shard::Layout from, to;
    bool operator==(const PairKey&) const = default;
  };
  struct PairHash {
    std::size_t operator()(const PairKey& key) const;
  };

  /// What an op was asked about last: most ops keep their strategy from one sharding to the next.
  struct LastPrice {
    shard::Strategy strategy;
    OpPrice price;
    bool known = false;
  };
  double reshard_seconds(const ir::TensorType& type, const shard::Layout& from, const shard::Layout& to);
  const OpPrice& current(ir::FunctionId function, ir::OpId op, const shard::Sharding& sharding);

  class Timeline;
  struct Version;

  std::vector<std::vector<Version>> versions(const shard::Sharding& sharding);
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
  std::vector<std::vector<LastPrice>> last_;
  std::vector<std::vector<std::vector<std::pair<ir::OpId, std::uint32_t>>>> uses_;  ///< per function and value
  shard::Layout scalar_;
  std::unordered_map<PairKey, double, PairHash> pairs_;
};

}  // namespace rhino::plan
