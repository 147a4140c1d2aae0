// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/reference/virtual_ranks.hpp>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/kernels/reference/op_context.hpp>

namespace rhino::kernels::reference {
namespace {

using Group = std::vector<std::int64_t>;

/// The process numbers that the ids of one group stand for, seen from `process`; in group order.
Group processes_of(const Group& ids, ir::GroupMode mode, const RankGrid& grid, std::int64_t process) {
  const std::int64_t replica = process / grid.partitions, partition = process % grid.partitions;
  const auto check = [](std::int64_t id, std::int64_t count, const char* what) {
    RHINO_CHECK(id < count, "a collective names {} {}, there are {}", what, id, count);
    return id;
  };
  Group group;
  if (mode == ir::GroupMode::CrossReplicaAndPartition) {
    for (std::int64_t p = 0; p < grid.partitions; ++p)
      for (const std::int64_t id : ids)
        if (id >= 0) group.push_back(check(id, grid.replicas, "replica") * grid.partitions + p);
    return group;
  }
  for (const std::int64_t id : ids) {
    if (id < 0) continue;  // fills up groups of unequal size
    switch (mode) {
      case ir::GroupMode::CrossReplica:
        group.push_back(check(id, grid.replicas, "replica") * grid.partitions + partition);
        break;
      case ir::GroupMode::CrossPartition:
        group.push_back(replica * grid.partitions + check(id, grid.partitions, "partition"));
        break;
      case ir::GroupMode::FlattenedIds:
      case ir::GroupMode::CrossReplicaAndPartition:
        group.push_back(check(id, grid.size(), "process"));
        break;
    }
  }
  return group;
}

/// All ids of the axis that a mode counts.
Group all_ids(ir::GroupMode mode, const RankGrid& grid) {
  std::int64_t count = grid.size();
  if (mode == ir::GroupMode::CrossReplica || mode == ir::GroupMode::CrossReplicaAndPartition) count = grid.replicas;
  if (mode == ir::GroupMode::CrossPartition) count = grid.partitions;
  Group ids(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<std::int64_t>(i);
  return ids;
}

/// Thrown in a rank that stops because another one failed.
struct Stopped {};

/// Where the ranks meet. A rank that comes to a collective leaves its tensor and waits; the last member of the group to
/// come hands the tensors out.
class Board {
 public:
  explicit Board(std::size_t ranks) : slots_(ranks), running_(ranks) {}

  std::vector<std::shared_ptr<const Tensor>> meet(std::int64_t rank, const Group& group, const ir::Op& op,
                                                  const Tensor& mine) {
    std::unique_lock lock(mutex_);
    if (stopped_) throw Stopped{};
    Slot& slot = slots_[static_cast<std::size_t>(rank)];
    slot.waiting = true;
    slot.group = &group;
    slot.op = &op;
    slot.mine = &mine;
    slot.received.clear();
    --running_;
    if (all_here(group)) {
      hand_out(group);
    } else if (running_ == 0) {
      stop_for_deadlock();
    }
    slot.ready.wait(lock, [&] { return !slot.waiting || stopped_; });
    if (stopped_) throw Stopped{};
    return std::move(slot.received);
  }

  /// A rank has ended; those that wait for it never get on.
  void leave() {
    const std::lock_guard lock(mutex_);
    --running_;
    if (running_ == 0 && !stopped_ && any_waiting()) stop_for_deadlock();
  }

  /// A rank has failed.
  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    --running_;
    stop(std::move(error));
  }

  std::exception_ptr error() const { return error_; }

 private:
  struct Slot {
    bool waiting = false;
    const Group* group = nullptr;
    const ir::Op* op = nullptr;
    const Tensor* mine = nullptr;
    std::vector<std::shared_ptr<const Tensor>> received;
    std::condition_variable ready;
  };

  Slot& slot_of(std::int64_t rank) { return slots_[static_cast<std::size_t>(rank)]; }

  bool all_here(const Group& group) {
    return std::all_of(group.begin(), group.end(), [&](std::int64_t member) {
      const Slot& slot = slot_of(member);
      return slot.waiting && *slot.group == group;
    });
  }

  bool any_waiting() const {
    return std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.waiting; });
  }

  void hand_out(const Group& group) {
    const Slot& first = slot_of(group[0]);
    for (const std::int64_t member : group) {
      const Slot& slot = slot_of(member);
      const auto& here = slot.op->as<ir::CollectiveAttrs>();
      const auto& there = first.op->as<ir::CollectiveAttrs>();
      if (slot.op->kind != first.op->kind || here.channel != there.channel)
        return stop_with(
            fmt::format("ranks {} and {} of one group meet in different ops: {} (channel {}) and {} (channel {})",
                        group[0], member, describe(*first.op), there.channel, describe(*slot.op), here.channel));
    }
    std::vector<std::shared_ptr<const Tensor>> parts;
    for (const std::int64_t member : group)
      parts.push_back(std::make_shared<Tensor>(*slot_of(member).mine));
    for (const std::int64_t member : group) {
      Slot& slot = slot_of(member);
      slot.received = parts;
      slot.waiting = false;
      ++running_;
      slot.ready.notify_one();
    }
  }

  void stop_for_deadlock() {
    std::string waiting;
    for (std::size_t r = 0; r < slots_.size(); ++r)
      if (slots_[r].waiting)
        waiting += fmt::format("{}rank {} in {} for ranks {}", waiting.empty() ? "" : "; ", r, describe(*slots_[r].op),
                               fmt::join(*slots_[r].group, ","));
    stop_with("deadlock, every rank that still runs waits: " + waiting);
  }

