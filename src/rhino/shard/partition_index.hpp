// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rhino/shard/partition_rules.hpp>

namespace rhino::shard {

/// min(max(value, lower), upper), all of one i64 shape.
ir::ValueId clamp_index(Emitter& emitter, ir::ValueId value, ir::ValueId lower, ir::ValueId upper);

/// All of dimension `dim` of a value of global type `type` on every device; `layout` changes accordingly.
ir::ValueId make_whole(Emitter& emitter, const OpSite& site, ir::ValueId value, const ir::TensorType& type, int dim,
                       Layout& layout);

/// The positions of a gather or scatter as i64, always with a dimension `index_vector_dim` for their components.
ir::ValueId explicit_positions(Emitter& emitter, ir::ValueId indices, int index_vector_dim);

/// A tensor of shape `shape` from one scalar per component of the positions, which run along `index_vector_dim`.
ir::ValueId spread_components(Emitter& emitter, const std::vector<ir::ValueId>& components, const ir::Dims& shape,
                              int index_vector_dim);

DimLayout whole_dim(std::int64_t size);

}  // namespace rhino::shard
