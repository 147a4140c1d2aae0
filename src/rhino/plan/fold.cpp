// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/fold.hpp>

#include <algorithm>
#include <set>

#include <rhino/base/error.hpp>
#include <rhino/ir/program.hpp>
#include <rhino/plan/op_classes.hpp>

namespace rhino::plan {
namespace {

using ir::Function;
using ir::Op;
using ir::ValueId;

constexpr std::size_t kLeastRepeats = 4;
constexpr std::size_t kTriedPeriods = 24;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// Ops start .. start + period * count - 1 of the entry: `count` blocks of `period` ops each, alike op by op.
struct Run {
  std::size_t start = 0, period = 0, count = 0;
  std::set<std::size_t> kept;  ///< blocks that stay
  std::size_t stand_in = 1;    ///< the kept block that stands for those that go
};

/// Where a value comes from.
struct Origin {
  std::size_t run = kNone;  ///< of an op in a run
  std::size_t block = 0, place = 0, result = 0;
  ValueId value;  ///< itself
};

class Folder {
 public:
  Folder(const ir::Program& program, const ir::Signature& signature)
      : program_(program), f_(program.entry()), signature_(signature), classes_(classify_ops(program)) {}

  std::optional<FoldedProgram> fold() {
    find_runs();
    while (remove_inconsistent_runs()) {
    }
    if (runs_.empty()) return std::nullopt;
    choose_blocks();
    std::size_t left = 0;
    for (std::size_t i = 0; i < f_.ops.size(); ++i) left += is_kept(i) ? 1 : 0;
    if (2 * left > f_.ops.size()) return std::nullopt;
    return build();
  }

 private:
  /// From each op the period that covers most, of the distances to the next ops of its class.
  void find_runs() {
    const std::size_t n = classes_.size();
    std::vector<std::size_t> next(n, kNone), last;
    for (std::size_t i = n; i-- > 0;) {
      if (classes_[i] >= last.size()) last.resize(classes_[i] + 1, kNone);
      next[i] = last[classes_[i]];
      last[classes_[i]] = i;
    }
    for (std::size_t i = 0; i < n;) {
      Run best;
      std::size_t tried = 0;
      for (std::size_t j = next[i]; j != kNone && tried < kTriedPeriods; j = next[j], ++tried) {
        const std::size_t period = j - i;
        if (i + kLeastRepeats * period > n) break;
        std::size_t length = 0;
        while (j + length < n && classes_[i + length] == classes_[j + length]) ++length;
        const std::size_t count = length / period + 1;
        if (count >= kLeastRepeats && count * period > best.period * best.count) best = {i, period, count, {}, 1};
      }
      if (best.count > 0) runs_.push_back(best);
      i += std::max<std::size_t>(1, best.period * best.count);
    }
    index_runs();
  }

  void index_runs() {
    run_of_.assign(f_.ops.size(), kNone);
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      for (std::size_t i = 0; i < runs_[r].period * runs_[r].count; ++i) run_of_[runs_[r].start + i] = r;
    }
  }

  std::size_t op_at(const Run& run, std::size_t block, std::size_t place) const { return run.start + block * run.period + place; }

  Origin origin_of(ValueId value) const {
    Origin origin;
    origin.value = value;
    const ir::Value& info = f_.value(value);
    if (!info.producer.valid()) return origin;
    const std::size_t op = info.producer.index();
    origin.run = run_of_[op];
    if (origin.run == kNone) return origin;
    const Run& run = runs_[origin.run];
    origin.block = (op - run.start) / run.period;
    origin.place = (op - run.start) % run.period;
    origin.result = info.result_index;
    return origin;
  }

  /// How the block of an origin depends on the block that reads it: the same (+1) or the opposite (-1) direction, or always the
  /// same block (0); 2 if in no such way.
  static int direction(const Origin& a, const Origin& b, std::size_t step) {
    if (a.run != b.run || a.place != b.place || a.result != b.result) return 2;
    if (b.block == a.block + step) return 1;
    if (a.block == b.block + step) return -1;
    return a.block == b.block ? 0 : 2;
  }

