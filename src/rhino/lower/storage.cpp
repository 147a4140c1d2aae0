// SPDX-License-Identifier: Apache-2.0
#include <rhino/lower/storage.hpp>

#include <algorithm>
#include <optional>

#include <rhino/base/contains.hpp>
#include <rhino/base/error.hpp>
#include <rhino/base/math.hpp>

namespace rhino::lower {

using ir::Function;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

namespace {

/// A result that should end up in a given place.
struct Wish {
  Place place;
  ValueId param;  ///< parameter whose bytes the place holds; invalid: nothing is there
};

class Planner {
 public:
  Planner(const ir::Program& program, const LowerOptions& options, StoragePlan& plan)
      : program_(program), options_(options), plan_(plan) {}

  Place new_storage(BufferKind kind, std::int64_t bytes, std::int64_t first, std::int64_t last, bool reusable = true) {
    plan_.storages.push_back({kind, bytes, first, last, reusable});
    return {plan_.storages.size() - 1, 0};
  }

  Storage& storage(Place place) { return plan_.storages[place.storage]; }

  void keep(Place place, std::int64_t until) { storage(place).last = std::max(storage(place).last, until); }

 private:
  friend class FunctionPlanner;
  const ir::Program& program_;
  const LowerOptions& options_;
  StoragePlan& plan_;
};

class FunctionPlanner {
 public:
  FunctionPlanner(Planner& planner, const FunctionSchedule& schedule)
      : p_(planner), schedule_(schedule), function_(planner.program_.function(schedule.function)) {
    places_.values.resize(function_.values.size());
    places_.workspace.resize(schedule.units.size());
    places_.bundles.resize(schedule.units.size());
    places_.before.resize(schedule.units.size());
    places_.regions.resize(schedule.units.size());
    find_last_uses();
  }

  std::int64_t last_use(ValueId value) const { return last_use_[root(value).index()]; }

  /// @param params  places of the parameters. @param wishes  one per result. Results that cannot be made in the wished place
  /// are copied there at the end.
  FunctionPlaces run(const std::vector<Place>& params, const std::vector<std::optional<Wish>>& wishes) {
    for (std::size_t i = 0; i < params.size(); ++i) {
      set(function_.params[i], params[i]);
      if (params[i].valid()) p_.keep(params[i], last_use(function_.params[i]));
    }
    place_literals();
    plan_bundles();
    grant(wishes);
    for (std::size_t u = 0; u < schedule_.units.size(); ++u) place_unit(u);
    resolve_views();
    collect_moves(wishes);
    return std::move(places_);
  }

 private:
  ValueId root(ValueId value) const { return view_root(function_, schedule_.fusion, value); }
  const Place& place(ValueId value) const { return places_.values[root(value).index()]; }
  void set(ValueId value, Place place) { places_.values[value.index()] = place; }
  std::int64_t bytes(ValueId value) const { return function_.type(value).bytes(); }

  void find_last_uses() {
    last_use_.assign(function_.values.size(), -1);
    last_reader_.assign(function_.values.size(), 0);
    for (std::size_t u = 0; u < schedule_.units.size(); ++u) {
      const Unit& unit = schedule_.units[u];
      const std::int64_t until =
          unit.kind == UnitKind::CollectiveStart ? schedule_.units[unit.awaited_by].end : unit.end;
      for (ValueId value : unit.reads) {
        auto& last = last_use_[root(value).index()];
        last = std::max(last, until);
        last_reader_[root(value).index()] = u;
      }
      for (ValueId value : unit.writes) {
        auto& last = last_use_[value.index()];
        last = std::max(last, until);
      }
    }
    for (ValueId value : function_.results) {
      last_use_[root(value).index()] = schedule_.end;
      last_reader_[root(value).index()] = schedule_.units.size();
    }
  }

