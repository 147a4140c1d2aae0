// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/search_board.hpp>

#include <algorithm>
#include <limits>

#include <rhino/base/error.hpp>

namespace rhino::plan {

void LocalSearchBoard::begin(std::int64_t count) {
  next_ = 0;
  count_ = count;
  incumbent_ = std::numeric_limits<double>::infinity();
  results_.assign(static_cast<std::size_t>(count), {});
}

std::optional<std::int64_t> LocalSearchBoard::draw() {
  if (next_ == count_) return std::nullopt;
  return next_++;
}

void LocalSearchBoard::publish(std::int64_t candidate, std::vector<std::byte> result) {
  RHINO_ASSERT(candidate >= 0 && candidate < count_, "candidate {} of {}", candidate, count_);
  results_[static_cast<std::size_t>(candidate)] = std::move(result);
}

void LocalSearchBoard::announce(double cost) { incumbent_ = std::min(incumbent_, cost); }

std::vector<std::vector<std::byte>> LocalSearchBoard::agree() { return std::move(results_); }

}  // namespace rhino::plan
