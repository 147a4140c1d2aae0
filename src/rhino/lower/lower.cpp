// SPDX-License-Identifier: Apache-2.0
#include <rhino/lower/lower.hpp>

#include <algorithm>
#include <map>
#include <tuple>

#include <rhino/base/contains.hpp>
#include <rhino/base/error.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/lower/normalize_collectives.hpp>
#include <rhino/lower/schedule.hpp>
#include <rhino/lower/storage.hpp>

namespace rhino::lower {

using ir::Function;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

namespace {

class Emitter {
 public:
  Emitter(RankProgram& out, const StoragePlan& storage, const std::vector<std::int64_t>& offsets)
      : out_(out), storage_(storage), offsets_(offsets) {}

  std::vector<Task> function(const FunctionSchedule& schedule, const FunctionPlaces& places) {
    std::vector<Task> tasks;
    const Function& f = out_.program.function(schedule.function);
    literals(f, schedule, places);
    std::vector<std::uint32_t> request_of_unit(schedule.units.size(), 0);
    for (std::size_t u = 0; u < schedule.units.size(); ++u) {
      const Unit& unit = schedule.units[u];
      for (const Move& move : places.before[u]) tasks.push_back({copy(move), "copy"});
      switch (unit.kind) {
        case UnitKind::Fused:
          tasks.push_back({fused(f, schedule.fusion, unit, places, places.workspace[u]), name_of(f, unit)});
          break;
        case UnitKind::Kernel:
          tasks.push_back({kernel(schedule.function, f, unit, places, places.workspace[u]), name_of(f, unit)});
          break;
        case UnitKind::CollectiveStart:
          request_of_unit[u] = out_.requests++;
          tasks.push_back({collective(f, unit, places, places.bundles[u], request_of_unit[u]), name_of(f, unit)});
          break;
        case UnitKind::CollectiveWait:
          tasks.push_back({WaitTask{request_of_unit[unit.started_by]}, name_of(f, schedule.units[unit.started_by])});
          break;
        case UnitKind::Loop: {
          LoopTask loop;
          const Function& condition = out_.program.function(unit.regions[0].function);
          loop.condition = function(unit.regions[0], places.regions[u][0]);
          loop.predicate = buffer(places.regions[u][0].values[condition.results[0].index()], {ir::DType::I1, {}});
          loop.body = function(unit.regions[1], places.regions[u][1]);
          tasks.push_back({std::move(loop), name_of(f, unit)});
          break;
        }
        case UnitKind::Branch: {
          BranchTask branch;
          const ValueId index = f.op(unit.ops[0]).operands[0];
          branch.index = buffer(places.values[index.index()], f.type(index));
          for (std::size_t r = 0; r < unit.regions.size(); ++r) {
            branch.branches.push_back(function(unit.regions[r], places.regions[u][r]));
          }
          tasks.push_back({std::move(branch), name_of(f, unit)});
          break;
        }
      }
    }
    for (const Move& move : places.at_end) tasks.push_back({copy(move), "copy"});
    return tasks;
  }

  BufferId buffer(Place place, const ir::TensorType& type, const std::string& name = {}) {
    RHINO_ASSERT(place.valid(), "a value of type {} has no place", ir::to_string(type));
    const auto key = std::make_tuple(place.storage, place.offset, static_cast<int>(type.dtype), type.dims);
    const auto [entry, inserted] = buffers_.try_emplace(key, BufferId(out_.buffers.size()));
    if (inserted) {
      const Storage& block = storage_.storages[place.storage];
      out_.buffers.push_back({block.kind, type, offsets_[place.storage] + place.offset, name});
    }
    return entry->second;
  }

  std::uint32_t group(const ir::CollectiveAttrs& attrs) {
    const auto [entry, inserted] =
        groups_.emplace(*attrs.groups, static_cast<std::uint32_t>(out_.groups.size()));
    if (inserted) {
      const auto mine = std::find_if(attrs.groups->begin(), attrs.groups->end(), [&](const auto& members) {
        return contains(members, out_.rank);
      });
      out_.groups.push_back(mine == attrs.groups->end() ? std::vector<std::int64_t>{} : *mine);
    }
    return entry->second;
  }

 private:
  static std::string name_of(const Function& f, const Unit& unit) {
    const Op& op = f.op(unit.ops.back());
    return op.location.name.empty() ? std::string(ir::op_name(op.kind)) : op.location.name;
  }