  /// Constants and device numbers that somebody reads from memory.
  void place_literals() {
    std::vector<bool> read(function_.values.size(), false);
    for (const Unit& unit : schedule_.units) {
      for (ValueId value : unit.reads) read[root(value).index()] = true;
    }
    for (ValueId value : function_.results) read[root(value).index()] = true;
    for (std::size_t i = 0; i < function_.ops.size(); ++i) {
      if (schedule_.fusion.roles[i] != OpRole::Literal) continue;
      const ValueId value = function_.ops[i].results[0];
      if (read[value.index()]) {
        set(value, p_.new_storage(BufferKind::Constant, bytes(value), 0, INT64_MAX, false));
      }
    }
  }

  /// Members of a bundle lie one behind the other in one block; operands that nothing else reads are made there.
  void plan_bundles() {
    std::vector<int> reads(function_.values.size(), 0);
    for (const Unit& unit : schedule_.units) {
      for (ValueId value : unit.reads) ++reads[root(value).index()];
    }
    for (ValueId value : function_.results) ++reads[root(value).index()];
    for (std::size_t u = 0; u < schedule_.units.size(); ++u) {
      const Unit& unit = schedule_.units[u];
      if (unit.kind != UnitKind::CollectiveStart || unit.ops.size() < 2) continue;
      std::int64_t total = 0;
      std::int64_t last = schedule_.units[unit.awaited_by].end;
      for (ValueId value : unit.reads) total += round_up(bytes(value), p_.options_.alignment);
      for (ValueId value : unit.writes) last = std::max(last, last_use(value));
      const Place block = p_.new_storage(BufferKind::Temporary, total, unit.begin, last, false);
      places_.bundles[u] = block;
      std::int64_t offset = 0;
      for (std::size_t m = 0; m < unit.ops.size(); ++m) {
        const Place member{block.storage, offset};
        const ValueId source = root(unit.reads[m]);
        const bool made_here = function_.value(source).producer.valid() && reads[source.index()] == 1 &&
                               !place(source).valid() && bytes(source) == bytes(unit.reads[m]) &&
                               is_written_by_plain_unit(source);
        if (made_here) {
          set(source, member);
        } else {
          places_.before[u].push_back({{}, member, function_.type(unit.reads[m])});
          pending_sources_.push_back({u, places_.before[u].size() - 1, unit.reads[m]});
        }
        set(unit.writes[m], member);
        offset += round_up(bytes(unit.reads[m]), p_.options_.alignment);
      }
    }
  }

  /// Written by a fused group or a kernel (loops and collectives choose the places of their results themselves).
  bool is_written_by_plain_unit(ValueId value) const {
    switch (schedule_.fusion.roles[function_.value(value).producer.index()]) {
      case OpRole::Grouped:
      case OpRole::Kernel:
        return true;
      default:
        return false;
    }
  }

  /// Puts results where they are wished, if everything that the place holds has been read by then.
  void grant(const std::vector<std::optional<Wish>>& wishes) {
    std::vector<const Unit*> writer_of(function_.values.size(), nullptr);
    for (const Unit& unit : schedule_.units) {
      for (ValueId value : unit.writes) writer_of[value.index()] = &unit;
    }
    for (std::size_t r = 0; r < wishes.size(); ++r) {
      if (!wishes[r]) continue;
      const ValueId value = root(function_.results[r]);
      if (place(value).valid() || writer_of[value.index()] == nullptr) continue;
      const Unit& unit = *writer_of[value.index()];
      if (unit.kind == UnitKind::Loop || unit.kind == UnitKind::Branch) continue;
      if (wishes[r]->param.valid()) {
        const std::int64_t read_until = last_use(wishes[r]->param);
        const bool in_unit = read_until == unit.end && writes_over(unit, value, wishes[r]->param);
        if (read_until >= unit.begin && !in_unit) continue;
      }
      set(value, wishes[r]->place);
      p_.keep(wishes[r]->place, last_use(value));
      p_.storage(wishes[r]->place).first = std::min(p_.storage(wishes[r]->place).first, unit.begin);
    }
  }

