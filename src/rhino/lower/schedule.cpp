// SPDX-License-Identifier: Apache-2.0
#include <rhino/lower/schedule.hpp>

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>

#include <rhino/base/error.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/memory/order.hpp>

namespace rhino::lower {

using ir::Function;
using ir::Op;
using ir::OpId;
using ir::OpKind;
using ir::ValueId;

ValueId view_root(const Function& function, const FusionPlan& plan, ValueId value) {
  for (;;) {
    const ir::Value& v = function.value(value);
    if (!v.producer.valid() || plan.roles[v.producer.index()] != OpRole::View) return value;
    value = function.op(v.producer).operands[v.result_index];
  }
}

namespace {

UnitKind unit_kind(OpRole role) {
  switch (role) {
    case OpRole::Grouped:
      return UnitKind::Fused;
    case OpRole::Collective:
      return UnitKind::CollectiveStart;
    case OpRole::Loop:
      return UnitKind::Loop;
    case OpRole::Branch:
      return UnitKind::Branch;
    case OpRole::Kernel:
    case OpRole::View:
    case OpRole::Literal:
      break;
  }
  return UnitKind::Kernel;
}

/// Memory values that a fused group reads from outside itself.
std::vector<ValueId> group_reads(const Function& function, const FusionPlan& plan, const std::vector<OpId>& members) {
  std::vector<ValueId> outputs;
  std::vector<ValueId> inputs;
  build_expression(function, plan, members, outputs, inputs);
  std::sort(inputs.begin(), inputs.end());
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  return inputs;
}

class Scheduler {
 public:
  Scheduler(const ir::Program& program, ir::FunctionId id, const ScheduleOptions& options)
      : program_(program), function_(program.function(id)), options_(options) {
    result_.function = id;
    result_.fusion = plan_fusion(function_);
  }

  FunctionSchedule run() {
    make_nodes();
    find_writes();
    link();
    if (options_.low_peak && nodes_.size() > 1) prefer_low_peak();
    order();
    return std::move(result_);
  }

 private:
  using Ready = std::pair<std::size_t, std::size_t>;  // priority, node

  struct Node {
    Unit unit;
    std::size_t priority = 0;
    std::vector<std::size_t> consumers;
    std::size_t missing = 0;  ///< producers that have not run
  };

  void make_nodes() {
    const FusionPlan& plan = result_.fusion;
    std::vector<std::size_t> node_of_group(static_cast<std::size_t>(plan.groups), SIZE_MAX);
    for (std::size_t i = 0; i < function_.ops.size(); ++i) {
      const OpRole role = plan.roles[i];
      if (role == OpRole::View || role == OpRole::Literal) continue;
      if (role == OpRole::Grouped && plan.group[i] < 0) continue;
      std::size_t node = nodes_.size();
      if (role == OpRole::Grouped) {
        std::size_t& slot = node_of_group[static_cast<std::size_t>(plan.group[i])];
        if (slot == SIZE_MAX) {
          slot = node;
          nodes_.emplace_back();
        }
        node = slot;
      } else {
        nodes_.emplace_back();
      }
      nodes_[node].unit.kind = unit_kind(role);
      nodes_[node].unit.ops.push_back(OpId(i));
      nodes_[node].priority = i;
    }
    for (Node& node : nodes_) {
      node.unit.reads = node.unit.kind == UnitKind::Fused ? group_reads(function_, plan, node.unit.ops)
                                                          : function_.op(node.unit.ops[0]).operands;
    }
  }

  /// A grouped value reaches memory if another unit, a view or the function's result reads it.
  void find_writes() {
    std::vector<bool> read(function_.values.size(), false);
    const auto mark = [&](ValueId value) { read[view_root(function_, result_.fusion, value).index()] = true; };
    for (const Node& node : nodes_) std::for_each(node.unit.reads.begin(), node.unit.reads.end(), mark);
    std::for_each(function_.results.begin(), function_.results.end(), mark);
    for (Node& node : nodes_) {
      for (OpId op : node.unit.ops) {
        for (ValueId value : function_.op(op).results) {
          if (node.unit.kind != UnitKind::Fused || read[value.index()]) node.unit.writes.push_back(value);
        }
      }
    }
  }

  void link() {
    producer_.assign(function_.values.size(), SIZE_MAX);
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      for (ValueId value : nodes_[n].unit.writes) producer_[value.index()] = n;
    }
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      std::vector<std::size_t> producers = producers_of(nodes_[n].unit);
      nodes_[n].missing = producers.size();
      for (std::size_t p : producers) nodes_[p].consumers.push_back(n);
    }
  }

  std::vector<std::size_t> producers_of(const Unit& unit) const {
    std::vector<std::size_t> producers;
    for (ValueId value : unit.reads) {
      const std::size_t p = producer_[view_root(function_, result_.fusion, value).index()];
      if (p != SIZE_MAX) producers.push_back(p);
    }
    std::sort(producers.begin(), producers.end());
    producers.erase(std::unique(producers.begin(), producers.end()), producers.end());
    return producers;
  }

