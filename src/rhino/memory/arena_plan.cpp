// SPDX-License-Identifier: Apache-2.0
#include <rhino/memory/arena_plan.hpp>

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/core.h>

#include <rhino/base/error.hpp>
#include <rhino/base/math.hpp>
#include <rhino/memory/arena_greedy.hpp>

namespace rhino::memory {
namespace {

/// Blocks that one exact search takes at most; of more, only the biggest are searched exactly.
constexpr std::size_t kExactBlocks = 4000;

class ArenaPlanner {
 public:
  ArenaPlanner(const ArenaProblem& problem, const ArenaOptions& options) : problem_(problem), options_(options) {
    plan_.load = peak_load(problem);
    plan_.bound = plan_.load;
    for (const ArenaBlock& block : problem.blocks) {
      if (block.offset && block.size > 0 && block.lower < block.upper) plan_.bound = std::max(plan_.bound, *block.offset + block.size);
      if (!block.offset && block.size > 0 && block.lower < block.upper) {
        ++movable_;
        unit_ = std::gcd(unit_, round_up(block.size, problem.alignment));
      }
      if (block.offset) unit_ = std::gcd(std::gcd(unit_, problem.alignment), std::gcd(*block.offset, block.size));
    }
    unit_ = std::max<std::int64_t>(unit_, 1);
    goal_ = std::max(options.capacity, plan_.bound);
  }

  ArenaPlan run() {
    if (options_.capacity > 0 && plan_.bound > options_.capacity) {
      plan_.status = ArenaStatus::Infeasible;
      return plan_;
    }
    accept(place_greedily(problem_, goal_));
    if (!done()) search();
    return finish();
  }

 private:
  bool done() const { return placed_ && plan_.height <= goal_; }
  bool stopped() const { return options_.limits.stop && options_.limits.stop(); }

  void accept(std::vector<std::int64_t> offsets) {
    const std::int64_t height = height_of(problem_, offsets);
    if (placed_ && height >= plan_.height) return;
    placed_ = true;
    plan_.offsets = std::move(offsets);
    plan_.height = height;
    if (options_.on_better) options_.on_better(height);
  }

  void search() {
    if (movable_ <= kExactBlocks) {
      if (options_.capacity > 0) {
        if (attempt(options_.capacity, options_.limits.nodes) == SearchOutcome::None) raise_bound(options_.capacity);
      } else {
        minimise();
      }
    }
    if (!done() && plan_.bound <= goal_) big_blocks_first();
    if (!done() && plan_.bound <= goal_) lift_tall_stacks();
  }

  SearchOutcome attempt(std::int64_t capacity, std::int64_t nodes) {
    std::vector<std::int64_t> offsets;
    const SearchOutcome outcome = search_offsets(problem_, capacity, {nodes, options_.limits.stop}, offsets);
    if (outcome == SearchOutcome::Found) accept(std::move(offsets));
    return outcome;
  }

  /// Nothing fits `capacity`: the next height that sizes can sum to is the least possible one.
  void raise_bound(std::int64_t capacity) { plan_.bound = std::max(plan_.bound, (capacity / unit_ + 1) * unit_); }

  /// Bisection between what is proved and what is found, again and again with growing limits of each attempt.
  void minimise() {
    std::int64_t spent = 0;
    for (std::int64_t nodes = 2000; spent < options_.limits.nodes && plan_.bound < plan_.height && !stopped(); nodes *= 4) {
      std::int64_t low = plan_.bound;  // lowest height that this pass still hopes for
      std::int64_t capacity = low;
      while (low < plan_.height && spent < options_.limits.nodes && !stopped()) {
        const SearchOutcome outcome = attempt(capacity, std::min(nodes, options_.limits.nodes - spent));
        spent += nodes;
        if (outcome == SearchOutcome::None) raise_bound(capacity);
        if (outcome != SearchOutcome::Found) low = (capacity / unit_ + 1) * unit_;
        capacity = (low + (plan_.height - low) / 2) / unit_ * unit_;
        if (capacity < low) capacity = low;
      }
    }
  }

  std::vector<std::size_t> by_size() const {
    std::vector<std::size_t> order(problem_.blocks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return problem_.blocks[a].size > problem_.blocks[b].size; });
    return order;
  }

