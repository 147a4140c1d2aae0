// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <rhino/shard/factor_map.hpp>

namespace rhino::shard {

/// A dimension of an operand or result, and how much of it a factor covers.
struct Place {
  bool result = false;
  int tensor = 0;
  int dim = 0;
  std::int64_t size = -1;  ///< -1: the whole dimension
};

inline Place operand_at(int tensor, int dim, std::int64_t size = -1) { return {false, tensor, dim, size}; }
inline Place result_at(int tensor, int dim, std::int64_t size = -1) { return {true, tensor, dim, size}; }

/// Collects the factors of one op. Factors of one dimension are added most significant first; what a rule does not
/// mention becomes NoSplit.
class FactorMapBuilder {
 public:
  FactorMapBuilder(const ir::Program& program, const ir::Function& function, const ir::Op& op);

  const ir::Program& program() const { return program_; }
  const ir::Op& op() const { return op_; }
  int operand_count() const { return static_cast<int>(op_.operands.size()); }
  int result_count() const { return static_cast<int>(op_.results.size()); }
  const ir::TensorType& operand(int i) const { return function_.type(op_.operands[static_cast<std::size_t>(i)]); }
  const ir::TensorType& result(int i) const { return function_.type(op_.results[static_cast<std::size_t>(i)]); }
  std::int64_t operand_dim(int i, int dim) const { return operand(i).dims[static_cast<std::size_t>(dim)]; }
  std::int64_t result_dim(int i, int dim) const { return result(i).dims[static_cast<std::size_t>(dim)]; }

  /// A factor that lies at all `places`. Nothing is added for size 1, and for size 0 (left NoSplit).
  void add(FactorKind kind, const std::vector<Place>& places, PartialKind reduction = PartialKind::Sum);
  void parallel(const std::vector<Place>& places) { add(FactorKind::Parallel, places); }
  /// A whole dimension of operand 0, of which the op's result takes every element of its own range.
  void masked(const Place& place);

  /// Group of the factors that are added next (see Factor::group).
  void set_group(int group) { group_ = group; }

  FactorMap finish();

 private:
  TensorFactors& tensor(const Place& place);

  const ir::Program& program_;
  const ir::Function& function_;
  const ir::Op& op_;
  FactorMap map_;
  int group_ = 0;
};

/// The reducer that puts partial values of a kind together.
ir::ReducerKind reducer_of(PartialKind kind);

/// Kind of partial results by the reducer; nullopt for reducers whose partial results are not supported.
std::optional<PartialKind> partial_kind_of(ir::ReducerKind reducer, ir::DType dtype);

/// Whether the windows of a dimension are disjoint chunks of `stride` elements, one for each of `out` results.
bool is_chunked(const ir::WindowDim& window, std::int64_t in, std::int64_t out);
/// Whether the window of a dimension is a single element in place.
bool is_trivial(const ir::WindowDim& window);

#define RHINO_OP(Kind, spelling, Attrs, infer, factors, cost) void factors_##factors(FactorMapBuilder& map);
#include <rhino/ir/op_list.def>
#undef RHINO_OP

}  // namespace rhino::shard
