// SPDX-License-Identifier: Apache-2.0
#include <rhino/memory/order_cut.hpp>

#include <algorithm>

#include <rhino/memory/min_cut.hpp>

namespace rhino::memory {
namespace {

constexpr std::int32_t kSource = 0, kSink = 1;

/// The network of one cut. Ops before the block and ancestors are the source, ops behind it, the op and its descendants the
/// sink; so only free ops and the buffers that touch them have nodes.
class CutNetwork {
 public:
  CutNetwork(const OrderIndex& index, std::span<const std::int32_t> order, std::span<const std::int32_t> position,
             std::int32_t begin, std::int32_t end)
      : index_(index), order_(order), position_(position), begin_(begin), end_(end), node_(at(end - begin), 2) {}

  OpCut solve(std::int32_t op, bool with_flow, std::int64_t& work) {
    number_nodes(op);
    const std::vector<std::int32_t> buffers = buffers_of_block();
    std::int32_t nodes = free_ + 2 + static_cast<std::int32_t>(buffers.size());
    FlowNetwork network(nodes);
    add_precedence(network, with_flow);
    OpCut cut;
    for (std::size_t i = 0; i < buffers.size(); ++i)
      add_buffer(network, buffers[i], free_ + 2 + static_cast<std::int32_t>(i), with_flow, cut);
    work -= static_cast<std::int64_t>(buffers.size()) + end_ - begin_;
    cut.complete = network.run(kSource, kSink, work);
    if (!cut.complete) return cut;
    for (const Traced& traced : traced_) {
      OrderFlow flow = traced.flow;
      flow.bytes = network.flow(traced.arc);
      if (flow.kind == OrderFlow::Kind::Produce && traced.from_source) cut.bytes += flow.bytes;
      if (with_flow && flow.bytes > 0) cut.flow.push_back(flow);
    }
    const std::vector<bool> reached = network.reached_from(kSource), reaching = network.reaching(kSink);
    for (std::int32_t i = begin_; i < end_; ++i) {
      const std::int32_t node = node_[at(i - begin_)];
      if (node == kSource || (node != kSink && reached[at(node)])) cut.fewest.push_back(order_[at(i)]);
      if (node == kSource || (node != kSink && !reaching[at(node)])) cut.most.push_back(order_[at(i)]);
    }
    return cut;
  }

 private:
  struct Traced {
    OrderFlow flow;
    std::int32_t arc;
    bool from_source;
  };

  bool inside(std::int32_t op) const { return position_[at(op)] >= begin_ && position_[at(op)] < end_; }

  std::int32_t node_of(std::int32_t op) const {
    const std::int32_t p = position_[at(op)];
    return p < begin_ ? kSource : p >= end_ ? kSink : node_[at(p - begin_)];
  }

  void mark(std::int32_t op, std::int32_t value, const std::vector<std::vector<std::int32_t>>& edges) {
    std::vector<std::int32_t> stack{op};
    while (!stack.empty()) {
      const std::int32_t v = stack.back();
      stack.pop_back();
      for (const auto next : edges[at(v)]) {
        if (!inside(next) || node_[at(position_[at(next)] - begin_)] == value) continue;
        node_[at(position_[at(next)] - begin_)] = value;
        stack.push_back(next);
      }
    }
  }

  void number_nodes(std::int32_t op) {
    mark(op, kSource, index_.graph.preds);
    mark(op, kSink, index_.succs);
    node_[at(position_[at(op)] - begin_)] = kSink;
    free_ = 0;
    for (auto& node : node_)
      if (node >= 2) node = 2 + free_++;
  }

  std::vector<std::int32_t> buffers_of_block() const {
    std::vector<std::int32_t> buffers;
    for (std::int32_t i = begin_; i < end_; ++i) {
      const std::int32_t v = order_[at(i)];
      // What the sink makes is not yet there.
      if (node_[at(i - begin_)] != kSink) buffers.insert(buffers.end(), index_.makes[at(v)].begin(), index_.makes[at(v)].end());
      for (const auto b : index_.touches[at(v)]) {
        const std::int32_t producer = index_.graph.buffers[at(b)].producer;
        if (producer < 0 || position_[at(producer)] < begin_) buffers.push_back(b);
      }
    }
    std::sort(buffers.begin(), buffers.end());
    buffers.erase(std::unique(buffers.begin(), buffers.end()), buffers.end());
    return buffers;
  }

