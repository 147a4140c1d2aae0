// SPDX-License-Identifier: Apache-2.0
#include <rhino/lower/fusion.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

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

namespace {

/// The three parts of plan_fusion: who needs memory, what hangs together, and the groups' numbers.
class FusionPlanner {
 public:
  explicit FusionPlanner(const Function& function)
      : function_(function), depth_(function.values.size(), 0), from_group_(function.values.size(), false),
        sets_(function.ops.size()) {
    const std::size_t count = function.ops.size();
    plan_.roles.resize(count);
    plan_.absorbed.assign(count, false);
    plan_.materialized.assign(count, true);
    plan_.group.assign(count, -1);
    for (std::size_t i = 0; i < count; ++i) {
      plan_.roles[i] = role_of(function, function.ops[i]);
      plan_.absorbed[i] = can_absorb(function.ops[i]);
    }
  }

  FusionPlan run(int max_steps) {
    find_materialized();
    keep_sliced_iotas();
    for (std::size_t i = 0; i < function_.ops.size(); ++i) place(i);
    number_groups(max_steps);
    return std::move(plan_);
  }

 private:
  void find_materialized();
  void keep_sliced_iotas();
  void place(std::size_t i);
  void place_grouped(std::size_t i);
  void number_groups(int max_steps);

  /// Whether the op never runs: its consumers read its source.
  bool is_read_through(std::size_t i) const { return plan_.absorbed[i] && !plan_.materialized[i]; }
  /// Depth of a consumer that reads the value from memory.
  int memory_depth(ValueId value) const { return depth_[value.index()] + (from_group_[value.index()] ? 1 : 0); }
  int deepest(const std::vector<ValueId>& values) const {
    int depth = 0;
    for (ValueId value : values) depth = std::max(depth, memory_depth(value));
    return depth;
  }

  const Function& function_;
  FusionPlan plan_;
  std::vector<int> depth_;        ///< per value
  std::vector<bool> from_group_;  ///< per value: a grouped op makes it
  UnionFind sets_;                ///< of ops that share a group
  /// The last grouped op that read a value densely at a given depth and shape: siblings over one large input share a pass.
  std::map<std::tuple<std::size_t, int, ir::Dims>, std::size_t> reader_;
};

/// An absorbable op needs a buffer of its own if anything but a fused op reads it. Consumers come later in the list, so a
/// backward walk knows about them.
void FusionPlanner::find_materialized() {
  std::vector<bool> read_from_memory(function_.values.size(), false);
  for (ValueId result : function_.results) read_from_memory[result.index()] = true;
  for (std::size_t i = function_.ops.size(); i-- > 0;) {
    const Op& op = function_.ops[i];
    if (plan_.absorbed[i]) {
      plan_.materialized[i] = read_from_memory[op.results[0].index()];
    } else if (plan_.roles[i] != OpRole::Grouped) {
      for (ValueId operand : op.operands) read_from_memory[operand.index()] = true;
    }
  }
}

/// A sliced iota must exist in memory.
void FusionPlanner::keep_sliced_iotas() {
  for (const Op& op : function_.ops) {
    if (op.kind != OpKind::Slice) continue;
    for (ValueId value = op.operands[0];;) {
      const Op* producer = function_.producer(value);
      if (producer == nullptr) break;
      const std::size_t index = function_.value(value).producer.index();
      if (producer->kind == OpKind::Iota) {
        plan_.absorbed[index] = false;
        plan_.materialized[index] = true;
      }
      if (!plan_.absorbed[index] || producer->operands.empty()) break;
      value = producer->operands[0];
    }
  }
}

/// Sets the depth of an op's results; a grouped op joins those that it shares a group with.
void FusionPlanner::place(std::size_t i) {
  const Op& op = function_.ops[i];
  if (plan_.roles[i] == OpRole::Literal) return;
  if (plan_.roles[i] == OpRole::View) {
    for (std::size_t r = 0; r < op.results.size(); ++r) depth_[op.results[r].index()] = memory_depth(op.operands[r]);
  } else if (plan_.roles[i] != OpRole::Grouped) {
    const int depth = deepest(op.operands) + 1;
    for (ValueId result : op.results) depth_[result.index()] = depth;
  } else if (is_read_through(i)) {
    depth_[op.results[0].index()] = deepest(op.operands);
  } else {
    place_grouped(i);
  }
}

void FusionPlanner::place_grouped(std::size_t i) {
  const Op& op = function_.ops[i];
  const ir::Dims& shape = function_.type(op.results[0]).dims;
  std::vector<Access> accesses;
  if (plan_.absorbed[i]) {
    // Materialised broadcast, slice or iota: its own access is what it would hand to a consumer.
    accesses.push_back(resolve_access(function_, plan_, op.results[0], shape));
  } else {
    for (ValueId operand : op.operands) accesses.push_back(resolve_access(function_, plan_, operand, shape));
  }
  int depth = 0;
  std::vector<std::size_t> producers;  // grouped ops that are read at the same index
  std::vector<std::size_t> sources;    // other values that are read densely
  for (const Access& access : accesses) {
    if (access.kind != Access::Kind::Memory) continue;
    if (access.identity && from_group_[access.base.index()]) {
      depth = std::max(depth, depth_[access.base.index()]);
      producers.push_back(function_.value(access.base).producer.index());
    } else {
      depth = std::max(depth, memory_depth(access.base));
      if (access.identity) sources.push_back(access.base.index());
    }
  }
  for (ValueId result : op.results) {
    depth_[result.index()] = depth;
    from_group_[result.index()] = true;
  }
  for (std::size_t producer : producers) {
    if (depth_[function_.ops[producer].results[0].index()] == depth) sets_.merge(i, producer);
  }
  for (std::size_t source : sources) {
    auto [entry, inserted] = reader_.try_emplace({source, depth, shape}, i);
    if (!inserted) {
      sets_.merge(i, entry->second);
      entry->second = i;
    }
  }
}

/// A set larger than `max_steps` is cut in program order, so that its pieces only feed later pieces.
void FusionPlanner::number_groups(int max_steps) {
  const std::size_t count = function_.ops.size();
  std::vector<int> number(count, -1);
  std::vector<int> steps(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (plan_.roles[i] != OpRole::Grouped || is_read_through(i)) continue;
    const std::size_t set = sets_.find(i);
    if (number[set] < 0 || steps[set] == max_steps) {
      number[set] = plan_.groups++;
      steps[set] = 0;
    }
    ++steps[set];
    plan_.group[i] = number[set];
  }
}

}  // namespace

FusionPlan plan_fusion(const Function& function, int max_steps) { return FusionPlanner(function).run(max_steps); }

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