  /// Whether `unit` can write `value` over the bytes of `source`, which it reads.
  bool writes_over(const Unit& unit, ValueId value, ValueId source) const {
    if (bytes(value) != bytes(source)) return false;
    if (unit.kind == UnitKind::Fused) {
      std::vector<ValueId> inputs;
      const auto expression = build_expression(function_, schedule_.fusion, unit.ops, {}, inputs);
      bool reads = false;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (root(inputs[i]) != root(source)) continue;
        reads = true;
        const auto& input = expression.inputs[i];
        const bool dense = input.offset == 0 && input.strides == ir::row_major_strides(expression.shape);
        if (!dense || ir::dtype_bytes(input.dtype) != ir::dtype_bytes(function_.type(value).dtype)) return false;
      }
      return reads;
    }
    if (unit.kind == UnitKind::Kernel && p_.options_.updates_in_place) {
      const Op& op = function_.op(unit.ops[0]);
      if (op.results.size() != 1 || !p_.options_.updates_in_place(op) || root(op.operands[0]) != root(source)) return false;
      return std::none_of(op.operands.begin() + 1, op.operands.end(), [&](ValueId v) { return root(v) == root(source); });
    }
    if (unit.kind == UnitKind::CollectiveStart && unit.ops.size() == 1) {
      return function_.op(unit.ops[0]).kind == OpKind::AllReduce && root(unit.reads[0]) == root(source);
    }
    return false;
  }

  void place_unit(std::size_t u) {
    const Unit& unit = schedule_.units[u];
    switch (unit.kind) {
      case UnitKind::Loop:
        place_loop(u);
        return;
      case UnitKind::Branch:
        place_branch(u);
        return;
      case UnitKind::CollectiveWait:
        return;
      case UnitKind::Fused:
      case UnitKind::Kernel:
      case UnitKind::CollectiveStart:
        break;
    }
    std::vector<std::size_t> taken;
    for (ValueId value : unit.writes) {
      if (!place(value).valid()) set(value, reuse_or_new(u, value, taken));
      p_.keep(place(value), last_use(value));
      Storage& block = p_.storage(place(value));
      block.first = std::min(block.first, unit.begin);
    }
    const std::int64_t scratch = workspace_bytes(unit);
    if (scratch > 0) places_.workspace[u] = p_.new_storage(BufferKind::Workspace, scratch, unit.begin, unit.end);
  }

  std::int64_t workspace_bytes(const Unit& unit) const {
    if (unit.kind == UnitKind::Kernel && p_.options_.workspace_bytes) {
      return p_.options_.workspace_bytes(p_.program_, function_, function_.op(unit.ops[0]));
    }
    if (unit.kind == UnitKind::Fused && p_.options_.fused_workspace_bytes) {
      std::vector<ValueId> inputs;
      return p_.options_.fused_workspace_bytes(build_expression(function_, schedule_.fusion, unit.ops, unit.writes, inputs));
    }
    return 0;
  }

  Place reuse_or_new(std::size_t u, ValueId value, std::vector<std::size_t>& taken) {
    const Unit& unit = schedule_.units[u];
    // What a collective sends is in use until it is awaited, also by itself.
    const std::int64_t until = unit.kind == UnitKind::CollectiveStart ? schedule_.units[unit.awaited_by].end : unit.end;
    for (ValueId read : unit.reads) {
      const Place at = place(read);
      if (!at.valid()) continue;
      const Storage& block = p_.storage(at);
      const bool dead = block.kind == BufferKind::Temporary && block.reusable && block.last <= until &&
                        last_reader_[root(read).index()] <= u && block.bytes == bytes(value) && at.offset == 0;
      if (!dead || contains(taken, at.storage)) continue;
      // Another value of the same block may be read by this unit in another way.
      const bool all_dense = std::all_of(unit.reads.begin(), unit.reads.end(), [&](ValueId other) {
        return place(other).storage != at.storage || writes_over(unit, value, other);
      });
      if (!all_dense) continue;
      taken.push_back(at.storage);
      return at;
    }
    return p_.new_storage(BufferKind::Temporary, bytes(value), unit.begin, last_use(value));
  }

