// SPDX-License-Identifier: Apache-2.0
#include <rhino/lower/fusion.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include <rhino/base/error.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::lower {

using ir::Function;
using ir::Op;
using ir::OpId;
using ir::OpKind;
using ir::ValueId;

namespace {

bool same_width_bitcast(const Function& function, const Op& op) {
  return op.kind == OpKind::BitcastConvert &&
         ir::dtype_bytes(function.type(op.operands[0]).dtype) == ir::dtype_bytes(function.type(op.results[0]).dtype);
}

bool is_fusible(const Function& function, const Op& op) {
  return ir::is_elementwise(op.kind) || same_width_bitcast(function, op);
}

/// Ops that a fused consumer can read through instead of their own buffer.
bool can_absorb(const Op& op) {
  switch (op.kind) {
    case OpKind::BroadcastInDim:
    case OpKind::Slice:
    case OpKind::Iota:
      return true;
    case OpKind::Constant:
      return op.as<ir::ConstantAttrs>().value.is_splat();
    default:
      return false;
  }
}

OpRole role_of(const Function& function, const Op& op) {
  switch (op.kind) {
    case OpKind::Reshape:
    case OpKind::OptimizationBarrier:
      return OpRole::View;
    case OpKind::Constant:
      return OpRole::Literal;
    case OpKind::While:
      return OpRole::Loop;
    case OpKind::Case:
      return OpRole::Branch;
    case OpKind::BroadcastInDim:
    case OpKind::Slice:
    case OpKind::Iota:
      return OpRole::Grouped;  // when it needs a buffer of its own, a group without arithmetic fills it
    case OpKind::PartitionId:
    case OpKind::ReplicaId:
      return OpRole::Literal;
    default:
      break;
  }
  if (ir::is_collective(op.kind)) return OpRole::Collective;
  if (is_fusible(function, op)) return OpRole::Grouped;
  return OpRole::Kernel;
}

class UnionFind {
 public:
  explicit UnionFind(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void merge(std::size_t a, std::size_t b) { parent_[find(b)] = find(a); }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace

Access resolve_access(const Function& function, const FusionPlan& plan, ValueId operand, const ir::Dims& shape) {
  // For every dimension of the value at hand: the iteration dimension it follows (-1: none), its step per iteration index
  // and where it starts.
  struct Follow {
    int iteration = -1;
    std::int64_t step = 1;
    std::int64_t start = 0;
  };
  const ir::TensorType* type = &function.type(operand);
  std::vector<Follow> follow(type->dims.size());
  const bool scalar_operand = type->dims.empty() && !shape.empty();
  if (!scalar_operand) {
    RHINO_ASSERT(type->dims == shape, "operand {} of a fused op in iteration shape {}", ir::to_string(*type),
                 ir::to_string(shape));
    for (std::size_t i = 0; i < shape.size(); ++i) follow[i].iteration = static_cast<int>(i);
  }
  ValueId value = operand;
  bool identity = !scalar_operand;
  for (;;) {
    const Op* producer = function.producer(value);
    if (producer == nullptr || !plan.absorbed[function.value(value).producer.index()]) break;
    if (producer->kind == OpKind::BroadcastInDim) {
      const auto& attrs = producer->as<ir::BroadcastInDimAttrs>();
      const ValueId source = producer->operands[0];
      const ir::Dims& source_dims = function.type(source).dims;
      std::vector<Follow> next(source_dims.size());
      for (std::size_t i = 0; i < source_dims.size(); ++i) {
        const Follow& outer = follow[static_cast<std::size_t>(attrs.dimensions[i])];
        if (source_dims[i] != 1) next[i] = outer;
      }
      follow = std::move(next);
      value = source;
      identity = false;
    } else if (producer->kind == OpKind::Slice) {
      const auto& attrs = producer->as<ir::SliceAttrs>();
      for (std::size_t i = 0; i < follow.size(); ++i) {
        follow[i].start = attrs.start[i] + follow[i].start * attrs.stride[i];
        follow[i].step *= attrs.stride[i];
      }
      value = producer->operands[0];
      identity = false;
    } else {
      break;
    }
  }
  Access access;
  access.base = value;
  const Op* producer = function.producer(value);
  if (producer != nullptr && plan.absorbed[function.value(value).producer.index()]) {
    if (producer->kind == OpKind::Constant) {
      access.kind = Access::Kind::Literal;
      return access;
    }
    RHINO_ASSERT(producer->kind == OpKind::Iota, "{} absorbed without a rule", ir::op_name(producer->kind));
    const Follow& counted = follow[static_cast<std::size_t>(producer->as<ir::IotaAttrs>().dimension)];
    if (counted.start == 0 && counted.step == 1) {
      access.kind = Access::Kind::Iota;
      access.iota_dimension = counted.iteration;
      return access;
    }
  }
  const ir::Dims base_strides = ir::row_major_strides(function.type(value).dims);
  access.strides.assign(shape.size(), 0);
  for (std::size_t i = 0; i < follow.size(); ++i) {
    access.offset += follow[i].start * base_strides[i];
    if (follow[i].iteration >= 0) {
      access.strides[static_cast<std::size_t>(follow[i].iteration)] += follow[i].step * base_strides[i];
    }
  }
  access.identity = identity;
  return access;
}

FusionPlan plan_fusion(const Function& function, int max_steps) {
  const std::size_t count = function.ops.size();
  FusionPlan plan;
  plan.roles.resize(count);
  plan.absorbed.assign(count, false);
  plan.materialized.assign(count, true);
  plan.group.assign(count, -1);
  for (std::size_t i = 0; i < count; ++i) {
    plan.roles[i] = role_of(function, function.ops[i]);
    plan.absorbed[i] = can_absorb(function.ops[i]);
  }

  // An absorbable op needs a buffer of its own if anything but a fused op reads it. Consumers come later in the list, so a
  // backward walk knows about them.
  std::vector<bool> read_from_memory(function.values.size(), false);
  for (ValueId result : function.results) read_from_memory[result.index()] = true;
  for (std::size_t i = count; i-- > 0;) {
    const Op& op = function.ops[i];
    if (plan.absorbed[i]) {
      plan.materialized[i] = read_from_memory[op.results[0].index()];
      continue;
    }
    if (plan.roles[i] != OpRole::Grouped) {
      for (ValueId operand : op.operands) read_from_memory[operand.index()] = true;
    }
  }
  // A sliced iota must exist in memory.
  for (std::size_t i = 0; i < count; ++i) {
    const Op& op = function.ops[i];
    if (op.kind != OpKind::Slice) continue;
    for (ValueId value = op.operands[0];;) {
      const Op* producer = function.producer(value);
      if (producer == nullptr) break;
      const std::size_t index = function.value(value).producer.index();
      if (producer->kind == OpKind::Iota) {
        plan.absorbed[index] = false;
        plan.materialized[index] = true;
      }
      if (!plan.absorbed[index] || producer->operands.empty()) break;
      value = producer->operands[0];
    }
  }

  // Depths, and groups of equal shape and depth.
  std::vector<int> depth(function.values.size(), 0);
  std::vector<bool> from_group(function.values.size(), false);
  UnionFind sets(count);
  // The last grouped op that read a value densely at a given depth and shape: siblings over one large input share a pass.
  std::map<std::tuple<std::size_t, int, ir::Dims>, std::size_t> reader;
  const auto memory_depth = [&](ValueId value) {
    return depth[value.index()] + (from_group[value.index()] ? 1 : 0);
  };
  for (std::size_t i = 0; i < count; ++i) {
    const Op& op = function.ops[i];
    if (plan.roles[i] == OpRole::View) {
      for (std::size_t r = 0; r < op.results.size(); ++r) {
        depth[op.results[r].index()] = memory_depth(op.operands[r]);
      }
      continue;
    }
    if (plan.roles[i] == OpRole::Literal) continue;
    if (plan.roles[i] != OpRole::Grouped) {
      int d = 0;
      for (ValueId operand : op.operands) d = std::max(d, memory_depth(operand));
      for (ValueId result : op.results) depth[result.index()] = d + 1;
      continue;
    }
    if (plan.absorbed[i] && !plan.materialized[i]) {
      // Never runs: its consumers read its source.
      int d = 0;
      for (ValueId operand : op.operands) d = std::max(d, memory_depth(operand));
      depth[op.results[0].index()] = d;
      continue;
    }
    const ir::Dims& shape = function.type(op.results[0]).dims;
    int d = 0;
    std::vector<std::size_t> producers;
    std::vector<std::size_t> sources;
    const bool was_absorbed = plan.absorbed[i];
    std::vector<Access> accesses;
    if (was_absorbed) {
      // Materialised broadcast, slice or iota: its own access is what it would hand to a consumer.
      accesses.push_back(resolve_access(function, plan, op.results[0], shape));
    } else {
      for (ValueId operand : op.operands) accesses.push_back(resolve_access(function, plan, operand, shape));
    }
    for (const Access& access : accesses) {
      if (access.kind != Access::Kind::Memory) continue;
      const ir::Value& base = function.value(access.base);
      if (access.identity && from_group[access.base.index()]) {
        d = std::max(d, depth[access.base.index()]);
        producers.push_back(base.producer.index());
      } else {
        d = std::max(d, memory_depth(access.base));
        if (access.identity) sources.push_back(access.base.index());
      }
    }
    for (ValueId result : op.results) {
      depth[result.index()] = d;
      from_group[result.index()] = true;
    }
    for (std::size_t producer : producers) {
      if (depth[function.ops[producer].results[0].index()] == d) sets.merge(i, producer);
    }
    for (std::size_t source : sources) {
      auto [entry, inserted] = reader.try_emplace({source, d, shape}, i);
      if (!inserted) {
        sets.merge(i, entry->second);
        entry->second = i;
      }
    }
  }
  // A component larger than `max_steps` is cut in program order, so that its pieces only feed later pieces.
  std::vector<int> number(count, -1);
  std::vector<int> steps(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (plan.roles[i] != OpRole::Grouped || (plan.absorbed[i] && !plan.materialized[i])) continue;
    const std::size_t set = sets.find(i);
    if (number[set] < 0 || steps[set] == max_steps) {
      number[set] = plan.groups++;
      steps[set] = 0;
    }
    ++steps[set];
    plan.group[i] = number[set];
  }
  return plan;
}

ir::FusedExpression build_expression(const Function& function, const FusionPlan& plan, const std::vector<OpId>& members,
                                     const std::vector<ValueId>& outputs, std::vector<ValueId>& inputs) {
  ir::FusedExpression expression;
  inputs.clear();
  expression.shape = function.type(function.op(members.front()).results[0]).dims;
  constexpr std::uint32_t step_bit = 0x80000000u;  // step registers are renumbered once the inputs are known
  std::map<std::size_t, std::uint32_t> member_register;   // value -> register
  std::map<std::size_t, std::uint32_t> literal_register;  // absorbed constant -> register
  std::map<int, std::map<int, std::uint32_t>> iota_register;
  std::map<std::tuple<std::size_t, ir::Dims, std::int64_t>, std::uint32_t> input_register;

  const auto add_step = [&](ir::FusedStep step) {
    expression.steps.push_back(std::move(step));
    return static_cast<std::uint32_t>(expression.steps.size() - 1) | step_bit;
  };
  const auto register_of = [&](const Access& access) -> std::uint32_t {
    const ir::DType dtype = function.type(access.base).dtype;
    if (access.kind == Access::Kind::Literal) {
      auto [entry, inserted] = literal_register.try_emplace(access.base.index(), 0u);
      if (inserted) {
        entry->second = add_step({OpKind::Constant, function.producer(access.base)->attrs, {}, dtype});
      }
      return entry->second;
    }
    if (access.kind == Access::Kind::Iota) {
      auto [entry, inserted] = iota_register[static_cast<int>(dtype)].try_emplace(access.iota_dimension, 0u);
      if (inserted) {
        if (access.iota_dimension < 0) {
          const ir::Literal zero = ir::Literal::splat_int({dtype, {}}, 0);
          entry->second = add_step({OpKind::Constant, ir::ConstantAttrs{zero}, {}, dtype});
        } else {
          ir::IotaAttrs attrs{{dtype, expression.shape}, access.iota_dimension};
          entry->second = add_step({OpKind::Iota, attrs, {}, dtype});
        }
      }
      return entry->second;
    }
    if (access.identity) {
      const auto member = member_register.find(access.base.index());
      if (member != member_register.end()) return member->second;
    }
    const auto next = static_cast<std::uint32_t>(inputs.size());
    auto [entry, inserted] = input_register.try_emplace({access.base.index(), access.strides, access.offset}, next);
    if (inserted) {
      inputs.push_back(access.base);
      expression.inputs.push_back({dtype, access.strides, access.offset});
    }
    return entry->second;
  };

  for (OpId id : members) {
    const Op& op = function.op(id);
    const std::size_t index = id.index();
    if (plan.absorbed[index]) {
      member_register[op.results[0].index()] = register_of(resolve_access(function, plan, op.results[0], expression.shape));
      continue;
    }
    if (op.kind == OpKind::Iota || op.kind == OpKind::BroadcastInDim || op.kind == OpKind::Slice) {
      // Not absorbable (a sliced iota): still filled by this group.
      RHINO_ASSERT(op.kind == OpKind::Iota, "{} grouped but not absorbed", ir::op_name(op.kind));
      ir::IotaAttrs attrs{{function.type(op.results[0]).dtype, expression.shape}, op.as<ir::IotaAttrs>().dimension};
      member_register[op.results[0].index()] = add_step({OpKind::Iota, attrs, {}, attrs.type.dtype});
      continue;
    }
    ir::FusedStep step{op.kind, op.attrs, {}, function.type(op.results[0]).dtype};
    for (ValueId operand : op.operands) {
      step.args.push_back(register_of(resolve_access(function, plan, operand, expression.shape)));
    }
    member_register[op.results[0].index()] = add_step(std::move(step));
  }
  for (ValueId output : outputs) expression.outputs.push_back(member_register.at(output.index()));

  const auto renumber = [&](std::uint32_t& reg) {
    if ((reg & step_bit) != 0) reg = (reg & ~step_bit) + static_cast<std::uint32_t>(inputs.size());
  };
  for (auto& step : expression.steps) {
    for (auto& arg : step.args) renumber(arg);
  }
  for (auto& output : expression.outputs) renumber(output);
  return expression;
}

}  // namespace rhino::lower
