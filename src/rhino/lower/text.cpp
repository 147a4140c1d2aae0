// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <rhino/ir/op_info.hpp>
#include <rhino/lower/rank_program.hpp>

namespace rhino::lower {

namespace {

std::string_view kind_name(BufferKind kind) {
  switch (kind) {
    case BufferKind::State:
      return "state";
    case BufferKind::Batch:
      return "batch";
    case BufferKind::Constant:
      return "constant";
    case BufferKind::Temporary:
      return "temporary";
    case BufferKind::Result:
      return "result";
    case BufferKind::Workspace:
      return "workspace";
  }
  return "?";
}

std::string_view kind_name(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::AllReduce:
      return "all_reduce";
    case CollectiveKind::AllGather:
      return "all_gather";
    case CollectiveKind::ReduceScatter:
      return "reduce_scatter";
    case CollectiveKind::AllToAll:
      return "all_to_all";
    case CollectiveKind::Permute:
      return "permute";
  }
  return "?";
}

class Printer {
 public:
  explicit Printer(const RankProgram& program) : program_(program) {}

  std::string run() {
    text_ = fmt::format("rank {} of {}, arena {} bytes, {} buffers\n", program_.rank, program_.mesh.devices(),
                        program_.arena_bytes, program_.buffers.size());
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      const Buffer& buffer = program_.buffers[i];
      text_ += fmt::format("  b{}: {} {} at {} {}\n", i, kind_name(buffer.kind), ir::to_string(buffer.type), buffer.offset,
                           buffer.name);
    }
    tasks(program_.tasks, 0);
    return std::move(text_);
  }

 private:
  static std::string list(const std::vector<BufferId>& buffers) {
    std::string out;
    for (BufferId id : buffers) out += fmt::format("{}b{}", out.empty() ? "" : " ", id.index());
    return out;
  }

  void line(int depth, const std::string& text) { text_ += std::string(static_cast<std::size_t>(2 * depth), ' ') + text + "\n"; }

  void tasks(const std::vector<Task>& list, int depth) {
    for (const Task& task : list) std::visit([&](const auto& body) { print(body, task.name, depth); }, task.body);
  }

  void print(const FusedTask& task, const std::string& name, int depth) {
    std::string steps;
    for (const auto& step : task.expression.steps) {
      steps += fmt::format("{}{}", steps.empty() ? "" : " ", ir::op_name(step.kind));
    }
    line(depth, fmt::format("fused {} [{}] {} -> {}  {}", ir::to_string(task.expression.shape), steps, list(task.inputs),
                            list(task.outputs), name));
  }
  void print(const KernelTask& task, const std::string& name, int depth) {
    const ir::Op& op = program_.program.function(task.function).op(task.op);
    line(depth, fmt::format("{} {} -> {}  {}", ir::op_name(op.kind), list(task.operands), list(task.results), name));
  }
  void print(const CopyTask& task, const std::string& name, int depth) {
    line(depth, fmt::format("copy b{} -> b{}  {}", task.from.index(), task.to.index(), name));
  }
  void print(const CollectiveTask& task, const std::string& name, int depth) {
    line(depth, fmt::format("start {} r{} group {} b{} -> b{}  {}", kind_name(task.kind), task.request, task.group,
                            task.send.index(), task.receive.index(), name));
  }
  void print(const WaitTask& task, const std::string& name, int depth) {
    line(depth, fmt::format("wait r{}  {}", task.request, name));
  }
  void print(const LoopTask& task, const std::string& name, int depth) {
    line(depth, fmt::format("while b{}  {}", task.predicate.index(), name));
    tasks(task.condition, depth + 2);
    line(depth, "do");
    tasks(task.body, depth + 2);
  }
  void print(const BranchTask& task, const std::string& name, int depth) {
    for (std::size_t i = 0; i < task.branches.size(); ++i) {
      line(depth, fmt::format("case b{} = {}  {}", task.index.index(), i, name));
      tasks(task.branches[i], depth + 2);
    }
  }

  const RankProgram& program_;
  std::string text_;
};

}  // namespace

std::string to_string(const RankProgram& program) { return Printer(program).run(); }

}  // namespace rhino::lower
