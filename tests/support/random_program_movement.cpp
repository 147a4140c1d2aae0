// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "support/random_program_generator.hpp"

namespace rhino::test {

using ir::Dims;
using ir::DType;
using ir::OpKind;

bool Generator::broadcast() {
  const auto x = any([&](Value v) { return type(v).rank() <= 3; });
  if (!x) return false;
  const Dims have = type(*x).dims;
  const int rank = type(*x).rank() + static_cast<int>(pick(0, 2));
  std::vector<int> dimensions = permutation(rank);
  dimensions.resize(have.size());
  if (chance(0.7)) std::sort(dimensions.begin(), dimensions.end());
  Dims result = dims(rank);
  for (std::size_t i = 0; i < have.size(); ++i)
    if (have[i] != 1) result[static_cast<std::size_t>(dimensions[i])] = have[i];
  if (!small(result)) return false;
  return keep(op(OpKind::BroadcastInDim, {*x}, ir::BroadcastInDimAttrs{result, dimensions}), facts(*x));
}

bool Generator::concatenate() {
  const auto x = any([&](Value v) { return type(v).rank() >= 1; });
  if (!x) return false;
  const int dimension = static_cast<int>(pick(0, type(*x).rank() - 1));
  const auto along = static_cast<std::size_t>(dimension);
  std::vector<Value> operands{*x};
  const int count = static_cast<int>(pick(1, 2));
  for (int i = 0; i < count; ++i) {
    ir::TensorType other = type(*x);
    other.dims[along] = size();
    operands.push_back(of_type(other));
  }
  std::shuffle(operands.begin(), operands.end(), rng_);
  Dims total = type(*x).dims;
  total[along] = 0;
  for (const Value operand : operands)
    total[along] += type(operand).dims[along];
  if (!small(total)) return false;
  const ValueFacts result = merged(operands);
  return keep(op(OpKind::Concatenate, operands, ir::DimensionAttrs{dimension}), result);
}

bool Generator::constant() {
  static const std::vector<DType> dtypes{DType::F64, DType::F64, DType::I32, DType::I1, DType::U8, DType::I64};
  const DType dtype = choose(dtypes);
  const ir::TensorType wanted{dtype, dims(static_cast<int>(pick(0, 3)))};
  if (chance(0.3)) return keep(b_.full(wanted, dtype == DType::I1 ? 1 : 0.75), {1, true});
  return keep(b_.constant(random_literal(wanted, rng_)), {ir::is_float(dtype) ? 1.0 : 9.0, true});
}

bool Generator::dynamic_slice() {
  const auto x = any([&](Value v) { return type(v).rank() >= 1; });
  if (!x) return false;
  std::vector<Value> starts;
  Dims sizes;
  for (const std::int64_t extent : type(*x).dims) {
    starts.push_back(scalar_index(extent));
    sizes.push_back(chance(0.4) ? extent : pick(1, extent));
  }
  const ValueFacts result = facts(*x);
  return keep(b_.dynamic_slice(*x, starts, sizes), result);
}

bool Generator::dynamic_update_slice() {
  const auto x = any([&](Value v) { return type(v).rank() >= 1; });
  if (!x) return false;
  ir::TensorType update = type(*x);
  std::vector<Value> starts;
  for (std::int64_t& extent : update.dims) {
    starts.push_back(scalar_index(extent));
    if (chance(0.6)) extent = pick(1, extent);
  }
  const Value value = of_type(update);
  std::vector<Value> operands{*x, value};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return keep(op(OpKind::DynamicUpdateSlice, operands), merged({*x, value}));
}

bool Generator::iota() {
  static const std::vector<DType> dtypes{DType::F64, DType::I32, DType::I32, DType::U32, DType::I64, DType::U64};
  const ir::TensorType wanted{choose(dtypes), dims(static_cast<int>(pick(1, 3)))};
  const int dimension = static_cast<int>(pick(0, wanted.rank() - 1));
  return keep(b_.iota(wanted, dimension),
              {static_cast<double>(wanted.dims[static_cast<std::size_t>(dimension)]), true});
}

bool Generator::barrier() {
  const auto x = any([&](Value) { return true; });
  const auto y = any([&](Value) { return true; });
  if (!x || !y) return false;
  const ValueFacts first = facts(*x);
  const ValueFacts second = facts(*y);
  const std::vector<Value> results = b_.add_multi(OpKind::OptimizationBarrier, {*x, *y});
  keep(results[0], first);
  return keep(results[1], second);
}

bool Generator::pad() {
  const auto x = any([&](Value v) { return type(v).rank() >= 1 && (!is_float(v) || type(v).dtype == DType::F64); });
  if (!x) return false;
  ir::PadAttrs attrs;
  Dims result;
  for (const std::int64_t extent : type(*x).dims) {
    const bool touched = chance(0.6);
    attrs.low.push_back(touched ? pick(-1, 2) : 0);
    attrs.high.push_back(touched ? pick(-1, 2) : 0);
    attrs.interior.push_back(touched && chance(0.3) ? pick(1, 2) : 0);
    result.push_back(extent + (extent - 1) * attrs.interior.back() + attrs.low.back() + attrs.high.back());
    if (result.back() < 1) return false;
  }
  if (!small(result)) return false;
  const Value padding = of_type({type(*x).dtype, {}});
  return keep(op(OpKind::Pad, {*x, padding}, attrs), merged({*x, padding}));
}

bool Generator::reshape() {
  const auto x = any([&](Value v) { return type(v).elements() > 1; });
  if (!x) return false;
  Dims result;
  for (const std::int64_t extent : type(*x).dims) {
    if (!result.empty() && chance(0.35)) {
      result.back() *= extent;  // merge with the dimension before
    } else {
      result.push_back(extent);
    }
    std::vector<std::int64_t> divisors;
    for (std::int64_t d = 2; d < result.back(); ++d)
      if (result.back() % d == 0) divisors.push_back(d);
    if (!divisors.empty() && result.size() < 5 && chance(0.4)) {
      const std::int64_t minor = choose(divisors);
      result.back() /= minor;
      result.push_back(minor);
    }
  }
  if (chance(0.15)) result.insert(result.begin() + pick(0, static_cast<std::int64_t>(result.size())), 1);
  if (chance(0.15)) result.erase(std::remove(result.begin(), result.end(), 1), result.end());
  const ValueFacts same = facts(*x);
  return keep(b_.reshape(*x, result), same);
}

bool Generator::reverse() {
  const auto x = any([&](Value v) { return type(v).rank() >= 1; });
  if (!x) return false;
  return keep(op(OpKind::Reverse, {*x}, ir::DimensionsAttrs{subset(type(*x).rank(), 0.6)}), facts(*x));
}

bool Generator::slice() {
  const auto x = any([&](Value v) { return type(v).rank() >= 1; });
  if (!x) return false;
  Dims start, limit, stride;
  for (const std::int64_t extent : type(*x).dims) {
    const bool touched = chance(0.6);
    start.push_back(touched ? pick(0, extent - 1) : 0);
    limit.push_back(touched ? pick(start.back() + 1, extent) : extent);
    stride.push_back(chance(0.25) ? pick(2, 3) : 1);
  }
  const ValueFacts same = facts(*x);
  return keep(b_.slice(*x, start, limit, stride), same);
}

bool Generator::transpose() {
  const auto x = any([&](Value v) { return type(v).rank() >= 2; });
  if (!x) return false;
  const ValueFacts same = facts(*x);
  return keep(b_.transpose(*x, permutation(type(*x).rank())), same);
}

/// What gather and scatter share: the part that each operand dimension plays, and the index tensor.
struct Generator::Indexing {
  std::vector<int> collapsed, operand_batching, indices_batching, map, windowed;
  Dims indices, batch;
  int index_vector_dim = 0;
  std::vector<int> window_positions;  ///< among the dimensions of the gathered or scattered tensor
};

Generator::Indexing Generator::indexing(const Dims& operand) {
  Indexing result;
  for (int i = 0; i < static_cast<int>(operand.size()); ++i) {
    const std::int64_t part = pick(0, 19);
    if (part < 7) {
      result.map.push_back(i);
      result.collapsed.push_back(i);
    } else if (part < 11) {
      result.map.push_back(i);
      result.windowed.push_back(i);
    } else if (part < 14) {
      result.operand_batching.push_back(i);
    } else if (part < 19) {
      result.windowed.push_back(i);
    } else {
      result.collapsed.push_back(i);
    }
  }
  if (result.map.empty()) return result;
  std::shuffle(result.map.begin(), result.map.end(), rng_);

  struct Entry {
    std::int64_t extent;
    int batching;  ///< position in operand_batching, or -1
  };
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < result.operand_batching.size(); ++i)
    entries.push_back({operand[static_cast<std::size_t>(result.operand_batching[i])], static_cast<int>(i)});
  for (std::int64_t i = pick(entries.empty() ? 1 : 0, 2); i > 0; --i)
    entries.push_back({size(), -1});
  std::shuffle(entries.begin(), entries.end(), rng_);
  const bool implicit = result.map.size() == 1 && chance(0.5);
  const int last = static_cast<int>(entries.size());
  result.index_vector_dim = implicit || chance(0.6) ? last : static_cast<int>(pick(0, last));
  result.indices_batching.resize(result.operand_batching.size());
  for (const Entry& entry : entries) {
    if (!implicit && static_cast<int>(result.indices.size()) == result.index_vector_dim)
      result.indices.push_back(static_cast<std::int64_t>(result.map.size()));
    if (entry.batching >= 0)
      result.indices_batching[static_cast<std::size_t>(entry.batching)] = static_cast<int>(result.indices.size());
    result.indices.push_back(entry.extent);
    result.batch.push_back(entry.extent);
  }
  if (!implicit && static_cast<int>(result.indices.size()) == result.index_vector_dim)
    result.indices.push_back(static_cast<std::int64_t>(result.map.size()));
  const int rank = static_cast<int>(result.batch.size() + result.windowed.size());
  result.window_positions = permutation(rank);
  result.window_positions.resize(result.windowed.size());
  std::sort(result.window_positions.begin(), result.window_positions.end());
  return result;
}

