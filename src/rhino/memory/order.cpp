// SPDX-License-Identifier: Apache-2.0
#include <rhino/memory/order.hpp>

#include <algorithm>

#include <rhino/base/error.hpp>
#include <rhino/memory/order_cut.hpp>
#include <rhino/memory/order_window.hpp>

namespace rhino::memory {
namespace {

using Order = std::vector<std::int32_t>;

void invert(const Order& order, Order& position) {
  position.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) position[at(order[i])] = static_cast<std::int32_t>(i);
}

class OrderPlanner {
 public:
  OrderPlanner(const OrderGraph& graph, const OrderOptions& options) : graph_(graph), index_(graph), options_(options), work_(options.work) {}

  OrderPlan plan() {
    take(program_order(graph_));
    bound_by_results();
    raise_bound();
    const Order starts[] = {program_order(graph_), depth_first_order(graph_), reverse_list_order(graph_), list_order(graph_)};
    for (const Order& start : starts)
      for (const bool most : {false, true})
        if (open()) refine(start, most);
    if (open()) search_windows();
    raise_bound();
    best_.bound = best_.certificate.bound;
    return std::move(best_);
  }

 private:
  static constexpr int kMostTried = 64;  ///< cuts of the whole graph per call of raise_bound

  bool spent() const { return work_ <= 0 || (options_.stop && options_.stop()); }
  bool open() const { return best_.peak > best_.certificate.bound && !spent(); }

  void take(Order order) {
    const std::int64_t peak = peak_of(graph_, order);
    if (!best_.order.empty() && peak >= best_.peak) return;
    best_.peak = peak;
    best_.order = std::move(order);
  }

  /// Splits the block of the peak op at its cheapest cut until the peak op stands alone.
  void refine(Order order, bool most) {
    std::vector<char> starts(order.size(), 0);  // positions where a block begins
    starts[0] = 1;
    Order position;
    while (!spent()) {
      invert(order, position);
      const std::vector<std::int64_t> profile = memory_profile(graph_, order);
      work_ -= static_cast<std::int64_t>(8 * order.size());
      const auto peak = std::max_element(profile.begin(), profile.end());
      if (*peak <= best_.certificate.bound) break;
      const auto p = static_cast<std::int32_t>(peak - profile.begin());
      std::int32_t begin = p, end = p + 1;
      while (!starts[at(begin)]) --begin;
      while (at(end) < order.size() && !starts[at(end)]) ++end;
      if (end - begin == 1) break;
      const std::int32_t v = order[at(p)];
      const OpCut cut = cut_at(index_, order, position, begin, end, v, false, work_);
      if (!cut.complete) break;
      split(order, begin, end, v, most ? cut.most : cut.fewest, starts);
    }
    take(std::move(order));
    raise_bound();
  }

  /// `before` is in the order of the block.
  static void split(Order& order, std::int32_t begin, std::int32_t end, std::int32_t v, const Order& before, std::vector<char>& starts) {
    Order block = before;
    const auto at_v = begin + static_cast<std::int32_t>(before.size());
    block.push_back(v);
    std::size_t next = 0;
    for (std::int32_t i = begin; i < end; ++i) {
      const std::int32_t u = order[at(i)];
      if (next < before.size() && before[next] == u) {
        ++next;
      } else if (u != v) {
        block.push_back(u);
      }
    }
    std::copy(block.begin(), block.end(), order.begin() + begin);
    starts[at(at_v)] = 1;
    if (at_v + 1 < end) starts[at(at_v + 1)] = 1;
  }

  /// After the last op all live-out buffers exist together, and while it runs too.
  void bound_by_results() {
    std::int64_t bytes = 0;
    for (const OrderBuffer& buffer : graph_.buffers)
      if (buffer.live_out) bytes += buffer.bytes;
    if (bytes > 0) best_.certificate = {bytes, graph_.ops(), {}, {}};
  }

  /// The bound of the op that needs most in the best order, as long as one may raise it.
  void raise_bound() {
    if (best_.order.empty()) return;
    const std::vector<std::int64_t> profile = memory_profile(graph_, best_.order);
    std::vector<std::int32_t> by_memory = program_order(graph_);
    std::stable_sort(by_memory.begin(), by_memory.end(), [&](auto a, auto b) { return profile[at(a)] > profile[at(b)]; });
    Order position;
    invert(best_.order, position);
    bounded_.resize(graph_.preds.size(), 0);
    int tried = 0;
    for (const auto p : by_memory) {
      const std::int32_t v = best_.order[at(p)];
      if (profile[at(p)] <= best_.certificate.bound || spent()) break;
      if (bounded_[at(v)]) continue;
      if (++tried > kMostTried) break;
      bounded_[at(v)] = 1;
      OpCut cut = cut_at(index_, best_.order, position, 0, graph_.ops(), v, true, work_);
      if (!cut.complete) break;
      std::int64_t bound = cut.bytes + graph_.workspace[at(v)];
      for (const auto b : index_.makes[at(v)]) bound += graph_.buffers[at(b)].bytes;
      if (bound > best_.certificate.bound) best_.certificate = {bound, v, std::move(cut.flow), std::move(cut.fewest)};
    }
  }

  /// Windows around the peak of the best order, as long as they lower it.
  void search_windows() {
    constexpr std::int32_t width = 40;
    for (int round = 0; round < 64 && open(); ++round) {
      const std::vector<std::int64_t> profile = memory_profile(graph_, best_.order);
      const auto p = static_cast<std::int32_t>(std::max_element(profile.begin(), profile.end()) - profile.begin());
      Order position, order = best_.order;
      invert(order, position);
      bool better = false;
      for (const std::int32_t before : {width / 2, width - 1, 0}) {
        const std::int32_t begin = std::max(0, p - before), end = std::min(graph_.ops(), begin + width);
        const Order window = best_window(index_, order, position, begin, end, best_.peak, options_.window_states);
        work_ -= options_.window_states * 4;
        if (window.empty()) continue;
        std::copy(window.begin(), window.end(), order.begin() + begin);
        better = true;
        break;
      }
      if (!better) break;
      // Other ops may have the same peak: the order is taken even if the highest is not lowered yet.
      best_.order = std::move(order);
      best_.peak = peak_of(graph_, best_.order);
    }
  }

  const OrderGraph& graph_;
  OrderIndex index_;
  const OrderOptions& options_;
  std::int64_t work_;
  OrderPlan best_;
  std::vector<char> bounded_;
};

}  // namespace

OrderPlan plan_order(const OrderGraph& graph, const OrderOptions& options) {
  if (graph.ops() == 0) return {};
  OrderPlan plan = OrderPlanner(graph, options).plan();
  RHINO_ASSERT(plan.bound <= plan.peak);
  return plan;
}

}  // namespace rhino::memory
