// SPDX-License-Identifier: Apache-2.0
#include <rhino/shard/reshard_moves.hpp>

#include <algorithm>

#include <rhino/base/error.hpp>
#include <rhino/base/math.hpp>
#include <rhino/shard/layout_prefix.hpp>

namespace rhino::shard {

std::optional<AxisPosition> find_axes(const DimLayout& dim, const std::vector<AxisId>& axes) {
  for (std::size_t s = 0; s < dim.subs.size(); ++s) {
    const auto& have = dim.subs[s].axes;
    const auto at = std::find(have.begin(), have.end(), axes[0]);
    if (at == have.end()) continue;
    if (static_cast<std::size_t>(have.end() - at) < axes.size() || !std::equal(axes.begin(), axes.end(), at))
      return std::nullopt;
    return AxisPosition{s, static_cast<std::size_t>(at - have.begin())};
  }
  return std::nullopt;
}

std::vector<std::vector<AxisId>> axis_runs(const DimLayout& dim) {
  std::vector<std::vector<AxisId>> runs;
  for (const SubDim& sub : dim.subs)
    for (std::size_t i = 0; i < sub.axes.size(); ++i) {
      runs.push_back({sub.axes[i]});
      if (i + 1 < sub.axes.size()) runs.emplace_back(sub.axes.begin() + static_cast<std::ptrdiff_t>(i), sub.axes.end());
    }
  return runs;
}

namespace {

bool has_uneven_prefix(const DimLayout& dim, const MeshShape& mesh) {
  return !dim.subs.empty() && is_uneven_sub(dim.subs[0], mesh);
}

/// `axes` without its tail `removed`; nullopt if it does not end so.
std::optional<std::vector<AxisId>> without_tail(const std::vector<AxisId>& axes, const std::vector<AxisId>& removed) {
  if (axes.size() < removed.size() || !std::equal(removed.rbegin(), removed.rend(), axes.rbegin())) return std::nullopt;
  return std::vector<AxisId>(axes.begin(), axes.end() - static_cast<std::ptrdiff_t>(removed.size()));
}

/// The sub-dimensions of a prefix followed by `rest`, canonical.
DimLayout with_prefix(const Prefix& prefix, std::int64_t tail, const std::vector<SubDim>& rest, const MeshShape& mesh) {
  DimLayout dim;
  dim.subs.push_back({prefix.size / tail, prefix.axes});
  dim.subs.push_back({tail, {}});
  dim.subs.insert(dim.subs.end(), rest.begin(), rest.end());
  return canonical(std::move(dim), mesh);
}

}  // namespace

std::optional<DimLayout> remove_axes(const DimLayout& dim, const std::vector<AxisId>& axes, const MeshShape& mesh) {
  const auto at = find_axes(dim, axes);
  if (!at) return std::nullopt;
  const std::int64_t n = mesh.group_size(axes);
  if (at->sub == 0 && has_uneven_prefix(dim, mesh)) {
    std::vector<SubDim> rest = dim.subs;
    Prefix prefix = take_prefix(rest, mesh);
    const auto left = without_tail(prefix.axes, axes);
    if (!left) return std::nullopt;
    prefix.axes = *left;
    if (left->empty()) return with_prefix(prefix, 1, rest, mesh);
    prefix.groups /= n;
    prefix.block *= n;
    const std::int64_t tail = prefix.smallest_tail(1);
    if (tail == 0) return std::nullopt;
    return with_prefix(prefix, tail, rest, mesh);
  }
  const SubDim& sub = dim.subs[at->sub];
  const auto begin = sub.axes.begin() + static_cast<std::ptrdiff_t>(at->first);
  const auto end = begin + static_cast<std::ptrdiff_t>(axes.size());
  const SubDim above{mesh.group_size({sub.axes.begin(), begin}), {sub.axes.begin(), begin}};
  const SubDim below{sub.size / above.size / n, {end, sub.axes.end()}};
  DimLayout result;
  result.subs.assign(dim.subs.begin(), dim.subs.begin() + static_cast<std::ptrdiff_t>(at->sub));
  result.subs.insert(result.subs.end(), {above, SubDim{n, {}}, below});
  result.subs.insert(result.subs.end(), dim.subs.begin() + static_cast<std::ptrdiff_t>(at->sub) + 1, dim.subs.end());
  return canonical(std::move(result), mesh);
}

std::optional<DimLayout> insert_axes(const DimLayout& dim, const std::vector<AxisId>& axes, const DimLayout& target,
                                     const MeshShape& mesh) {
  const auto at = find_axes(target, axes);
  if (!at) return std::nullopt;
  const std::int64_t n = mesh.group_size(axes), size = dim.size();
  if (at->sub == 0 && has_uneven_prefix(target, mesh)) {
    std::vector<SubDim> target_rest = target.subs;
    const Prefix wanted = take_prefix(target_rest, mesh);
    const auto before = without_tail(wanted.axes, axes);
    if (!before) return std::nullopt;
    std::vector<SubDim> rest;
    if (before->empty()) {
      DimLayout cut = dim;
      if (!refine(cut, {wanted.size, size / wanted.size}, mesh)) return std::nullopt;
      std::int64_t front = 1;
      std::size_t s = 0;
      for (; s < cut.subs.size() && front < wanted.size; ++s) {
        if (!cut.subs[s].axes.empty()) return std::nullopt;
        front *= cut.subs[s].size;
      }
      if (s < cut.subs.size() && cut.subs[s].size == 1) return std::nullopt;  // a split of a first digit of size 1
      rest.assign(cut.subs.begin() + static_cast<std::ptrdiff_t>(s), cut.subs.end());
    } else {
      if (!has_uneven_prefix(dim, mesh)) return std::nullopt;
      rest = dim.subs;
      const Prefix now = take_prefix(rest, mesh);
      if (now.axes != *before || now.size != wanted.size || now.block != wanted.block * n) return std::nullopt;
    }
    return with_prefix(wanted, wanted.smallest_tail(1), rest, mesh);
  }
  const SubDim& sub = target.subs[at->sub];
  std::int64_t weight = sub.size / mesh.group_size(sub.axes);
  for (std::size_t i = at->first + axes.size(); i < sub.axes.size(); ++i)
    weight *= mesh.size(sub.axes[i]);
  for (std::size_t s = at->sub + 1; s < target.subs.size(); ++s)
    weight *= target.subs[s].size;
  DimLayout cut = dim;
  if (!refine(cut, {size / weight / n, n, weight}, mesh)) return std::nullopt;
  std::int64_t above = size;
  DimLayout result;
  for (const SubDim& part : cut.subs) {
    const bool inside = above <= weight * n && above > weight;
    if (inside && !part.axes.empty()) return std::nullopt;
    if (inside && above == weight * n) result.subs.push_back({n, axes});
    if (!inside) result.subs.push_back(part);
    above /= part.size;
  }
  return canonical(std::move(result), mesh);
}

std::int64_t local_above(const DimLayout& dim, const std::vector<AxisId>& axes, const MeshShape& mesh) {
  const auto at = find_axes(dim, axes);
  RHINO_ASSERT(at.has_value());
  std::int64_t above = 1;
  for (std::size_t s = 0; s < at->sub; ++s)
    above *= ceil_div(dim.subs[s].size, mesh.group_size(dim.subs[s].axes));
  return above;
}

bool same_shape(const DimLayout& a, const DimLayout& b, const MeshShape& mesh) {
  return std::equal(a.subs.begin(), a.subs.end(), b.subs.begin(), b.subs.end(), [&](const SubDim& x, const SubDim& y) {
    return x.size == y.size && mesh.group_size(x.axes) == mesh.group_size(y.axes);
  });
}

}  // namespace rhino::shard
