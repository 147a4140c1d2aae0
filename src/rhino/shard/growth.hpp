// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <rhino/shard/factor_map.hpp>

namespace rhino::shard {

// Propagation only ever adds splits to strategies and layouts; these are the steps of that. All layouts are canonical.

/// Splits of single factors that the layout of one dimension implies; nullopt where it cuts across factors or splits
/// one that must stay whole.
std::optional<std::vector<std::pair<int, DimLayout>>> factor_splits(const FactorMap& map,
                                                                    const std::vector<DimFactor>& parts,
                                                                    const DimLayout& dim, const MeshShape& mesh);

/// Whether `more` has every split of `less`, at the same place.
bool extends(const DimLayout& more, const DimLayout& less, const MeshShape& mesh);
bool extends(const Layout& more, const Layout& less, const MeshShape& mesh);

/// The smaller of two layouts of a dimension where one extends the other; `otherwise` where neither does.
const DimLayout& common_split(const DimLayout& a, const DimLayout& b, const DimLayout& otherwise,
                              const MeshShape& mesh);

/// Where a wish for a split comes from; it decides which kinds of factors follow it.
enum class GrowthSource : std::uint8_t {
  Operand,  ///< an operand lies so: every factor that may be split
  Result,   ///< the users of a result want it so: factors whose split needs no communication
  Seed      ///< a result was given this layout: all that do not make it partial
};

/// Splits factors of a strategy that are still whole as the layout of one operand or result asks, where axes are free,
/// and the strategy stays valid. Returns whether anything changed.
bool grow_strategy(const FactorMap& map, Strategy& strategy, const TensorFactors& tensor, const Layout& layout,
                   GrowthSource source, const MeshShape& mesh);

/// Axes that the factors of a strategy use.
std::vector<AxisId> axes_of(const Strategy& strategy);

}  // namespace rhino::shard
