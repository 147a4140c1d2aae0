// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <rhino/base/ids.hpp>
#include <rhino/ir/fused_expression.hpp>
#include <rhino/ir/program.hpp>
#include <rhino/shard/layout.hpp>

namespace rhino::lower {

using BufferId = Id<struct BufferTag>;

/// What a buffer is for; decides who fills it and how long it lives.
enum class BufferKind : std::uint8_t {
  State,      ///< lives from the first step to the last; filled from the model before the first step
  Batch,      ///< filled by the data loader before every step
  Constant,   ///< filled once before the first step from the program's literals
  Temporary,  ///< written and read within a step
  Result,     ///< loss and metrics; read by the training loop after the step
  Workspace   ///< scratch of one task
};

/// A range of the arena. Buffers whose lifetimes do not overlap may share bytes; views (reshapes, in-place results) share
/// them on purpose.
struct Buffer {
  BufferKind kind = BufferKind::Temporary;
  ir::TensorType type;       ///< local shape; for Workspace a u8 vector
  std::int64_t offset = 0;   ///< bytes from the start of the arena, aligned to RankProgram::alignment
  std::string name;          ///< path of state and batch, scope name of the others; may be empty
};

/// Elementwise ops that run as one pass over memory.
struct FusedTask {
  ir::FusedExpression expression;
  std::vector<BufferId> inputs;   ///< one per input of the expression
  std::vector<BufferId> outputs;  ///< one per output of the expression
  BufferId workspace;             ///< invalid if none
};

/// One op that has a kernel of its own (dot, convolution, reduce, gather ..).
struct KernelTask {
  ir::FunctionId function;  ///< of RankProgram::program
  ir::OpId op;
  std::vector<BufferId> operands;
  std::vector<BufferId> results;
  BufferId workspace;  ///< invalid if none
};

/// Copies one buffer over another of equal bytes.
struct CopyTask {
  BufferId from, to;
};

enum class CollectiveKind : std::uint8_t { AllReduce, AllGather, ReduceScatter, AllToAll, Permute };

/// Starts a collective that works on dense buffers: all-gather concatenates the members' blocks one after the other
/// (a leading group dimension), reduce-scatter and all-to-all split the leading dimension; where the program's dimension
/// is another one, the lowering adds the transposes. The buffers must not be touched until the matching WaitTask.
struct CollectiveTask {
  CollectiveKind kind = CollectiveKind::AllReduce;
  std::uint32_t request = 0;            ///< slot that the WaitTask names
  std::uint32_t group = 0;              ///< index into RankProgram::groups (for Permute: into `permutations`)
  ir::ReducerKind reducer = ir::ReducerKind::Add;
  BufferId send;
  BufferId receive;                     ///< may equal `send` for AllReduce (in place)
  std::vector<BufferId> parts;          ///< a bundle: the values in the message, which lie inside `send` with padding between
};

struct WaitTask {
  std::uint32_t request = 0;
};

struct Task;

/// `while`: runs `condition` (which writes the predicate), then `body` while it is true. Carried values keep their buffers:
/// the body ends with copies of what it could not write in place.
struct LoopTask {
  std::vector<Task> condition;
  BufferId predicate;
  std::vector<Task> body;
};

/// `case`: runs the branch that the index names; out of range means the last one.
struct BranchTask {
  BufferId index;
  std::vector<std::vector<Task>> branches;
};

struct Task {
  std::variant<FusedTask, KernelTask, CopyTask, CollectiveTask, WaitTask, LoopTask, BranchTask> body;
  std::string name;  ///< scope name of the (first) op, for messages and traces
};

/// A state parameter: where the step reads it, and where the step leaves the new value. If they differ, the runtime swaps
/// the two buffers' offsets after each step instead of copying.
struct StateSlot {
  std::uint32_t param = 0;  ///< parameter of the Program
  BufferId current;
  BufferId next;            ///< equals `current` when updated in place or never updated
  shard::Layout layout;
};

struct BatchSlot {
  std::uint32_t param = 0;
  BufferId buffer;
  shard::Layout layout;
};

struct ResultSlot {
  std::uint32_t result = 0;  ///< result of the Program (loss or metric)
  BufferId buffer;
  shard::Layout layout;
};

/// Everything one rank does in one step, decided before it starts: tasks in order, buffers at fixed offsets in one arena,
/// communication groups.
struct RankProgram {
  std::int64_t rank = 0;
  shard::MeshShape mesh;
  std::int64_t alignment = 64;
  std::int64_t arena_bytes = 0;
  std::vector<Buffer> buffers;
  std::vector<Task> tasks;
  ir::Program program;  ///< this rank's local program: owner of the ops that KernelTasks name and of their regions
  std::vector<std::pair<BufferId, ir::Literal>> constants;
  std::vector<StateSlot> state;
  std::vector<BatchSlot> batch;
  std::vector<ResultSlot> results;
  std::vector<std::vector<std::int64_t>> groups;        ///< members of each group that this rank belongs to
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> permutations;  ///< source, target over all ranks
  std::uint32_t requests = 0;     ///< number of request slots
};

/// Human-readable task list with offsets.
std::string to_string(const RankProgram& program);

/// Checks that the program is complete and sound: buffers inside the arena, no two simultaneously live buffers overlap
/// (except declared views and in-place results), every buffer written before it is read, every request awaited once.
/// Throws InternalError.
void verify(const RankProgram& program);

}  // namespace rhino::lower
