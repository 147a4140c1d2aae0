// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <rhino/memory/order.hpp>

namespace rhino::memory {
namespace {

bool contains(const std::vector<std::int32_t>& list, std::int32_t item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// Ops that have run (1), may have run (0) and have not run (2) when `witness` runs.
std::vector<char> sides_of(const OrderGraph& graph, std::int32_t witness) {
  std::vector<char> side(graph.preds.size(), 0);
  side[at(witness)] = 1;
  for (std::int32_t v = witness; v >= 0; --v)
    if (side[at(v)] == 1)
      for (const auto p : graph.preds[at(v)]) side[at(p)] = 1;
  side[at(witness)] = 2;
  for (std::int32_t v = witness + 1; v < graph.ops(); ++v)
    for (const auto p : graph.preds[at(v)])
      if (side[at(p)] == 2) side[at(v)] = 2;
  return side;
}

}  // namespace

std::string find_order_error(const OrderGraph& graph, std::span<const std::int32_t> order, std::int64_t peak) {
  if (order.size() != graph.preds.size()) return fmt::format("{} ops are ordered, there are {}", order.size(), graph.preds.size());
  std::vector<char> done(order.size(), 0);
  std::vector<std::int64_t> open(graph.buffers.size());
  std::vector<std::vector<std::int32_t>> made(order.size()), used(order.size());
  std::int64_t live = 0, highest = 0;
  for (std::size_t b = 0; b < graph.buffers.size(); ++b) {
    const OrderBuffer& buffer = graph.buffers[b];
    open[b] = static_cast<std::int64_t>(buffer.users.size()) + (buffer.live_out ? 1 : 0);
    for (const auto u : buffer.users) used[at(u)].push_back(static_cast<std::int32_t>(b));
    if (buffer.producer >= 0) {
      made[at(buffer.producer)].push_back(static_cast<std::int32_t>(b));
    } else if (open[b] > 0) {
      live += buffer.bytes;
    }
  }
  for (const auto v : order) {
    if (v < 0 || v >= graph.ops() || done[at(v)]) return fmt::format("op {} is no op or comes twice", v);
    for (const auto p : graph.preds[at(v)])
      if (!done[at(p)]) return fmt::format("op {} comes before op {}, which it needs", v, p);
    done[at(v)] = 1;
    for (const auto b : made[at(v)]) live += graph.buffers[at(b)].bytes;
    highest = std::max(highest, live + graph.workspace[at(v)]);
    for (const auto b : made[at(v)])
      if (open[at(b)] == 0) live -= graph.buffers[at(b)].bytes;
    for (const auto b : used[at(v)])
      if (--open[at(b)] == 0) live -= graph.buffers[at(b)].bytes;
  }
  if (highest != peak) return fmt::format("the peak is {} bytes, not {}", highest, peak);
  return {};
}

std::string find_certificate_error(const OrderGraph& graph, const OrderCertificate& certificate) {
  const std::int32_t witness = certificate.witness;
  if (witness == -1) return certificate.bound <= 0 ? "" : "a bound without a witness";
  if (witness == graph.ops() && witness > 0) {
    std::int64_t bytes = 0;
    for (const OrderBuffer& buffer : graph.buffers)
      if (buffer.live_out) bytes += buffer.bytes;
    return bytes == certificate.bound ? "" : fmt::format("{} bytes exist at the end, not {}", bytes, certificate.bound);
  }
  if (witness < 0 || witness >= graph.ops()) return fmt::format("the witness {} is no op", witness);
  const std::vector<char> side = sides_of(graph, witness);
  std::vector<std::int64_t> op_balance(graph.preds.size(), 0), buffer_balance(graph.buffers.size(), 0), produced(graph.buffers.size(), 0);
  std::int64_t bound = graph.workspace[at(witness)];
  const auto buffers = static_cast<std::int64_t>(graph.buffers.size());
  for (const OrderBuffer& buffer : graph.buffers)
    if (buffer.producer == witness) bound += buffer.bytes;
  for (const OrderFlow& flow : certificate.flow) {
    if (flow.bytes <= 0 || flow.op < -1 || flow.op >= graph.ops() || flow.other < 0) return "a flow of no bytes or between nothing";
    if (flow.kind == OrderFlow::Kind::Precede) {
      if (flow.op < 0 || !contains(graph.preds[at(flow.op)], flow.other)) return fmt::format("op {} need not follow op {}", flow.op, flow.other);
      op_balance[at(flow.op)] -= flow.bytes;
      op_balance[at(flow.other)] += flow.bytes;
      continue;
    }
    if (flow.other >= buffers) return fmt::format("there is no buffer {}", flow.other);
    const OrderBuffer& buffer = graph.buffers[at(flow.other)];
    if (flow.kind == OrderFlow::Kind::Produce) {
      if (buffer.producer != flow.op) return fmt::format("op {} does not make buffer {}", flow.op, flow.other);
      if (flow.bytes > buffer.bytes - produced[at(flow.other)]) return fmt::format("buffer {} carries more than its bytes", flow.other);
      produced[at(flow.other)] += flow.bytes;
      buffer_balance[at(flow.other)] += flow.bytes;
      if (flow.op >= 0) op_balance[at(flow.op)] -= flow.bytes;
    } else {
      if (flow.op == -1 ? !buffer.live_out : !contains(buffer.users, flow.op)) return fmt::format("op {} does not use buffer {}", flow.op, flow.other);
      buffer_balance[at(flow.other)] -= flow.bytes;
      if (flow.op >= 0) op_balance[at(flow.op)] += flow.bytes;
    }
  }
  for (std::int64_t b = 0; b < buffers; ++b) {
    if (buffer_balance[at(b)] != 0) return fmt::format("bytes are lost or made at buffer {}", b);
    if (graph.buffers[at(b)].producer < 0) bound += produced[at(b)];
  }
  // What leaves the ancestors of the witness arrives at it, its descendants or the end; nothing is made in between.
  for (std::int32_t v = 0; v < graph.ops(); ++v) {
    if (side[at(v)] == 0 && op_balance[at(v)] != 0) return fmt::format("bytes are lost or made at op {}", v);
    if (side[at(v)] == 2 && op_balance[at(v)] < 0) return fmt::format("bytes leave op {}, which has not run", v);
    if (side[at(v)] == 1) bound -= op_balance[at(v)];
  }
  if (bound != certificate.bound) return fmt::format("the flow proves {} bytes, not {}", bound, certificate.bound);
  return {};
}

}  // namespace rhino::memory
