// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rhino/shard/partition_rules.hpp>

namespace rhino::shard {

/// min(max(value, lower), upper), all of one i64 shape.
ir::ValueId clamp_index(Emitter& emitter, ir::ValueId value, ir::ValueId lower, ir::ValueId upper);

/// All of dimension `dim` of a value of global type `type` on every device; `layout` changes accordingly.
ir::ValueId make_whole(Emitter& emitter, const OpSite& site, ir::ValueId value, const ir::TensorType& type, int dim,
                       Layout& layout);

DimLayout whole_dim(std::int64_t size);

}  // namespace rhino::shard
