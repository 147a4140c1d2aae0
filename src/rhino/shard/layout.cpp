// SPDX-License-Identifier: Apache-2.0
#include <rhino/shard/layout.hpp>

#include <algorithm>
#include <numeric>

#include <rhino/base/contains.hpp>
#include <rhino/base/error.hpp>
#include <rhino/base/math.hpp>
#include <rhino/shard/layout_prefix.hpp>

namespace rhino::shard {

MeshShape::MeshShape(std::vector<MeshAxis> axes) : axes_(std::move(axes)) {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    RHINO_CHECK(axes_[i].size >= 1, "mesh axis '{}' has size {}; it must be at least 1", axes_[i].name, axes_[i].size);
    RHINO_CHECK(!axes_[i].name.empty(), "mesh axis {} has no name", i);
    for (std::size_t k = 0; k < i; ++k)
      RHINO_CHECK(axes_[k].name != axes_[i].name, "two mesh axes are called '{}'", axes_[i].name);
  }
  devices();  // throws if the number of devices does not fit
}

std::int64_t MeshShape::devices() const {
  std::int64_t n = 1;
  for (const MeshAxis& axis : axes_)
    n = checked_multiply(n, axis.size);
  return n;
}

std::int64_t MeshShape::group_size(const std::vector<AxisId>& axes) const {
  std::int64_t n = 1;
  for (AxisId axis : axes)
    n *= size(axis);
  return n;
}

std::int64_t MeshShape::coordinate(std::int64_t device, AxisId axis) const {
  for (int a = rank() - 1; a > axis; --a)
    device /= size(a);
  return device % size(axis);
}

std::int64_t MeshShape::group_index(std::int64_t device, const std::vector<AxisId>& axes) const {
  std::int64_t index = 0;
  for (AxisId axis : axes)
    index = index * size(axis) + coordinate(device, axis);
  return index;
}

std::vector<std::vector<std::int64_t>> MeshShape::groups(const std::vector<AxisId>& axes) const {
  std::vector<AxisId> others;
  for (AxisId a = 0; a < rank(); ++a)
    if (!contains(axes, a)) others.push_back(a);
  const auto count = static_cast<std::size_t>(group_size(others));
  const auto members = static_cast<std::size_t>(group_size(axes));
  std::vector<std::vector<std::int64_t>> result(count, std::vector<std::int64_t>(members));
  for (std::int64_t device = 0; device < devices(); ++device)
    result[static_cast<std::size_t>(group_index(device, others))][static_cast<std::size_t>(group_index(device, axes))] =
        device;
  return result;
}

AxisId MeshShape::find(std::string_view name) const {
  for (AxisId a = 0; a < rank(); ++a)
    if (axes_[static_cast<std::size_t>(a)].name == name) return a;
  return -1;
}

std::int64_t DimLayout::size() const {
  std::int64_t n = 1;
  for (const SubDim& sub : subs)
    n *= sub.size;
  return n;
}

bool DimLayout::is_split() const {
  return std::any_of(subs.begin(), subs.end(), [](const SubDim& sub) { return !sub.axes.empty(); });
}

Layout Layout::replicated(const ir::Dims& dims) {
  Layout layout;
  for (std::int64_t size : dims) {
    DimLayout dim;
    if (size != 1) dim.subs.push_back({size, {}});
    layout.dims.push_back(std::move(dim));
  }
  return layout;
}

Layout Layout::split(const ir::Dims& dims, int dim, std::vector<AxisId> axes) {
  RHINO_CHECK(dim >= 0 && dim < static_cast<int>(dims.size()), "there is no dimension {} in {} dimensions", dim,
              dims.size());
  Layout layout = replicated(dims);
  const auto d = static_cast<std::size_t>(dim);
  if (!axes.empty()) layout.dims[d].subs = {SubDim{dims[d], std::move(axes)}};
  return layout;
}

bool Layout::is_replicated() const {
  return !is_partial() && std::none_of(dims.begin(), dims.end(), [](const DimLayout& dim) { return dim.is_split(); });
}

