// SPDX-License-Identifier: Apache-2.0
#include <rhino/memory/order_window.hpp>

#include <algorithm>
#include <bit>
#include <queue>
#include <unordered_map>

#include <rhino/base/error.hpp>

namespace rhino::memory {
namespace {

using Set = std::uint64_t;

struct Piece {
  std::int64_t bytes;
  std::int32_t producer;  ///< number in the window; -1: exists before it
  Set users;              ///< those in the window
  bool kept;              ///< needed behind the window
};

struct State {
  std::int64_t peak, live;
  Set set;
  /// Lower peaks first, of these the fuller sets.
  bool operator<(const State& other) const {
    if (peak != other.peak) return peak > other.peak;
    const int mine = std::popcount(set), others = std::popcount(other.set);
    if (mine != others) return mine < others;
    return live != other.live ? live > other.live : set > other.set;
  }
};

struct Step {
  std::int64_t peak;
  std::int8_t last;
  bool closed;
};

class Window {
 public:
  Window(const OrderIndex& index, std::span<const std::int32_t> order, std::span<const std::int32_t> position, std::int32_t begin,
         std::int32_t end)
      : index_(index), order_(order), position_(position), begin_(begin), end_(end), count_(end - begin) {
    RHINO_ASSERT(count_ > 0 && count_ <= 64);
    preds_.resize(at(count_), 0);
    touched_.resize(at(count_));
    made_.resize(at(count_), 0);
    workspace_.resize(at(count_));
    for (std::int32_t i = 0; i < count_; ++i) {
      const std::int32_t v = order[at(begin + i)];
      for (const auto p : index.graph.preds[at(v)])
        if (const Set bit = bit_of(p)) preds_[at(i)] |= bit;
      workspace_[at(i)] = index.graph.workspace[at(v)];
    }
    collect_pieces();
  }

  std::vector<std::int32_t> solve(std::int64_t limit, std::int64_t states) {
    const Set full = count_ == 64 ? ~Set{0} : (Set{1} << count_) - 1;
    std::unordered_map<Set, Step> best;
    std::priority_queue<State> open;
    open.push({0, base_, 0});
    best[0] = {0, -1, false};
    while (!open.empty() && states-- > 0) {
      const State state = open.top();
      open.pop();
      Step& step = best[state.set];
      if (step.closed) continue;
      step.closed = true;
      if (state.set == full) return path(best, full);
      for (std::int32_t i = 0; i < count_; ++i) {
        const Set bit = Set{1} << i;
        if ((state.set & bit) || (preds_[at(i)] & ~state.set)) continue;
        const std::int64_t peak = std::max(state.peak, state.live + made_[at(i)] + workspace_[at(i)]);
        if (peak >= limit) continue;
        const Set next = state.set | bit;
        const auto [found, fresh] = best.try_emplace(next, Step{peak, static_cast<std::int8_t>(i), false});
        if (!fresh && (found->second.closed || found->second.peak <= peak)) continue;
        found->second = {peak, static_cast<std::int8_t>(i), false};
        open.push({peak, state.live + made_[at(i)] - freed(i, next), next});
      }
    }
    return {};
  }

 private:
  Set bit_of(std::int32_t op) const {
    const std::int32_t p = position_[at(op)];
    return p >= begin_ && p < end_ ? Set{1} << (p - begin_) : 0;
  }

  void collect_pieces() {
    std::vector<std::int32_t> seen;
    for (std::int32_t i = 0; i < count_; ++i) {
      const std::int32_t v = order_[at(begin_ + i)];
      seen.insert(seen.end(), index_.makes[at(v)].begin(), index_.makes[at(v)].end());
      seen.insert(seen.end(), index_.touches[at(v)].begin(), index_.touches[at(v)].end());
    }
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    for (const auto b : seen) {
      const OrderBuffer& buffer = index_.graph.buffers[at(b)];
      Piece piece{buffer.bytes, -1, 0, buffer.live_out};
      if (buffer.producer >= 0 && bit_of(buffer.producer)) piece.producer = position_[at(buffer.producer)] - begin_;
      for (const auto u : buffer.users) {
        piece.users |= bit_of(u);
        piece.kept = piece.kept || position_[at(u)] >= end_;
      }
      const auto number = static_cast<std::int32_t>(pieces_.size());
      if (piece.producer >= 0) made_[at(piece.producer)] += piece.bytes;
      if (piece.producer >= 0 && piece.users == 0) touched_[at(piece.producer)].push_back(number);
      for (Set rest = piece.users; rest; rest &= rest - 1) touched_[at(std::countr_zero(rest))].push_back(number);
      pieces_.push_back(piece);
    }
    // Bytes live before the window, of what it touches and of what passes by.
    for (const OrderBuffer& buffer : index_.graph.buffers) {
      if (buffer.bytes == 0 || (buffer.producer >= 0 && position_[at(buffer.producer)] >= begin_)) continue;
      bool needed = buffer.live_out;
      for (const auto u : buffer.users) needed = needed || position_[at(u)] >= begin_;
      if (needed) base_ += buffer.bytes;
    }
  }

  std::int64_t freed(std::int32_t i, Set done) const {
    std::int64_t bytes = 0;
    for (const auto p : touched_[at(i)]) {
      const Piece& piece = pieces_[at(p)];
      if (!piece.kept && (piece.users & ~done) == 0) bytes += piece.bytes;
    }
    return bytes;
  }

  std::vector<std::int32_t> path(const std::unordered_map<Set, Step>& best, Set set) const {
    std::vector<std::int32_t> result;
    while (set) {
      const std::int32_t i = best.at(set).last;
      result.push_back(order_[at(begin_ + i)]);
      set &= ~(Set{1} << i);
    }
    std::reverse(result.begin(), result.end());
    return result;
  }

  const OrderIndex& index_;
  std::span<const std::int32_t> order_, position_;
  std::int32_t begin_, end_, count_;
  std::vector<Set> preds_;
  std::vector<Piece> pieces_;
  std::vector<std::vector<std::int32_t>> touched_;  ///< per op: pieces that it may be the last to need
  std::vector<std::int64_t> made_, workspace_;
  std::int64_t base_ = 0;
};

}  // namespace

std::vector<std::int32_t> best_window(const OrderIndex& index, std::span<const std::int32_t> order,
                                      std::span<const std::int32_t> position, std::int32_t begin, std::int32_t end,
                                      std::int64_t limit, std::int64_t states) {
  return Window(index, order, position, begin, end).solve(limit, states);
}

}  // namespace rhino::memory
