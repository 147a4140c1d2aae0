// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include <rhino/shard/layout.hpp>

namespace rhino::shard {

// The moves of which resharding consists, on one dimension at a time. All layouts here are canonical.

/// Where a run of axes lies in a dimension: sub-dimension and position of the first axis in it.
struct AxisPosition {
  std::size_t sub = 0;
  std::size_t first = 0;
};

/// Position of `axes` if they lie next to each other in this order.
std::optional<AxisPosition> find_axes(const DimLayout& dim, const std::vector<AxisId>& axes);

/// Every run of axes that can be taken off or put onto a dimension at once: single axes, and for each sub-dimension all
/// of its axes and every tail of them.
std::vector<std::vector<AxisId>> axis_runs(const DimLayout& dim);

/// The dimension after gathering `axes`; nullopt where no layout describes the outcome.
std::optional<DimLayout> remove_axes(const DimLayout& dim, const std::vector<AxisId>& axes, const MeshShape& mesh);

/// The dimension after splitting over `axes` at the place that they have in `target`; nullopt where that place is
/// taken.
std::optional<DimLayout> insert_axes(const DimLayout& dim, const std::vector<AxisId>& axes, const DimLayout& target,
                                     const MeshShape& mesh);

/// Product of the local digits above (more significant than) the axes.
std::int64_t local_above(const DimLayout& dim, const std::vector<AxisId>& axes, const MeshShape& mesh);

/// Whether both have the same sub-dimensions, each over groups of equal size: then devices only trade places.
bool same_shape(const DimLayout& a, const DimLayout& b, const MeshShape& mesh);

}  // namespace rhino::shard
