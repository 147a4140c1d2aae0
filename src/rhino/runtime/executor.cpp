// SPDX-License-Identifier: Apache-2.0
#include <rhino/runtime/executor.hpp>

#include <array>
#include <chrono>
#include <cstring>

#include <fmt/core.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::runtime {

using lower::BufferId;

/// A task with its kernel made; nested lists for loops and branches.
struct Executor::Prepared {
  const lower::Task* task = nullptr;
  std::unique_ptr<kernels::Kernel> kernel;
  std::vector<BufferId> operands, results;
  BufferId workspace;
  std::vector<std::vector<Prepared>> nested;
};

Executor::~Executor() = default;

namespace {

/// Runs `body` and names the op in the message of what it throws.
template <class Body>
void within(const std::string& op, Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", op, error.what()), {error.file(), error.line()});
  }
}

}  // namespace

Executor::Executor(const lower::RankProgram& program, const kernels::Backend& backend, comm::Communicator& communicator,
                   std::unique_ptr<device::Arena> arena)
    : program_(program), backend_(backend), communicator_(communicator), arena_(std::move(arena)) {
  RHINO_ASSERT(arena_->bytes() >= program.arena_bytes, "arena of {} bytes for a program of {}", arena_->bytes(),
               program.arena_bytes);
  for (const lower::Buffer& buffer : program.buffers) address_.push_back(arena_->data() + buffer.offset);
  for (const auto& members : program.groups) groups_.push_back(communicator.make_group(members));
  requests_.assign(program.requests, 0);
  for (const auto& [id, literal] : program.constants) {
    const std::vector<std::byte> bytes = literal.expanded_bytes();
    std::memcpy(address(id), bytes.data(), bytes.size());
  }
  for (const lower::StateSlot& slot : program.state) {
    if (slot.current == slot.next) continue;
    Swap swap;
    const lower::Buffer& current = program.buffers[slot.current.index()];
    const lower::Buffer& next = program.buffers[slot.next.index()];
    swap.distance = next.offset - current.offset;
    const auto inside = [](const lower::Buffer& buffer, const lower::Buffer& block) {
      return block.offset <= buffer.offset && buffer.offset < block.offset + block.type.bytes();
    };
    for (std::size_t i = 0; i < program.buffers.size(); ++i) {
      if (inside(program.buffers[i], current)) swap.current.push_back(i);
      if (inside(program.buffers[i], next)) swap.next.push_back(i);
    }
    swaps_.push_back(std::move(swap));
  }
  tasks_ = prepare(program.tasks);
}

std::vector<Executor::Prepared> Executor::prepare(const std::vector<lower::Task>& tasks) {
  std::vector<Prepared> prepared;
  prepared.reserve(tasks.size());
  for (const lower::Task& task : tasks) {
    Prepared p;
    p.task = &task;
    if (const auto* fused = std::get_if<lower::FusedTask>(&task.body)) {
      p.kernel = backend_.make_fused(fused->expression);
      p.operands = fused->inputs;
      p.results = fused->outputs;
      p.workspace = fused->workspace;
    } else if (const auto* kernel = std::get_if<lower::KernelTask>(&task.body)) {
      const ir::Function& function = program_.program.function(kernel->function);
      p.kernel = backend_.make(program_.program, function, function.op(kernel->op));
      p.operands = kernel->operands;
      p.results = kernel->results;
      p.workspace = kernel->workspace;
    } else if (const auto* loop = std::get_if<lower::LoopTask>(&task.body)) {
      p.nested.push_back(prepare(loop->condition));
      p.nested.push_back(prepare(loop->body));
    } else if (const auto* branch = std::get_if<lower::BranchTask>(&task.body)) {
      for (const auto& tasks_of_branch : branch->branches) p.nested.push_back(prepare(tasks_of_branch));
    }
    if (p.kernel) {
      const std::int64_t have = p.workspace.valid() ? program_.buffers[p.workspace.index()].type.bytes() : 0;
      RHINO_ASSERT(p.kernel->workspace_bytes() <= have, "{} needs {} bytes of workspace and has {}", task.name,
                   p.kernel->workspace_bytes(), have);
    }
    prepared.push_back(std::move(p));
  }
  return prepared;
}

void Executor::run_step() { run(tasks_); }

