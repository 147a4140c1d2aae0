// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/mpi/mpi_search_board.hpp>

#include <chrono>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>

namespace rhino::plan {
namespace {

std::vector<std::byte> bytes_of(std::int64_t value) {
  std::vector<std::byte> out(sizeof(value));
  std::memcpy(out.data(), &value, sizeof(value));
  return out;
}

/// Draws until nothing is left; `delay` slows this rank down. Returns what all ranks agreed on.
std::vector<std::vector<std::byte>> play(SearchBoard& board, std::int64_t count, std::chrono::milliseconds delay, std::int64_t& drawn) {
  board.begin(count);
  while (const auto candidate = board.draw()) {
    std::this_thread::sleep_for(delay);
    board.announce(100.0 - static_cast<double>(*candidate));
    board.publish(*candidate, bytes_of(*candidate * *candidate));
    ++drawn;
  }
  return board.agree();
}

TEST(MpiSearchBoard, EveryCandidateIsDrawnOnceWhateverTheDelays) {
  const auto board = mpi::make_search_board();
  for (int round = 0; round < 3; ++round) {
    // Another rank is slow in each round.
    const std::chrono::milliseconds delay(round % board->size() == board->rank() ? 5 : 0);
    std::int64_t drawn = 0;
    const auto results = play(*board, 40, delay, drawn);
    ASSERT_EQ(results.size(), 40u);
    for (std::int64_t i = 0; i < 40; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)], bytes_of(i * i)) << i;
    EXPECT_EQ(board->incumbent(), 61.0);
    if (board->size() == 1) {
      EXPECT_EQ(drawn, 40);
    }
  }
}

TEST(MpiSearchBoard, ARoundWithoutCandidates) {
  const auto board = mpi::make_search_board();
  std::int64_t drawn = 0;
  EXPECT_TRUE(play(*board, 0, std::chrono::milliseconds(0), drawn).empty());
  EXPECT_EQ(drawn, 0);
}

}  // namespace
}  // namespace rhino::plan
