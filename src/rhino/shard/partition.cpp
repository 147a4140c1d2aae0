// SPDX-License-Identifier: Apache-2.0
#include <rhino/shard/partition.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include <rhino/base/contains.hpp>
#include <rhino/base/error.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/shard/partition_rules.hpp>

namespace rhino::shard {

using ir::FunctionId;
using ir::OpKind;
using ir::ValueId;

namespace {

/// A function of the per-device program and where the values of the global one are in it.
struct LocalFunction {
  FunctionId id;
  std::vector<LocalValue> values;
};

class Partitioner {
 public:
  Partitioner(const ir::Program& program, const Sharding& sharding, const ReshardCost& cost)
      : program_(program), sharding_(sharding), cost_(cost) {
    local_.name = program.name;
  }

  LocalFunction partition_function(FunctionId id, const std::vector<Layout>& params, const std::vector<Layout>& results);
  /// The copy of a reducer or comparator.
  FunctionId copy_region(FunctionId id);

  const FunctionSharding& decisions(FunctionId id) const { return sharding_.functions[id.index()]; }
  const ir::Program& program() const { return program_; }
  const MeshShape& mesh() const { return sharding_.mesh; }
  const ReshardCost& cost() const { return cost_; }
  ir::Program& local() { return local_; }

 private:
  const ir::Program& program_;
  const Sharding& sharding_;
  const ReshardCost& cost_;
  ir::Program local_;
  std::map<FunctionId, FunctionId> copies_;
  std::vector<std::tuple<FunctionId, std::vector<Layout>, std::vector<Layout>, FunctionId>> done_;
};

/// Removes ops whose results nothing uses from one function and renumbers its values; `values` follows.
void remove_dead_ops(ir::Function& function, std::vector<LocalValue>& values) {
  std::vector<bool> used(function.values.size(), false);
  std::vector<bool> live(function.ops.size(), false);
  for (const ValueId result : function.results) used[result.index()] = true;
  for (std::size_t o = function.ops.size(); o-- > 0;) {
    const ir::Op& op = function.ops[o];
    bool needed = op.kind == OpKind::CustomCall && op.as<ir::CustomCallAttrs>().has_side_effect;
    for (const ValueId result : op.results) needed = needed || used[result.index()];
    live[o] = needed;
    if (!needed) continue;
    for (const ValueId operand : op.operands) used[operand.index()] = true;
  }
  std::vector<ValueId> renamed(function.values.size());
  std::vector<ir::Value> kept_values;
  const auto keep = [&](ValueId id, ir::OpId producer) {
    renamed[id.index()] = ValueId(kept_values.size());
    ir::Value value = std::move(function.values[id.index()]);
    value.producer = producer;
    kept_values.push_back(std::move(value));
  };
  for (ValueId& param : function.params) {
    keep(param, ir::OpId{});
    param = renamed[param.index()];
  }
  std::vector<ir::Op> kept_ops;
  for (std::size_t o = 0; o < function.ops.size(); ++o) {
    if (!live[o]) continue;
    ir::Op op = std::move(function.ops[o]);
    for (ValueId& operand : op.operands) operand = renamed[operand.index()];
    for (ValueId& result : op.results) {
      keep(result, ir::OpId(kept_ops.size()));
      result = renamed[result.index()];
    }
    kept_ops.push_back(std::move(op));
  }
  for (ValueId& result : function.results) result = renamed[result.index()];
  for (LocalValue& value : values) {
    if (value.value.valid()) value.value = renamed[value.value.index()];
  }
  function.ops = std::move(kept_ops);
  function.values = std::move(kept_values);
}

/// Rewrites the ops of one function.
class FunctionRewriter {
 public:
  FunctionRewriter(Partitioner& owner, FunctionId id, FunctionId local_id)
      : owner_(owner),
        function_(owner.program().function(id)),
        decisions_(owner.decisions(id)),
        emitter_(owner.local(), local_id, owner.mesh()),
        values_(function_.values.size()) {}

  std::vector<LocalValue> run(const std::vector<Layout>& params, const std::vector<Layout>& results) {
    for (std::size_t p = 0; p < function_.params.size(); ++p) {
      const ir::TensorType& type = function_.type(function_.params[p]);
      const ValueId local = emitter_.builder().param({type.dtype, local_dims(params[p], owner_.mesh())});
      define(function_.params[p], local, params[p]);
    }
    for (std::size_t o = 0; o < function_.ops.size(); ++o) {
      const ir::Op& op = function_.ops[o];
      emitter_.builder().set_location(op.location);
      if (op.kind == OpKind::While) {
        rewrite_while(op);
      } else if (op.kind == OpKind::Case) {
        rewrite_case(op);
      } else {
        rewrite_op(op, decisions_.ops[o]);
      }
    }
    std::vector<ValueId> local_results;
    for (std::size_t r = 0; r < function_.results.size(); ++r) {
      local_results.push_back(fetch(function_.results[r], results[r]));
    }
    emitter_.builder().set_results(std::move(local_results));
    return std::move(values_);
  }

