// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include <rhino/base/error.hpp>
#include <rhino/lower/rank_program.hpp>

namespace rhino::lower {

namespace {

struct Range {
  std::int64_t begin = 0, end = 0;
  bool contains(const Range& other) const { return begin <= other.begin && other.end <= end; }
};

/// Follows one step through the task list and remembers, byte by byte, which write left what is there.
class Walker {
 public:
  explicit Walker(const RankProgram& program) : program_(program) {}

  void run() {
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      const Buffer& buffer = program_.buffers[i];
      RHINO_ASSERT(buffer.offset >= 0 && buffer.offset + buffer.type.bytes() <= program_.arena_bytes,
                   "buffer {} at {} with {} bytes leaves the arena of {}", i, buffer.offset, buffer.type.bytes(),
                   program_.arena_bytes);
      RHINO_ASSERT(buffer.offset % static_cast<std::int64_t>(ir::dtype_bytes(buffer.type.dtype)) == 0,
                   "buffer {} of {} at odd offset {}", i, ir::to_string(buffer.type), buffer.offset);
    }
    for (const auto& [id, literal] : program_.constants) {
      RHINO_ASSERT(buffer(id).type == literal.type(), "constant of type {} in buffer {}", ir::to_string(literal.type()),
                   id.index());
      write(id);
    }
    for (const StateSlot& slot : program_.state) write(slot.current);
    for (const BatchSlot& slot : program_.batch) write(slot.buffer);
    tasks(program_.tasks);
    for (const StateSlot& slot : program_.state) read(slot.next, "state after the step");
    for (const ResultSlot& slot : program_.results) read(slot.buffer, "result");
    RHINO_ASSERT(open_.empty(), "{} collectives are never awaited", open_.size());
  }

 private:
  const Buffer& buffer(BufferId id) const {
    RHINO_ASSERT(id.valid() && id.index() < program_.buffers.size(), "buffer number {} of {}", id.index(),
                 program_.buffers.size());
    return program_.buffers[id.index()];
  }
  Range range(BufferId id) const {
    const Buffer& b = buffer(id);
    return {b.offset, b.offset + b.type.bytes()};
  }

  void write(BufferId id) {
    const Range r = range(id);
    if (r.begin == r.end) return;
    // Cut what overlaps, keep the rest.
    auto it = owners_.upper_bound(r.begin);
    if (it != owners_.begin()) --it;
    while (it != owners_.end() && it->first < r.end) {
      const std::int64_t begin = it->first;
      const auto [end, owner] = it->second;
      if (end <= r.begin) {
        ++it;
        continue;
      }
      it = owners_.erase(it);
      if (begin < r.begin) owners_.emplace(begin, Owner{r.begin, owner});
      if (end > r.end) it = owners_.emplace(r.end, Owner{end, owner}).first;
    }
    owners_[r.begin] = {r.end, r};
  }

  /// What is read must have been written as a whole, or by writes that are whole parts of it.
  void read(BufferId id, const std::string& what) {
    const Range r = range(id);
    for (const auto& [request, ranges] : open_) {
      RHINO_ASSERT(r.begin >= ranges.receive.end || ranges.receive.begin >= r.end || r.begin == r.end,
                   "{} reads buffer {} while request {} still fills it", what, id.index(), request);
    }
    std::int64_t at = r.begin;
    while (at < r.end) {
      auto it = owners_.upper_bound(at);
      RHINO_ASSERT(it != owners_.begin(), "{} reads buffer {}, byte {} of which nothing wrote", what, id.index(), at - r.begin);
      --it;
      RHINO_ASSERT(it->second.end > at, "{} reads buffer {}, byte {} of which nothing wrote", what, id.index(), at - r.begin);
      const Range& owner = it->second.owner;
      RHINO_ASSERT(owner.contains(r) || r.contains(owner), "{} reads buffer {} (bytes {} to {}), part of which a write to bytes {} to {} replaced",
                   what, id.index(), r.begin, r.end, owner.begin, owner.end);
      at = it->second.end;
    }
  }

  void tasks(const std::vector<Task>& list) {
    for (const Task& task : list) std::visit([&](const auto& body) { visit(body, task.name); }, task.body);
  }

  void visit(const FusedTask& task, const std::string& name) {
    RHINO_ASSERT(task.inputs.size() == task.expression.inputs.size() && task.outputs.size() == task.expression.outputs.size(),
                 "fused task {} with {} inputs and {} outputs", name, task.inputs.size(), task.outputs.size());
    for (BufferId id : task.inputs) read(id, name);
    if (task.workspace.valid()) write(task.workspace);
    for (BufferId id : task.outputs) write(id);
  }
  void visit(const KernelTask& task, const std::string& name) {
    for (BufferId id : task.operands) read(id, name);
    if (task.workspace.valid()) write(task.workspace);
    for (BufferId id : task.results) write(id);
  }
  void visit(const CopyTask& task, const std::string& name) {
    RHINO_ASSERT(buffer(task.from).type.bytes() == buffer(task.to).type.bytes(), "copy {} between unequal buffers", name);
    read(task.from, name);
    write(task.to);
  }
  void visit(const CollectiveTask& task, const std::string& name) {
    if (task.parts.empty()) {
      read(task.send, name);
    } else {
      for (BufferId part : task.parts) read(part, name);
    }
    const bool added = open_.emplace(task.request, Open{range(task.send), range(task.receive)}).second;
    RHINO_ASSERT(added, "request {} is started twice ({})", task.request, name);
    write(task.receive);
    for (BufferId part : task.parts) write(part);
  }
  void visit(const WaitTask& task, const std::string& name) {
    RHINO_ASSERT(open_.erase(task.request) == 1, "request {} is awaited but was not started ({})", task.request, name);
  }
  void visit(const LoopTask& task, const std::string& name) {
    // Two rounds: the second one reads what the first left behind.
    for (int round = 0; round < 2; ++round) {
      tasks(task.condition);
      read(task.predicate, name);
      tasks(task.body);
    }
    tasks(task.condition);
    read(task.predicate, name);
  }
  void visit(const BranchTask& task, const std::string& name) {
    read(task.index, name);
    const auto before = owners_;
    for (std::size_t i = 0; i < task.branches.size(); ++i) {
      owners_ = before;
      tasks(task.branches[i]);
    }
  }

  struct Owner {
    std::int64_t end = 0;
    Range owner;
  };
  struct Open {
    Range send, receive;
  };

  const RankProgram& program_;
  std::map<std::int64_t, Owner> owners_;     // begin -> end and the write that it came from
  std::map<std::uint32_t, Open> open_;       // requests in flight
};

}  // namespace

void verify(const RankProgram& program) { Walker(program).run(); }

}  // namespace rhino::lower
