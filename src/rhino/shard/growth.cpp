// SPDX-License-Identifier: Apache-2.0
#include <rhino/shard/growth.hpp>

#include <algorithm>

#include <rhino/base/contains.hpp>
#include <rhino/base/error.hpp>
#include <rhino/shard/reshard_moves.hpp>

namespace rhino::shard {

namespace {

std::vector<AxisId> axes_of(const DimLayout& dim) {
  std::vector<AxisId> axes;
  for (const SubDim& sub : dim.subs)
    axes.insert(axes.end(), sub.axes.begin(), sub.axes.end());
  return axes;
}

/// Whether the factor is the most significant one of every dimension that it is in.
bool always_first(const FactorMap& map, int factor) {
  for (const auto* tensors : {&map.operands, &map.results})
    for (const TensorFactors& tensor : *tensors)
      for (const auto& parts : tensor)
        for (std::size_t i = 1; i < parts.size(); ++i)
          if (parts[i].factor == factor) return false;
  return true;
}

bool may_follow(FactorKind kind, GrowthSource source) {
  switch (source) {
    case GrowthSource::Operand:
      return kind != FactorKind::NoSplit;
    case GrowthSource::Result:
      return kind == FactorKind::Parallel || kind == FactorKind::Owned;
    case GrowthSource::Seed:
      return kind == FactorKind::Parallel || kind == FactorKind::Owned || kind == FactorKind::Halo;
  }
  return false;
}

/// Whether every device has something of a factor with a halo, in each tensor; else it is not worth the exchange.
bool fills_devices(const FactorMap& map, int factor, const DimLayout& split, const MeshShape& mesh) {
  const FactorKind kind = map.factors[static_cast<std::size_t>(factor)].kind;
  if (kind != FactorKind::Halo && kind != FactorKind::HaloReduction) return true;
  const std::int64_t n = mesh.group_size(axes_of(split));
  for (const auto* tensors : {&map.operands, &map.results})
    for (const TensorFactors& tensor : *tensors)
      for (const auto& parts : tensor)
        for (const DimFactor& part : parts)
          if (part.factor == factor && part.size < n) return false;
  return true;
}

/// Whether results stay partial in one kind only if `factor` is split too.
bool one_partial_kind(const FactorMap& map, const Strategy& strategy, const Factor& factor) {
  if (!makes_partial(factor.kind)) return true;
  for (std::size_t f = 0; f < map.factors.size(); ++f)
    if (makes_partial(map.factors[f].kind) && strategy.factors[f].is_split() &&
        map.factors[f].reduction != factor.reduction)
      return false;
  return true;
}

}  // namespace

std::optional<std::vector<std::pair<int, DimLayout>>> factor_splits(const FactorMap& map,
                                                                    const std::vector<DimFactor>& parts,
                                                                    const DimLayout& dim, const MeshShape& mesh) {
  std::vector<std::pair<int, DimLayout>> found;
  DimLayout cut = canonical(dim, mesh);
  if (!cut.is_split()) return found;
  if (parts.empty()) return std::nullopt;
  if (parts.size() > 1) {
    std::vector<std::int64_t> sizes;
    for (const DimFactor& part : parts)
      sizes.push_back(part.size);
    if (!refine(cut, sizes, mesh)) return std::nullopt;
  }
  std::size_t next = 0;
  for (const DimFactor& part : parts) {
    DimLayout split;
    std::int64_t product = 1;
    // A first sub-dimension of size 1 may be split too (unevenly); it belongs to the first factor.
    while (next < cut.subs.size() && (product < part.size || (next == 0 && cut.subs[next].size == 1))) {
      product *= cut.subs[next].size;
      split.subs.push_back(std::move(cut.subs[next++]));
    }
    RHINO_ASSERT(product == part.size);
    split = canonical(std::move(split), mesh);
    if (!split.is_split()) continue;
    const Factor& factor = map.factors[static_cast<std::size_t>(part.factor)];
    if (factor.kind == FactorKind::NoSplit) return std::nullopt;
    if (needs_plain_blocks(factor.kind)) {
      if (split.subs.size() > 1) return std::nullopt;
      split.subs[0].size = factor.size;
    }
    found.emplace_back(part.factor, std::move(split));
  }
  return found;
}

std::optional<std::vector<DimLayout>> factors_from_layout(const FactorMap& map, const TensorFactors& tensor,
                                                          const Layout& layout, const MeshShape& mesh) {
  RHINO_ASSERT(tensor.size() == layout.dims.size());
  std::vector<DimLayout> factors = replicated_strategy(map).factors;
  for (std::size_t d = 0; d < tensor.size(); ++d) {
    auto splits = factor_splits(map, tensor[d], layout.dims[d], mesh);
    if (!splits) return std::nullopt;
    for (auto& [factor, split] : *splits)
      factors[static_cast<std::size_t>(factor)] = std::move(split);
  }
  return factors;
}

bool extends(const DimLayout& more, const DimLayout& less, const MeshShape& mesh) {
  if (!less.is_split() || more == less) return true;
  const std::vector<AxisId> kept = axes_of(less);
  DimLayout rest = more;
  const std::vector<AxisId> all = axes_of(more);
  for (auto axis = all.rbegin(); axis != all.rend(); ++axis) {
    if (contains(kept, *axis)) continue;
    auto removed = remove_axes(rest, {*axis}, mesh);
    if (!removed) return false;
    rest = std::move(*removed);
  }
  return rest == less;
}

bool extends(const Layout& more, const Layout& less, const MeshShape& mesh) {
  for (std::size_t d = 0; d < more.dims.size(); ++d)
    if (!extends(more.dims[d], less.dims[d], mesh)) return false;
  return true;
}

const DimLayout& common_split(const DimLayout& a, const DimLayout& b, const DimLayout& otherwise,
                              const MeshShape& mesh) {
  if (extends(a, b, mesh)) return b;
  if (extends(b, a, mesh)) return a;
  return otherwise;
}

bool grow_strategy(const FactorMap& map, Strategy& strategy, const TensorFactors& tensor, const Layout& layout,
                   GrowthSource source, const MeshShape& mesh) {
  bool changed = false;
  for (std::size_t d = 0; d < tensor.size(); ++d) {
    if (!layout.dims[d].is_split()) continue;
    const auto splits = factor_splits(map, tensor[d], layout.dims[d], mesh);
    if (!splits) continue;
    for (const auto& [number, split] : *splits) {
      const Factor& factor = map.factors[static_cast<std::size_t>(number)];
      DimLayout& now = strategy.factors[static_cast<std::size_t>(number)];
      if (now == split || !may_follow(factor.kind, source) || !extends(split, now, mesh)) continue;
      std::vector<AxisId> used;
      for (std::size_t f = 0; f < map.factors.size(); ++f)
        if (map.factors[f].group == factor.group)
          for (AxisId axis : axes_of(strategy.factors[f]))
            used.push_back(axis);
      const std::vector<AxisId> own = axes_of(now), wanted = axes_of(split);
      const bool taken = std::any_of(wanted.begin(), wanted.end(),
                                     [&](AxisId axis) { return contains(used, axis) && !contains(own, axis); });
      if (taken || !one_partial_kind(map, strategy, factor)) continue;
      if (is_uneven(split, mesh) && !always_first(map, number)) continue;
      if (!fills_devices(map, number, split, mesh)) continue;
      now = split;
      changed = true;
    }
  }
  return changed;
}

std::vector<AxisId> axes_of(const Strategy& strategy) {
  std::vector<AxisId> axes;
  for (const DimLayout& factor : strategy.factors)
    for (const SubDim& sub : factor.subs)
      axes.insert(axes.end(), sub.axes.begin(), sub.axes.end());
  return axes;
}

}  // namespace rhino::shard