namespace {

/// Without axes of size 1.
std::vector<AxisId> real_axes(const std::vector<AxisId>& axes, const MeshShape& mesh) {
  std::vector<AxisId> result;
  for (AxisId axis : axes)
    if (mesh.size(axis) > 1) result.push_back(axis);
  return result;
}

/// Sub-dimensions that matter: no axes of size 1, no unsplit sub-dimensions of size 1.
std::vector<SubDim> real_subs(const DimLayout& dim, const MeshShape& mesh) {
  std::vector<SubDim> result;
  for (const SubDim& sub : dim.subs) {
    SubDim real{sub.size, real_axes(sub.axes, mesh)};
    if (real.size != 1 || !real.axes.empty()) result.push_back(std::move(real));
  }
  return result;
}

/// Appends an even sub-dimension, joined with the last one where that means the same.
void append_even(std::vector<SubDim>& subs, const SubDim& sub, const MeshShape& mesh) {
  if (!subs.empty() && !is_uneven_sub(subs.back(), mesh)) {
    SubDim& last = subs.back();
    if (sub.axes.empty() || last.size == mesh.group_size(last.axes)) {
      last.size *= sub.size;
      last.axes.insert(last.axes.end(), sub.axes.begin(), sub.axes.end());
      return;
    }
  }
  subs.push_back(sub);
}

}  // namespace

bool is_uneven_sub(const SubDim& sub, const MeshShape& mesh) { return sub.size % mesh.group_size(sub.axes) != 0; }

bool Prefix::is_tail(std::int64_t tail) const {
  return size % tail == 0 && block % tail == 0 && ceil_div(size / tail, groups) * tail == block;
}

std::int64_t Prefix::smallest_tail(std::int64_t unit) const {
  for (std::int64_t tail = unit; tail <= block; tail += unit)
    if (is_tail(tail)) return tail;
  return 0;
}

Prefix take_prefix(std::vector<SubDim>& subs, const MeshShape& mesh) {
  Prefix prefix;
  prefix.axes = subs[0].axes;
  prefix.size = subs[0].size;
  prefix.groups = mesh.group_size(subs[0].axes);
  prefix.block = ceil_div(prefix.size, prefix.groups);
  std::size_t next = 1;
  while (next < subs.size()) {
    SubDim& sub = subs[next];
    const std::int64_t n = mesh.group_size(sub.axes);
    if (n > 1 && prefix.block > 1) break;
    prefix.axes.insert(prefix.axes.end(), sub.axes.begin(), sub.axes.end());
    prefix.size *= sub.size;
    prefix.groups *= n;
    prefix.block *= sub.size / n;
    ++next;
  }
  subs.erase(subs.begin(), subs.begin() + static_cast<std::ptrdiff_t>(next));
  // Leading axes of which only coordinate 0 ever holds something may come in any order.
  std::int64_t rest = prefix.groups;
  std::size_t idle = 0;
  while (idle < prefix.axes.size() && ceil_div(prefix.size, prefix.block) <= rest / mesh.size(prefix.axes[idle]))
    rest /= mesh.size(prefix.axes[idle++]);
  std::sort(prefix.axes.begin(), prefix.axes.begin() + static_cast<std::ptrdiff_t>(idle));
  return prefix;
}

DimLayout canonical(DimLayout dim, const MeshShape& mesh) {
  if (dim.size() == 0) return DimLayout{{SubDim{0, {}}}};
  std::vector<SubDim> subs = real_subs(dim, mesh);
  DimLayout result;
  if (!subs.empty() && is_uneven_sub(subs[0], mesh)) {
    const Prefix prefix = take_prefix(subs, mesh);
    const std::int64_t tail = prefix.smallest_tail(1);
    RHINO_ASSERT(tail > 0);
    result.subs.push_back({prefix.size / tail, prefix.axes});
    if (tail > 1) result.subs.push_back({tail, {}});
  }
  for (const SubDim& sub : subs)
    append_even(result.subs, sub, mesh);
  return result;
}