 private:
  void define(ValueId global, ValueId local, const Layout& layout) {
    values_[global.index()] = {local, layout};
    versions_[global] = {{canonical(layout, owner_.mesh()), local}};
  }

  /// The local tensor of a value in the layout that a consumer wants.
  ValueId fetch(ValueId global, const Layout& wanted) {
    auto& versions = versions_.at(global);
    const Layout target = canonical(wanted, owner_.mesh());
    for (const auto& [layout, value] : versions) {
      if (layout == target) return value;
    }
    if (const auto scalar = broadcast_scalar(global); scalar && !target.is_partial()) {
      const ValueId local = fetch(*scalar, Layout::replicated({}));
      const ValueId value = emitter_.builder().broadcast_scalar(local, local_dims(target, owner_.mesh()));
      versions_.at(global).emplace_back(target, value);
      return value;
    }
    const LocalValue& home = values_[global.index()];
    const ir::TensorType& type = function_.type(global);
    // A consumer may carry a partial value past itself where the producer leaves a whole one: a sum then counts it on one
    // device; maxima and the like need nothing.
    Layout reached = target;
    const bool same_kind = home.layout.partial_kind == target.partial_kind;
    std::erase_if(reached.partial_axes, [&](AxisId axis) { return !same_kind || !contains(home.layout.partial_axes, axis); });
    std::vector<AxisId> counted_once;
    for (const AxisId axis : target.partial_axes) {
      if (!contains(reached.partial_axes, axis)) counted_once.push_back(axis);
    }
    reached = canonical(std::move(reached), owner_.mesh());
    const auto steps = plan_reshard(type, home.layout, reached, owner_.mesh(), owner_.cost());
    ValueId value = emit_reshard(emitter_.builder(), home.value, type, home.layout, steps, owner_.mesh(), emitter_.device());
    if (!counted_once.empty() && target.partial_kind == PartialKind::Sum) {
      const ir::TensorType local = emitter_.type(value);
      const ValueId nothing = emitter_.builder().broadcast_scalar(emitter_.identity(target.partial_kind, local.dtype), local.dims);
      value = emitter_.on_first(counted_once, value, nothing);
    }
    versions.emplace_back(target, value);
    return value;
  }

  /// The scalar of which all elements of a value are copies; every device can then make its part of it.
  std::optional<ValueId> broadcast_scalar(ValueId global) const {
    const ir::Op* producer = function_.producer(global);
    if (producer == nullptr || producer->kind != ir::OpKind::BroadcastInDim) return std::nullopt;
    const ValueId operand = producer->operands[0];
    return function_.type(operand).dims.empty() ? std::optional(operand) : std::nullopt;
  }

  void rewrite_op(const ir::Op& op, const Strategy& chosen) {
    const FactorMap map = factor_map(owner_.program(), function_, op);
    // Splits that mean the same for a factor may differ for a larger dimension that the factor stands in; the layouts are
    // those of the canonical splits, so the rules must see the same ones.
    Strategy strategy = chosen;
    for (DimLayout& factor : strategy.factors) factor = canonical(std::move(factor), owner_.mesh());
    OpSite site{owner_.program(), op, map, strategy, owner_.cost(), {}, {}, {}, {}, {}, {}};
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      site.operand_types.push_back(function_.type(op.operands[i]));
      site.operand_layouts.push_back(operand_layout(map, strategy, static_cast<int>(i), owner_.mesh()));
      site.operands.push_back(fetch(op.operands[i], site.operand_layouts.back()));
    }
    for (std::size_t r = 0; r < op.results.size(); ++r) {
      site.result_types.push_back(function_.type(op.results[r]));
      site.result_layouts.push_back(result_layout(map, strategy, static_cast<int>(r), owner_.mesh()));
    }
    for (const FunctionId region : op.regions) site.regions.push_back(owner_.copy_region(region));
    const std::vector<ValueId> results = emit_op(emitter_, site);
    for (std::size_t r = 0; r < op.results.size(); ++r) {
      RHINO_ASSERT(emitter_.dims(results[r]) == local_dims(site.result_layouts[r], owner_.mesh()),
                   "{} (line {}): the local result is {}, its layout {} asks for {}", ir::op_name(op.kind), op.location.line,
                   ir::to_string(emitter_.dims(results[r])), to_string(site.result_layouts[r], owner_.mesh()),
                   ir::to_string(local_dims(site.result_layouts[r], owner_.mesh())));
      define(op.results[r], results[r], site.result_layouts[r]);
    }
  }

