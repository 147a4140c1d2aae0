// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <rhino/base/contains.hpp>
#include <rhino/base/error.hpp>
#include <rhino/shard/factor_map.hpp>

namespace rhino::shard {

namespace {

ir::Dims dims_of(const TensorFactors& tensor) {
  ir::Dims dims;
  for (const auto& parts : tensor) {
    std::int64_t size = 1;
    for (const DimFactor& part : parts)
      size *= part.size;
    dims.push_back(size);
  }
  return dims;
}

/// The split of a factor as it shows in a dimension where the factor has `size`.
DimLayout at_size(const DimLayout& split, std::int64_t factor_size, std::int64_t size) {
  if (size == factor_size) return split;
  DimLayout scaled;
  for (const SubDim& sub : split.subs)
    scaled.subs.push_back({size, sub.axes});
  if (scaled.subs.empty() && size != 1) scaled.subs.push_back({size, {}});
  return scaled;
}

Layout tensor_layout(const FactorMap& map, const Strategy& strategy, const TensorFactors& tensor,
                     const MeshShape& mesh) {
  Layout layout;
  for (const auto& parts : tensor) {
    DimLayout dim;
    for (const DimFactor& part : parts) {
      const auto f = static_cast<std::size_t>(part.factor);
      const DimLayout split = at_size(canonical(strategy.factors[f], mesh), map.factors[f].size, part.size);
      dim.subs.insert(dim.subs.end(), split.subs.begin(), split.subs.end());
    }
    layout.dims.push_back(std::move(dim));
  }
  return layout;
}

bool is_plain_block(const DimLayout& canonical_split) { return canonical_split.subs.size() <= 1; }

}  // namespace

Strategy replicated_strategy(const FactorMap& map) {
  Strategy strategy;
  for (const Factor& factor : map.factors) {
    DimLayout whole;
    if (factor.size != 1) whole.subs.push_back({factor.size, {}});
    strategy.factors.push_back(std::move(whole));
  }
  return strategy;
}

void check_strategy(const FactorMap& map, const Strategy& strategy, const MeshShape& mesh, const std::string& what) {
  RHINO_CHECK(strategy.factors.size() == map.factors.size(), "{}: the strategy splits {} factors, the op has {}", what,
              strategy.factors.size(), map.factors.size());
  int groups = 1;
  for (const Factor& factor : map.factors)
    groups = std::max(groups, factor.group + 1);
  for (int group = 0; group < groups; ++group) {
    Layout all;  // every factor as a dimension of its own: sizes, axes in range and used once
    ir::Dims sizes;
    for (std::size_t f = 0; f < map.factors.size(); ++f) {
      if (map.factors[f].group != group) continue;
      all.dims.push_back(strategy.factors[f]);
      sizes.push_back(map.factors[f].size);
    }
    all.partial_axes = strategy.carried_axes;
    check_layout(all, sizes, mesh, what);
  }
  std::optional<PartialKind> partial;
  if (!strategy.carried_axes.empty()) partial = strategy.carried_kind;
  for (std::size_t f = 0; f < map.factors.size(); ++f) {
    const Factor& factor = map.factors[f];
    const DimLayout split = canonical(strategy.factors[f], mesh);
    if (!split.is_split()) continue;
    RHINO_CHECK(factor.kind != FactorKind::NoSplit, "{}: factor {} (size {}) must not be split", what, f, factor.size);
    RHINO_CHECK(!needs_plain_blocks(factor.kind) || is_plain_block(split),
                "{}: factor {} can only be split in plain blocks", what, f);
    if (!makes_partial(factor.kind)) continue;
    RHINO_CHECK(!partial || *partial == factor.reduction, "{}: the results would be partial in two kinds", what);
    partial = factor.reduction;
  }
  RHINO_CHECK(strategy.carried_operands.empty() || strategy.carried_operands.size() == map.operands.size(),
              "{}: carried_operands has {} entries for {} operands", what, strategy.carried_operands.size(),
              map.operands.size());
  const bool carries = contains(strategy.carried_operands, true);
  RHINO_CHECK(carries == !strategy.carried_axes.empty(),
              "{}: carried axes and operands that arrive partial must be given together", what);
  for (const auto* tensors : {&map.operands, &map.results})
    for (const TensorFactors& tensor : *tensors)
      check_layout(tensor_layout(map, strategy, tensor, mesh), dims_of(tensor), mesh, what);
}

Layout operand_layout(const FactorMap& map, const Strategy& strategy, int operand, const MeshShape& mesh) {
  const auto i = static_cast<std::size_t>(operand);
  Layout layout = tensor_layout(map, strategy, map.operands[i], mesh);
  if (i < strategy.carried_operands.size() && strategy.carried_operands[i]) {
    layout.partial_axes = strategy.carried_axes;
    layout.partial_kind = strategy.carried_kind;
  }
  return canonical(std::move(layout), mesh);
}

Layout result_layout(const FactorMap& map, const Strategy& strategy, int result, const MeshShape& mesh) {
  Layout layout = tensor_layout(map, strategy, map.results[static_cast<std::size_t>(result)], mesh);
  layout.partial_axes = strategy.carried_axes;
  layout.partial_kind = strategy.carried_kind;
  for (std::size_t f = 0; f < map.factors.size(); ++f) {
    if (!makes_partial(map.factors[f].kind)) continue;
    for (const SubDim& sub :
         canonical(strategy.factors[f], mesh).subs)  // without axes of size 1, which make nothing partial
      for (AxisId axis : sub.axes) {
        layout.partial_axes.push_back(axis);
        layout.partial_kind = map.factors[f].reduction;
      }
  }
  return canonical(std::move(layout), mesh);
}

}  // namespace rhino::shard
