// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/state_split.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include <rhino/base/contains.hpp>
#include <rhino/base/error.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::plan {

using ir::Function;
using ir::Op;
using ir::OpId;
using ir::OpKind;
using ir::ValueId;
using shard::AxisId;
using shard::Layout;

namespace {

/// Groups found by joining what shares ops.
class GroupFinder {
 public:
  GroupFinder(const ir::Program& program, const ir::Signature& signature)
      : f_(program.entry()), signature_(signature), updates_(signature.updates()), uses_(ir::value_uses(f_)), owner_(f_.ops.size(), kNone) {
    leader_.resize(f_.params.size());
    std::iota(leader_.begin(), leader_.end(), std::size_t{0});
  }

  std::vector<StateGroup> find() {
    for (std::size_t p = 0; p < f_.params.size(); ++p) {
      if (is_split_state(p)) collect_update(p);
    }
    std::map<std::size_t, StateGroup> by_leader;
    for (std::size_t p = 0; p < f_.params.size(); ++p) {
      if (is_split_state(p)) by_leader[leader(p)].params.push_back(static_cast<std::uint32_t>(p));
    }
    for (std::size_t i = 0; i < f_.ops.size(); ++i) {
      if (owner_[i] != kNone) by_leader[leader(owner_[i])].ops.push_back(OpId(i));
    }
    std::vector<StateGroup> groups;
    for (auto& [first, group] : by_leader) groups.push_back(std::move(group));
    return groups;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  bool is_split_state(std::size_t p) const {
    const ir::ParamInfo& info = signature_.params[p];
    return info.role == ir::ParamRole::State && updates_[p] && f_.type(f_.params[p]).elements() > 1 &&
           (info.kind == ir::StateKind::Param || info.kind == ir::StateKind::Optimizer);
  }

  std::size_t leader(std::size_t p) {
    while (leader_[p] != p) p = leader_[p] = leader_[leader_[p]];
    return p;
  }
  void join(std::size_t a, std::size_t b) {
    a = leader(a);
    b = leader(b);
    leader_[std::max(a, b)] = std::min(a, b);
  }

  const ir::Dims& dims(ValueId value) const { return f_.type(value).dims; }
  /// Broadcast values are shared by all weights of a shape and belong to none.
  bool is_part(const Op& op, const ir::Dims& shape) const {
    return op.results.size() == 1 && dims(op.results[0]) == shape && ir::is_elementwise(op.kind);
  }

  /// From the new value of a state back to what it is made of, and from there to the other readers of the gradient.
  void collect_update(std::size_t p) {
    const ir::Dims& shape = dims(f_.params[p]);
    std::vector<ValueId> open{f_.results[*updates_[p]]};
    while (!open.empty()) {
      const ValueId value = open.back();
      open.pop_back();
      if (dims(value) != shape) continue;
      const ir::Value& v = f_.value(value);
      if (!v.producer.valid()) {
        if (is_split_state(v.result_index)) join(p, v.result_index);
        continue;
      }
      const Op& op = f_.op(v.producer);
      if (op.kind == OpKind::Constant || op.kind == OpKind::BroadcastInDim) continue;
      if (is_part(op, shape)) visit(v.producer, p, open);
      for (const auto& [reader, position] : uses_[value.index()]) {
        const Op& next = f_.op(reader);
        if (is_part(next, shape)) visit(reader, p, open);
        if (next.kind == OpKind::Reduce && next.results.size() == 1 && position == 0 && dims(next.results[0]).empty()) take(reader, p);
      }
    }
  }

  void visit(OpId id, std::size_t p, std::vector<ValueId>& open) {
    if (!take(id, p)) return;
    const Op& op = f_.op(id);
    open.insert(open.end(), op.operands.begin(), op.operands.end());
    open.push_back(op.results[0]);
  }

  /// False if the op is in a group already; that group is then the same one.
  bool take(OpId op, std::size_t p) {
    std::size_t& owner = owner_[op.index()];
    if (owner != kNone) {
      join(owner, p);
      return false;
    }
    owner = p;
    return true;
  }

  const Function& f_;
  const ir::Signature& signature_;
  std::vector<std::optional<std::uint32_t>> updates_;
  std::vector<std::vector<std::pair<OpId, std::uint32_t>>> uses_;
  std::vector<std::size_t> owner_;   ///< per op: a parameter of its group
  std::vector<std::size_t> leader_;  ///< per parameter: towards the first one of its group
};

std::vector<AxisId> free_axes(const Layout& layout, const shard::MeshShape& mesh) {
  std::vector<AxisId> free;
  for (AxisId axis = 0; axis < static_cast<AxisId>(mesh.rank()); ++axis) {
    const bool used = std::any_of(layout.dims.begin(), layout.dims.end(), [&](const shard::DimLayout& dim) {
      return std::any_of(dim.subs.begin(), dim.subs.end(), [&](const shard::SubDim& sub) { return contains(sub.axes, axis); });
    });
    if (!used) free.push_back(axis);
  }
  return free;
}

/// How many kinds of groups are decided one by one; the others are too small to matter beside these.
constexpr std::size_t kDecidedKinds = 6;

}  // namespace

std::vector<StateGroup> find_state_groups(const ir::Program& program, const ir::Signature& signature) {
  return GroupFinder(program, signature).find();
}

StateSplitter::StateSplitter(Pricer& pricer, const ir::Signature& signature)
    : pricer_(pricer),
      signature_(signature),
      updates_(signature.updates()),
      uses_(ir::value_uses(pricer.program().entry())),
      groups_(find_state_groups(pricer.program(), signature)) {}

/// Splits a dimension over the axes that the layout leaves free, all of them or else one; only evenly. False if none fits.
bool StateSplitter::extend(const ir::Dims& dims, Layout& layout) const {
  const shard::MeshShape& mesh = pricer_.mesh().shape;
  const std::vector<AxisId> free = free_axes(layout, mesh);
  std::vector<std::vector<AxisId>> tries{free};
  for (const AxisId axis : free) tries.push_back({axis});
  for (const std::vector<AxisId>& axes : tries) {
    const std::int64_t parts = mesh.group_size(axes);
    if (parts < 2) continue;
    int best = -1;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const std::int64_t size = shard::local_size(layout.dims[d], mesh);
      if (size % parts != 0 || shard::is_uneven(layout.dims[d], mesh)) continue;
      // A dimension that is whole needs no strided exchange; among those the first is contiguous in memory.
      const bool better = best < 0 || (layout.dims[static_cast<std::size_t>(best)].is_split() && !layout.dims[d].is_split());
      if (better) best = static_cast<int>(d);
    }
    if (best < 0) continue;
    shard::DimLayout& dim = layout.dims[static_cast<std::size_t>(best)];
    if (dim.subs.empty()) dim.subs.push_back({dims[static_cast<std::size_t>(best)], {}});
    auto& target = dim.subs.front().axes;
    target.insert(target.end(), axes.begin(), axes.end());
    layout = shard::canonical(std::move(layout), mesh);
    return true;
  }
  return false;
}