  bool is_param(const Origin& origin) const { return !f_.value(origin.value).producer.valid(); }

  /// Whether an operand is wired alike in all inner blocks (the first and the last may differ).
  bool is_consistent(const Run& run, std::size_t place, std::size_t operand) const {
    const auto origin = [&](std::size_t block) { return origin_of(f_.ops[op_at(run, block, place)].operands[operand]); };
    const Origin first = origin(1);
    const int way = run.count > kLeastRepeats - 1 ? direction(first, origin(2), 1) : 0;
    for (std::size_t block = 2; block + 1 < run.count; ++block) {
      const Origin other = origin(block);
      if (first.run != kNone) {
        if (way == 2 || direction(first, other, way == 0 ? 0 : block - 1) != way) return false;
      } else if (is_param(first)) {
        if (!is_param(other)) return false;
      } else if (other.value != first.value) {
        return false;
      }
    }
    return true;
  }

  bool remove_inconsistent_runs() {
    const std::size_t before = runs_.size();
    std::erase_if(runs_, [&](const Run& run) {
      for (std::size_t place = 0; place < run.period; ++place) {
        const Op& op = f_.ops[op_at(run, 0, place)];
        for (std::size_t o = 0; o < op.operands.size(); ++o) {
          if (!is_consistent(run, place, o)) return true;
        }
      }
      return false;
    });
    index_runs();
    return runs_.size() != before;
  }

  /// The first run keeps its first, second and last block; the others what belongs to kept blocks, and their ends.
  void choose_blocks() {
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      Run& run = runs_[r];
      run.kept = {0, run.count - 1};
      run.stand_in = 1;
      if (const auto source = linked_block(r, 1); source && run.count > 2) {
        // The block that belongs to the stand-in of the earlier run.
        const Origin at_one = *source, at_two = *linked_block(r, 2);
        const Run& earlier = runs_[at_one.run];
        for (std::size_t block = 1; block + 1 < run.count; ++block) {
          const std::size_t linked = at_two.block > at_one.block ? at_one.block + (block - 1) : at_one.block - (block - 1);
          if (linked == earlier.stand_in) run.stand_in = block;
        }
      }
      run.kept.insert(run.stand_in);
    }
    // A state that stays is also updated.
    for (bool changed = true; changed;) {
      changed = false;
      const std::vector<bool> used = used_params();
      const auto updates = signature_.updates();
      for (std::size_t p = 0; p < updates.size(); ++p) {
        if (!updates[p] || !used[p]) continue;
        const Origin origin = origin_of(f_.results[*updates[p]]);
        if (origin.run != kNone) changed = runs_[origin.run].kept.insert(origin.block).second || changed;
      }
    }
  }

  /// Block of an earlier run, in steps of one, that a block of run r reads from.
  std::optional<Origin> linked_block(std::size_t r, std::size_t block) const {
    const Run& run = runs_[r];
    for (std::size_t place = 0; place < run.period; ++place) {
      const Op& one = f_.ops[op_at(run, 1, place)];
      const Op& two = f_.ops[op_at(run, 2, place)];
      for (std::size_t o = 0; o < one.operands.size(); ++o) {
        const Origin a = origin_of(one.operands[o]), b = origin_of(two.operands[o]);
        if (a.run == kNone || a.run >= r || b.run != a.run || a.block == b.block) continue;
        return block == 1 ? a : b;
      }
    }
    return std::nullopt;
  }

  bool is_kept(std::size_t op) const {
    if (run_of_[op] == kNone) return true;
    const Run& run = runs_[run_of_[op]];
    return run.kept.contains((op - run.start) / run.period);
  }

