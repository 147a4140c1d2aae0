// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <rhino/ir/builder.hpp>
#include <rhino/shard/layout.hpp>
#include <rhino/shard/partition.hpp>

namespace rhino::shard {

/// Floor of a / b for any a and b > 0.
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) noexcept { return a / b - (a % b < 0); }

/// One number per device of the mesh.
using PerDevice = std::vector<std::int64_t>;

/// A window along one dimension of a local tensor, with the values in place.
struct WindowFetch {
  ir::ValueId value;     ///< padding and neighbours' elements included
  ir::WindowDim window;  ///< what is left to do for the local op: no padding, except at the high end of a dilated base
};

/// Builds one function of a per-device program: what differs between devices is looked up by the device number, and what
/// a device lacks is fetched from the others. Tables, masks and scalars are made once per function.
class Emitter {
 public:
  Emitter(ir::Program& program, ir::FunctionId function, const MeshShape& mesh)
      : builder_(program, function), mesh_(mesh), devices_(mesh.devices()) {}

  ir::Builder& builder() { return builder_; }
  const MeshShape& mesh() const { return mesh_; }
  std::int64_t devices() const { return devices_; }
  const ir::TensorType& type(ir::ValueId value) { return builder_.type(value); }
  const ir::Dims& dims(ir::ValueId value) { return builder_.type(value).dims; }

  /// Scalar i64: the number of this device in the mesh.
  ir::ValueId device();
  /// Scalar i64: this device's entry of `table`.
  ir::ValueId lookup(const PerDevice& table);
  ir::ValueId index(std::int64_t value);                   ///< scalar i64 constant
  ir::ValueId zero(ir::DType dtype);                       ///< scalar 0
  ir::ValueId identity(PartialKind kind, ir::DType dtype);  ///< scalar that changes nothing when combined
  /// `value` converted to i64; unsigned 64-bit values beyond its range become the largest i64.
  ir::ValueId to_index(ir::ValueId value);

  /// Tensor i64[local size]: global index of each local element of a dimension; padding has indices >= its size.
  ir::ValueId global_indices(const DimLayout& dim);
  /// Tensor i1[length]: lower <= start + i < upper.
  ir::ValueId range_mask(std::int64_t length, ir::ValueId start, std::int64_t lower, std::int64_t upper);
  /// `value` where `mask` (over dimension `dim`, or a scalar if dim < 0) holds, else the scalar `fill`.
  ir::ValueId where(ir::ValueId mask, int dim, ir::ValueId value, ir::ValueId fill);
  /// Overwrites the padding of uneven dimensions by the scalar `fill`; only the dimensions named in `dims`.
  ir::ValueId mask_padding(ir::ValueId value, const Layout& layout, const std::vector<int>& dims, ir::ValueId fill);
  /// `value` on the first device of each group over `axes`, else `other`; both of one type.
  ir::ValueId on_first(const std::vector<AxisId>& axes, ir::ValueId value, ir::ValueId other);

  /// `value` cut to [start, start + length) of dimension `dim`, one start for each device.
  ir::ValueId slice_at(ir::ValueId value, int dim, const PerDevice& start, std::int64_t length);
  ir::ValueId static_slice(ir::ValueId value, int dim, std::int64_t start, std::int64_t limit, std::int64_t stride = 1);
  /// Adds `low` and `high` elements `fill` at the ends of dimension `dim` and `interior` between its elements.
  ir::ValueId pad(ir::ValueId value, int dim, ir::ValueId fill, std::int64_t low, std::int64_t high, std::int64_t interior);

  /// The global elements [start, start + length) of dimension `dim` for each device's own start, wherever they live: by
  /// permutes from the devices that have them, or by an all-gather where that moves less. Elements outside of the
  /// dimension become `fill`, or are unspecified without it. `layout` is the dimension's: whole or a block split.
  ir::ValueId fetch(ir::ValueId value, int dim, const DimLayout& layout, const PerDevice& start, std::int64_t length,
                    std::optional<ir::ValueId> fill);

  /// What a device needs to compute `out_length` windows, the first at output position `out_start`, of the part of the
  /// window that begins at position `window_start` and has `window_length` elements.
  WindowFetch fetch_window(ir::ValueId value, int dim, const DimLayout& layout, const ir::WindowDim& window,
                           const PerDevice& out_start, std::int64_t out_length, const PerDevice& window_start,
                           std::int64_t window_length, ir::ValueId fill);

  /// Start of each device's block in a dimension that is whole or a block split.
  PerDevice block_starts(const DimLayout& layout) const;
  PerDevice uniform(std::int64_t value) const { return PerDevice(static_cast<std::size_t>(devices_), value); }

 private:
  ir::ValueId gather_whole(ir::ValueId value, int dim, const std::vector<AxisId>& axes);
  ir::ValueId slice_padded(ir::ValueId whole, int dim, const PerDevice& start, std::int64_t length,
                           const std::vector<bool>& needs);

  ir::Builder builder_;
  const MeshShape& mesh_;
  std::int64_t devices_;
  ir::ValueId device_;
  std::map<PerDevice, ir::ValueId> tables_;
  std::map<std::int64_t, ir::ValueId> indices_;
};

/// Whether each device has one run of consecutive elements: at most the first sub-dimension of a canonical form is split.
bool is_block_split(const DimLayout& canonical_layout);
/// The axes of a block split (the most significant first), none for a whole dimension. Throws InternalError for a strided
/// split.
std::vector<AxisId> block_axes(const DimLayout& layout, const MeshShape& mesh);

}  // namespace rhino::shard