bool Generator::gather() {
  const auto x = any([&](Value v) { return type(v).rank() >= 1; });
  if (!x) return false;
  const Dims operand = type(*x).dims;
  const Indexing parts = indexing(operand);
  if (parts.map.empty()) return false;
  ir::GatherAttrs attrs;
  attrs.offset_dims = parts.window_positions;
  attrs.collapsed_slice_dims = parts.collapsed;
  attrs.operand_batching_dims = parts.operand_batching;
  attrs.start_indices_batching_dims = parts.indices_batching;
  attrs.start_index_map = parts.map;
  attrs.index_vector_dim = parts.index_vector_dim;
  attrs.slice_sizes.assign(operand.size(), 1);
  Dims result = parts.batch;
  for (const int i : parts.windowed) {
    const std::int64_t extent = operand[static_cast<std::size_t>(i)];
    attrs.slice_sizes[static_cast<std::size_t>(i)] = chance(0.5) ? extent : pick(1, extent);
    result.push_back(attrs.slice_sizes[static_cast<std::size_t>(i)]);
  }
  if (!small(result) || !small(parts.indices)) return false;
  const Value indices = index_tensor(parts.indices, *std::max_element(operand.begin(), operand.end()));
  return keep(op(OpKind::Gather, {*x, indices}, attrs), facts(*x));
}