  void literals(const Function& f, const FunctionSchedule& schedule, const FunctionPlaces& places) {
    for (std::size_t i = 0; i < f.ops.size(); ++i) {
      const Op& op = f.ops[i];
      if (schedule.fusion.roles[i] != OpRole::Literal || !places.values[op.results[0].index()].valid()) continue;
      const ir::TensorType& type = f.type(op.results[0]);
      const BufferId id = buffer(places.values[op.results[0].index()], type);
      switch (op.kind) {
        case OpKind::PartitionId:
          out_.constants.emplace_back(id, ir::Literal::splat_int(type, out_.rank));
          break;
        case OpKind::ReplicaId:
          out_.constants.emplace_back(id, ir::Literal::splat_int(type, 0));
          break;
        default:
          out_.constants.emplace_back(id, op.as<ir::ConstantAttrs>().value);
      }
    }
  }

  CopyTask copy(const Move& move) { return {buffer(move.from, move.type), buffer(move.to, move.type)}; }

  FusedTask fused(const Function& f, const FusionPlan& plan, const Unit& unit, const FunctionPlaces& places, Place scratch) {
    FusedTask task;
    std::vector<ValueId> inputs;
    task.expression = build_expression(f, plan, unit.ops, unit.writes, inputs);
    for (ValueId input : inputs) task.inputs.push_back(buffer(places.values[input.index()], f.type(input)));
    for (ValueId output : unit.writes) task.outputs.push_back(buffer(places.values[output.index()], f.type(output)));
    task.workspace = workspace(scratch);
    return task;
  }

  KernelTask kernel(ir::FunctionId id, const Function& f, const Unit& unit, const FunctionPlaces& places, Place scratch) {
    const Op& op = f.op(unit.ops[0]);
    RHINO_CHECK(op.kind != OpKind::CustomCall && op.kind != OpKind::Call, "line {}: {} cannot run: it is foreign code",
                op.location.line, ir::op_name(op.kind));
    KernelTask task{id, unit.ops[0], {}, {}, {}};
    for (ValueId operand : op.operands) task.operands.push_back(buffer(places.values[operand.index()], f.type(operand)));
    for (ValueId result : op.results) task.results.push_back(buffer(places.values[result.index()], f.type(result)));
    task.workspace = workspace(scratch);
    return task;
  }

  BufferId workspace(Place scratch) {
    if (!scratch.valid()) return {};
    return buffer(scratch, {ir::DType::U8, {storage_.storages[scratch.storage].bytes}});
  }

  CollectiveTask collective(const Function& f, const Unit& unit, const FunctionPlaces& places, Place bundle,
                            std::uint32_t request) {
    const Op& op = f.op(unit.ops[0]);
    const auto& attrs = op.as<ir::CollectiveAttrs>();
    CollectiveTask task;
    task.request = request;
    if (bundle.valid()) {
      const ir::DType dtype = f.type(op.operands[0]).dtype;
      const std::int64_t bytes = storage_.storages[bundle.storage].bytes;
      task.send = task.receive = buffer(bundle, {dtype, {bytes / static_cast<std::int64_t>(ir::dtype_bytes(dtype))}});
      for (ValueId value : unit.writes) task.parts.push_back(buffer(places.values[value.index()], f.type(value)));
    } else {
      task.send = buffer(places.values[op.operands[0].index()], f.type(op.operands[0]));
      task.receive = buffer(places.values[op.results[0].index()], f.type(op.results[0]));
    }
    switch (op.kind) {
      case OpKind::AllReduce:
        task.kind = CollectiveKind::AllReduce;
        break;
      case OpKind::AllGather:
        task.kind = CollectiveKind::AllGather;
        break;
      case OpKind::ReduceScatter:
        task.kind = CollectiveKind::ReduceScatter;
        break;
      case OpKind::AllToAll:
        task.kind = CollectiveKind::AllToAll;
        break;
      case OpKind::CollectivePermute: {
        task.kind = CollectiveKind::Permute;
        task.group = static_cast<std::uint32_t>(out_.permutations.size());
        std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
        for (const auto& pair : *attrs.groups) pairs.emplace_back(pair[0], pair[1]);
        out_.permutations.push_back(std::move(pairs));
        return task;
      }
      default:
        RHINO_FAIL(InputError, "line {}: {} is not supported in a program that is to run", op.location.line,
                   ir::op_name(op.kind));
    }
    if (!op.regions.empty()) {
      task.reducer = ir::classify_reducer(out_.program.function(op.regions[0]));
      RHINO_CHECK(task.reducer != ir::ReducerKind::Other, "line {}: {} with a reducer that is not a well-known one",
                  op.location.line, ir::op_name(op.kind));
    }
    task.group = group(attrs);
    return task;
  }

