// SPDX-License-Identifier: Apache-2.0
// Elementwise ops, creation of tensors, sorting, and the ops whose layouts are decided elsewhere.
#include <rhino/base/contains.hpp>
#include <rhino/shard/factor_rules.hpp>

#include <algorithm>

namespace rhino::shard {

/// Every dimension is one factor of all operands (scalars apart) and the result.
void factors_elementwise(FactorMapBuilder& map) {
  const int rank = map.result(0).rank();
  for (int d = 0; d < rank; ++d) {
    std::vector<Place> places{result_at(0, d)};
    for (int i = 0; i < map.operand_count(); ++i)
      if (map.operand(i).rank() == rank) places.push_back(operand_at(i, d));
    map.parallel(places);
  }
}

void factors_elementwise_scalars(FactorMapBuilder& map) { factors_elementwise(map); }

/// Between element types of different width the last dimension of the narrower tensor must stay whole.
void factors_bitcast_convert(FactorMapBuilder& map) {
  const int common = std::min(map.operand(0).rank(), map.result(0).rank());
  for (int d = 0; d < common; ++d)
    map.parallel({result_at(0, d), operand_at(0, d)});
}

void factors_broadcast_in_dim(FactorMapBuilder& map) {
  const auto& attrs = map.op().as<ir::BroadcastInDimAttrs>();
  for (int r = 0; r < map.result(0).rank(); ++r) {
    std::vector<Place> places{result_at(0, r)};
    for (std::size_t i = 0; i < attrs.dimensions.size(); ++i) {
      const int d = static_cast<int>(i);
      if (attrs.dimensions[i] == r && map.operand_dim(0, d) == map.result_dim(0, r)) places.push_back(operand_at(0, d));
    }
    map.parallel(places);
  }
}

void factors_transpose(FactorMapBuilder& map) {
  const auto& permutation = map.op().as<ir::DimensionsAttrs>().dimensions;
  for (std::size_t r = 0; r < permutation.size(); ++r)
    map.parallel({result_at(0, static_cast<int>(r)), operand_at(0, permutation[r])});
}

/// A block split reverses the order of the devices and the elements within each.
void factors_reverse(FactorMapBuilder& map) {
  const auto& reversed = map.op().as<ir::DimensionsAttrs>().dimensions;
  for (int d = 0; d < map.result(0).rank(); ++d) {
    const bool turns = contains(reversed, d);
    map.add(turns ? FactorKind::Halo : FactorKind::Parallel, {result_at(0, d), operand_at(0, d)});
  }
}

void factors_constant(FactorMapBuilder& map) {
  for (int d = 0; d < map.result(0).rank(); ++d)
    map.parallel({result_at(0, d)});
}

void factors_iota(FactorMapBuilder& map) { factors_constant(map); }

/// Every device draws its own part of one stream; the state stays whole.
void factors_rng_bit_generator(FactorMapBuilder& map) {
  for (int d = 0; d < map.result(1).rank(); ++d)
    map.parallel({result_at(1, d)});
}

void factors_optimization_barrier(FactorMapBuilder& map) {
  for (int i = 0; i < map.result_count(); ++i) {
    map.set_group(i);
    for (int d = 0; d < map.result(i).rank(); ++d)
      map.parallel({result_at(i, d), operand_at(i, d)});
  }
}

void factors_sort(FactorMapBuilder& map) {
  const int sorted = map.op().as<ir::SortAttrs>().dimension;
  for (int d = 0; d < map.result(0).rank(); ++d) {
    if (d == sorted) continue;
    std::vector<Place> places;
    for (int i = 0; i < map.result_count(); ++i)
      places.push_back(result_at(i, d));
    for (int i = 0; i < map.operand_count(); ++i)
      places.push_back(operand_at(i, d));
    map.parallel(places);
  }
}

void factors_top_k(FactorMapBuilder& map) {
  for (int d = 0; d + 1 < map.operand(0).rank(); ++d)
    map.parallel({result_at(0, d), result_at(1, d), operand_at(0, d)});
}

void factors_call(FactorMapBuilder&) {}
void factors_case_of(FactorMapBuilder&) {}
void factors_while_loop(FactorMapBuilder&) {}
void factors_collective(FactorMapBuilder&) {}
void factors_custom_call(FactorMapBuilder&) {}

}  // namespace rhino::shard