  /// Places for a loop's carried values: the operand's own bytes where the loop leaves them alone or nobody needs them
  /// afterwards, else a block that starts as a copy.
  void place_loop(std::size_t u) {
    const Unit& unit = schedule_.units[u];
    const Op& op = function_.op(unit.ops[0]);
    const Function& body = p_.program_.function(op.regions[1]);
    const FunctionSchedule& body_schedule = unit.regions[1];
    std::vector<Place> carried(op.operands.size());
    std::vector<std::size_t> taken;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const Place source = place(op.operands[i]);
      const ValueId result = view_root(body, body_schedule.fusion, body.results[i]);
      const std::int64_t until = std::max(unit.end, last_use(op.results[i]));
      if (result == body.params[i]) {  // never changed
        carried[i] = source;
      } else {
        const Storage& block = p_.storage(source);
        const bool free = block.kind == BufferKind::Temporary && block.reusable && block.last <= unit.end && source.offset == 0 &&
                          block.bytes == bytes(op.operands[i]) &&
                          !contains(taken, source.storage) &&
                          std::count_if(op.operands.begin(), op.operands.end(), [&](ValueId v) {
                            return place(v).storage == source.storage;
                          }) == 1;
        if (free) {
          carried[i] = source;
          taken.push_back(source.storage);
        } else {
          carried[i] = p_.new_storage(BufferKind::Temporary, bytes(op.operands[i]), unit.begin, until);
          places_.before[u].push_back({source, carried[i], function_.type(op.operands[i])});
        }
      }
      p_.keep(carried[i], until);
      set(op.results[i], carried[i]);
    }
    FunctionPlanner condition(p_, unit.regions[0]);
    places_.regions[u].push_back(condition.run(carried, std::vector<std::optional<Wish>>(1)));
    std::vector<std::optional<Wish>> wishes(carried.size());
    for (std::size_t i = 0; i < carried.size(); ++i) wishes[i] = Wish{carried[i], body.params[i]};
    // Within the body a carried block is in use up to the end: the next iteration reads it.
    FunctionPlanner planner(p_, body_schedule);
    places_.regions[u].push_back(planner.run(carried, wishes));
  }

  void place_branch(std::size_t u) {
    const Unit& unit = schedule_.units[u];
    const Op& op = function_.op(unit.ops[0]);
    std::vector<std::optional<Wish>> wishes;
    for (ValueId result : op.results) {
      if (!place(result).valid()) {
        set(result, p_.new_storage(BufferKind::Temporary, bytes(result), unit.begin, last_use(result)));
      }
      p_.keep(place(result), last_use(result));
      wishes.push_back(Wish{place(result), {}});
    }
    std::vector<Place> params;
    for (std::size_t i = 1; i < op.operands.size(); ++i) params.push_back(place(op.operands[i]));
    for (const FunctionSchedule& region : unit.regions) {
      FunctionPlanner planner(p_, region);
      places_.regions[u].push_back(planner.run(params, wishes));
    }
  }

  void resolve_views() {
    for (std::size_t v = 0; v < function_.values.size(); ++v) {
      const ValueId value(v);
      if (!places_.values[v].valid()) places_.values[v] = places_.values[root(value).index()];
    }
    for (const auto& [unit, move, value] : pending_sources_) places_.before[unit][move].from = place(value);
  }