  /// Exact for the biggest blocks at the lowest capacity that the search can do, then the others into the gaps.
  void big_blocks_first() {
    const std::vector<std::size_t> order = by_size();
    for (const std::size_t count : {std::size_t{2000}, std::size_t{700}, std::size_t{200}}) {
      if (count >= movable_ || done() || stopped()) continue;
      ArenaProblem big;
      big.alignment = problem_.alignment;
      std::vector<std::size_t> of_big;
      std::size_t taken = 0;
      for (const std::size_t b : order) {
        const bool fixed = problem_.blocks[b].offset.has_value();
        if (!fixed && taken >= count) continue;
        if (!fixed) ++taken;
        big.blocks.push_back(problem_.blocks[b]);
        of_big.push_back(b);
      }
      for (const double slack : {0.0, 0.002, 0.01}) {
        std::vector<std::int64_t> found;
        const auto capacity = goal_ + static_cast<std::int64_t>(slack * static_cast<double>(goal_));
        if (search_offsets(big, capacity, {options_.limits.nodes / 16, options_.limits.stop}, found) != SearchOutcome::Found) continue;
        std::vector<std::int64_t> offsets(problem_.blocks.size(), -1);
        for (std::size_t i = 0; i < of_big.size(); ++i) offsets[of_big[i]] = found[i];
        place_first_fit(problem_, order, offsets);
        accept(std::move(offsets));
        break;
      }
    }
  }

  /// First fit again and again, with the blocks that stick out above the goal moved towards the front of the order.
  void lift_tall_stacks() {
    std::vector<std::size_t> order = by_size();
    const double work = static_cast<double>(problem_.blocks.size());
    const int rounds = static_cast<int>(std::clamp(static_cast<double>(options_.limits.nodes) / work, 1.0, 200.0));
    std::vector<double> key(problem_.blocks.size());
    for (std::size_t i = 0; i < order.size(); ++i) key[order[i]] = static_cast<double>(i);
    for (int round = 0; round < rounds && !done() && !stopped(); ++round) {
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key[a] < key[b]; });
      std::vector<std::int64_t> offsets(problem_.blocks.size(), -1);
      place_first_fit(problem_, order, offsets);
      for (std::size_t b = 0; b < offsets.size(); ++b) {
        if (offsets[b] + problem_.blocks[b].size > goal_) key[b] = key[b] * 0.5 - 1;
      }
      accept(std::move(offsets));
    }
  }

  ArenaPlan finish() {
    const bool fits = placed_ && (options_.capacity == 0 || plan_.height <= options_.capacity);
    if (fits) {
      plan_.status = plan_.height <= plan_.bound ? ArenaStatus::Optimal : ArenaStatus::Feasible;
      return plan_;
    }
    plan_.status = plan_.bound > options_.capacity ? ArenaStatus::Infeasible : ArenaStatus::Unknown;
    plan_.offsets.clear();
    plan_.height = 0;
    return plan_;
  }

  const ArenaProblem& problem_;
  const ArenaOptions& options_;
  bool placed_ = false;
  std::size_t movable_ = 0;
  std::int64_t unit_ = 0;  ///< divides every height that left-justified blocks can have
  std::int64_t goal_ = 0;  ///< height at which there is nothing left to do
  ArenaPlan plan_;
};

}  // namespace

ArenaPlan plan_arena(const ArenaProblem& problem, const ArenaOptions& options) {
  RHINO_ASSERT(problem.alignment > 0, "alignment {}", problem.alignment);
  return ArenaPlanner(problem, options).run();
}

std::string find_placement_error(const ArenaProblem& problem, const std::vector<std::int64_t>& offsets, std::int64_t height) {
  if (offsets.size() != problem.blocks.size()) return fmt::format("{} offsets for {} blocks", offsets.size(), problem.blocks.size());
  struct Event {
    std::int64_t time;
    bool begins;
    std::size_t block;
  };
  std::vector<Event> events;
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    const ArenaBlock& block = problem.blocks[b];
    if (block.size <= 0 || block.lower >= block.upper) continue;
    if (block.offset && offsets[b] != *block.offset) return fmt::format("block {} lies at {}, not at its fixed {}", b, offsets[b], *block.offset);
    if (offsets[b] < 0) return fmt::format("block {} is not placed", b);
    if (!block.offset && offsets[b] % problem.alignment != 0) return fmt::format("block {} at {} is not aligned to {}", b, offsets[b], problem.alignment);
    if (offsets[b] > height - block.size) return fmt::format("block {} ends at {}, above {}", b, offsets[b] + block.size, height);
    events.push_back({block.lower, true, b});
    events.push_back({block.upper, false, b});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.begins < b.begins;
  });
  std::map<std::int64_t, std::size_t> live;  // by offset
  for (const Event& event : events) {
    const std::int64_t at = offsets[event.block];
    if (!event.begins) {
      live.erase(at);
      continue;
    }
    const auto above = live.lower_bound(at);
    if (above != live.end() && above->first < at + problem.blocks[event.block].size)
      return fmt::format("blocks {} and {} overlap at {}", event.block, above->second, above->first);
    if (above != live.begin()) {
      const auto below = std::prev(above);
      if (below->first + problem.blocks[below->second].size > at) return fmt::format("blocks {} and {} overlap at {}", below->second, event.block, at);
    }
    live.emplace(at, event.block);
  }
  return {};
}

}  // namespace rhino::memory