void Executor::advance() {
  for (Swap& swap : swaps_) {
    for (std::size_t i : swap.current) address_[i] += swap.distance;
    for (std::size_t i : swap.next) address_[i] -= swap.distance;
    swap.distance = -swap.distance;
  }
}

void Executor::run(const std::vector<Prepared>& tasks) {
  for (const Prepared& task : tasks) {
    run_one(task);
  }
}

void Executor::run_one(const Prepared& prepared) {
  if (prepared.kernel) {
    constexpr std::size_t few = 16;
    std::array<const void*, few> operand_array;
    std::array<void*, few> result_array;
    std::vector<const void*> operand_list;
    std::vector<void*> result_list;
    std::span<const void*> operands(operand_array.data(), std::min(few, prepared.operands.size()));
    std::span<void*> results(result_array.data(), std::min(few, prepared.results.size()));
    if (prepared.operands.size() > few) {
      operand_list.resize(prepared.operands.size());
      operands = operand_list;
    }
    if (prepared.results.size() > few) {
      result_list.resize(prepared.results.size());
      results = result_list;
    }
    for (std::size_t i = 0; i < prepared.operands.size(); ++i) operands[i] = address_[prepared.operands[i].index()];
    for (std::size_t i = 0; i < prepared.results.size(); ++i) results[i] = address_[prepared.results[i].index()];
    void* workspace = prepared.workspace.valid() ? address_[prepared.workspace.index()] : nullptr;
    within(prepared.task->name, [&] {
      prepared.kernel->run(operands, results, workspace);
      communicator_.progress();
    });
    return;
  }
  const lower::Task& task = *prepared.task;
  if (const auto* collective = std::get_if<lower::CollectiveTask>(&task.body)) {
    within(task.name, [&] { start(*collective); });
  } else if (const auto* wait = std::get_if<lower::WaitTask>(&task.body)) {
    const auto begin = std::chrono::steady_clock::now();
    communicator_.wait(requests_[wait->request], task.name);
    seconds_waiting_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  } else if (const auto* copy = std::get_if<lower::CopyTask>(&task.body)) {
    std::memcpy(address(copy->to), address(copy->from),
                static_cast<std::size_t>(program_.buffers[copy->to.index()].type.bytes()));
  } else if (const auto* loop = std::get_if<lower::LoopTask>(&task.body)) {
    for (;;) {
      run(prepared.nested[0]);
      if (*address(loop->predicate) == std::byte{0}) break;
      run(prepared.nested[1]);
    }
  } else if (const auto* branch = std::get_if<lower::BranchTask>(&task.body)) {
    std::int32_t index = 0;
    std::memcpy(&index, address(branch->index), sizeof(index));
    const auto count = static_cast<std::int32_t>(prepared.nested.size());
    if (index < 0 || index >= count) index = count - 1;
    run(prepared.nested[static_cast<std::size_t>(index)]);
  }
}

void Executor::start(const lower::CollectiveTask& task) {
  const ir::TensorType& send_type = program_.buffers[task.send.index()].type;
  const ir::TensorType& receive_type = program_.buffers[task.receive.index()].type;
  const std::byte* send = address(task.send);
  std::byte* receive = address(task.receive);
  comm::RequestHandle& request = requests_[task.request];
  switch (task.kind) {
    case lower::CollectiveKind::AllReduce:
      request = communicator_.all_reduce(groups_[task.group], send, receive, send_type.elements(), send_type.dtype, task.reducer);
      return;
    case lower::CollectiveKind::AllGather:
      request = communicator_.all_gather(groups_[task.group], send, receive, send_type.bytes());
      return;
    case lower::CollectiveKind::ReduceScatter:
      request = communicator_.reduce_scatter(groups_[task.group], send, receive, receive_type.elements(), send_type.dtype,
                                             task.reducer);
      return;
    case lower::CollectiveKind::AllToAll: {
      const auto members = static_cast<std::int64_t>(program_.groups[task.group].size());
      request = communicator_.all_to_all(groups_[task.group], send, receive, send_type.bytes() / members);
      return;
    }
    case lower::CollectiveKind::Permute: {
      std::int64_t target = -1;
      std::int64_t source = -1;
      for (const auto& [from, to] : program_.permutations[task.group]) {
        if (from == program_.rank) target = to;
        if (to == program_.rank) source = from;
      }
      request = communicator_.permute(target, source, send, receive, send_type.bytes());
      return;
    }
  }
}

}  // namespace rhino::runtime
