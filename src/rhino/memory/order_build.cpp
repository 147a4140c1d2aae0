// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <rhino/base/error.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/memory/order.hpp>
#include <rhino/memory/order_graph.hpp>

namespace rhino::memory {
namespace {

using ir::OpKind;

bool is_view(const ir::Function& function, const ir::Op& op, std::size_t result) {
  if (op.kind == OpKind::Reshape || op.kind == OpKind::OptimizationBarrier) return true;
  return op.kind == OpKind::BitcastConvert &&
         function.type(op.results[result]).bytes() == function.type(op.operands[0]).bytes();
}

class Builder {
 public:
  Builder(const ir::Program& program, const ir::Signature& signature, const OrderGraphOptions& options)
      : program_(program), signature_(signature), options_(options) {}

  OrderGraph build() { return graph_of(program_.entry(), options_.donate); }

 private:
  OrderGraph graph_of(const ir::Function& function, bool donate) {
    OrderGraph graph;
    std::vector<std::int32_t> buffer_of(function.values.size(), -1);
    for (const ir::ValueId param : function.params) {
      buffer_of[param.index()] = static_cast<std::int32_t>(graph.buffers.size());
      graph.buffers.push_back({});
    }
    for (std::size_t i = 0; i < function.ops.size(); ++i) add_op(graph, function, i, buffer_of);
    for (const ir::ValueId result : function.results) {
      OrderBuffer& buffer = graph.buffers[static_cast<std::size_t>(buffer_of[result.index()])];
      if (buffer.producer >= 0) buffer.live_out = true;
    }
    if (donate) put_state_in_place(graph, function, buffer_of);
    for (auto& preds : graph.preds) {
      std::sort(preds.begin(), preds.end());
      preds.erase(std::unique(preds.begin(), preds.end()), preds.end());
    }
    return graph;
  }

  void add_op(OrderGraph& graph, const ir::Function& function, std::size_t i, std::vector<std::int32_t>& buffer_of) {
    const ir::Op& op = function.ops[i];
    const auto number = static_cast<std::int32_t>(i);
    graph.preds.emplace_back();
    for (const ir::ValueId operand : op.operands) {
      auto& users = graph.buffers[static_cast<std::size_t>(buffer_of[operand.index()])].users;
      if (users.empty() || users.back() != number) users.push_back(number);
      if (const ir::OpId producer = function.value(operand).producer; producer.valid())
        graph.preds.back().push_back(static_cast<std::int32_t>(producer.index()));
    }
    graph.workspace.push_back(inner_peak(op));
    for (std::size_t r = 0; r < op.results.size(); ++r) {
      if (is_view(function, op, r)) {
        buffer_of[op.results[r].index()] = buffer_of[op.operands[r].index()];
        continue;
      }
      buffer_of[op.results[r].index()] = static_cast<std::int32_t>(graph.buffers.size());
      const std::int64_t bytes = op.kind == OpKind::Constant ? 0 : function.type(op.results[r]).bytes();
      graph.buffers.push_back({bytes, number, {}, false});
    }
  }

  /// Bytes that the functions called by an op need at most beside its operands and results.
  std::int64_t inner_peak(const ir::Op& op) {
    if (op.kind != OpKind::While && op.kind != OpKind::Case && op.kind != OpKind::Call) return 0;
    std::int64_t most = 0;
    for (const ir::FunctionId region : op.regions) {
      const auto known = peaks_.find(region.index());
      if (known == peaks_.end()) {
        const OrderGraph inner = graph_of(program_.function(region), false);
        peaks_[region.index()] = plan_order(inner).peak;
      }
      most = std::max(most, peaks_[region.index()]);
    }
    return most;
  }

  void put_state_in_place(OrderGraph& graph, const ir::Function& function, const std::vector<std::int32_t>& buffer_of) {
    for (std::size_t r = 0; r < signature_.results.size() && r < function.results.size(); ++r) {
      const ir::ResultInfo& info = signature_.results[r];
      if (info.role != ir::ResultRole::State || info.state_param >= function.params.size()) continue;
      const auto into = static_cast<std::size_t>(buffer_of[function.params[info.state_param].index()]);
      const auto from = static_cast<std::size_t>(buffer_of[function.results[r].index()]);
      OrderBuffer& result = graph.buffers[from];
      if (result.producer < 0 || result.bytes == 0) continue;
      if (result.bytes != function.type(function.params[info.state_param]).bytes()) continue;
      const std::int32_t writer = result.producer;
      const auto& readers = graph.buffers[into].users;
      const bool last = std::all_of(readers.begin(), readers.end(), [&](auto u) { return u <= writer; });
      const bool reads = std::find(readers.begin(), readers.end(), writer) != readers.end();
      const OpKind kind = function.ops[static_cast<std::size_t>(writer)].kind;
      if (!last || (reads && !ir::is_elementwise(kind) && kind != OpKind::DynamicUpdateSlice && kind != OpKind::Scatter)) continue;
      for (const auto u : readers)
        if (u != writer) graph.preds[static_cast<std::size_t>(writer)].push_back(u);
      result.bytes = 0;  // the bytes are those of the parameter, which are resident
    }
  }

  const ir::Program& program_;
  const ir::Signature& signature_;
  const OrderGraphOptions& options_;
  std::map<std::size_t, std::int64_t> peaks_;
};

}  // namespace

OrderGraph make_order_graph(const ir::Program& program, const ir::Signature& signature, const OrderGraphOptions& options) {
  OrderGraph graph = Builder(program, signature, options).build();
  check_order_graph(graph);
  return graph;
}

}  // namespace rhino::memory