  /// Copies for the results that are not where they were wished. A source that an earlier copy overwrites is saved first.
  void collect_moves(const std::vector<std::optional<Wish>>& wishes) {
    std::vector<Move> moves;
    for (std::size_t r = 0; r < wishes.size(); ++r) {
      if (!wishes[r]) continue;
      const Place from = place(function_.results[r]);
      if (from == wishes[r]->place) continue;
      moves.push_back({from, wishes[r]->place, function_.type(function_.results[r])});
    }
    for (std::size_t i = 0; i < moves.size(); ++i) {
      const bool overwritten = std::any_of(moves.begin(), moves.end(), [&](const Move& other) {
        return &other != &moves[i] && other.to.storage == moves[i].from.storage;
      });
      if (!overwritten) continue;
      const Place saved = p_.new_storage(BufferKind::Temporary, moves[i].type.bytes(), schedule_.end, schedule_.end);
      places_.at_end.push_back({moves[i].from, saved, moves[i].type});
      moves[i].from = saved;
    }
    places_.at_end.insert(places_.at_end.end(), moves.begin(), moves.end());
  }

  struct PendingSource {
    std::size_t unit, move;
    ValueId value;
  };

  Planner& p_;
  const FunctionSchedule& schedule_;
  const Function& function_;
  FunctionPlaces places_;
  std::vector<std::int64_t> last_use_;     ///< per root value: time until which its bytes are needed
  std::vector<std::size_t> last_reader_;   ///< per root value: last unit that reads it; number of units for results
  std::vector<PendingSource> pending_sources_;
};

}  // namespace

StoragePlan plan_storage(const ir::Program& program, const FunctionSchedule& schedule, const ir::Signature& signature,
                         const LowerOptions& options) {
  StoragePlan plan;
  Planner planner(program, options, plan);
  const Function& entry = program.entry();
  RHINO_ASSERT(signature.params.size() == entry.params.size() && signature.results.size() == entry.results.size(),
               "signature of {} parameters and {} results for a program of {} and {}", signature.params.size(),
               signature.results.size(), entry.params.size(), entry.results.size());
  FunctionPlanner function(planner, schedule);
  std::vector<Place> params;
  for (std::size_t i = 0; i < entry.params.size(); ++i) {
    const std::int64_t bytes = entry.type(entry.params[i]).bytes();
    const bool batch = signature.params[i].role == ir::ParamRole::Batch;
    params.push_back(batch ? planner.new_storage(BufferKind::Batch, bytes, 0, function.last_use(entry.params[i]), false)
                           : planner.new_storage(BufferKind::State, bytes, 0, INT64_MAX, false));
  }
  // A state is updated in its own place if its last reader allows that; otherwise the new value gets a block of its own and
  // the two change roles after each step.
  std::vector<std::optional<Wish>> wishes(entry.results.size());
  plan.next_state.resize(entry.params.size());
  const auto updates = signature.updates();
  for (std::size_t i = 0; i < entry.params.size(); ++i) {
    if (signature.params[i].role == ir::ParamRole::Batch) continue;
    plan.next_state[i] = params[i];
    if (updates[i]) wishes[*updates[i]] = Wish{params[i], entry.params[i]};
  }
  const StoragePlan before = plan;
  plan.entry = function.run(params, wishes);
  std::vector<std::size_t> apart;
  for (std::size_t i = 0; i < entry.params.size(); ++i) {
    if (signature.params[i].role == ir::ParamRole::Batch || !updates[i]) continue;
    if (plan.entry.values[entry.results[*updates[i]].index()] != params[i]) apart.push_back(i);
  }
  if (!apart.empty()) {
    // Second pass: what could not be made in place is made in a second block from the start.
    plan = before;
    for (std::size_t i : apart) {
      plan.next_state[i] = planner.new_storage(BufferKind::State, entry.type(entry.params[i]).bytes(), 0, INT64_MAX, false);
      wishes[*updates[i]] = Wish{plan.next_state[i], {}};
    }
    plan.entry = FunctionPlanner(planner, schedule).run(params, wishes);
  }
  for (ValueId result : entry.results) plan.results.push_back(plan.entry.values[result.index()]);
  for (Storage& block : plan.storages) {
    block.last = std::max(block.last, block.first);
  }
  return plan;
}

}  // namespace rhino::lower
