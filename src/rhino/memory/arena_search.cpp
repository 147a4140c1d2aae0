// SPDX-License-Identifier: Apache-2.0
#include <rhino/memory/arena_search.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include <rhino/base/error.hpp>
#include <rhino/base/math.hpp>

namespace rhino::memory {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// A block that must not be touched.
struct Obstacle {
  std::int64_t begin = 0, end = 0;
};

/// A movable block of one search, with what never changes about it.
struct Item {
  std::size_t block = 0;  ///< in the problem
  std::int64_t size = 0;  ///< rounded up to the alignment
  std::int64_t lower = 0, upper = 0;
  int first_section = 0, last_section = 0;
  std::vector<int> neighbours;       ///< items that live at a common time
  std::vector<Obstacle> obstacles;   ///< fixed blocks that live at a common time, by their begin
};

/// Blocks that are linked by common times, and the moments (sections) at which a largest set of them lives.
struct Component {
  std::vector<Item> items;
  std::vector<std::vector<int>> sections;  ///< items of each section
};

/// Sections: a set of live items is largest where something ends after something has begun.
void find_sections(Component& component) {
  struct Event {
    std::int64_t time;
    bool begins;
    int item;
  };
  std::vector<Event> events;
  for (std::size_t i = 0; i < component.items.size(); ++i) {
    events.push_back({component.items[i].lower, true, static_cast<int>(i)});
    events.push_back({component.items[i].upper, false, static_cast<int>(i)});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.begins < b.begins;  // intervals are half-open: ends come first
  });
  std::vector<int> live;
  bool grown = false;
  for (const Event& event : events) {
    if (event.begins) {
      component.items[static_cast<std::size_t>(event.item)].first_section = static_cast<int>(component.sections.size());
      live.push_back(event.item);
      grown = true;
      continue;
    }
    if (grown) component.sections.push_back(live);
    grown = false;
    component.items[static_cast<std::size_t>(event.item)].last_section = static_cast<int>(component.sections.size()) - 1;
    std::erase(live, event.item);
  }
}

void find_neighbours(Component& component) {
  for (std::size_t i = 0; i < component.items.size(); ++i) {
    Item& item = component.items[i];
    for (int s = item.first_section; s <= item.last_section; ++s) {
      for (const int other : component.sections[static_cast<std::size_t>(s)]) {
        const bool new_here = s == item.first_section || component.items[static_cast<std::size_t>(other)].first_section == s;
        if (new_here && other != static_cast<int>(i)) item.neighbours.push_back(other);
      }
    }
  }
}

/// Orders in which a place is offered to blocks, and how many of them there are.
constexpr int kOrders = 4;

/// Depth-first search over skylines. The skyline of a section is the height up to which it is decided. At the lowest section
/// (of several the one with the fewest choices) either one of the open blocks that fit there lies at that height, or nothing
/// does, which wastes the bytes up to the next height at which a block could lie.
class SkylineSearch {
 public:
  SkylineSearch(const Component& component, std::int64_t capacity, std::int64_t alignment, const SearchLimits& limits)
      : component_(component), capacity_(capacity), alignment_(alignment), limits_(limits) {}

  /// Offsets of the component's items if found; counts nodes.
  SearchOutcome run(std::vector<std::int64_t>& offsets, std::int64_t& nodes) {
    std::int64_t budget = 2000;
    for (int round = 0; nodes < limits_.nodes; ++round, budget *= 2) {
      for (int kind = 0; kind < kOrders && nodes < limits_.nodes; ++kind) {
        rank_items(kind, round);
        if (!reset()) return SearchOutcome::None;
        left_ = std::min(budget, limits_.nodes - nodes);
        const std::int64_t given = left_;
        stopped_ = false;
        const bool found = solve(0, static_cast<int>(component_.sections.size()) - 1);
        nodes += given - std::max<std::int64_t>(left_, 0);
        if (found) {
          offsets = offset_;
          return SearchOutcome::Found;
        }
        if (!stopped_) return SearchOutcome::None;
        if (limits_.stop && limits_.stop()) return SearchOutcome::GaveUp;
      }
    }
    return SearchOutcome::GaveUp;
  }