Layout canonical(Layout layout, const MeshShape& mesh) {
  for (DimLayout& dim : layout.dims)
    dim = canonical(std::move(dim), mesh);
  layout.partial_axes = real_axes(layout.partial_axes, mesh);
  std::sort(layout.partial_axes.begin(), layout.partial_axes.end());
  if (layout.partial_axes.empty()) layout.partial_kind = PartialKind::Sum;
  return layout;
}

void check_layout(const Layout& layout, const ir::Dims& dims, const MeshShape& mesh, std::string_view what) {
  RHINO_CHECK(layout.dims.size() == dims.size(), "{}: the layout has {} dimensions, the tensor {}", what,
              layout.dims.size(), dims.size());
  std::vector<bool> used(static_cast<std::size_t>(mesh.rank()), false);
  const auto use_axis = [&](AxisId axis) {
    RHINO_CHECK(axis >= 0 && axis < mesh.rank(), "{}: the mesh has no axis {}", what, axis);
    RHINO_CHECK(!used[static_cast<std::size_t>(axis)], "{}: mesh axis '{}' is used twice", what,
                mesh.axes()[static_cast<std::size_t>(axis)].name);
    used[static_cast<std::size_t>(axis)] = true;
  };
  for (std::size_t d = 0; d < dims.size(); ++d) {
    std::int64_t size = 1;
    bool first = true;
    for (const SubDim& sub : layout.dims[d].subs) {
      RHINO_CHECK(sub.size >= 0, "{}: dimension {} has a sub-dimension of size {}", what, d, sub.size);
      size = checked_multiply(size, sub.size);
      for (AxisId axis : sub.axes)
        use_axis(axis);
      const std::int64_t n = mesh.group_size(sub.axes);
      RHINO_CHECK(first || sub.size % n == 0,
                  "{}: an inner sub-dimension of size {} in dimension {} cannot be split over {} devices", what,
                  sub.size, d, n);
      if (sub.size != 1 || n > 1) first = false;
    }
    RHINO_CHECK(size == dims[d], "{}: the sub-dimensions of dimension {} make {}, the tensor has {}", what, d, size,
                dims[d]);
  }
  for (std::size_t i = 0; i < layout.partial_axes.size(); ++i) {
    use_axis(layout.partial_axes[i]);
    RHINO_CHECK(i == 0 || layout.partial_axes[i - 1] < layout.partial_axes[i],
                "{}: partial axes must be given in ascending order", what);
  }
}

std::int64_t local_size(const DimLayout& dim, const MeshShape& mesh) {
  std::int64_t size = 1;
  for (const SubDim& sub : dim.subs)
    size *= ceil_div(sub.size, mesh.group_size(sub.axes));
  return size;
}

ir::Dims local_dims(const Layout& layout, const MeshShape& mesh) {
  ir::Dims dims;
  for (const DimLayout& dim : layout.dims)
    dims.push_back(local_size(dim, mesh));
  return dims;
}

bool is_uneven(const DimLayout& dim, const MeshShape& mesh) {
  return std::any_of(dim.subs.begin(), dim.subs.end(), [&](const SubDim& sub) { return is_uneven_sub(sub, mesh); });
}

bool is_uneven(const Layout& layout, const MeshShape& mesh) {
  return std::any_of(layout.dims.begin(), layout.dims.end(),
                     [&](const DimLayout& dim) { return is_uneven(dim, mesh); });
}

std::int64_t global_index(const DimLayout& dim, const MeshShape& mesh, std::int64_t device, std::int64_t local) {
  std::int64_t index = 0, weight = 1;
  for (auto sub = dim.subs.rbegin(); sub != dim.subs.rend(); ++sub) {
    const std::int64_t block = ceil_div(sub->size, mesh.group_size(sub->axes));
    if (block == 0) return -1;
    const std::int64_t digit = mesh.group_index(device, sub->axes) * block + local % block;
    if (digit >= sub->size) return -1;
    local /= block;
    index += digit * weight;
    weight *= sub->size;
  }
  return index;
}

