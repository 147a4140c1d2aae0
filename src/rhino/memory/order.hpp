// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <rhino/memory/order_graph.hpp>

namespace rhino::memory {

/// Bytes that flow from `from` to `to` in the network of op `OrderCertificate::witness`.
struct OrderFlow {
  enum class Kind : std::uint8_t {
    Produce,  ///< op `op` to buffer `other`, which it makes: at most the bytes of the buffer
    Use,      ///< buffer `other` to its user `op`; `op` -1: to the end of the program (live-out buffers)
    Precede,  ///< op `op` to its predecessor `other`
  };
  Kind kind = Kind::Produce;
  std::int32_t op = 0, other = 0;
  std::int64_t bytes = 0;
};

/// Proof that no order has a peak below `bound`. Whatever order is taken, when the witness runs all its ancestors have run and
/// none of its descendants has; the flow of bytes from the former to the latter is at most what lives across that cut. To it
/// come the outputs and the workspace of the witness. Weak duality only: a checker needs no solver.
struct OrderCertificate {
  std::int64_t bound = 0;
  std::int32_t witness = -1;  ///< -1: only bound 0 is claimed; number of ops: the end, where all live-out buffers exist
  std::vector<OrderFlow> flow;
  std::vector<std::int32_t> cut;  ///< ops before the witness in a cheapest cut (for show; proves that the flow is largest)
};

struct OrderOptions {
  std::int64_t work = std::int64_t{1} << 34;  ///< arcs to look at, over all cuts; counted, so that every run gives the same
  std::int64_t window_states = 100000;        ///< sets that the search of one window may open
  std::function<bool()> stop;                 ///< asked between cuts; if it says yes, the best so far is taken
};

struct OrderPlan {
  std::vector<std::int32_t> order;
  std::int64_t peak = 0;
  std::int64_t bound = 0;
  OrderCertificate certificate;
};

/// Orders the ops for a low peak: cuts of least live bytes at the peak op split blocks of several start orders until the peak
/// op stands alone; windows around what is left are solved by search over predecessor-closed sets. Never worse than program
/// order. The bound is by minimum cuts. Deterministic.
OrderPlan plan_order(const OrderGraph& graph, const OrderOptions& options = {});

/// 0, 1, .. as the program has it.
std::vector<std::int32_t> program_order(const OrderGraph& graph);
/// Post-order from the last ops, operands that need more bytes first.
std::vector<std::int32_t> depth_first_order(const OrderGraph& graph);
/// The ready op that frees most (bytes freed less bytes made) first.
std::vector<std::int32_t> list_order(const OrderGraph& graph);
/// List scheduling of the reversed graph, read backwards.
std::vector<std::int32_t> reverse_list_order(const OrderGraph& graph);

/// Independent checks, knowing nothing of how plans are made. Empty string or what is wrong.
std::string find_order_error(const OrderGraph& graph, std::span<const std::int32_t> order, std::int64_t peak);
std::string find_certificate_error(const OrderGraph& graph, const OrderCertificate& certificate);

}  // namespace rhino::memory