 private:
  const Item& item(int i) const { return component_.items[static_cast<std::size_t>(i)]; }
  const std::vector<int>& members(int s) const { return component_.sections[static_cast<std::size_t>(s)]; }
  bool is_open(int i) const { return offset_[static_cast<std::size_t>(i)] < 0; }
  std::int64_t& floor_of(int i) { return floor_[static_cast<std::size_t>(i)]; }
  std::int64_t& skyline(int s) { return skyline_[static_cast<std::size_t>(s)]; }
  std::int64_t& open_bytes(int s) { return open_bytes_[static_cast<std::size_t>(s)]; }

  /// Lowest allowed offset from `from` on.
  std::int64_t above_obstacles(int i, std::int64_t from) const {
    for (const Obstacle& obstacle : item(i).obstacles) {
      if (obstacle.end <= from) continue;
      if (obstacle.begin >= from + item(i).size) break;
      from = round_up(obstacle.end, alignment_);
    }
    return from;
  }

  bool reset() {
    const std::size_t n = component_.items.size(), sections = component_.sections.size();
    offset_.assign(n, -1);
    floor_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      floor_[i] = above_obstacles(static_cast<int>(i), 0);
      if (floor_[i] > capacity_ - component_.items[i].size) return false;
    }
    open_bytes_.assign(sections, 0);
    skyline_.assign(sections, 0);
    joined_.assign(sections, 0);
    trail_.clear();
    for (std::size_t s = 0; s < sections; ++s) {
      for (const int i : component_.sections[s]) {
        open_bytes_[s] += item(i).size;
        if (item(i).last_section > static_cast<int>(s)) ++joined_[s];
      }
    }
    for (std::size_t s = 0; s < sections; ++s) {
      if (!settle(static_cast<int>(s))) return false;
    }
    return true;
  }

  void rank_items(int kind, int round) {
    const std::size_t n = component_.items.size();
    std::vector<double> key(n);
    std::mt19937_64 random(static_cast<std::uint64_t>(round) * kOrders + static_cast<std::uint64_t>(kind));
    for (std::size_t i = 0; i < n; ++i) {
      const Item& x = component_.items[i];
      const double width = x.last_section - x.first_section + 1, size = static_cast<double>(x.size);
      key[i] = kind == 0 ? width * size : kind == 1 ? size : kind == 2 ? width : width * size;
      const double noise = static_cast<double>(random() >> 11) * 0x1p-53;  // in [0, 1)
      if (kind == 3) key[i] *= noise + 0.1;
      if (round > 0) key[i] *= 0.7 + 0.6 * noise;
    }
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key[static_cast<std::size_t>(a)] > key[static_cast<std::size_t>(b)]; });
    rank_.resize(n);
    for (std::size_t i = 0; i < n; ++i) rank_[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  }

  /// A change to undo.
  struct Change {
    std::int64_t* where;
    std::int64_t before;
  };
  void set(std::int64_t& where, std::int64_t value) {
    trail_.push_back({&where, where});
    where = value;
  }
  void undo(std::size_t mark) {
    while (trail_.size() > mark) {
      *trail_.back().where = trail_.back().before;
      trail_.pop_back();
    }
  }

  /// Raises the skyline of a section to the lowest place that an open block could take. False if the section cannot hold
  /// what is open in it any more.
  bool settle(int s) {
    std::int64_t least = kNever;
    for (const int i : members(s)) {
      if (is_open(i)) least = std::min(least, floor_of(i));
    }
    if (least == kNever) return true;
    if (least > skyline(s)) set(skyline(s), least);
    return skyline(s) <= capacity_ - open_bytes(s);
  }

  /// Raises open items to at least `height`; notes the sections that may rise with them.
  bool raise(const std::vector<int>& items, std::int64_t height) {
    for (const int i : items) {
      if (!is_open(i) || floor_of(i) >= height) continue;
      const std::int64_t before = floor_of(i), to = above_obstacles(i, height);
      if (to > capacity_ - item(i).size) return false;
      set(floor_of(i), to);
      for (int s = item(i).first_section; s <= item(i).last_section; ++s) {
        if (skyline(s) == before) touched_.push_back(s);
      }
    }
    return true;
  }

  bool settle_touched() {
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    return std::all_of(touched_.begin(), touched_.end(), [&](int s) { return settle(s); });
  }

  bool place(int i) {
    const Item& me = item(i);
    const std::int64_t at = floor_of(i);
    set(offset_[static_cast<std::size_t>(i)], at);
    touched_.clear();
    for (int s = me.first_section; s <= me.last_section; ++s) {
      set(open_bytes(s), open_bytes(s) - me.size);
      if (s < me.last_section) set(joined_[static_cast<std::size_t>(s)], joined_[static_cast<std::size_t>(s)] - 1);
      touched_.push_back(s);
    }
    return raise(me.neighbours, at + me.size) && settle_touched();
  }

  /// Leaves section s empty at its skyline, up to `height`.
  bool leave(int s, std::int64_t height) {
    touched_.clear();
    touched_.push_back(s);
    return raise(members(s), height) && settle_touched();
  }

  /// Lowest height above the skyline of s at which an open block of s could lie if none lies at the skyline: its own floor,
  /// or the top of a block outside of s below it.
  std::int64_t next_height(int s, int from, int to) {
    const std::int64_t h = skyline(s);
    std::int64_t next = kNever;
    for (const int i : members(s)) {
      if (is_open(i) && floor_of(i) > h) next = std::min(next, floor_of(i));
    }
    for (int k = from; k <= to; ++k) {
      for (const int j : members(k)) {
        if (is_open(j) && (item(j).last_section < s || item(j).first_section > s)) next = std::min(next, floor_of(j) + item(j).size);
      }
    }
    return next;
  }

  /// Searches sections from .. to, which no open item leaves.
  bool solve(int from, int to) {
    // Parts that no open block joins are searched one by one: what fails in one is not tried again in another.
    int begin = from;
    bool several = false;
    for (int s = from; s < to; ++s) {
      if (joined_[static_cast<std::size_t>(s)] != 0) continue;
      several = true;
      if (open_bytes_in(begin, s) && !solve_part(begin, s)) return false;
      begin = s + 1;
    }
    if (!several) return !open_bytes_in(from, to) || solve_part(from, to);
    return !open_bytes_in(begin, to) || solve_part(begin, to);
  }

  bool open_bytes_in(int from, int to) const {
    for (int s = from; s <= to; ++s) {
      if (open_bytes_[static_cast<std::size_t>(s)] > 0) return true;
    }
    return false;
  }

  bool solve_part(int from, int to) {
    if (--left_ < 0 || ((left_ & 0xfff) == 0 && limits_.stop && limits_.stop())) {
      stopped_ = true;
      return false;
    }
    std::int64_t lowest = kNever;
    for (int s = from; s <= to; ++s) {
      if (open_bytes(s) > 0) lowest = std::min(lowest, skyline(s));
    }
    // Choices of each lowest section.
    int best = -1;
    int fewest = 0;
    std::int64_t best_slack = 0;
    for (int s = from; s <= to; ++s) {
      if (open_bytes(s) == 0 || skyline(s) != lowest) continue;
      int choices = 0;
      for (const int i : members(s)) choices += is_open(i) && floor_of(i) == lowest ? 1 : 0;
      const std::int64_t slack = capacity_ - lowest - open_bytes(s);
      if (slack > 0) ++choices;
      if (best < 0 || choices < fewest || (choices == fewest && slack < best_slack)) {
        best = s;
        fewest = choices;
        best_slack = slack;
      }
    }
    std::vector<int> options;
    for (const int i : members(best)) {
      if (is_open(i) && floor_of(i) == lowest) options.push_back(i);
    }
    std::sort(options.begin(), options.end(), [&](int a, int b) { return rank_[static_cast<std::size_t>(a)] < rank_[static_cast<std::size_t>(b)]; });
    for (std::size_t k = 0; k < options.size(); ++k) {
      if (has_twin(options, k)) continue;
      const std::size_t mark = trail_.size();
      if (place(options[k]) && solve(from, to)) return true;
      undo(mark);
      if (stopped_) return false;
    }
    if (best_slack <= 0) return false;
    const std::int64_t next = next_height(best, from, to);
    if (next == kNever || next - lowest > best_slack) return false;
    const std::size_t mark = trail_.size();
    if (leave(best, next) && solve(from, to)) return true;
    undo(mark);
    return false;
  }

  /// Whether an earlier option is the same in size and times.
  bool has_twin(const std::vector<int>& options, std::size_t k) const {
    const Item& me = item(options[k]);
    for (std::size_t e = 0; e < k; ++e) {
      const Item& other = item(options[e]);
      if (other.size == me.size && other.first_section == me.first_section && other.last_section == me.last_section &&
          other.obstacles.empty() && me.obstacles.empty())
        return true;
    }
    return false;
  }

  const Component& component_;
  std::int64_t capacity_, alignment_;
  const SearchLimits& limits_;
  std::vector<int> rank_;                  ///< per item: place in the order of trying
  std::vector<std::int64_t> offset_;       ///< -1: open
  std::vector<std::int64_t> floor_;        ///< lowest offset that is left to an item
  std::vector<std::int64_t> open_bytes_;   ///< per section
  std::vector<std::int64_t> skyline_;      ///< per section: the least floor of its open items
  std::vector<std::int64_t> joined_;       ///< per section: open items that also live in the next one
  std::vector<Change> trail_;
  std::vector<int> touched_;
  std::int64_t left_ = 0;
  bool stopped_ = false;
};

