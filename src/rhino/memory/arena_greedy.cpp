// SPDX-License-Identifier: Apache-2.0
#include <rhino/memory/arena_greedy.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include <rhino/base/error.hpp>
#include <rhino/base/math.hpp>

namespace rhino::memory {
namespace {

bool takes_room(const ArenaBlock& block) { return block.size > 0 && block.lower < block.upper; }

std::int64_t end_of(const ArenaProblem& problem, std::size_t block, std::int64_t offset) {
  const ArenaBlock& b = problem.blocks[block];
  return offset + (b.offset ? b.size : round_up(b.size, problem.alignment));
}

/// Placed blocks by time: a segment tree whose nodes hold the blocks that cover their whole stretch.
class PlacedBlocks {
 public:
  PlacedBlocks(const ArenaProblem& problem, const std::vector<std::int64_t>& offsets)
      : problem_(problem), offsets_(offsets), seen_(problem.blocks.size(), 0) {
    for (const ArenaBlock& block : problem.blocks) {
      if (!takes_room(block)) continue;
      times_.push_back(block.lower);
      times_.push_back(block.upper);
    }
    std::sort(times_.begin(), times_.end());
    times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
    while (leaves_ < times_.size()) leaves_ *= 2;
    cover_.resize(2 * leaves_);
    below_.assign(2 * leaves_, 0);
  }

  void add(std::size_t block) {
    visit(block, [&](std::size_t node) {
      cover_[node].push_back(block);
      for (std::size_t up = node / 2; up >= 1; up /= 2) ++below_[up];
    });
  }

  /// Lowest aligned offset at which `block` overlaps no placed one.
  std::int64_t lowest_gap(std::size_t block) {
    ++stamp_;
    taken_.clear();
    visit(block, [&](std::size_t node) {
      for (std::size_t up = node / 2; up >= 1; up /= 2) collect(node_blocks(up));
      collect_subtree(node);
    });
    std::sort(taken_.begin(), taken_.end());
    const std::int64_t size = round_up(problem_.blocks[block].size, problem_.alignment);
    std::int64_t at = 0;
    for (const auto& [begin, end] : taken_) {
      if (begin >= at + size) break;
      at = std::max(at, round_up(end, problem_.alignment));
    }
    return at;
  }

 private:
  const std::vector<std::size_t>& node_blocks(std::size_t node) const { return cover_[node]; }

  void collect(const std::vector<std::size_t>& blocks) {
    for (const std::size_t block : blocks) {
      if (seen_[block] == stamp_) continue;
      seen_[block] = stamp_;
      taken_.emplace_back(offsets_[block], end_of(problem_, block, offsets_[block]));
    }
  }

  void collect_subtree(std::size_t node) {
    collect(cover_[node]);
    if (node >= leaves_ || below_[node] == 0) return;
    collect_subtree(2 * node);
    collect_subtree(2 * node + 1);
  }

  /// The nodes whose stretches make up the lifespan of a block.
  template <class Visit>
  void visit(std::size_t block, Visit visit_node) const {
    const auto index = [&](std::int64_t time) {
      return static_cast<std::size_t>(std::lower_bound(times_.begin(), times_.end(), time) - times_.begin());
    };
    std::size_t from = index(problem_.blocks[block].lower) + leaves_, to = index(problem_.blocks[block].upper) + leaves_;
    for (; from < to; from /= 2, to /= 2) {
      if (from % 2 == 1) visit_node(from++);
      if (to % 2 == 1) visit_node(--to);
    }
  }

  const ArenaProblem& problem_;
  const std::vector<std::int64_t>& offsets_;
  std::vector<std::int64_t> times_;
  std::size_t leaves_ = 1;
  std::vector<std::vector<std::size_t>> cover_;
  std::vector<std::int64_t> below_;  ///< per node: entries in the nodes below it
  std::vector<std::int64_t> seen_;
  std::int64_t stamp_ = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> taken_;
};

}  // namespace

std::int64_t peak_load(const ArenaProblem& problem) {
  struct Event {
    std::int64_t time, change;
  };
  std::vector<Event> events;
  for (const ArenaBlock& block : problem.blocks) {
    if (!takes_room(block)) continue;
    const std::int64_t bytes = block.offset ? block.size : round_up(block.size, problem.alignment);
    events.push_back({block.lower, bytes});
    events.push_back({block.upper, -bytes});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.change < b.change;  // what ends makes room for what begins
  });
  std::int64_t load = 0, peak = 0;
  for (const Event& event : events) {
    load += event.change;
    peak = std::max(peak, load);
  }
  return peak;
}

std::int64_t height_of(const ArenaProblem& problem, const std::vector<std::int64_t>& offsets) {
  std::int64_t height = 0;
  for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
    if (takes_room(problem.blocks[b])) height = std::max(height, end_of(problem, b, offsets[b]));
  }
  return height;
}

void place_first_fit(const ArenaProblem& problem, const std::vector<std::size_t>& order, std::vector<std::int64_t>& offsets) {
  RHINO_ASSERT(offsets.size() == problem.blocks.size(), "{} offsets for {} blocks", offsets.size(), problem.blocks.size());
  PlacedBlocks placed(problem, offsets);
  for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
    if (problem.blocks[b].offset) offsets[b] = *problem.blocks[b].offset;
    if (!takes_room(problem.blocks[b])) {
      offsets[b] = problem.blocks[b].offset.value_or(0);
    } else if (offsets[b] >= 0) {
      placed.add(b);
    }
  }
  for (const std::size_t b : order) {
    if (offsets[b] >= 0) continue;
    offsets[b] = placed.lowest_gap(b);
    placed.add(b);
  }
}

std::vector<std::int64_t> place_greedily(const ArenaProblem& problem, std::int64_t good_enough) {
  const std::vector<ArenaBlock>& blocks = problem.blocks;
  const auto span = [&](std::size_t b) { return static_cast<double>(blocks[b].upper) - static_cast<double>(blocks[b].lower); };
  using Key = std::function<double(std::size_t)>;
  const Key keys[] = {
      [&](std::size_t b) { return static_cast<double>(blocks[b].size); },
      [&](std::size_t b) { return static_cast<double>(blocks[b].size) * span(b); },
      span,
      [&](std::size_t b) { return -static_cast<double>(blocks[b].lower); },
  };
  std::vector<std::int64_t> best;
  std::int64_t best_height = std::numeric_limits<std::int64_t>::max();
  for (const Key& key : keys) {
    std::vector<std::size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) > key(b); });
    std::vector<std::int64_t> offsets(blocks.size(), -1);
    place_first_fit(problem, order, offsets);
    const std::int64_t height = height_of(problem, offsets);
    if (height < best_height) {
      best_height = height;
      best = std::move(offsets);
    }
    if (best_height <= good_enough) break;
  }
  return best;
}

}  // namespace rhino::memory
