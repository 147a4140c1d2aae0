// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <rhino/ir/program.hpp>
#include <rhino/ir/signature.hpp>

namespace rhino::memory {

/// A number of an op or buffer as an index.
inline std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// A buffer: one class of values that share bytes (a result, its views, what is written into it in place).
struct OrderBuffer {
  std::int64_t bytes = 0;
  std::int32_t producer = -1;       ///< op that first writes it; -1: exists from the start
  std::vector<std::int32_t> users;  ///< ops that read or rewrite it or its views; all come behind the producer
  bool live_out = false;            ///< must exist behind the last op
};

/// What matters for the order of a straight-line program. The ops are numbered in program order, which is a valid order:
/// every predecessor has a smaller number.
struct OrderGraph {
  std::vector<std::vector<std::int32_t>> preds;  ///< per op: ops that must come before (data, in-place and other control edges)
  std::vector<std::int64_t> workspace;           ///< per op: bytes needed only while it runs
  std::vector<OrderBuffer> buffers;

  std::int32_t ops() const { return static_cast<std::int32_t>(preds.size()); }
};

/// First and last position of a buffer in an order (both included).
struct BufferSpan {
  std::int64_t first = 0, last = -1;
};

/// Throws InternalError unless the numbers are in range, predecessors precede, users come behind their producer by edges, and
/// all bytes are at least 0 with a sum of at most 2^60.
void check_order_graph(const OrderGraph& graph);

/// Positions between which each buffer must exist. A buffer that nobody uses lives while its producer runs.
std::vector<BufferSpan> buffer_spans(const OrderGraph& graph, std::span<const std::int32_t> order);

/// Bytes in use while the op at each position runs: live buffers (inputs and outputs of the op included) and its workspace.
std::vector<std::int64_t> memory_profile(const OrderGraph& graph, std::span<const std::int32_t> order);

/// The largest entry of memory_profile; 0 without ops.
std::int64_t peak_of(const OrderGraph& graph, std::span<const std::int32_t> order);

/// How a program becomes a graph.
struct OrderGraphOptions {
  /// Results that replace a state parameter are written into its place where program order allows (all other readers of the
  /// old value come before; they get edges), and take no bytes then.
  bool donate = true;
};

/// The graph of the entry function. Parameters and constants are resident and count nothing; reshapes, bit casts of one width
/// and optimization barriers are views; bodies of loops, branches and calls are planned first, their peak is workspace of the
/// calling op. An empty signature means no donation.
OrderGraph make_order_graph(const ir::Program& program, const ir::Signature& signature, const OrderGraphOptions& options = {});

}  // namespace rhino::memory