  void stop_with(const std::string& message) { stop(std::make_exception_ptr(InputError(message, RHINO_HERE))); }

  void stop(std::exception_ptr error) {
    if (!stopped_) error_ = std::move(error);
    stopped_ = true;
    for (Slot& slot : slots_)
      slot.ready.notify_one();
  }

  std::mutex mutex_;
  std::vector<Slot> slots_;
  std::size_t running_;  ///< ranks that neither wait nor have ended
  bool stopped_ = false;
  std::exception_ptr error_;
};

/// One rank's view of the board.
class RankPeers : public Peers {
 public:
  RankPeers(Board& board, const RankGrid& grid, std::int64_t rank) : board_(board), grid_(grid), rank_(rank) {}

  std::int64_t partition_id() const override { return rank_ % grid_.partitions; }
  std::int64_t replica_id() const override { return rank_ / grid_.partitions; }

  Exchanged exchange(const ir::Op& op, const Tensor& mine) override {
    const Group group = process_group(op.as<ir::CollectiveAttrs>(), grid_, rank_);
    if (group.empty()) return {};
    Exchanged exchanged;
    exchanged.position = position_in(group, op);
    exchanged.parts = board_.meet(rank_, group, op, mine);
    return exchanged;
  }

  std::shared_ptr<const Tensor> permute(const ir::Op& op, const Tensor& mine) override {
    const auto& attrs = op.as<ir::CollectiveAttrs>();
    Group members;
    std::int64_t source = -1;
    for (const auto& ids : *attrs.groups) {
      const Group pair = processes_of(ids, attrs.mode, grid_, rank_);
      RHINO_CHECK(pair.size() == 2, "{}: a source-target pair has {} entries", describe(op), pair.size());
      if (pair[1] == rank_) {
        RHINO_CHECK(source < 0, "{}: process {} receives twice", describe(op), rank_);
        source = pair[0];
      }
      members.insert(members.end(), pair.begin(), pair.end());
    }
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    if (!std::binary_search(members.begin(), members.end(), rank_)) return nullptr;
    const auto parts = board_.meet(rank_, members, op, mine);
    if (source < 0) return nullptr;
    return parts[static_cast<std::size_t>(std::lower_bound(members.begin(), members.end(), source) - members.begin())];
  }

 private:
  std::size_t position_in(const Group& group, const ir::Op& op) const {
    const auto count = std::count(group.begin(), group.end(), rank_);
    RHINO_CHECK(count == 1, "{}: process {} is {} times in its group", describe(op), rank_, count);
    return static_cast<std::size_t>(std::find(group.begin(), group.end(), rank_) - group.begin());
  }

  Board& board_;
  const RankGrid& grid_;
  std::int64_t rank_;
};

}  // namespace

std::vector<std::int64_t> process_group(const ir::CollectiveAttrs& attrs, const RankGrid& grid, std::int64_t process) {
  Group mine;
  const auto take_if_member = [&](const Group& ids) {
    const Group group = processes_of(ids, attrs.mode, grid, process);
    if (std::find(group.begin(), group.end(), process) == group.end()) return;
    RHINO_CHECK(mine.empty(), "process {} is in two groups of one collective", process);
    mine = group;
  };
  const bool any = attrs.groups != nullptr && std::any_of(attrs.groups->begin(), attrs.groups->end(),
                                                          [](const Group& ids) { return !ids.empty(); });
  if (any) {
    for (const auto& ids : *attrs.groups)
      take_if_member(ids);
  } else {
    take_if_member(all_ids(attrs.mode, grid));
  }
  return mine;
}

std::vector<std::vector<Tensor>> run_ranks(const RankGrid& grid, std::vector<VirtualRank> ranks,
                                           const RankOptions& options) {
  RHINO_CHECK(static_cast<std::int64_t>(ranks.size()) == grid.size(), "{} ranks for a grid of {} x {}", ranks.size(),
              grid.replicas, grid.partitions);
  Board board(ranks.size());
  std::vector<std::vector<Tensor>> results(ranks.size());
  const auto run_one = [&](std::size_t r) noexcept {
    try {
      RankPeers peers(board, grid, static_cast<std::int64_t>(r));
      RunOptions run_options;
      run_options.peers = &peers;
      run_options.on_custom_call = options.on_custom_call;
      if (options.on_op)
        run_options.on_op = [&, r](ir::OpId op, std::span<const Tensor> values) { options.on_op(r, op, values); };
      results[r] = run(*ranks[r].program, ranks[r].function, std::move(ranks[r].arguments), run_options);
      board.leave();
    } catch (const Stopped&) {
    } catch (...) {
      board.fail(std::current_exception());
    }
  };
  // The calling thread is one of the ranks.
  std::vector<std::thread> threads;
  threads.reserve(ranks.size());
  std::exception_ptr no_thread;
  for (std::size_t r = 1; r < ranks.size(); ++r) {
    try {
      threads.emplace_back(run_one, r);
    } catch (const std::system_error& error) {
      no_thread = std::make_exception_ptr(EnvironmentError(
          fmt::format("cannot start a thread for virtual rank {} of {}: {}", r, ranks.size(), error.what()),
          RHINO_HERE));
      board.fail(no_thread);
      break;
    }
  }
  if (!no_thread && !ranks.empty()) run_one(0);
  for (auto& thread : threads)
    thread.join();
  if (board.error()) std::rethrow_exception(board.error());
  return results;
}

}  // namespace rhino::kernels::reference