  void add_precedence(FlowNetwork& network, bool with_flow) {
    for (std::int32_t i = begin_; i < end_; ++i) {
      const std::int32_t node = node_[at(i - begin_)], v = order_[at(i)];
      if (node < 2) continue;
      for (const auto p : index_.graph.preds[at(v)]) {
        if (node_of(p) == kSource) continue;
        const std::int32_t arc = network.add_arc(node, node_of(p), FlowNetwork::unbounded);
        if (with_flow) traced_.push_back({{OrderFlow::Kind::Precede, v, p, 0}, arc, false});
      }
    }
  }

  void add_buffer(FlowNetwork& network, std::int32_t b, std::int32_t node, bool with_flow, OpCut& cut) {
    const OrderBuffer& buffer = index_.graph.buffers[at(b)];
    const std::int32_t from = buffer.producer < 0 ? kSource : node_of(buffer.producer);
    std::int32_t at_sink = buffer.live_out ? -1 : -2;
    for (const auto u : buffer.users)
      if (at_sink == -2 && node_of(u) == kSink) at_sink = u;
    if (at_sink != -2 && from == kSource) {  // live whatever is chosen
      cut.bytes += buffer.bytes;
      if (!with_flow) return;
      cut.flow.push_back({OrderFlow::Kind::Produce, buffer.producer, b, buffer.bytes});
      cut.flow.push_back({OrderFlow::Kind::Use, at_sink, b, buffer.bytes});
      return;
    }
    const std::int32_t made = network.add_arc(from, node, buffer.bytes);
    traced_.push_back({{OrderFlow::Kind::Produce, buffer.producer, b, 0}, made, from == kSource});
    if (at_sink != -2) {
      const std::int32_t used = network.add_arc(node, kSink, FlowNetwork::unbounded);
      if (with_flow) traced_.push_back({{OrderFlow::Kind::Use, at_sink, b, 0}, used, false});
      return;  // the others cannot make it cheaper
    }
    for (const auto u : buffer.users) {
      if (node_of(u) == kSource) continue;
      const std::int32_t used = network.add_arc(node, node_of(u), FlowNetwork::unbounded);
      if (with_flow) traced_.push_back({{OrderFlow::Kind::Use, u, b, 0}, used, false});
    }
  }

  const OrderIndex& index_;
  std::span<const std::int32_t> order_, position_;
  std::int32_t begin_, end_, free_ = 0;
  std::vector<std::int32_t> node_;
  std::vector<Traced> traced_;
};

}  // namespace

OrderIndex::OrderIndex(const OrderGraph& g) : graph(g), succs(g.preds.size()), makes(g.preds.size()), touches(g.preds.size()) {
  for (std::int32_t v = 0; v < g.ops(); ++v)
    for (const auto p : g.preds[at(v)]) succs[at(p)].push_back(v);
  for (std::size_t b = 0; b < g.buffers.size(); ++b) {
    const OrderBuffer& buffer = g.buffers[b];
    if (buffer.bytes == 0) continue;
    if (buffer.producer >= 0) makes[at(buffer.producer)].push_back(static_cast<std::int32_t>(b));
    for (const auto u : buffer.users) touches[at(u)].push_back(static_cast<std::int32_t>(b));
  }
}

OpCut cut_at(const OrderIndex& index, std::span<const std::int32_t> order, std::span<const std::int32_t> position,
             std::int32_t begin, std::int32_t end, std::int32_t op, bool with_flow, std::int64_t& work) {
  return CutNetwork(index, order, position, begin, end).solve(op, with_flow, work);
}

}  // namespace rhino::memory