bool StateSplitter::set_strategy(OpId id, const Layout& layout, shard::FunctionSharding& decisions) {
  const ir::Program& program = pricer_.program();
  const Op& op = program.entry().op(id);
  const shard::FactorMap& map = pricer_.factors(program.main, id);
  const shard::TensorFactors& tensor = op.kind == OpKind::Reduce ? map.operands[0] : map.results[0];
  const auto factors = shard::factors_from_layout(map, tensor, layout, pricer_.mesh().shape);
  if (!factors) return false;
  shard::Strategy strategy = shard::replicated_strategy(map);
  strategy.factors = *factors;
  try {
    shard::check_strategy(map, strategy, pricer_.mesh().shape, "split state");
  } catch (const InputError&) {
    return false;
  }
  decisions.ops[id.index()] = std::move(strategy);
  return true;
}

/// False, and nothing changed, where the group cannot be split so.
bool StateSplitter::apply(const StateGroup& group, Split split, shard::Sharding& sharding) {
  const ir::Program& program = pricer_.program();
  const Function& f = program.entry();
  const ir::Dims& dims = f.type(f.params[group.params[0]]).dims;
  shard::FunctionSharding changed = sharding.functions[program.main.index()];
  // The weight's own layout is refined, so that a gather within the free axes restores it.
  Layout layout = changed.params[group.params[0]];
  for (const std::uint32_t p : group.params) {
    if (signature_.params[p].kind == ir::StateKind::Param) layout = changed.params[p];
  }
  if (!extend(dims, layout)) return false;
  for (const OpId op : group.ops) {
    if (!set_strategy(op, layout, changed)) return false;
  }
  for (const std::uint32_t p : group.params) {
    const bool is_weight = signature_.params[p].kind == ir::StateKind::Param;
    if (is_weight && split != Split::Weight) continue;
    changed.params[p] = layout;
    changed.results[*updates_[p]] = layout;
    if (!is_weight) continue;
    for (const auto& [reader, position] : uses_[f.params[p].index()]) {
      // Converted before it is gathered: the narrower type travels.
      if (f.op(reader).kind == OpKind::Convert && !set_strategy(reader, layout, changed)) return false;
    }
  }
  sharding.functions[program.main.index()] = std::move(changed);
  return true;
}