bool Generator::scatter_unique() {
  const auto x = any([&](Value v) { return type(v).rank() >= 1; });
  if (!x) return false;
  const ir::TensorType operand = type(*x);
  const int dimension = static_cast<int>(pick(0, operand.rank() - 1));
  const std::int64_t extent = operand.dims[static_cast<std::size_t>(dimension)];
  const std::int64_t count = pick(1, extent);
  std::vector<int> rows = permutation(static_cast<int>(extent));
  rows.resize(static_cast<std::size_t>(count));
  std::vector<std::byte> bytes(rows.size() * sizeof(int));
  std::memcpy(bytes.data(), rows.data(), bytes.size());
  const Value indices =
      note(b_.constant(ir::Literal({DType::I32, {count, 1}}, std::move(bytes))), {static_cast<double>(extent), true});
  ir::ScatterAttrs attrs;
  ir::TensorType update{operand.dtype, {count}};
  for (int i = 0; i < operand.rank(); ++i) {
    if (i == dimension) continue;
    update.dims.push_back(operand.dims[static_cast<std::size_t>(i)]);
    attrs.update_window_dims.push_back(static_cast<int>(update.dims.size()) - 1);
  }
  attrs.inserted_window_dims = {dimension};
  attrs.scatter_dims_to_operand_dims = {dimension};
  attrs.index_vector_dim = 1;
  attrs.unique_indices = true;
  const Value updates = of_type(update);
  const ir::TensorType scalar{operand.dtype, {}};
  const ir::FunctionId replace = function(
      "replace", {scalar, scalar}, [](ir::Builder& b) -> std::vector<Value> { return {b.function().params[1]}; });
  return keep(op(OpKind::Scatter, {*x, indices, updates}, attrs, {replace}), merged({*x, updates}));
}