/// Movable blocks that share no time are searched apart.
std::vector<Component> components_of(const ArenaProblem& problem) {
  std::vector<std::size_t> movable;
  for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
    const ArenaBlock& block = problem.blocks[b];
    if (!block.offset && block.size > 0 && block.lower < block.upper) movable.push_back(b);
  }
  std::stable_sort(movable.begin(), movable.end(),
                   [&](std::size_t a, std::size_t b) { return problem.blocks[a].lower < problem.blocks[b].lower; });
  std::vector<Component> components;
  std::int64_t end = 0;
  for (const std::size_t b : movable) {
    const ArenaBlock& block = problem.blocks[b];
    if (components.empty() || block.lower >= end) components.emplace_back();
    end = components.back().items.empty() ? block.upper : std::max(end, block.upper);
    Item item;
    item.block = b;
    item.size = round_up(block.size, problem.alignment);
    item.lower = block.lower;
    item.upper = block.upper;
    for (const ArenaBlock& other : problem.blocks) {
      if (other.offset && other.size > 0 && other.lower < block.upper && block.lower < other.upper)
        item.obstacles.push_back({*other.offset, *other.offset + other.size});
    }
    std::sort(item.obstacles.begin(), item.obstacles.end(), [](const Obstacle& x, const Obstacle& y) { return x.begin < y.begin; });
    components.back().items.push_back(std::move(item));
  }
  for (Component& component : components) {
    find_sections(component);
    find_neighbours(component);
  }
  return components;
}

}  // namespace