/// Groups are of one kind if they have the same shape, layout, types and readers: what pays for one pays for all.
void StateSplitter::find_kinds(const shard::Sharding& sharding) {
  const ir::Program& program = pricer_.program();
  const Function& f = program.entry();
  const auto& layouts = sharding.functions[program.main.index()].params;
  std::map<std::string, std::size_t> by_name;
  std::vector<double> bytes;
  kinds_.clear();
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    std::string name;
    double held = 0;
    for (const std::uint32_t p : groups_[g].params) {
      const ir::TensorType& type = f.type(f.params[p]);
      name += fmt::format("{} {};", ir::to_string(type), shard::to_string(layouts[p], pricer_.mesh().shape));
      for (const auto& [reader, position] : uses_[f.params[p].index()]) name += fmt::format("{},", static_cast<int>(f.op(reader).kind));
      held += pricer_.param_weight(p) * static_cast<double>(type.bytes());
    }
    const auto [kind, is_new] = by_name.emplace(name, kinds_.size());
    if (is_new) {
      kinds_.emplace_back();
      bytes.push_back(0);
    }
    kinds_[kind->second].push_back(g);
    bytes[kind->second] += held;
  }
  std::vector<std::size_t> order(kinds_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return bytes[a] > bytes[b]; });
  std::vector<std::vector<std::size_t>> sorted;
  for (const std::size_t kind : order) sorted.push_back(std::move(kinds_[kind]));
  kinds_ = std::move(sorted);
}

StateSplitter::Choice StateSplitter::choose(const shard::Sharding& whole, std::vector<Split> splits) {
  Choice choice{std::move(splits), whole, 0, 0};
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    if (choice.splits[kind] == Split::None) continue;
    for (const std::size_t group : kinds_[kind]) apply(groups_[group], choice.splits[kind], choice.sharding);
  }
  choice.seconds = pricer_.price(choice.sharding).total;
  return choice;
}

std::int64_t StateSplitter::fit(shard::Sharding& sharding, std::int64_t limit) {
  find_kinds(sharding);
  Choice best = choose(sharding, std::vector<Split>(kinds_.size(), Split::None));
  best.bytes = pricer_.bytes_per_rank(best.sharding, updates_);
  const auto offer = [&](std::vector<Split> splits) {
    Choice choice = choose(sharding, std::move(splits));
    if (best.bytes <= limit && choice.seconds >= best.seconds) return;
    choice.bytes = pricer_.bytes_per_rank(choice.sharding, updates_);
    const bool better = choice.bytes <= limit ? best.bytes > limit || choice.seconds < best.seconds : choice.bytes < best.bytes;
    if (better) best = std::move(choice);
  };
  // One way for all, for the large kinds or for all kinds; times do not add up where communication hides behind computing, so
  // that the ways must be compared as wholes before kinds are decided one by one.
  const std::size_t large = std::min(kinds_.size(), kDecidedKinds);
  for (const Split split : {Split::Optimizer, Split::Weight}) {
    for (const std::size_t count : {large, kinds_.size()}) {
      std::vector<Split> splits(kinds_.size(), Split::None);
      std::fill(splits.begin(), splits.begin() + static_cast<std::ptrdiff_t>(count), split);
      offer(std::move(splits));
    }
  }
  for (std::size_t kind = 0; kind < large; ++kind) {
    const Split before = best.splits[kind];
    for (const Split split : {Split::None, Split::Optimizer, Split::Weight}) {
      if (split == before) continue;
      std::vector<Split> splits = best.splits;
      splits[kind] = split;
      offer(std::move(splits));
    }
  }
  sharding = std::move(best.sharding);
  return best.bytes;
}

std::int64_t StateSplitter::least_bytes(const shard::Sharding& sharding) {
  shard::Sharding all = sharding;
  for (const StateGroup& group : groups_) apply(group, Split::Weight, all);
  return std::min(pricer_.bytes_per_rank(sharding, updates_), pricer_.bytes_per_rank(all, updates_));
}

}  // namespace rhino::plan