  std::vector<bool> used_params() const {
    std::vector<bool> used(f_.params.size(), false);
    for (std::size_t i = 0; i < f_.ops.size(); ++i) {
      if (!is_kept(i)) continue;
      for (const ValueId operand : f_.ops[i].operands) {
        const ir::Value& value = f_.value(operand);
        if (!value.producer.valid()) used[value.result_index] = true;
      }
    }
    return used;
  }

  /// The op that stands for another one.
  std::size_t stand_in(std::size_t op) const {
    if (is_kept(op)) return op;
    const Run& run = runs_[run_of_[op]];
    return op_at(run, run.stand_in, (op - run.start) % run.period);
  }

  /// For a reader at `reader`: a kept op that makes what the op at `op` makes, and comes before it.
  std::size_t source_for(std::size_t op, std::size_t reader) const {
    const std::size_t preferred = stand_in(op);
    if (preferred < reader) return preferred;
    const Run& run = runs_[run_of_[op]];
    const std::size_t block = (op - run.start) / run.period, place = (op - run.start) % run.period;
    return op_at(run, *std::prev(run.kept.upper_bound(block)), place);
  }

  std::optional<FoldedProgram> build() {
    FoldedProgram out;
    // Parameters: those that kept ops read, and those that nobody reads at all.
    std::vector<std::uint32_t> param_of(f_.params.size(), 0);
    if (!match_params(param_of)) return std::nullopt;
    out.program = program_;
    Function& g = out.program.entry();
    g = Function();
    g.name = f_.name;
    std::vector<ValueId> value_of(f_.values.size());
    std::vector<std::uint32_t> new_param(f_.params.size(), 0);
    for (std::size_t p = 0; p < f_.params.size(); ++p) {
      if (param_of[p] != p) continue;
      new_param[p] = static_cast<std::uint32_t>(g.params.size());
      value_of[f_.params[p].index()] = g.add_param(f_.type(f_.params[p]));
      out.signature.params.push_back(signature_.params[p]);
      out.param_weight.push_back(0);
    }
    for (std::size_t p = 0; p < f_.params.size(); ++p) {
      out.param_of.push_back(new_param[param_of[p]]);
      out.param_weight[out.param_of.back()] += 1;
    }
    const auto mapped = [&](ValueId value, std::size_t reader) {
      const ir::Value& info = f_.value(value);
      if (!info.producer.valid()) return value_of[f_.params[param_of[info.result_index]].index()];
      const std::size_t source = source_for(info.producer.index(), reader);
      return value_of[f_.ops[source].results[info.result_index].index()];
    };
    std::vector<std::uint32_t> new_op(f_.ops.size(), 0);
    for (std::size_t i = 0; i < f_.ops.size(); ++i) {
      if (!is_kept(i)) continue;
      const Op& op = f_.ops[i];
      std::vector<ValueId> operands;
      for (const ValueId operand : op.operands) operands.push_back(mapped(operand, i));
      std::vector<ir::TensorType> types;
      for (const ValueId result : op.results) types.push_back(f_.type(result));
      const ir::OpId id = g.append(op.kind, op.attrs, std::move(operands), std::move(types), op.regions, op.location);
      new_op[i] = static_cast<std::uint32_t>(id.index());
      for (std::size_t r = 0; r < op.results.size(); ++r) value_of[op.results[r].index()] = g.op(id).results[r];
      out.op_weight.push_back(0);
    }
    for (std::size_t i = 0; i < f_.ops.size(); ++i) {
      out.op_of.push_back(new_op[stand_in(i)]);
      out.op_weight[out.op_of.back()] += 1;
    }
    // Results: what is no state, and the new values of the states that stay.
    std::vector<std::uint32_t> new_result(f_.results.size(), 0);
    std::vector<std::optional<std::uint32_t>> result_of_param(f_.params.size());
    for (std::size_t r = 0; r < f_.results.size(); ++r) {
      ir::ResultInfo info = signature_.results[r];
      if (info.role == ir::ResultRole::State) {
        if (param_of[info.state_param] != info.state_param) continue;
        result_of_param[info.state_param] = static_cast<std::uint32_t>(g.results.size());
        info.state_param = new_param[info.state_param];
      }
      new_result[r] = static_cast<std::uint32_t>(g.results.size());
      g.results.push_back(mapped(f_.results[r], f_.ops.size()));
      out.signature.results.push_back(info);
    }
    for (std::size_t r = 0; r < f_.results.size(); ++r) {
      const ir::ResultInfo& info = signature_.results[r];
      std::uint32_t to = new_result[r];
      if (info.role == ir::ResultRole::State) {
        const auto& result = result_of_param[param_of[info.state_param]];
        if (!result) return std::nullopt;
        to = *result;
      }
      out.result_of.push_back(to);
    }
    return out;
  }