  RankProgram& out_;
  const StoragePlan& storage_;
  const std::vector<std::int64_t>& offsets_;
  std::map<std::tuple<std::size_t, std::int64_t, int, ir::Dims>, BufferId> buffers_;
  std::map<ir::ReplicaGroups, std::uint32_t> groups_;
};

/// Offsets of all storages and the height of the arena.
memory::ArenaLayout place(const StoragePlan& plan, std::int64_t alignment) {
  std::vector<memory::Lifetime> blocks;
  for (const Storage& block : plan.storages) blocks.push_back({block.bytes, block.first, block.last});
  return memory::place_blocks(blocks, alignment);
}

/// Units in order, where their values lie, and the arena.
struct Arrangement {
  FunctionSchedule units;
  StoragePlan storage;
  memory::ArenaLayout layout;
};

Arrangement arrange(const ir::Program& program, const ir::Signature& signature, const LowerOptions& options,
                    const ScheduleOptions& order) {
  Arrangement result;
  std::int64_t time = 1;
  result.units = schedule(program, program.main, order, time);
  result.storage = plan_storage(program, result.units, signature, options);
  result.layout = place(result.storage, options.alignment);
  return result;
}

/// The order of low peak where its arena is smaller by a percent or more; otherwise program order, in which communication may
/// start earlier.
Arrangement best_arrangement(const ir::Program& program, const ir::Signature& signature, const LowerOptions& options) {
  ScheduleOptions order{options.overlap, options.bundle_bytes, false, {}};
  Arrangement plain = arrange(program, signature, options, order);
  order.low_peak = true;
  const Function& entry = program.entry();
  const auto updates = signature.updates();
  for (std::size_t i = 0; i < entry.params.size(); ++i) {
    if (updates[i]) order.donated.emplace_back(entry.results[*updates[i]], entry.params[i]);
  }
  Arrangement low = arrange(program, signature, options, order);
  const bool worth = low.layout.bytes <= plain.layout.bytes - plain.layout.bytes / 100 && low.layout.bytes < plain.layout.bytes;
  return worth ? std::move(low) : std::move(plain);
}

}  // namespace

RankProgram lower(const shard::PartitionedProgram& partitioned, const ir::Signature& signature, std::int64_t rank,
                  const LowerOptions& options) {
  RankProgram out;
  out.rank = rank;
  out.mesh = partitioned.mesh;
  out.alignment = options.alignment;
  out.program = partitioned.local;
  normalize_collectives(out.program);
  ir::simplify_identities(out.program);
  ir::eliminate_common_subexpressions(out.program);
  ir::eliminate_dead_code(out.program);

  const auto [units, storage, layout] = best_arrangement(out.program, signature, options);
  out.arena_bytes = layout.bytes;

  Emitter emitter(out, storage, layout.offsets);
  // Entry parameters and results first, so that they carry their names.
  const Function& entry = out.program.entry();
  for (std::size_t i = 0; i < entry.params.size(); ++i) {
    const ir::TensorType& type = entry.type(entry.params[i]);
    const auto param = static_cast<std::uint32_t>(i);
    const BufferId current = emitter.buffer(storage.entry.values[entry.params[i].index()], type, signature.params[i].path);
    if (signature.params[i].role == ir::ParamRole::Batch) {
      out.batch.push_back({param, current, partitioned.params[i]});
    } else {
      const BufferId next = emitter.buffer(storage.next_state[i], type, signature.params[i].path);
      out.state.push_back({param, current, next, partitioned.params[i]});
    }
  }
  out.tasks = emitter.function(units, storage.entry);
  for (std::size_t r = 0; r < entry.results.size(); ++r) {
    if (signature.results[r].role == ir::ResultRole::State) continue;
    const BufferId id = emitter.buffer(storage.results[r], entry.type(entry.results[r]), signature.results[r].path);
    out.results.push_back({static_cast<std::uint32_t>(r), id, partitioned.results[r]});
  }
  return out;
}

}  // namespace rhino::lower
