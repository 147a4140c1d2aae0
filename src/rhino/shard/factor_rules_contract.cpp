// SPDX-License-Identifier: Apache-2.0
// Contractions, reductions and windows.
#include <rhino/base/contains.hpp>
#include <rhino/shard/factor_rules.hpp>


namespace rhino::shard {

bool is_trivial(const ir::WindowDim& window) {
  return window.size == 1 && window.stride == 1 && window.pad_low == 0 && window.pad_high == 0 &&
         window.base_dilation == 1;
}

bool is_chunked(const ir::WindowDim& window, std::int64_t in, std::int64_t out) {
  const std::int64_t extent = (window.size - 1) * window.window_dilation + 1;
  return window.base_dilation == 1 && window.pad_low == 0 && extent <= window.stride && in == out * window.stride;
}

void factors_dot_general(FactorMapBuilder& map) {
  const auto& attrs = map.op().as<ir::DotGeneralAttrs>();
  int r = 0;
  for (std::size_t b = 0; b < attrs.lhs_batch.size(); ++b)
    map.parallel({result_at(0, r++), operand_at(0, attrs.lhs_batch[b]), operand_at(1, attrs.rhs_batch[b])});
  for (std::size_t c = 0; c < attrs.lhs_contracting.size(); ++c)
    map.add(FactorKind::Reduction, {operand_at(0, attrs.lhs_contracting[c]), operand_at(1, attrs.rhs_contracting[c])},
            partial_kind_of(ir::ReducerKind::Add, map.result(0).dtype).value());
  const auto add_free = [&](int operand, const std::vector<int>& batch, const std::vector<int>& contracting) {
    for (int d = 0; d < map.operand(operand).rank(); ++d) {
      const bool free = !contains(batch, d) && !contains(contracting, d);
      if (free) map.parallel({result_at(0, r++), operand_at(operand, d)});
    }
  };
  add_free(0, attrs.lhs_batch, attrs.lhs_contracting);
  add_free(1, attrs.rhs_batch, attrs.rhs_contracting);
}

namespace {

/// Spatial dimension `s` of a convolution.
void add_spatial(FactorMapBuilder& map, const ir::ConvolutionAttrs& attrs, std::size_t s, PartialKind sum) {
  const ir::WindowDim& window = attrs.window[s];
  const Place input = operand_at(0, attrs.input_spatial[s]);
  const Place kernel = operand_at(1, attrs.kernel_spatial[s]);
  const Place output = result_at(0, attrs.output_spatial[s]);
  const std::int64_t in = map.operand_dim(0, input.dim), out = map.result_dim(0, output.dim), size = window.size;
  const bool plain = window.pad_low == 0 && window.pad_high == 0 && window.base_dilation == 1 &&
                     window.window_dilation == 1 && !window.reversal;
  if (is_trivial(window)) {
    map.parallel({output, input});
  } else if (out > 1 && is_chunked(window, in, out)) {
    map.parallel({output, operand_at(0, input.dim, out)});
    map.add(FactorKind::NoSplit, {operand_at(0, input.dim, window.stride)});
  } else if (out == 1 && plain && in == size) {
    map.add(FactorKind::Reduction, {input, kernel}, sum);
  } else if (size > out && size > 1 && in > 1) {
    map.add(FactorKind::HaloReduction, {kernel, input}, sum);
  } else if (in > 1 && out > 1) {
    map.add(FactorKind::Halo, {output, input});
  }
}

}  // namespace

/// Groups are the most significant digit of the dimensions that they cut. A spatial dimension is split by its image
/// (Halo), or by its window where that is the larger one (gradients of kernels).
void factors_convolution(FactorMapBuilder& map) {
  const auto& attrs = map.op().as<ir::ConvolutionAttrs>();
  const PartialKind sum = partial_kind_of(ir::ReducerKind::Add, map.result(0).dtype).value();
  const Place input_batch = operand_at(0, attrs.input_batch), input_feature = operand_at(0, attrs.input_feature);
  const Place kernel_in = operand_at(1, attrs.kernel_input_feature),
              kernel_out = operand_at(1, attrs.kernel_output_feature);
  const Place output_batch = result_at(0, attrs.output_batch), output_feature = result_at(0, attrs.output_feature);
  const auto part = [](Place place, std::int64_t size) {
    place.size = size;
    return place;
  };
  const std::int64_t batch = map.result_dim(0, attrs.output_batch);
  const std::int64_t features_in = map.operand_dim(1, attrs.kernel_input_feature);
  const std::int64_t groups = attrs.feature_group_count * attrs.batch_group_count;
  const std::int64_t features_out = map.result_dim(0, attrs.output_feature) / groups;
  if (attrs.feature_group_count > 1)
    map.parallel({part(output_feature, groups), part(kernel_out, groups), part(input_feature, groups)});
  if (attrs.batch_group_count > 1)
    map.parallel({part(output_feature, groups), part(kernel_out, groups), part(input_batch, groups)});
  map.parallel({output_batch, part(input_batch, batch)});
  map.parallel({part(output_feature, features_out), part(kernel_out, features_out)});
  map.add(FactorKind::Reduction, {part(input_feature, features_in), kernel_in}, sum);
  for (std::size_t s = 0; s < attrs.window.size(); ++s)
    add_spatial(map, attrs, s, sum);
}

void factors_reduce(FactorMapBuilder& map) {
  const auto& reduced = map.op().as<ir::ReduceAttrs>().dimensions;
  const int n = map.result_count();
  const auto kind =
      n == 1 ? partial_kind_of(ir::classify_reducer(map.program().function(map.op().regions[0])), map.operand(0).dtype)
             : std::nullopt;
  int r = 0;
  for (int d = 0; d < map.operand(0).rank(); ++d) {
    if (!contains(reduced, d)) {
      std::vector<Place> places;
      for (int i = 0; i < n; ++i)
        places.insert(places.end(), {result_at(i, r), operand_at(i, d)});
      map.parallel(places);
      ++r;
    } else {
      std::vector<Place> places;
      for (int i = 0; i < n; ++i)
        places.push_back(operand_at(i, d));
      map.add(kind ? FactorKind::Reduction : FactorKind::NoSplit, places, kind.value_or(PartialKind::Sum));
    }
  }
}

void factors_reduce_window(FactorMapBuilder& map) {
  const auto& attrs = map.op().as<ir::ReduceWindowAttrs>();
  const int n = map.result_count();
  for (int d = 0; d < map.operand(0).rank(); ++d) {
    const ir::WindowDim& window = attrs.window[static_cast<std::size_t>(d)];
    const std::int64_t in = map.operand_dim(0, d), out = map.result_dim(0, d);
    const std::int64_t extent = (window.size - 1) * window.window_dilation + 1;
    std::vector<Place> results, operands, chunks;
    for (int i = 0; i < n; ++i) {
      results.push_back(result_at(i, d));
      operands.push_back(operand_at(i, d));
      chunks.push_back(operand_at(i, d, out));
    }
    const auto both = [&](const std::vector<Place>& more) {
      std::vector<Place> places = results;
      places.insert(places.end(), more.begin(), more.end());
      return places;
    };
    if (is_trivial(window)) {
      map.parallel(both(operands));
    } else if (out > 1 && is_chunked(window, in, out)) {
      map.parallel(both(chunks));
      for (Place& place : operands)
        place.size = window.stride;
      map.add(FactorKind::NoSplit, operands);
    } else if (in > 1 && out > 1 && extent < (in - 1) * window.base_dilation + 1) {
      map.add(FactorKind::Halo, both(operands));
    }
  }
}

void factors_select_and_scatter(FactorMapBuilder& map) {
  const auto& attrs = map.op().as<ir::SelectAndScatterAttrs>();
  for (int d = 0; d < map.operand(0).rank(); ++d) {
    const ir::WindowDim& window = attrs.window[static_cast<std::size_t>(d)];
    const std::int64_t in = map.operand_dim(0, d), out = map.operand_dim(1, d);
    if (is_trivial(window)) {
      map.parallel({result_at(0, d), operand_at(0, d), operand_at(1, d)});
    } else if (out > 1 && is_chunked(window, in, out)) {
      map.parallel({result_at(0, d, out), operand_at(0, d, out), operand_at(1, d)});
      map.add(FactorKind::NoSplit, {result_at(0, d, window.stride), operand_at(0, d, window.stride)});
    } else if (in > 1 && out > 1) {
      map.add(FactorKind::Halo, {result_at(0, d), operand_at(0, d), operand_at(1, d)});
    } else {
      map.add(FactorKind::NoSplit, {result_at(0, d), operand_at(0, d)});
    }
  }
}

}  // namespace rhino::shard
