// SPDX-License-Identifier: Apache-2.0
#include <rhino/memory/order_graph.hpp>

#include <algorithm>

#include <rhino/base/error.hpp>

namespace rhino::memory {

void check_order_graph(const OrderGraph& graph) {
  constexpr std::int64_t most = std::int64_t{1} << 60;
  RHINO_ASSERT(graph.workspace.size() == graph.preds.size());
  std::int64_t sum = 0;
  for (std::int32_t v = 0; v < graph.ops(); ++v) {
    const auto bytes = graph.workspace[static_cast<std::size_t>(v)];
    RHINO_ASSERT(bytes >= 0 && bytes <= most - sum, "workspace of op {} is {} bytes", v, bytes);
    sum += bytes;
    for (const auto p : graph.preds[static_cast<std::size_t>(v)])
      RHINO_ASSERT(p >= 0 && p < v, "op {} cannot follow op {}", v, p);
  }
  for (const OrderBuffer& buffer : graph.buffers) {
    RHINO_ASSERT(buffer.bytes >= 0 && buffer.bytes <= most - sum, "a buffer has {} bytes", buffer.bytes);
    sum += buffer.bytes;
    RHINO_ASSERT(buffer.producer >= -1 && buffer.producer < graph.ops());
    for (const auto u : buffer.users) RHINO_ASSERT(u > buffer.producer && u < graph.ops(), "user {} of a buffer of op {}", u, buffer.producer);
  }
}

std::vector<BufferSpan> buffer_spans(const OrderGraph& graph, std::span<const std::int32_t> order) {
  std::vector<std::int64_t> position(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) position[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  std::vector<BufferSpan> spans;
  spans.reserve(graph.buffers.size());
  for (const OrderBuffer& buffer : graph.buffers) {
    BufferSpan span;
    if (buffer.producer >= 0) span.first = span.last = position[static_cast<std::size_t>(buffer.producer)];
    for (const auto u : buffer.users) span.last = std::max(span.last, position[static_cast<std::size_t>(u)]);
    if (buffer.live_out) span.last = static_cast<std::int64_t>(order.size()) - 1;
    spans.push_back(span);
  }
  return spans;
}

std::vector<std::int64_t> memory_profile(const OrderGraph& graph, std::span<const std::int32_t> order) {
  std::vector<std::int64_t> profile(order.size() + 1, 0);
  const std::vector<BufferSpan> spans = buffer_spans(graph, order);
  for (std::size_t b = 0; b < spans.size(); ++b) {
    if (spans[b].last < spans[b].first) continue;
    profile[static_cast<std::size_t>(spans[b].first)] += graph.buffers[b].bytes;
    profile[static_cast<std::size_t>(spans[b].last) + 1] -= graph.buffers[b].bytes;
  }
  for (std::size_t i = 1; i < profile.size(); ++i) profile[i] += profile[i - 1];
  profile.pop_back();
  for (std::size_t i = 0; i < order.size(); ++i) profile[i] += graph.workspace[static_cast<std::size_t>(order[i])];
  return profile;
}

std::int64_t peak_of(const OrderGraph& graph, std::span<const std::int32_t> order) {
  const std::vector<std::int64_t> profile = memory_profile(graph, order);
  return profile.empty() ? 0 : *std::max_element(profile.begin(), profile.end());
}

}  // namespace rhino::memory