  /// For each parameter the one that stands for it; false if what stands for an op reads no parameter there.
  bool match_params(std::vector<std::uint32_t>& param_of) const {
    const std::vector<bool> used = used_params();
    std::vector<bool> known(used);
    for (std::size_t p = 0; p < param_of.size(); ++p) param_of[p] = static_cast<std::uint32_t>(p);
    for (std::size_t i = 0; i < f_.ops.size(); ++i) {
      if (is_kept(i)) continue;
      const Op& op = f_.ops[i];
      const Op& other = f_.ops[stand_in(i)];
      for (std::size_t o = 0; o < op.operands.size(); ++o) {
        const ir::Value& value = f_.value(op.operands[o]);
        if (value.producer.valid() || used[value.result_index]) continue;
        const ir::Value& stands = f_.value(other.operands[o]);
        if (stands.producer.valid()) return false;
        if (known[value.result_index]) continue;  // blocks may begin in mid-layer, then two layers could stand for it
        known[value.result_index] = true;
        param_of[value.result_index] = stands.result_index;
      }
    }
    return true;
  }

  const ir::Program& program_;
  const Function& f_;
  const ir::Signature& signature_;
  std::vector<std::uint32_t> classes_;
  std::vector<Run> runs_;
  std::vector<std::size_t> run_of_;  ///< per op of the entry
};

/// Decisions inside of the regions of an op, from those of the op that stands for it.
void copy_regions(const ir::Program& program, const Op& to, const Op& from, shard::Sharding& sharding) {
  for (std::size_t r = 0; r < to.regions.size(); ++r) {
    const ir::FunctionId a = to.regions[r], b = from.regions[r];
    if (a == b) continue;
    sharding.functions[a.index()] = sharding.functions[b.index()];
    const Function& inner = program.function(a);
    const Function& other = program.function(b);
    for (std::size_t i = 0; i < inner.ops.size(); ++i) copy_regions(program, inner.ops[i], other.ops[i], sharding);
  }
}

}  // namespace

std::optional<FoldedProgram> fold_repeats(const ir::Program& program, const ir::Signature& signature) {
  return Folder(program, signature).fold();
}

shard::Sharding unfold(const FoldedProgram& folded, const ir::Program& program, const shard::Sharding& sharding) {
  shard::Sharding whole = sharding;  // functions other than the entry keep their numbers
  const Function& f = program.entry();
  const Function& g = folded.program.entry();
  const shard::FunctionSharding& from = sharding.functions[folded.program.main.index()];
  shard::FunctionSharding& to = whole.functions[program.main.index()];
  to = {};
  for (std::size_t p = 0; p < f.params.size(); ++p) to.params.push_back(from.params[folded.param_of[p]]);
  for (std::size_t r = 0; r < f.results.size(); ++r) to.results.push_back(from.results[folded.result_of[r]]);
  for (std::size_t i = 0; i < f.ops.size(); ++i) {
    to.ops.push_back(from.ops[folded.op_of[i]]);
    copy_regions(program, f.ops[i], g.ops[folded.op_of[i]], whole);
  }
  return whole;
}

}  // namespace rhino::plan
