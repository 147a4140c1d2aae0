// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <rhino/ir/signature.hpp>
#include <rhino/plan/pricing.hpp>

namespace rhino::plan {

/// A weight with the optimizer state of its shape, and the ops that update them.
struct StateGroup {
  std::vector<std::uint32_t> params;  ///< of the entry function, ascending
  std::vector<ir::OpId> ops;          ///< element by element, ascending; and reductions of what these compute (norms)
};

/// The groups of a training step: parameters of one shape whose updates share element-wise ops. Parameters that nothing
/// updates, scalars and statistics are in none.
std::vector<StateGroup> find_state_groups(const ir::Program& program, const ir::Signature& signature);

/// Splits training state over the mesh axes on which a plan keeps equal copies of it: the optimizer state alone (each device
/// updates its part, and the weight is gathered afterwards), or the weight too (gathered where it is used, after it was
/// converted to the type of the computation). Gradients are then scattered instead of summed on every device. The published
/// forms of this are stages 1 and 2 of ZeRO (Rajbhandari et al., 2020, sections 5.1 and 5.2); here tensors of each kind are
/// decided by themselves, and by predicted time.
class StateSplitter {
 public:
  /// The pricer and the signature (of the pricer's program) must outlive it.
  StateSplitter(Pricer& pricer, const ir::Signature& signature);

  /// Takes the fastest splits that it finds among those that need at most `limit` bytes per rank, or the leanest if none is so
  /// lean. Never slower than the given sharding if that fits. Deterministic. Returns the bytes per rank that are then needed.
  std::int64_t fit(shard::Sharding& sharding, std::int64_t limit);

  /// The bytes per rank if all that can be split were: what `fit` can reach.
  std::int64_t least_bytes(const shard::Sharding& sharding);

 private:
  enum class Split : std::uint8_t { None, Optimizer, Weight };
  /// A way to split, per kind of group.
  struct Choice {
    std::vector<Split> splits;
    shard::Sharding sharding;
    double seconds = 0;
    std::int64_t bytes = 0;
  };

  void find_kinds(const shard::Sharding& sharding);
  Choice choose(const shard::Sharding& whole, std::vector<Split> splits);
  bool apply(const StateGroup& group, Split split, shard::Sharding& sharding);
  bool extend(const ir::Dims& dims, shard::Layout& layout) const;
  bool set_strategy(ir::OpId op, const shard::Layout& layout, shard::FunctionSharding& decisions);

  Pricer& pricer_;
  const ir::Signature& signature_;
  std::vector<std::optional<std::uint32_t>> updates_;
  std::vector<std::vector<std::pair<ir::OpId, std::uint32_t>>> uses_;
  std::vector<StateGroup> groups_;
  std::vector<std::vector<std::size_t>> kinds_;  ///< groups that are alike, those with most bytes first
};

}  // namespace rhino::plan
