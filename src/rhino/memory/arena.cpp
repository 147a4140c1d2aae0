// SPDX-License-Identifier: Apache-2.0
#include <rhino/memory/arena.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include <fmt/core.h>

#include <rhino/base/error.hpp>
#include <rhino/base/math.hpp>

namespace rhino::memory {

namespace {

bool overlap_in_time(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

/// Largest sum of live bytes over time.
std::int64_t peak_load(const std::vector<Lifetime>& blocks, std::int64_t alignment) {
  struct Event {
    std::int64_t time;
    std::int64_t change;
  };
  std::vector<Event> events;
  std::int64_t always = 0;
  for (const Lifetime& block : blocks) {
    const std::int64_t bytes = round_up(block.bytes, alignment);
    if (block.last == std::numeric_limits<std::int64_t>::max() && block.first <= 0) {
      always += bytes;
      continue;
    }
    events.push_back({block.first, bytes});
    if (block.last != std::numeric_limits<std::int64_t>::max()) events.push_back({block.last + 1, -bytes});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.change < b.change;  // what ends makes room for what begins
  });
  std::int64_t load = always;
  std::int64_t peak = always;
  for (const Event& event : events) {
    load += event.change;
    peak = std::max(peak, load);
  }
  return peak;
}

/// Places blocks one by one in the given order, each in the lowest gap that fits.
class FirstFit {
 public:
  FirstFit(const std::vector<Lifetime>& blocks, std::int64_t alignment) : blocks_(blocks), alignment_(alignment) {}

  ArenaLayout run(const std::vector<std::size_t>& order) {
    ArenaLayout layout;
    layout.offsets.assign(blocks_.size(), 0);
    std::vector<std::size_t> placed;  // by ascending offset
    std::int64_t bottom = 0;
    for (std::size_t i : order) {
      const std::int64_t bytes = round_up(blocks_[i].bytes, alignment_);
      if (bytes == 0) continue;
      if (blocks_[i].first <= 0 && blocks_[i].last == std::numeric_limits<std::int64_t>::max()) {
        layout.offsets[i] = bottom;
        bottom += bytes;
      }
    }
    for (std::size_t i : order) {
      const std::int64_t bytes = round_up(blocks_[i].bytes, alignment_);
      if (bytes == 0 || (blocks_[i].first <= 0 && blocks_[i].last == std::numeric_limits<std::int64_t>::max())) continue;
      std::int64_t at = bottom;
      for (std::size_t other : placed) {
        if (!overlap_in_time(blocks_[i], blocks_[other])) continue;
        if (layout.offsets[other] >= at + bytes) break;
        at = std::max(at, layout.offsets[other] + round_up(blocks_[other].bytes, alignment_));
      }
      layout.offsets[i] = at;
      const auto position = std::upper_bound(placed.begin(), placed.end(), at, [&](std::int64_t offset, std::size_t other) {
        return offset < layout.offsets[other];
      });
      placed.insert(position, i);
      layout.bytes = std::max(layout.bytes, at + bytes);
    }
    layout.bytes = std::max(layout.bytes, bottom);
    return layout;
  }

 private:
  const std::vector<Lifetime>& blocks_;
  std::int64_t alignment_;
};

}  // namespace

ArenaLayout place_blocks(const std::vector<Lifetime>& blocks, std::int64_t alignment) {
  RHINO_ASSERT(alignment > 0, "alignment {}", alignment);
  for (const Lifetime& block : blocks) {
    RHINO_ASSERT(block.bytes >= 0 && block.first <= block.last, "block of {} bytes from {} to {}", block.bytes, block.first,
                 block.last);
  }
  const auto duration = [&](std::size_t i) {
    return static_cast<double>(blocks[i].last) - static_cast<double>(blocks[i].first) + 1.0;
  };
  using Before = std::function<bool(std::size_t, std::size_t)>;
  const std::vector<Before> orders = {
      [&](std::size_t a, std::size_t b) { return blocks[a].bytes > blocks[b].bytes; },
      [&](std::size_t a, std::size_t b) {
        return static_cast<double>(blocks[a].bytes) * duration(a) > static_cast<double>(blocks[b].bytes) * duration(b);
      },
      [&](std::size_t a, std::size_t b) { return duration(a) > duration(b); },
      [&](std::size_t a, std::size_t b) { return blocks[a].first < blocks[b].first; },
  };
  const std::int64_t load = peak_load(blocks, alignment);
  ArenaLayout best;
  best.bytes = std::numeric_limits<std::int64_t>::max();
  for (const Before& before : orders) {
    std::vector<std::size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), before);
    ArenaLayout layout = FirstFit(blocks, alignment).run(order);
    if (layout.bytes < best.bytes) best = std::move(layout);
    if (best.bytes == load) break;
  }
  best.load = load;
  return best;
}

std::string find_overlap(const std::vector<Lifetime>& blocks, const ArenaLayout& layout, std::int64_t alignment) {
  if (layout.offsets.size() != blocks.size()) {
    return fmt::format("{} offsets for {} blocks", layout.offsets.size(), blocks.size());
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].bytes == 0) continue;
    if (layout.offsets[i] < 0 || layout.offsets[i] % alignment != 0) {
      return fmt::format("block {} at offset {} is not aligned to {}", i, layout.offsets[i], alignment);
    }
    if (layout.offsets[i] + blocks[i].bytes > layout.bytes) {
      return fmt::format("block {} ends at {}, beyond the arena of {}", i, layout.offsets[i] + blocks[i].bytes, layout.bytes);
    }
    order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return layout.offsets[a] < layout.offsets[b]; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t a = order[i];
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      const std::size_t b = order[j];
      if (layout.offsets[b] >= layout.offsets[a] + blocks[a].bytes) break;
      if (overlap_in_time(blocks[a], blocks[b])) {
        return fmt::format("blocks {} and {} overlap at offset {} while both are alive", a, b, layout.offsets[b]);
      }
    }
  }
  return {};
}

}  // namespace rhino::memory