namespace {

/// Cuts even sub-dimensions so that a digit boundary lies at every weight in `cuts` (descending, all below the total
/// size); false if impossible.
bool cut_even(std::vector<SubDim>& subs, const std::vector<std::int64_t>& cuts, const MeshShape& mesh) {
  std::vector<SubDim> result;
  std::int64_t weight = 1;
  for (const SubDim& sub : subs)
    weight *= sub.size;
  auto cut = cuts.begin();
  for (SubDim sub : subs) {
    const std::int64_t below = weight / sub.size;
    while (cut != cuts.end() && *cut >= weight)
      ++cut;
    for (; cut != cuts.end() && *cut > below; ++cut) {
      if (*cut % below != 0) return false;
      const std::int64_t low = *cut / below;  // size of the part below the cut
      if (sub.size % low != 0) return false;
      const std::int64_t block = sub.size / mesh.group_size(sub.axes);
      SubDim high{sub.size / low, {}};
      if (block % low == 0) {
        high.axes = std::move(sub.axes);
        sub.axes.clear();
      } else {
        std::int64_t n = block;
        auto first = sub.axes.end();
        while (n < low && first != sub.axes.begin())
          n *= mesh.size(*--first);
        if (n != low) return false;
        high.axes.assign(sub.axes.begin(), first);
        sub.axes.erase(sub.axes.begin(), first);
      }
      sub.size = low;
      result.push_back(std::move(high));
    }
    weight = below;
    result.push_back(std::move(sub));
  }
  subs = std::move(result);
  return true;
}

/// Like cut_even for the uneven prefix alone; cuts are relative to it.
bool cut_prefix(const Prefix& prefix, const std::vector<std::int64_t>& cuts, const MeshShape& mesh,
                std::vector<SubDim>& out) {
  std::vector<SubDim> rest;
  const std::int64_t top = cuts.empty() ? 1 : cuts.front();
  if (top > prefix.block) {  // between two axes
    std::int64_t n = prefix.block;
    auto first = prefix.axes.end();
    while (n < top && first != prefix.axes.begin())
      n *= mesh.size(*--first);
    if (n != top || prefix.size % top != 0) return false;
    out.push_back({prefix.size / top, {prefix.axes.begin(), first}});
    rest.push_back({top, {first, prefix.axes.end()}});
  } else {
    const std::int64_t tail = prefix.smallest_tail(top);
    if (tail == 0) return false;
    out.push_back({prefix.size / tail, prefix.axes});
    if (tail > 1) rest.push_back({tail, {}});
  }
  if (!cut_even(rest, cuts, mesh)) return false;
  out.insert(out.end(), rest.begin(), rest.end());
  return true;
}

}  // namespace

bool refine(DimLayout& dim, const std::vector<std::int64_t>& sizes, const MeshShape& mesh) {
  const std::int64_t total = dim.size();
  std::int64_t product = 1;
  for (std::int64_t size : sizes)
    product *= size;
  RHINO_ASSERT(product == total, "refine: the sizes make {}, the dimension has {}", product, total);
  if (total == 0) return !dim.is_split();
  std::vector<std::int64_t> cuts;  // weights of the wanted digit boundaries, descending
  std::int64_t weight = total;
  for (std::int64_t size : sizes) {
    weight /= size;
    if (weight < total && weight > 1 && (cuts.empty() || cuts.back() != weight)) cuts.push_back(weight);
  }
  std::vector<SubDim> subs = canonical(dim, mesh).subs;
  std::vector<SubDim> result;
  if (!subs.empty() && is_uneven_sub(subs[0], mesh)) {
    const Prefix prefix = take_prefix(subs, mesh);
    const std::int64_t below = total / prefix.size;
    std::vector<std::int64_t> upper;
    for (std::int64_t cut : cuts) {
      if (cut <= below) continue;
      if (cut % below != 0) return false;
      upper.push_back(cut / below);
    }
    if (!cut_prefix(prefix, upper, mesh, result)) return false;
  }
  if (!cut_even(subs, cuts, mesh)) return false;
  result.insert(result.end(), subs.begin(), subs.end());
  dim.subs = std::move(result);
  return true;
}

}  // namespace rhino::shard