bool Generator::scatter() {
  if (chance(0.2)) return scatter_unique();
  const auto x = any([&](Value v) { return type(v).rank() >= 1 && type(v).dtype != DType::F32; });
  if (!x) return false;
  const ir::TensorType operand = type(*x);
  const Indexing parts = indexing(operand.dims);
  if (parts.map.empty()) return false;
  ir::ScatterAttrs attrs;
  attrs.update_window_dims = parts.window_positions;
  attrs.inserted_window_dims = parts.collapsed;
  attrs.input_batching_dims = parts.operand_batching;
  attrs.scatter_indices_batching_dims = parts.indices_batching;
  attrs.scatter_dims_to_operand_dims = parts.map;
  attrs.index_vector_dim = parts.index_vector_dim;
  Dims update(parts.batch.size() + parts.windowed.size());
  std::size_t next_window = 0;
  std::size_t next_batch = 0;
  for (int i = 0; i < static_cast<int>(update.size()); ++i) {
    const bool is_window = std::binary_search(parts.window_positions.begin(), parts.window_positions.end(), i);
    if (is_window) {
      const std::int64_t extent = operand.dims[static_cast<std::size_t>(parts.windowed[next_window++])];
      update[static_cast<std::size_t>(i)] = chance(0.5) ? extent : pick(1, extent);
    } else {
      update[static_cast<std::size_t>(i)] = parts.batch[next_batch++];
    }
  }
  if (!small(update) || !small(parts.indices)) return false;
  const Value indices = index_tensor(parts.indices, *std::max_element(operand.dims.begin(), operand.dims.end()));
  double landings = 1;
  for (const std::int64_t extent : parts.batch)
    landings *= static_cast<double>(extent);

  const Value updates = of_type({operand.dtype, update});
  ValueFacts result = merged({*x, updates});
  if (operand.dtype == DType::F64 && chance(0.2)) {
    // Two tensors at once by a reducer that is none of the well-known ones.
    const Value second = of_type({DType::F64, operand.dims});
    const Value second_updates = of_type({DType::F64, update});
    const ValueFacts second_result = merged({second, second_updates});
    const ir::TensorType scalar{DType::F64, {}};
    const ir::FunctionId both =
        function("sum_and_max", std::vector<ir::TensorType>(4, scalar), [](ir::Builder& b) -> std::vector<Value> {
          const auto p = b.function().params;
          return {b(OpKind::Add, p[0], p[2]), b(OpKind::Maximum, p[1], p[3])};
        });
    const std::vector<Value> results =
        b_.add_multi(OpKind::Scatter, {*x, second, indices, updates, second_updates}, attrs, {both});
    keep(results[1], second_result);
    return keep(results[0], {bound(*x) + landings * bound(updates), false});
  }
  static const std::vector<ir::ReducerKind> for_numbers{ir::ReducerKind::Add, ir::ReducerKind::Add,
                                                        ir::ReducerKind::Maximum, ir::ReducerKind::Minimum};
  static const std::vector<ir::ReducerKind> for_booleans{ir::ReducerKind::And, ir::ReducerKind::Or,
                                                         ir::ReducerKind::Xor};
  const ir::ReducerKind kind = choose(operand.dtype == DType::I1 ? for_booleans : for_numbers);
  if (kind == ir::ReducerKind::Add)
    result = {bound(*x) + landings * bound(updates), result.exact && !ir::is_float(operand.dtype)};
  const ir::FunctionId reducer = ir::make_reducer(program_, kind, operand.dtype);
  return keep(op(OpKind::Scatter, {*x, indices, updates}, attrs, {reducer}), result);
}

}  // namespace rhino::test
