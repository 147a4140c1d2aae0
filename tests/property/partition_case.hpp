// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rhino/ir/program.hpp>
#include <rhino/kernels/reference/interpreter.hpp>
#include <rhino/shard/sharding.hpp>

#include "random.hpp"

namespace rhino::test {

/// A program, arguments for it, and decisions how to split it.
struct PartitionCase {
  ir::Program program;
  std::vector<kernels::reference::Tensor> arguments;
  shard::Sharding sharding;
};

/// What has been exercised: how often a factor of a kind could have been and was split, per kind of op.
struct Coverage {
  struct Count {
    std::int64_t available = 0;
    std::int64_t split = 0;
    std::int64_t uneven = 0;
    std::int64_t strided = 0;
  };
  std::map<std::pair<ir::OpKind, shard::FactorKind>, Count> factors;
  std::map<ir::OpKind, std::int64_t> ops;
  std::int64_t carried = 0;
  void add(const PartitionCase& tried);
  /// One line per factor kind of an op that was there but never split, or op of `kinds` that never came.
  std::vector<std::string> gaps(const std::vector<ir::OpKind>& kinds) const;
  std::string table() const;
};

/// Random arguments: small integers, a few far outside the usual; floats around zero.
std::vector<kernels::reference::Tensor> random_arguments(const ir::Program& program, Random& random);

/// Case number `number` of `seed`: cases of single ops and of whole programs take turns. `only`: just this op kind.
PartitionCase make_case(std::uint64_t seed, std::int64_t number, std::optional<ir::OpKind> only);

/// Partitions, runs and compares; nullopt if all is equal, else what is wrong.
std::optional<std::string> find_fault(const PartitionCase& tried);

/// The smallest case found that still fails: fewer axes, more ops and layouts replicated.
PartitionCase shrink(PartitionCase failing);

/// Program, mesh and decisions as text.
std::string describe(const PartitionCase& tried);

}  // namespace rhino::test