  void rewrite_while(const ir::Op& op) {
    const std::vector<Layout>& carried = owner_.decisions(op.regions[1]).params;
    // The condition runs on every device; its verdict is whole everywhere, so that all leave the loop together.
    const LocalFunction condition = owner_.partition_function(op.regions[0], carried, {Layout{}});
    const LocalFunction body = owner_.partition_function(op.regions[1], carried, carried);
    std::vector<ValueId> operands;
    for (std::size_t i = 0; i < op.operands.size(); ++i) operands.push_back(fetch(op.operands[i], carried[i]));
    const auto results =
        emitter_.builder().add_multi(OpKind::While, operands, ir::NoAttrs{}, {condition.id, body.id});
    for (std::size_t r = 0; r < results.size(); ++r) define(op.results[r], results[r], carried[r]);
  }

  void rewrite_case(const ir::Op& op) {
    const FunctionSharding& first = owner_.decisions(op.regions[0]);
    std::vector<ValueId> operands{fetch(op.operands[0], Layout{})};
    for (std::size_t i = 1; i < op.operands.size(); ++i) operands.push_back(fetch(op.operands[i], first.params[i - 1]));
    std::vector<FunctionId> branches;
    for (const FunctionId branch : op.regions) {
      branches.push_back(owner_.partition_function(branch, first.params, first.results).id);
    }
    const auto results = emitter_.builder().add_multi(OpKind::Case, operands, ir::NoAttrs{}, branches);
    for (std::size_t r = 0; r < results.size(); ++r) define(op.results[r], results[r], first.results[r]);
  }

  Partitioner& owner_;
  const ir::Function& function_;
  const FunctionSharding& decisions_;
  Emitter emitter_;
  std::vector<LocalValue> values_;
  std::map<ValueId, std::vector<std::pair<Layout, ValueId>>> versions_;
};

LocalFunction Partitioner::partition_function(FunctionId id, const std::vector<Layout>& params,
                                              const std::vector<Layout>& results) {
  for (const auto& [known, known_params, known_results, local_id] : done_) {
    if (known == id && known_params == params && known_results == results) return {local_id, {}};
  }
  const ir::Function& function = program_.function(id);
  LocalFunction made;
  std::string name = function.name;
  for (int copy = 1; local_.find(name).valid(); ++copy) name = function.name + "_" + std::to_string(copy);
  made.id = local_.add_function(name);
  made.values = FunctionRewriter(*this, id, made.id).run(params, results);
  remove_dead_ops(local_.function(made.id), made.values);
  local_.function(made.id).param_notes = function.param_notes;
  local_.function(made.id).result_notes = function.result_notes;
  done_.emplace_back(id, params, results, made.id);
  return made;
}

FunctionId Partitioner::copy_region(FunctionId id) {
  if (const auto found = copies_.find(id); found != copies_.end()) return found->second;
  ir::Function copy = program_.function(id);
  for (ir::Op& op : copy.ops) {
    for (FunctionId& region : op.regions) region = copy_region(region);
  }
  for (int number = 1; local_.find(copy.name).valid(); ++number) {
    copy.name = program_.function(id).name + "_" + std::to_string(number);
  }
  const FunctionId made = local_.add_function(copy.name);
  local_.function(made) = std::move(copy);
  copies_.emplace(id, made);
  return made;
}

/// Functions that are partitioned op by op: the entry, loops and branches within.
void check_supported(const ir::Program& program) {
  std::vector<FunctionId> pending{program.main};
  std::vector<bool> seen(program.functions.size(), false);
  while (!pending.empty()) {
    const FunctionId id = pending.back();
    pending.pop_back();
    if (seen[id.index()]) continue;
    seen[id.index()] = true;
    for (const ir::Op& op : program.function(id).ops) {
      RHINO_CHECK(op.kind != OpKind::Call, "call of {} (line {}): calls must be inlined before the program is partitioned",
                  program.function(op.regions[0]).name, op.location.line);
      if (op.kind == OpKind::While || op.kind == OpKind::Case) pending.insert(pending.end(), op.regions.begin(), op.regions.end());
    }
  }
}

}  // namespace

PartitionedProgram partition(const ir::Program& program, const Sharding& sharding, const PartitionOptions& options) {
  check_supported(program);
  check_sharding(program, sharding);
  const ReshardCost cost = options.cost ? options.cost : bytes_moved_cost(sharding.mesh);
  Partitioner partitioner(program, sharding, cost);
  const FunctionSharding& entry = sharding.functions[program.main.index()];
  LocalFunction made = partitioner.partition_function(program.main, entry.params, entry.results);

  PartitionedProgram result;
  result.local = std::move(partitioner.local());
  result.local.main = made.id;
  result.mesh = sharding.mesh;
  result.params = entry.params;
  result.results = entry.results;
  result.values = std::move(made.values);
  ir::verify(result.local);
  return result;
}

}  // namespace rhino::shard
