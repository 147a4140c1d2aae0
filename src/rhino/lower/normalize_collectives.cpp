// SPDX-License-Identifier: Apache-2.0
#include <rhino/lower/normalize_collectives.hpp>

#include <algorithm>
#include <numeric>

#include <rhino/base/error.hpp>
#include <rhino/ir/builder.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::lower {

using ir::Builder;
using ir::CollectiveAttrs;
using ir::Dims;
using ir::Function;
using ir::FunctionId;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

namespace {

/// Moves dimension `from` to position `to`.
ValueId move_dimension(Builder& builder, ValueId value, int from, int to) {
  if (from == to) return value;
  std::vector<int> permutation(builder.type(value).dims.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  permutation.erase(permutation.begin() + from);
  permutation.insert(permutation.begin() + to, from);
  return builder.transpose(value, permutation);
}

/// `dims` with dimension `dim` written as two: {count, dims[dim] / count}.
Dims split_dimension(Dims dims, int dim, std::int64_t count) {
  dims[static_cast<std::size_t>(dim)] /= count;
  dims.insert(dims.begin() + dim, count);
  return dims;
}

/// `dims` with dimensions `dim` and `dim + 1` written as one.
Dims merge_dimensions(Dims dims, int dim) {
  dims[static_cast<std::size_t>(dim) + 1] *= dims[static_cast<std::size_t>(dim)];
  dims.erase(dims.begin() + dim);
  return dims;
}

ValueId rewrite(Builder& builder, const Op& op, ValueId operand) {
  CollectiveAttrs attrs = op.as<CollectiveAttrs>();
  const Dims dims = builder.type(operand).dims;
  const std::int64_t n = attrs.group_size;
  if (op.kind == OpKind::AllGather) {
    const int dim = attrs.dimension;
    Dims block = dims;
    block.insert(block.begin(), 1);
    attrs.dimension = 0;
    const ValueId stacked = builder.add(op.kind, {builder.reshape(operand, block)}, attrs);
    const ValueId moved = move_dimension(builder, stacked, 0, dim);
    return builder.reshape(moved, merge_dimensions(builder.type(moved).dims, dim));
  }
  const int split = attrs.dimension;
  ValueId blocks = builder.reshape(operand, split_dimension(dims, split, n));
  blocks = move_dimension(builder, blocks, split, 0);
  attrs.dimension = 0;
  if (op.kind == OpKind::ReduceScatter) {
    const ValueId mine = builder.add(op.kind, {blocks}, attrs, op.regions);
    Dims result = builder.type(mine).dims;
    result.erase(result.begin());
    return builder.reshape(mine, result);
  }
  const int concat = attrs.concat_dimension;
  attrs.concat_dimension = 0;
  const ValueId exchanged = builder.add(OpKind::AllToAll, {blocks}, attrs);
  const ValueId moved = move_dimension(builder, exchanged, 0, concat);
  return builder.reshape(moved, merge_dimensions(builder.type(moved).dims, concat));
}

bool has_group_dimension(OpKind kind) {
  return kind == OpKind::AllGather || kind == OpKind::ReduceScatter || kind == OpKind::AllToAll;
}

void normalize(ir::Program& program, FunctionId id) {
  Function& original = program.function(id);
  const bool any = std::any_of(original.ops.begin(), original.ops.end(), [](const Op& op) {
    return ir::is_collective(op.kind) && op.kind != OpKind::PartitionId && op.kind != OpKind::ReplicaId;
  });
  if (!any) return;
  const Function old = std::move(original);
  Function& fresh = program.function(id);
  fresh = Function{};
  fresh.name = old.name;
  fresh.param_notes = old.param_notes;
  fresh.result_notes = old.result_notes;
  std::vector<ValueId> map(old.values.size());
  for (ValueId param : old.params) map[param.index()] = fresh.add_param(old.type(param));
  Builder builder(program, id);
  for (const Op& op : old.ops) {
    std::vector<ValueId> operands;
    for (ValueId operand : op.operands) operands.push_back(map[operand.index()]);
    builder.set_location(op.location);
    const bool grouped = ir::is_collective(op.kind) && std::holds_alternative<CollectiveAttrs>(op.attrs);
    if (grouped && op.kind != OpKind::CollectivePermute && op.as<CollectiveAttrs>().group_size == 1) {
      for (std::size_t i = 0; i < op.results.size(); ++i) map[op.results[i].index()] = operands[i];
      continue;
    }
    if (has_group_dimension(op.kind)) {
      RHINO_ASSERT(operands.size() == 1, "{} with {} operands in a partitioned program", ir::op_name(op.kind), operands.size());
      map[op.results[0].index()] = rewrite(builder, op, operands[0]);
      continue;
    }
    std::vector<ir::TensorType> types;
    for (ValueId result : op.results) types.push_back(old.type(result));
    Function& target = program.function(id);
    const ir::OpId copy = target.append(op.kind, op.attrs, operands, types, op.regions, op.location);
    target.ops[copy.index()].notes = op.notes;
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      map[op.results[i].index()] = target.ops[copy.index()].results[i];
    }
  }
  std::vector<ValueId> results;
  for (ValueId result : old.results) results.push_back(map[result.index()]);
  program.function(id).results = std::move(results);
}

}  // namespace

void normalize_collectives(ir::Program& program) {
  for (std::size_t f = 0; f < program.functions.size(); ++f) normalize(program, FunctionId(f));
}

}  // namespace rhino::lower
