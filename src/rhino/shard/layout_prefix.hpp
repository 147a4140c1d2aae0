// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <rhino/shard/layout.hpp>

namespace rhino::shard {

/// The most significant part of an uneven dimension: digits d < size, of which device group g holds
/// [g*block, (g+1)*block). Shared by the parts of shard/ that take layouts apart.
struct Prefix {
  std::vector<AxisId> axes;
  std::int64_t size = 1, groups = 1, block = 1;

  /// Whether {size/tail: axes},{tail} puts every element where this prefix has it.
  bool is_tail(std::int64_t tail) const;
  /// Smallest such tail that is a multiple of `unit`; 0 if there is none.
  std::int64_t smallest_tail(std::int64_t unit) const;
};

/// Takes the uneven prefix off the front of `subs`, whose first sub-dimension is uneven and which has no redundant
/// parts; what is left starts with a split sub-dimension or is empty.
Prefix take_prefix(std::vector<SubDim>& subs, const MeshShape& mesh);

bool is_uneven_sub(const SubDim& sub, const MeshShape& mesh);

}  // namespace rhino::shard
