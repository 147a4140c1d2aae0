// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <queue>

#include <rhino/memory/order.hpp>
#include <rhino/memory/order_cut.hpp>

namespace rhino::memory {
namespace {

struct Ready {
  std::int64_t gain;
  std::int32_t op;
  bool operator<(const Ready& other) const { return gain != other.gain ? gain < other.gain : op > other.op; }
};

}  // namespace

std::vector<std::int32_t> program_order(const OrderGraph& graph) {
  std::vector<std::int32_t> order(graph.preds.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
  return order;
}

std::vector<std::int32_t> depth_first_order(const OrderGraph& graph) {
  std::vector<std::int64_t> made(graph.preds.size(), 0);
  for (const OrderBuffer& buffer : graph.buffers)
    if (buffer.producer >= 0) made[at(buffer.producer)] += buffer.bytes;
  std::vector<char> has_user(graph.preds.size(), 0), state(graph.preds.size(), 0);
  std::vector<std::vector<std::int32_t>> operands = graph.preds;
  for (auto& list : operands) {
    for (const auto p : list) has_user[at(p)] = 1;
    std::stable_sort(list.begin(), list.end(), [&](auto a, auto b) { return made[at(a)] < made[at(b)]; });
  }
  std::vector<std::int32_t> order, stack;
  for (std::int32_t root = 0; root < graph.ops(); ++root) {
    if (has_user[at(root)]) continue;
    stack.push_back(root);
    while (!stack.empty()) {
      const std::int32_t v = stack.back();
      if (state[at(v)] == 0) {
        state[at(v)] = 1;
        for (const auto p : operands[at(v)])
          if (state[at(p)] == 0) stack.push_back(p);
        continue;
      }
      stack.pop_back();
      if (state[at(v)] == 1) order.push_back(v);
      state[at(v)] = 2;
    }
  }
  return order;
}

std::vector<std::int32_t> list_order(const OrderGraph& graph) {
  const OrderIndex index(graph);
  std::vector<std::int64_t> gain(graph.preds.size(), 0), open(graph.buffers.size());
  std::vector<std::int32_t> waits(graph.preds.size());
  for (std::size_t b = 0; b < graph.buffers.size(); ++b) {
    const OrderBuffer& buffer = graph.buffers[b];
    open[b] = static_cast<std::int64_t>(buffer.users.size()) + (buffer.live_out ? 2 : 0);
    if (buffer.producer >= 0 && open[b] > 0) gain[at(buffer.producer)] -= buffer.bytes;
    if (open[b] == 1) gain[at(buffer.users[0])] += buffer.bytes;
  }
  std::priority_queue<Ready> ready;
  for (std::int32_t v = 0; v < graph.ops(); ++v) {
    waits[at(v)] = static_cast<std::int32_t>(graph.preds[at(v)].size());
    if (waits[at(v)] == 0) ready.push({gain[at(v)], v});
  }
  std::vector<std::int32_t> order;
  std::vector<char> done(graph.preds.size(), 0);
  while (!ready.empty()) {
    const Ready top = ready.top();
    ready.pop();
    if (done[at(top.op)] || top.gain != gain[at(top.op)]) continue;
    done[at(top.op)] = 1;
    order.push_back(top.op);
    for (const auto b : index.touches[at(top.op)]) {
      if (--open[at(b)] != 1) continue;
      for (const auto u : graph.buffers[at(b)].users) {
        if (done[at(u)]) continue;
        gain[at(u)] += graph.buffers[at(b)].bytes;
        if (waits[at(u)] == 0) ready.push({gain[at(u)], u});
      }
    }
    for (const auto s : index.succs[at(top.op)])
      if (--waits[at(s)] == 0) ready.push({gain[at(s)], s});
  }
  return order;
}

std::vector<std::int32_t> reverse_list_order(const OrderGraph& graph) {
  // Backwards a buffer begins at the user that is last in order and ends at its producer. It is charged to whichever user
  // comes first backwards, and its producer frees it.
  const OrderIndex index(graph);
  std::vector<std::int64_t> gain(graph.preds.size(), 0);
  std::vector<std::int32_t> waits(graph.preds.size());
  std::vector<char> live(graph.buffers.size(), 0), done(graph.preds.size(), 0);
  for (std::size_t b = 0; b < graph.buffers.size(); ++b) {
    const OrderBuffer& buffer = graph.buffers[b];
    live[b] = buffer.live_out;
    if (buffer.producer >= 0) gain[at(buffer.producer)] += buffer.bytes;
    if (!live[b])
      for (const auto u : buffer.users) gain[at(u)] -= buffer.bytes;
  }
  std::priority_queue<Ready> ready;
  const auto push = [&](std::int32_t v) { ready.push({gain[at(v)], -v}); };
  for (std::int32_t v = 0; v < graph.ops(); ++v) {
    waits[at(v)] = static_cast<std::int32_t>(index.succs[at(v)].size());
    if (waits[at(v)] == 0) push(v);
  }
  std::vector<std::int32_t> order;
  while (!ready.empty()) {
    const Ready top = ready.top();
    ready.pop();
    const std::int32_t v = -top.op;
    if (done[at(v)] || top.gain != gain[at(v)]) continue;
    done[at(v)] = 1;
    order.push_back(v);
    for (const auto b : index.touches[at(v)]) {
      if (live[at(b)]) continue;
      live[at(b)] = 1;
      for (const auto u : graph.buffers[at(b)].users) {
        if (done[at(u)]) continue;
        gain[at(u)] += graph.buffers[at(b)].bytes;
        if (waits[at(u)] == 0) push(u);
      }
    }
    for (const auto p : graph.preds[at(v)])
      if (--waits[at(p)] == 0) push(p);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace rhino::memory
