// SPDX-License-Identifier: Apache-2.0
// Ops whose positions are data: dynamic slices, gather, scatter.
#include <rhino/base/contains.hpp>
#include <rhino/shard/factor_rules.hpp>

#include <algorithm>

namespace rhino::shard {

namespace {

/// The numbers 0 .. rank-1 that are in none of the lists.
std::vector<int> others(int rank, std::initializer_list<const std::vector<int>*> lists) {
  std::vector<int> result;
  for (int d = 0; d < rank; ++d)
    if (std::none_of(lists.begin(), lists.end(), [&](const auto* list) { return contains(*list, d); }))
      result.push_back(d);
  return result;
}

}  // namespace

void factors_dynamic_slice(FactorMapBuilder& map) {
  for (int d = 0; d < map.result(0).rank(); ++d) {
    if (map.operand_dim(0, d) == map.result_dim(0, d))
      map.parallel({result_at(0, d), operand_at(0, d)});
    else
      map.masked(operand_at(0, d));
  }
}

void factors_dynamic_update_slice(FactorMapBuilder& map) {
  for (int d = 0; d < map.result(0).rank(); ++d) {
    if (map.operand_dim(1, d) == map.result_dim(0, d))
      map.parallel({result_at(0, d), operand_at(0, d), operand_at(1, d)});
    else
      map.add(FactorKind::Owned, {result_at(0, d), operand_at(0, d)});
  }
}

/// Slices that take a whole dimension pass it through; single elements are looked up in the own range of a split one.
void factors_gather(FactorMapBuilder& map) {
  const auto& attrs = map.op().as<ir::GatherAttrs>();
  const int rank = map.operand(0).rank();
  const std::vector<int> index_vector{attrs.index_vector_dim};
  const std::vector<int> index_batch = others(map.operand(1).rank(), {&index_vector});
  const std::vector<int> result_batch = others(map.result(0).rank(), {&attrs.offset_dims});
  for (std::size_t i = 0; i < index_batch.size(); ++i) {
    std::vector<Place> places{result_at(0, result_batch[i]), operand_at(1, index_batch[i])};
    for (std::size_t b = 0; b < attrs.start_indices_batching_dims.size(); ++b)
      if (attrs.start_indices_batching_dims[b] == index_batch[i])
        places.push_back(operand_at(0, attrs.operand_batching_dims[b]));
    map.parallel(places);
  }
  const std::vector<int> offset = others(rank, {&attrs.collapsed_slice_dims, &attrs.operand_batching_dims});
  for (int d = 0; d < rank; ++d) {
    if (contains(attrs.operand_batching_dims, d)) continue;
    const std::int64_t taken = attrs.slice_sizes[static_cast<std::size_t>(d)];
    const auto at = std::find(offset.begin(), offset.end(), d);
    if (at != offset.end() && taken == map.operand_dim(0, d)) {
      const int r = attrs.offset_dims[static_cast<std::size_t>(at - offset.begin())];
      map.parallel({result_at(0, r), operand_at(0, d)});
    } else if (taken == 1 && contains(attrs.start_index_map, d)) {
      map.masked(operand_at(0, d));
    }
  }
}

/// Operands: inputs, indices, updates. Windows that span a whole dimension pass it through; along a dimension in which
/// single elements are addressed, each device keeps what falls into its range; updates may be spread over devices,
/// which then hold partial results.
void factors_scatter(FactorMapBuilder& map) {
  const auto& attrs = map.op().as<ir::ScatterAttrs>();
  const int n = map.result_count();
  const int indices = n, first_update = n + 1;
  const int rank = map.operand(0).rank();
  const auto everywhere = [&](int input_dim, int update_dim, int index_dim) {
    std::vector<Place> places;
    for (int i = 0; i < n; ++i) {
      if (input_dim >= 0) places.insert(places.end(), {result_at(i, input_dim), operand_at(i, input_dim)});
      if (update_dim >= 0) places.push_back(operand_at(first_update + i, update_dim));
    }
    if (index_dim >= 0) places.push_back(operand_at(indices, index_dim));
    return places;
  };
  const auto reduction =
      n == 1 ? partial_kind_of(ir::classify_reducer(map.program().function(map.op().regions[0])), map.operand(0).dtype)
             : std::nullopt;
  const std::vector<int> index_vector{attrs.index_vector_dim};
  const std::vector<int> index_batch = others(map.operand(indices).rank(), {&index_vector});
  const std::vector<int> update_batch = others(map.operand(first_update).rank(), {&attrs.update_window_dims});
  for (std::size_t i = 0; i < index_batch.size(); ++i) {
    const auto at = std::find(attrs.scatter_indices_batching_dims.begin(), attrs.scatter_indices_batching_dims.end(),
                              index_batch[i]);
    if (at != attrs.scatter_indices_batching_dims.end()) {
      const auto b = static_cast<std::size_t>(at - attrs.scatter_indices_batching_dims.begin());
      map.parallel(everywhere(attrs.input_batching_dims[b], update_batch[i], index_batch[i]));
    } else {
      map.add(reduction ? FactorKind::Reduction : FactorKind::NoSplit, everywhere(-1, update_batch[i], index_batch[i]),
              reduction.value_or(PartialKind::Sum));
    }
  }
  const std::vector<int> window = others(rank, {&attrs.inserted_window_dims, &attrs.input_batching_dims});
  for (int d = 0; d < rank; ++d) {
    if (contains(attrs.input_batching_dims, d)) continue;
    const auto at = std::find(window.begin(), window.end(), d);
    const int u = at == window.end() ? -1 : attrs.update_window_dims[static_cast<std::size_t>(at - window.begin())];
    const std::int64_t width = u < 0 ? 1 : map.operand_dim(first_update, u);
    if (u >= 0 && width == map.operand_dim(0, d)) {
      map.parallel(everywhere(d, u, -1));
    } else {
      const bool addressed = width == 1 && contains(attrs.scatter_dims_to_operand_dims, d);
      map.add(addressed ? FactorKind::Owned : FactorKind::NoSplit, everywhere(d, -1, -1));
    }
  }
}

}  // namespace rhino::shard
