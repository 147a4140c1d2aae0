// SPDX-License-Identifier: Apache-2.0
// The Plan must not depend on how many ranks search, nor on which of them is slow.
#include <rhino/plan/planner.hpp>

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include <rhino/plan/mpi/mpi_search_board.hpp>

#include "support/small_step.hpp"

namespace rhino::plan {
namespace {

/// A board that hesitates before each draw.
class SlowBoard final : public SearchBoard {
 public:
  SlowBoard(SearchBoard& board, std::chrono::milliseconds delay) : board_(board), delay_(delay) {}
  std::int64_t rank() const override { return board_.rank(); }
  std::int64_t size() const override { return board_.size(); }
  void begin(std::int64_t count) override { board_.begin(count); }
  std::optional<std::int64_t> draw() override {
    std::this_thread::sleep_for(delay_);
    return board_.draw();
  }
  void publish(std::int64_t candidate, std::vector<std::byte> result) override { board_.publish(candidate, std::move(result)); }
  double incumbent() override { return board_.incumbent(); }
  void announce(double cost) override { board_.announce(cost); }
  std::vector<std::vector<std::byte>> agree() override { return board_.agree(); }

 private:
  SearchBoard& board_;
  std::chrono::milliseconds delay_;
};

TEST(CollectivePlanner, TheSamePlanForAnyNumberOfRanksAndAnyDelay) {
  const test::SmallStep step = test::small_step(24, 16, 64);
  const cluster::Cluster cluster = cluster::default_cpu_cluster(8);
  LocalSearchBoard alone;
  const Plan expected = find_plan(step.program, step.signature, cluster, {}, alone);
  const auto board = mpi::make_search_board();
  for (std::int64_t slow = 0; slow < board->size(); ++slow) {
    SlowBoard delayed(*board, std::chrono::milliseconds(board->rank() == slow ? 20 : 0));
    EXPECT_EQ(find_plan(step.program, step.signature, cluster, {}, delayed), expected) << "rank " << slow << " is slow";
  }
}

}  // namespace
}  // namespace rhino::plan
