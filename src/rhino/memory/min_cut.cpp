// SPDX-License-Identifier: Apache-2.0
#include <rhino/memory/min_cut.hpp>

#include <algorithm>

namespace rhino::memory {
namespace {

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

}  // namespace

std::int32_t FlowNetwork::add_arc(std::int32_t from, std::int32_t to, std::int64_t capacity) {
  const auto arc = static_cast<std::int32_t>(arcs_.size());
  arcs_.push_back({to, first_[at(from)], capacity});
  first_[at(from)] = arc;
  arcs_.push_back({from, first_[at(to)], 0});
  first_[at(to)] = arc + 1;
  return arc;
}

/// Levels count from the sink, so that only nodes that still reach it are walked.
bool FlowNetwork::level(std::int32_t source, std::int32_t sink, std::int64_t& work) {
  level_.assign(first_.size(), -1);
  std::vector<std::int32_t> queue{sink};
  level_[at(sink)] = 0;
  for (std::size_t head = 0; head < queue.size() && level_[at(source)] < 0; ++head) {
    for (std::int32_t a = first_[at(queue[head])]; a >= 0; a = arcs_[at(a)].next) {
      --work;
      const std::int32_t to = arcs_[at(a)].to;
      if (level_[at(to)] >= 0 || arcs_[at(a ^ 1)].left == 0) continue;
      level_[at(to)] = level_[at(queue[head])] + 1;
      queue.push_back(to);
    }
  }
  return level_[at(source)] >= 0;
}

bool FlowNetwork::augment(std::int32_t source, std::int32_t sink, std::int64_t& work) {
  current_ = first_;
  std::vector<std::int32_t> path;
  std::int32_t node = source;
  while (work > 0) {
    if (node == sink) {
      std::size_t tight = 0;
      for (std::size_t i = 1; i < path.size(); ++i)
        if (arcs_[at(path[i])].left < arcs_[at(path[tight])].left) tight = i;
      const std::int64_t bytes = arcs_[at(path[tight])].left;
      for (const auto a : path) {
        arcs_[at(a)].left -= bytes;
        arcs_[at(a ^ 1)].left += bytes;
      }
      work -= static_cast<std::int64_t>(path.size());
      node = arcs_[at(path[tight] ^ 1)].to;
      path.resize(tight);
      continue;
    }
    std::int32_t& a = current_[at(node)];
    while (a >= 0 && (arcs_[at(a)].left == 0 || level_[at(arcs_[at(a)].to)] != level_[at(node)] - 1)) {
      --work;
      a = arcs_[at(a)].next;
    }
    if (a >= 0) {
      path.push_back(a);
      node = arcs_[at(a)].to;
    } else if (path.empty()) {
      return true;
    } else {
      level_[at(node)] = -1;
      node = arcs_[at(path.back() ^ 1)].to;
      path.pop_back();
    }
  }
  return false;
}

bool FlowNetwork::run(std::int32_t source, std::int32_t sink, std::int64_t& work) {
  while (work > 0 && level(source, sink, work))
    if (!augment(source, sink, work)) return false;
  return work > 0;
}

std::vector<bool> FlowNetwork::reached_from(std::int32_t source) const {
  std::vector<bool> seen(first_.size(), false);
  std::vector<std::int32_t> stack{source};
  seen[at(source)] = true;
  while (!stack.empty()) {
    const std::int32_t node = stack.back();
    stack.pop_back();
    for (std::int32_t a = first_[at(node)]; a >= 0; a = arcs_[at(a)].next) {
      const Arc& arc = arcs_[at(a)];
      if (arc.left == 0 || seen[at(arc.to)]) continue;
      seen[at(arc.to)] = true;
      stack.push_back(arc.to);
    }
  }
  return seen;
}

std::vector<bool> FlowNetwork::reaching(std::int32_t sink) const {
  std::vector<bool> seen(first_.size(), false);
  std::vector<std::int32_t> stack{sink};
  seen[at(sink)] = true;
  while (!stack.empty()) {
    const std::int32_t node = stack.back();
    stack.pop_back();
    for (std::int32_t a = first_[at(node)]; a >= 0; a = arcs_[at(a)].next) {
      const std::int32_t to = arcs_[at(a)].to;
      if (arcs_[at(a ^ 1)].left == 0 || seen[at(to)]) continue;
      seen[at(to)] = true;
      stack.push_back(to);
    }
  }
  return seen;
}

}  // namespace rhino::memory
