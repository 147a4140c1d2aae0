// SPDX-License-Identifier: Apache-2.0
#include <rhino/memory/order.hpp>

#include <algorithm>
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

namespace rhino::memory {
namespace {

using Random = std::mt19937_64;

std::int64_t pick(Random& random, std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); }

/// Ops that each make a buffer or are a view or an update in place of an earlier one, with workspace, several readers,
/// live-out values, inputs that die, and control edges.
OrderGraph random_graph(Random& random, std::int32_t ops) {
  OrderGraph graph;
  std::vector<std::int32_t> buffer_of;
  graph.buffers.push_back({pick(random, 9), -1, {}, false});
  for (std::int32_t v = 0; v < ops; ++v) {
    graph.preds.emplace_back();
    graph.workspace.push_back(pick(random, 4) == 0 ? pick(random, 12) : 0);
    std::vector<std::int32_t> reads;
    for (std::int64_t k = pick(random, 4); k > 0 && v > 0; --k) reads.push_back(static_cast<std::int32_t>(pick(random, v)));
    std::sort(reads.begin(), reads.end());
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    std::vector<std::int32_t> touched;
    for (const auto r : reads) touched.push_back(buffer_of[static_cast<std::size_t>(r)]);
    if (pick(random, 5) == 0) touched.push_back(0);
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    graph.preds.back() = reads;
    if (pick(random, 4) == 0 && !reads.empty()) {
      const std::int32_t shared = buffer_of[static_cast<std::size_t>(reads[0])];
      buffer_of.push_back(shared);
      if (pick(random, 2) == 0)  // in place: whoever read the old value comes before
        for (const auto u : graph.buffers[static_cast<std::size_t>(shared)].users) graph.preds.back().push_back(u);
    } else {
      buffer_of.push_back(static_cast<std::int32_t>(graph.buffers.size()));
      graph.buffers.push_back({pick(random, 20), v, {}, pick(random, 6) == 0});
    }
    for (const auto b : touched) graph.buffers[static_cast<std::size_t>(b)].users.push_back(v);
    if (v > 0 && pick(random, 8) == 0) graph.preds.back().push_back(static_cast<std::int32_t>(pick(random, v)));
    std::sort(graph.preds.back().begin(), graph.preds.back().end());
    graph.preds.back().erase(std::unique(graph.preds.back().begin(), graph.preds.back().end()), graph.preds.back().end());
  }
  return graph;
}

/// Lowest peak over all orders, one position after the other; gives up a prefix only if it is no better than what is known.
void try_all(const OrderGraph& graph, std::vector<std::int32_t>& order, std::uint32_t done, std::int64_t so_far, std::int64_t& best) {
  if (so_far >= best) return;
  if (order.size() == graph.preds.size()) {
    best = so_far;
    return;
  }
  for (std::int32_t v = 0; v < graph.ops(); ++v) {
    const auto& preds = graph.preds[static_cast<std::size_t>(v)];
    if ((done >> v & 1) || std::any_of(preds.begin(), preds.end(), [&](auto p) { return !(done >> p & 1); })) continue;
    std::int64_t bytes = graph.workspace[static_cast<std::size_t>(v)];
    for (const OrderBuffer& buffer : graph.buffers) {
      const bool made = buffer.producer < 0 || buffer.producer == v || (done >> buffer.producer & 1);
      const bool needed = buffer.live_out || buffer.producer == v ||
                          std::any_of(buffer.users.begin(), buffer.users.end(), [&](auto u) { return !(done >> u & 1); });
      if (made && needed) bytes += buffer.bytes;
    }
    order.push_back(v);
    try_all(graph, order, done | 1u << v, std::max(so_far, bytes), best);
    order.pop_back();
  }
}

TEST(Order, SmallGraphsAreAsLowAsCanBe) {
  Random random(5);
  int tight = 0;
  for (int round = 0; round < 500; ++round) {
    const OrderGraph graph = random_graph(random, static_cast<std::int32_t>(4 + pick(random, 8)));
    check_order_graph(graph);
    const OrderPlan plan = plan_order(graph);
    std::int64_t best = INT64_MAX;
    std::vector<std::int32_t> order;
    try_all(graph, order, 0, 0, best);
    ASSERT_EQ(plan.peak, best) << "round " << round;
    ASSERT_LE(plan.bound, best) << "round " << round;
    ASSERT_EQ(find_order_error(graph, plan.order, plan.peak), "") << "round " << round;
    ASSERT_EQ(find_certificate_error(graph, plan.certificate), "") << "round " << round;
    ASSERT_LE(plan.peak, peak_of(graph, program_order(graph)));
    tight += plan.bound == best;
  }
  EXPECT_GT(tight, 350);
}

TEST(Order, EveryHeuristicGivesAnOrder) {
  Random random(6);
  for (int round = 0; round < 100; ++round) {
    const OrderGraph graph = random_graph(random, 60);
    for (const auto& order : {program_order(graph), depth_first_order(graph), list_order(graph), reverse_list_order(graph)})
      ASSERT_EQ(find_order_error(graph, order, peak_of(graph, order)), "") << "round " << round;
  }
}

TEST(Order, TheSameEveryTime) {
  Random random(7);
  const OrderGraph graph = random_graph(random, 300);
  OrderOptions options;
  options.window_states = 1000;
  const OrderPlan first = plan_order(graph, options), second = plan_order(graph, options);
  EXPECT_EQ(first.order, second.order);
  EXPECT_EQ(first.bound, second.bound);
  EXPECT_EQ(find_order_error(graph, first.order, first.peak), "");
  EXPECT_EQ(find_certificate_error(graph, first.certificate), "");
}

TEST(Order, LittleWorkStillGivesAnOrder) {
  Random random(8);
  const OrderGraph graph = random_graph(random, 200);
  const OrderPlan plan = plan_order(graph, {.work = 1, .window_states = 1, .stop = {}});
  EXPECT_EQ(find_order_error(graph, plan.order, plan.peak), "");
  EXPECT_EQ(find_certificate_error(graph, plan.certificate), "");
  EXPECT_LE(plan.peak, peak_of(graph, program_order(graph)));
}

TEST(Order, ChangedProofsAreRefused) {
  Random random(9);
  int changed = 0;
  OrderOptions options;
  options.window_states = 100;
  for (int round = 0; round < 200; ++round) {
    const OrderGraph graph = random_graph(random, 30);
    const OrderPlan plan = plan_order(graph, options);
    OrderCertificate higher = plan.certificate;
    ++higher.bound;
    ASSERT_NE(find_certificate_error(graph, higher), "");
    if (plan.certificate.flow.empty()) continue;
    ++changed;
    const auto f = static_cast<std::size_t>(pick(random, static_cast<std::int64_t>(plan.certificate.flow.size())));
    OrderCertificate missing = plan.certificate;
    missing.flow.erase(missing.flow.begin() + static_cast<std::ptrdiff_t>(f));
    ASSERT_NE(find_certificate_error(graph, missing), "");
    OrderCertificate more = plan.certificate;
    ++more.flow[f].bytes;
    ASSERT_NE(find_certificate_error(graph, more), "");
    OrderCertificate twice = plan.certificate;
    twice.flow.push_back(twice.flow[f]);
    ASSERT_NE(find_certificate_error(graph, twice), "");
    OrderCertificate nowhere = plan.certificate;
    nowhere.flow[f].other = 1 << 20;
    ASSERT_NE(find_certificate_error(graph, nowhere), "");
  }
  EXPECT_GT(changed, 150);
}

TEST(Order, ChangedOrdersAreRefused) {
  const OrderGraph graph{{{}, {0}, {1}}, {0, 0, 0}, {{8, 0, {1}, false}, {4, 1, {2}, false}, {2, 2, {}, true}}};
  EXPECT_EQ(find_order_error(graph, std::vector{0, 1, 2}, 12), "");
  EXPECT_NE(find_order_error(graph, std::vector{0, 1, 2}, 11), "");
  EXPECT_NE(find_order_error(graph, std::vector{1, 0, 2}, 12), "");
  EXPECT_NE(find_order_error(graph, std::vector{0, 1, 1}, 12), "");
  EXPECT_NE(find_order_error(graph, std::vector{0, 1}, 12), "");
}

TEST(Order, ResultsThatNeedNotMeetAtAnyOpBoundThePeak) {
  // Two results that depend on nothing: at neither op need the other one exist, but at the end both do.
  const OrderGraph graph{{{}, {}}, {0, 0}, {{8, 0, {}, true}, {4, 1, {}, true}}};
  const OrderPlan plan = plan_order(graph);
  EXPECT_EQ(plan.peak, 12);
  EXPECT_EQ(plan.bound, 12);
  EXPECT_EQ(find_certificate_error(graph, plan.certificate), "");
  OrderCertificate higher = plan.certificate;
  ++higher.bound;
  EXPECT_NE(find_certificate_error(graph, higher), "");
}

TEST(Order, NoOps) {
  EXPECT_EQ(plan_order({}).peak, 0);
  EXPECT_EQ(find_certificate_error({}, plan_order({}).certificate), "");
}

}  // namespace
}  // namespace rhino::memory
