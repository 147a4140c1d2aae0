// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <rhino/ir/literal.hpp>
#include <rhino/ir/types.hpp>

namespace rhino::ir {

// One struct per op kind that has attributes. Names and meaning follow the StableHLO specification; dimension lists index
// dimensions of the operand named in the field. All structs are plain values that compare by value.

struct NoAttrs {
  bool operator==(const NoAttrs&) const = default;
};

struct ConstantAttrs {
  Literal value;
  bool operator==(const ConstantAttrs&) const = default;
};

struct ConvertAttrs {  // convert, bitcast_convert
  DType dtype = DType::F32;
  bool operator==(const ConvertAttrs&) const = default;
};

struct ReducePrecisionAttrs {
  int exponent_bits = 0;
  int mantissa_bits = 0;
  bool operator==(const ReducePrecisionAttrs&) const = default;
};

enum class Comparison : std::uint8_t { Eq, Ne, Ge, Gt, Le, Lt };
enum class ComparisonType : std::uint8_t { Default, Float, TotalOrder, Signed, Unsigned };

struct CompareAttrs {
  Comparison direction = Comparison::Eq;
  ComparisonType type = ComparisonType::Default;
  bool operator==(const CompareAttrs&) const = default;
};

struct IotaAttrs {
  TensorType type;
  int dimension = 0;
  bool operator==(const IotaAttrs&) const = default;
};

struct BroadcastInDimAttrs {
  Dims result_dims;
  std::vector<int> dimensions;  ///< operand dimension i becomes result dimension dimensions[i]
  bool operator==(const BroadcastInDimAttrs&) const = default;
};

struct ReshapeAttrs {
  Dims result_dims;
  bool operator==(const ReshapeAttrs&) const = default;
};

struct DimensionsAttrs {  // transpose (permutation), reverse
  std::vector<int> dimensions;
  bool operator==(const DimensionsAttrs&) const = default;
};

struct DimensionAttrs {  // concatenate
  int dimension = 0;
  bool operator==(const DimensionAttrs&) const = default;
};

struct SliceAttrs {
  Dims start, limit, stride;
  bool operator==(const SliceAttrs&) const = default;
};

struct PadAttrs {
  Dims low, high, interior;  ///< low and high may be negative
  bool operator==(const PadAttrs&) const = default;
};

struct DotGeneralAttrs {
  std::vector<int> lhs_batch, rhs_batch, lhs_contracting, rhs_contracting;
  DType result_dtype = DType::F32;  ///< element type of the result (accumulation type of StableHLO)
  bool operator==(const DotGeneralAttrs&) const = default;
};

/// Window of one spatial dimension.
struct WindowDim {
  std::int64_t size = 1;
  std::int64_t stride = 1;
  std::int64_t pad_low = 0;
  std::int64_t pad_high = 0;
  std::int64_t base_dilation = 1;    ///< lhs_dilation of a convolution
  std::int64_t window_dilation = 1;  ///< rhs_dilation of a convolution
  bool reversal = false;             ///< convolution only
  bool operator==(const WindowDim&) const = default;
};

struct ConvolutionAttrs {
  std::vector<WindowDim> window;  ///< one per spatial dimension
  int input_batch = 0, input_feature = 0;
  std::vector<int> input_spatial;
  int kernel_input_feature = 0, kernel_output_feature = 0;
  std::vector<int> kernel_spatial;
  int output_batch = 0, output_feature = 0;
  std::vector<int> output_spatial;
  std::int64_t feature_group_count = 1;
  std::int64_t batch_group_count = 1;
  DType result_dtype = DType::F32;
  bool operator==(const ConvolutionAttrs&) const = default;
};

struct ReduceAttrs {  // operands: inputs.., init values..; region 0: reducer
  std::vector<int> dimensions;
  bool operator==(const ReduceAttrs&) const = default;
};

struct ReduceWindowAttrs {  // operands: inputs.., init values..; region 0: reducer
  std::vector<WindowDim> window;  ///< one per dimension of the input
  bool operator==(const ReduceWindowAttrs&) const = default;
};

struct SelectAndScatterAttrs {  // operands: operand, source, init; regions: select, scatter
  std::vector<WindowDim> window;  ///< one per dimension of the operand; no dilation
  bool operator==(const SelectAndScatterAttrs&) const = default;
};

struct GatherAttrs {
  std::vector<int> offset_dims;
  std::vector<int> collapsed_slice_dims;
  std::vector<int> operand_batching_dims;
  std::vector<int> start_indices_batching_dims;
  std::vector<int> start_index_map;
  int index_vector_dim = 0;
  Dims slice_sizes;
  bool indices_are_sorted = false;
  bool operator==(const GatherAttrs&) const = default;
};

struct ScatterAttrs {  // operands: inputs.., indices, updates..; region 0: update computation
  std::vector<int> update_window_dims;
  std::vector<int> inserted_window_dims;
  std::vector<int> input_batching_dims;
  std::vector<int> scatter_indices_batching_dims;
  std::vector<int> scatter_dims_to_operand_dims;
  int index_vector_dim = 0;
  bool indices_are_sorted = false;
  bool unique_indices = false;
  bool operator==(const ScatterAttrs&) const = default;
};

struct DynamicSliceAttrs {  // operands: operand, one scalar start index per dimension
  Dims slice_sizes;
  bool operator==(const DynamicSliceAttrs&) const = default;
};

struct SortAttrs {  // operands: tensors of one shape; region 0: comparator
  int dimension = 0;
  bool is_stable = false;
  bool operator==(const SortAttrs&) const = default;
};

struct TopKAttrs {  // results: values, i32 indices; over the last dimension
  std::int64_t k = 1;
  bool largest = true;
  bool operator==(const TopKAttrs&) const = default;
};

enum class RngAlgorithm : std::uint8_t { Default, ThreeFry, Philox };

struct RngBitGeneratorAttrs {  // operand: state; results: new state, bits
  RngAlgorithm algorithm = RngAlgorithm::Default;
  TensorType type;  ///< of the generated bits
  bool operator==(const RngBitGeneratorAttrs&) const = default;
};

/// Groups of device numbers that take part in one collective together. Shared, since thousands of ops use the same.
using ReplicaGroups = std::vector<std::vector<std::int64_t>>;

/// How the numbers in `groups` name processes (StableHLO "cross_replica" .. "flattened_ids").
enum class GroupMode : std::uint8_t { CrossReplica, CrossPartition, CrossReplicaAndPartition, FlattenedIds };

struct CollectiveAttrs {  // all_reduce, all_gather, reduce_scatter, all_to_all, collective_broadcast, collective_permute
  std::shared_ptr<const ReplicaGroups> groups;  ///< collective_permute: pairs {source, target}
  GroupMode mode = GroupMode::FlattenedIds;
  std::int64_t channel = 0;
  int dimension = 0;        ///< all_gather: all_gather_dim; reduce_scatter: scatter_dimension; all_to_all: split_dimension
  int concat_dimension = 0; ///< all_to_all
  std::int64_t group_size = 1;  ///< of every group (all groups are equal in size where the result shape depends on it)
  bool operator==(const CollectiveAttrs& other) const;
};

struct CustomCallAttrs {
  std::string target;
  std::string backend_config;
  bool has_side_effect = false;
  std::vector<TensorType> result_types;
  bool operator==(const CustomCallAttrs&) const = default;
};

using AttributesVariant =
    std::variant<NoAttrs, ConstantAttrs, ConvertAttrs, ReducePrecisionAttrs, CompareAttrs, IotaAttrs, BroadcastInDimAttrs,
                 ReshapeAttrs, DimensionsAttrs, DimensionAttrs, SliceAttrs, PadAttrs, DotGeneralAttrs, ConvolutionAttrs,
                 ReduceAttrs, ReduceWindowAttrs, SelectAndScatterAttrs, GatherAttrs, ScatterAttrs, DynamicSliceAttrs, SortAttrs,
                 TopKAttrs, RngBitGeneratorAttrs, CollectiveAttrs, CustomCallAttrs>;

/// The attributes of one op. A variant (`std::get`, `std::visit` and so on work on it) whose copying, moving and
/// destruction are compiled once instead of in every file that holds an Op.
struct Attributes : AttributesVariant {
  Attributes() noexcept;
  Attributes(const Attributes& other);
  Attributes(Attributes&& other) noexcept;
  Attributes& operator=(const Attributes& other);
  Attributes& operator=(Attributes&& other) noexcept;
  ~Attributes();

  template <class Attrs>
    requires(!std::is_base_of_v<Attributes, std::remove_cvref_t<Attrs>> &&
             std::is_constructible_v<AttributesVariant, Attrs>)
  Attributes(Attrs&& attrs) : AttributesVariant(std::forward<Attrs>(attrs)) {}

  bool operator==(const Attributes& other) const;
};

}  // namespace rhino::ir