SearchOutcome search_offsets(const ArenaProblem& problem, std::int64_t capacity, const SearchLimits& limits,
                             std::vector<std::int64_t>& offsets) {
  RHINO_ASSERT(problem.alignment > 0, "alignment {}", problem.alignment);
  std::vector<std::int64_t> found(problem.blocks.size(), 0);
  for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
    const ArenaBlock& block = problem.blocks[b];
    if (!block.offset) continue;
    found[b] = *block.offset;
    if (block.size > 0 && block.lower < block.upper && *block.offset > capacity - block.size) return SearchOutcome::None;
  }
  bool gave_up = false;
  std::int64_t nodes = 0;
  for (const Component& component : components_of(problem)) {
    std::vector<std::int64_t> local;
    const SearchOutcome outcome = SkylineSearch(component, capacity, problem.alignment, limits).run(local, nodes);
    if (outcome == SearchOutcome::None) return SearchOutcome::None;
    if (outcome == SearchOutcome::GaveUp) {
      gave_up = true;
      continue;
    }
    for (std::size_t i = 0; i < local.size(); ++i) found[component.items[i].block] = local[i];
  }
  if (gave_up) return SearchOutcome::GaveUp;
  offsets = std::move(found);
  return SearchOutcome::Found;
}

}  // namespace rhino::memory
