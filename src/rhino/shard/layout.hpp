// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <rhino/ir/types.hpp>

namespace rhino::shard {

/// Position of an axis in a MeshShape.
using AxisId = int;

struct MeshAxis {
  std::string name;
  std::int64_t size = 1;
  bool operator==(const MeshAxis&) const = default;
};

/// The devices as a grid: device number = mixed-radix number over the axes, first axis most significant. Only names and
/// sizes; bandwidths and latencies belong to cluster::Mesh.
class MeshShape {
 public:
  MeshShape() = default;
  explicit MeshShape(std::vector<MeshAxis> axes);

  const std::vector<MeshAxis>& axes() const { return axes_; }
  int rank() const { return static_cast<int>(axes_.size()); }
  std::int64_t size(AxisId axis) const { return axes_[static_cast<std::size_t>(axis)].size; }
  std::int64_t devices() const;
  /// Product of the sizes of `axes`.
  std::int64_t group_size(const std::vector<AxisId>& axes) const;
  /// Coordinate of `device` on `axis`.
  std::int64_t coordinate(std::int64_t device, AxisId axis) const;
  /// Position of `device` within its group over `axes` (mixed radix, first axis most significant).
  std::int64_t group_index(std::int64_t device, const std::vector<AxisId>& axes) const;
  /// All groups of devices that differ only on `axes`; members ordered by group_index.
  std::vector<std::vector<std::int64_t>> groups(const std::vector<AxisId>& axes) const;
  /// Axis by name, or -1.
  AxisId find(std::string_view name) const;
  bool operator==(const MeshShape&) const = default;

 private:
  std::vector<MeshAxis> axes_;
};

/// One digit of the mixed-radix number that a dimension's index is written as.
struct SubDim {
  std::int64_t size = 1;
  std::vector<AxisId> axes;  ///< split in blocks over these axes, first most significant; empty: not split
  bool operator==(const SubDim&) const = default;
};

/// How the indices of one dimension (or of one factor of an op) are spread: sub-dimensions, most significant first,
/// whose sizes multiply to the size of the dimension. Sub-dimension s with axes of total size n is cut into blocks of
/// ceil(size/n) consecutive digits. Only the first sub-dimension may be uneven (size not a multiple of n); then the
/// last devices hold fewer (perhaps no) valid elements, local buffers have the full block size, and what lies beyond
/// the valid part is padding with unspecified content. Examples for a dimension of 12 on axis x of size 2: {12:x}
/// blocks of 6; {3:_},{4:x} strided: device 0 holds 0 1 4 5 8 9 (this splits a fused [q|k|v] by heads).
struct DimLayout {
  std::vector<SubDim> subs;

  std::int64_t size() const;
  bool is_split() const;
  bool operator==(const DimLayout&) const = default;
};

enum class PartialKind : std::uint8_t { Sum, Max, Min, And, Or };

/// Where the elements of a tensor live on a mesh. Axes that occur nowhere hold equal copies.
/// An axis occurs at most once in a Layout, in a dimension or in `partial_axes`.
struct Layout {
  std::vector<DimLayout> dims;
  std::vector<AxisId> partial_axes;             ///< ascending; the true value is the combination over these axes
  PartialKind partial_kind = PartialKind::Sum;  ///< meaningful if partial_axes is not empty; Sum otherwise

  static Layout replicated(const ir::Dims& dims);
  /// Plain block split of `dim` over `axes`, everything else replicated.
  static Layout split(const ir::Dims& dims, int dim, std::vector<AxisId> axes);

  bool is_replicated() const;
  bool is_partial() const { return !partial_axes.empty(); }
  bool operator==(const Layout&) const = default;
};

/// Throws InputError (with `what` in the message) if a layout does not fit: sizes, axes out of range or used twice,
/// an inner sub-dimension not divisible.
void check_layout(const Layout& layout, const ir::Dims& dims, const MeshShape& mesh, std::string_view what);

/// Unique form: no unsplit sub-dimensions of size 1, no axes of size 1, neighbours merged where that means the same,
/// axes that only ever hold padding sorted; a dimension of size 1 is empty. Two layouts place every element on the same
/// devices at the same local position iff their canonical forms are equal.
Layout canonical(Layout layout, const MeshShape& mesh);
DimLayout canonical(DimLayout dim, const MeshShape& mesh);

/// Size of one dimension's local buffer (with padding).
std::int64_t local_size(const DimLayout& dim, const MeshShape& mesh);
/// Shape of the local buffer, equal on every device.
ir::Dims local_dims(const Layout& layout, const MeshShape& mesh);
/// Whether some device's block holds padding.
bool is_uneven(const DimLayout& dim, const MeshShape& mesh);
bool is_uneven(const Layout& layout, const MeshShape& mesh);

/// Global index of element `local` of a dimension on `device`; -1 for padding.
std::int64_t global_index(const DimLayout& dim, const MeshShape& mesh, std::int64_t device, std::int64_t local);

/// Rewrites `dim` without changing its meaning so that a boundary between sub-dimensions lies at every boundary of
/// `sizes` (a factorisation of the same total, most significant first); false, and `dim` unchanged, where no
/// sub-dimensions with these boundaries place the elements so.
bool refine(DimLayout& dim, const std::vector<std::int64_t>& sizes, const MeshShape& mesh);

/// `[12:x, 3:_*4:y.z, 7:_, _] partial(+,w)`: per dimension its sub-dimensions joined by `*`, each `size:axes` with axes
/// joined by `.`, `_` for no axes; a dimension of size 1 without sub-dimensions is `_`.
std::string to_string(const Layout& layout, const MeshShape& mesh);
/// Inverse of to_string. Throws InputError on bad text and on a layout that check_layout refuses.
Layout parse_layout(std::string_view text, const MeshShape& mesh);

}  // namespace rhino::shard