  /// Node numbers in a topological order close to program order.
  std::vector<std::size_t> topological() const {
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
    std::vector<std::size_t> missing;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      missing.push_back(nodes_[n].missing);
      if (nodes_[n].missing == 0) ready.emplace(nodes_[n].priority, n);
    }
    std::vector<std::size_t> nodes;
    while (!ready.empty()) {
      nodes.push_back(ready.top().second);
      ready.pop();
      for (std::size_t consumer : nodes_[nodes.back()].consumers) {
        if (--missing[consumer] == 0) ready.emplace(nodes_[consumer].priority, consumer);
      }
    }
    return nodes;
  }

  /// Replaces the priorities by places in an order of low peak. Counted work: every rank finds the same order.
  void prefer_low_peak() {
    const std::vector<std::size_t> nodes = topological();
    RHINO_ASSERT(nodes.size() == nodes_.size(), "cycle among the units of function {}", function_.name);
    memory::OrderOptions limits;
    limits.work = std::int64_t{1} << 24;
    limits.window_states = 10000;
    const memory::OrderPlan plan = memory::plan_order(order_graph(nodes), limits);
    for (std::size_t i = 0; i < plan.order.size(); ++i) {
      nodes_[nodes[static_cast<std::size_t>(plan.order[i])]].priority = i + 1;  // 0: urgent
    }
  }

  /// The nodes as ops of a graph, numbered as in `nodes`; values that reach memory as buffers.
  memory::OrderGraph order_graph(const std::vector<std::size_t>& nodes) const {
    memory::OrderGraph graph;
    graph.workspace.assign(nodes.size(), 0);
    std::vector<std::size_t> buffer_of(function_.values.size(), SIZE_MAX);
    for (ValueId param : function_.params) add_buffer(graph, buffer_of, param, 0, -1);
    std::vector<std::int32_t> number(nodes_.size(), 0);
    for (std::size_t i = 0; i < nodes.size(); ++i) number[nodes[i]] = static_cast<std::int32_t>(i);
    for (std::size_t n : nodes) {
      const Unit& unit = nodes_[n].unit;
      for (ValueId value : unit.writes) add_buffer(graph, buffer_of, value, function_.type(value).bytes(), number[n]);
      std::vector<std::int32_t>& preds = graph.preds.emplace_back();
      for (std::size_t p : producers_of(unit)) preds.push_back(number[p]);
      for (ValueId value : unit.reads) {
        const std::size_t b = buffer_of[view_root(function_, result_.fusion, value).index()];
        if (b == SIZE_MAX) continue;  // a constant
        auto& users = graph.buffers[b].users;
        if (users.empty() || users.back() != number[n]) users.push_back(number[n]);
      }
    }
    for (ValueId result : function_.results) {
      const std::size_t b = buffer_of[view_root(function_, result_.fusion, result).index()];
      if (b != SIZE_MAX && graph.buffers[b].producer >= 0) graph.buffers[b].live_out = true;
    }
    for (const auto& [result, param] : options_.donated) {
      const std::size_t b = buffer_of[view_root(function_, result_.fusion, result).index()];
      if (b != SIZE_MAX) donate(graph, graph.buffers[b], graph.buffers[buffer_of[param.index()]]);
    }
    for (auto& preds : graph.preds) {
      std::sort(preds.begin(), preds.end());
      preds.erase(std::unique(preds.begin(), preds.end()), preds.end());
    }
    memory::check_order_graph(graph);
    return graph;
  }

  static void add_buffer(memory::OrderGraph& graph, std::vector<std::size_t>& buffer_of, ValueId value, std::int64_t bytes,
                         std::int32_t producer) {
    buffer_of[value.index()] = graph.buffers.size();
    graph.buffers.push_back({bytes, producer, {}, false});
  }

  /// The new state takes the bytes of the old one if all readers of the old one come before, also in the order to be found.
  static void donate(memory::OrderGraph& graph, memory::OrderBuffer& state, const memory::OrderBuffer& old) {
    const std::int32_t writer = state.producer;
    const bool possible = std::all_of(old.users.begin(), old.users.end(), [&](std::int32_t u) { return u <= writer; });
    if (writer < 0 || !possible) return;
    for (std::int32_t u : old.users) {
      if (u != writer) graph.preds[static_cast<std::size_t>(writer)].push_back(u);
    }
    state.bytes = 0;
  }

  using BundleKey = std::tuple<std::size_t, int, int>;

  void order() {
    unit_of_node_.assign(nodes_.size(), SIZE_MAX);
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      if (nodes_[n].missing == 0) make_ready(n);
    }
    while (!ready_.empty() || !bundles_.empty()) {
      if (ready_.empty()) {
        flush(bundles_.begin()->first);
        continue;
      }
      const std::size_t n = ready_.top().second;
      ready_.pop();
      emit(n);
    }
    for (std::size_t u = 0; u < result_.units.size(); ++u) {
      if (result_.units[u].kind == UnitKind::CollectiveStart && result_.units[u].awaited_by == 0) await(u);
    }
    const auto emitted = std::count_if(unit_of_node_.begin(), unit_of_node_.end(), [](auto u) { return u != SIZE_MAX; });
    RHINO_ASSERT(static_cast<std::size_t>(emitted) == nodes_.size(), "cycle among the {} units of function {}",
                 nodes_.size(), function_.name);
  }

  void make_ready(std::size_t n) {
    Node& node = nodes_[n];
    if (node.unit.kind != UnitKind::CollectiveStart) {
      ready_.emplace(node.priority, n);
      return;
    }
    const Op& op = function_.op(node.unit.ops[0]);
    RHINO_ASSERT(op.operands.size() == 1, "{} with {} operands reached the lowering", ir::op_name(op.kind), op.operands.size());
    const ir::TensorType& type = function_.type(op.operands[0]);
    if (op.kind == OpKind::AllReduce && type.bytes() < options_.bundle_bytes) {
      const BundleKey key{groups_of(op), static_cast<int>(type.dtype), static_cast<int>(ir::classify_reducer(program_.function(op.regions[0])))};
      Bundle& bundle = bundles_[key];
      bundle.nodes.push_back(n);
      bundle.bytes += type.bytes();
      if (bundle.bytes >= options_.bundle_bytes) flush(key);
      return;
    }
    // Urgent: ahead of all compute that is ready, unless overlap is off.
    ready_.emplace(options_.overlap ? 0 : node.priority, n);
  }

  /// Number of the op's groups among the distinct ones, by first use: the same on every rank.
  std::size_t groups_of(const Op& op) {
    return distinct_groups_.emplace(*op.as<ir::CollectiveAttrs>().groups, distinct_groups_.size()).first->second;
  }

  void flush(const BundleKey& key) {
    const Bundle bundle = std::move(bundles_.at(key));
    bundles_.erase(key);
    Unit merged;
    merged.kind = UnitKind::CollectiveStart;
    for (std::size_t n : bundle.nodes) {
      const Unit& unit = nodes_[n].unit;
      merged.ops.insert(merged.ops.end(), unit.ops.begin(), unit.ops.end());
      merged.reads.insert(merged.reads.end(), unit.reads.begin(), unit.reads.end());
      merged.writes.insert(merged.writes.end(), unit.writes.begin(), unit.writes.end());
    }
    await_reads(merged);
    const std::size_t u = result_.units.size();
    result_.units.push_back(std::move(merged));
    for (std::size_t n : bundle.nodes) finish(n, u);
  }

  void emit(std::size_t n) {
    await_reads(nodes_[n].unit);
    const std::size_t u = result_.units.size();
    result_.units.push_back(nodes_[n].unit);
    finish(n, u);
  }

  void finish(std::size_t n, std::size_t u) {
    unit_of_node_[n] = u;
    for (std::size_t consumer : nodes_[n].consumers) {
      if (--nodes_[consumer].missing == 0) make_ready(consumer);
    }
  }

  /// Collectives whose results `unit` reads are awaited before it.
  void await_reads(const Unit& unit) {
    for (std::size_t p : producers_of(unit)) {
      const std::size_t u = unit_of_node_[p];
      if (result_.units[u].kind == UnitKind::CollectiveStart && result_.units[u].awaited_by == 0) await(u);
    }
  }

  void await(std::size_t start) {
    Unit wait;
    wait.kind = UnitKind::CollectiveWait;
    wait.started_by = start;
    result_.units[start].awaited_by = result_.units.size();
    result_.units.push_back(std::move(wait));
  }

  struct Bundle {
    std::vector<std::size_t> nodes;
    std::int64_t bytes = 0;
  };
  const ir::Program& program_;
  const Function& function_;
  ScheduleOptions options_;
  FunctionSchedule result_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> producer_;      ///< per value: node that writes it
  std::vector<std::size_t> unit_of_node_;  ///< where a node was placed
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  std::map<BundleKey, Bundle> bundles_;
  std::map<ir::ReplicaGroups, std::size_t> distinct_groups_;
};

}  // namespace

FunctionSchedule schedule(const ir::Program& program, ir::FunctionId function, const ScheduleOptions& options,
                          std::int64_t& time) {
  FunctionSchedule result = Scheduler(program, function, options).run();
  ScheduleOptions inner = options;
  inner.donated.clear();
  result.begin = time++;
  for (Unit& unit : result.units) {
    unit.begin = time++;
    if (unit.kind == UnitKind::Loop || unit.kind == UnitKind::Branch) {
      for (ir::FunctionId region : program.function(function).op(unit.ops[0]).regions) {
        unit.regions.push_back(schedule(program, region, inner, time));
      }
      unit.end = time++;
    } else {
      unit.end = unit.begin;
    }
  }
  result.end = time++;
  return result;
}

}  // namespace rhino::lower
