// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/local_search.hpp>

#include <algorithm>
#include <optional>

#include <rhino/base/error.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::plan {

using ir::Function;
using ir::Op;
using ir::OpId;
using ir::OpKind;
using ir::ValueId;
using shard::AxisId;
using shard::DimLayout;
using shard::FactorKind;
using shard::FactorMap;
using shard::Layout;
using shard::Strategy;

namespace {

bool is_decided_elsewhere(const Op& op) {
  return op.kind == OpKind::While || op.kind == OpKind::Case || op.kind == OpKind::Call || op.kind == OpKind::CustomCall ||
         ir::is_collective(op.kind);
}

class LocalSearch {
 public:
  LocalSearch(Pricer& pricer, const ir::Signature& signature, shard::Sharding& sharding, const LocalSearchOptions& options)
      : pricer_(pricer),
        program_(pricer.program()),
        f_(program_.entry()),
        mesh_(pricer.mesh().shape),
        sharding_(sharding),
        decisions_(sharding.functions[program_.main.index()]),
        options_(options),
        layouts_(pricer.value_layouts(program_.main, sharding)),
        uses_(ir::value_uses(f_)),
        updates_(signature.updates()) {
    result_uses_.resize(f_.values.size());
    for (std::size_t r = 0; r < f_.results.size(); ++r) result_uses_[f_.results[r].index()].push_back(r);
  }

  std::int64_t run() {
    std::int64_t changes = 0;
    for (int sweep = 0; sweep < options_.sweeps && work_ < options_.work_limit; ++sweep) {
      std::int64_t changed = 0;
      const std::size_t count = f_.ops.size();
      for (std::size_t k = 0; k < count; ++k) {
        const OpId id(sweep % 2 == 0 ? k : count - 1 - k);
        if (work_ >= options_.work_limit) break;
        changed += improve_op(id) ? 1 : 0;
      }
      for (std::size_t p = 0; p < f_.params.size(); ++p) changed += improve_param(p) ? 1 : 0;
      changes += changed;
      if (changed == 0) break;
    }
    return changes;
  }

 private:
  const FactorMap& factors(OpId id) { return pricer_.factors(program_.main, id); }

  /// Cost of a value lying in `layout`, over all that read it.
  double readers_cost(ValueId value, const Layout& layout) {
    double cost = 0;
    std::vector<Layout> seen;
    const auto add = [&](const Layout& wanted) {
      if (std::find(seen.begin(), seen.end(), wanted) != seen.end()) return;
      cost += pricer_.reshard_seconds(program_.main, value, layout, wanted);
      seen.push_back(wanted);
    };
    for (const auto& [op, position] : uses_[value.index()]) {
      add(pricer_.wanted_layout(program_.main, op, position, sharding_));
    }
    for (std::size_t r : result_uses_[value.index()]) add(decisions_.results[r]);
    return cost;
  }

  double local_cost(OpId id, const Strategy& strategy) {
    ++work_;
    const Op& op = f_.op(id);
    const Pricer::OpPrice price = pricer_.op_price(program_.main, id, strategy);
    double cost = price.seconds;
    for (std::size_t o = 0; o < op.operands.size(); ++o) {
      const ValueId operand = op.operands[o];
      const Layout& wanted = price.operands[o];
      if (!has_another_reader_in(operand, id, wanted)) {
        cost += pricer_.reshard_seconds(program_.main, operand, layouts_[operand.index()], wanted);
      }
    }
    for (std::size_t r = 0; r < op.results.size(); ++r) {
      cost += readers_cost(op.results[r], price.results[r]);
    }
    return cost;
  }

  /// A value that another op already needs in this layout is brought there anyway.
  bool has_another_reader_in(ValueId value, OpId self, const Layout& wanted) {
    const auto& uses = uses_[value.index()];
    if (uses.size() < 2 || uses.size() > 8) return false;
    return std::any_of(uses.begin(), uses.end(), [&](const auto& use) {
      return use.first != self && pricer_.wanted_layout(program_.main, use.first, use.second, sharding_) == wanted;
    });
  }

  bool improve_op(OpId id) {
    const Op& op = f_.op(id);
    if (is_decided_elsewhere(op)) return false;
    const Strategy current = decisions_.ops[id.index()];
    double best_cost = local_cost(id, current);
    const Strategy* best = nullptr;
    const std::vector<Strategy> all = candidates(id);
    for (const Strategy& candidate : all) {
      if (candidate == current) continue;
      const double cost = local_cost(id, candidate);
      if (cost < best_cost * (1 - 1e-9) - 1e-12) {
        best_cost = cost;
        best = &candidate;
      }
    }
    if (best == nullptr) return false;
    decisions_.ops[id.index()] = *best;
    for (std::size_t r = 0; r < op.results.size(); ++r) {
      layouts_[op.results[r].index()] = shard::result_layout(factors(id), *best, static_cast<int>(r), mesh_);
    }
    return true;
  }

  std::vector<Strategy> candidates(OpId id) {
    const Op& op = f_.op(id);
    const FactorMap& map = factors(id);
    std::vector<Strategy> out;
    const auto add = [&](Strategy strategy) {
      if (std::find(out.begin(), out.end(), strategy) == out.end() && is_valid(map, strategy)) out.push_back(std::move(strategy));
    };
    const Strategy whole = shard::replicated_strategy(map);
    add(whole);
    const auto project = [&](const shard::TensorFactors& tensor, Layout layout) {
      layout.partial_axes.clear();
      layout.partial_kind = shard::PartialKind::Sum;
      if (auto splits = shard::factors_from_layout(map, tensor, layout, mesh_)) {
        Strategy strategy = whole;
        strategy.factors = *splits;
        return std::optional<Strategy>(strategy);
      }
      return std::optional<Strategy>();
    };
    for (std::size_t o = 0; o < op.operands.size(); ++o) {
      const Layout& layout = layouts_[op.operands[o].index()];
      if (auto strategy = project(map.operands[o], layout)) {
        add(*strategy);
        if (layout.is_partial()) add_carried(op, *strategy, layout, add);
        for (std::size_t other = o + 1; other < op.operands.size(); ++other) {
          if (auto second = project(map.operands[other], layouts_[op.operands[other].index()])) add(merged(*strategy, *second));
        }
      }
    }
    for (std::size_t r = 0; r < op.results.size(); ++r) {
      for (const auto& [consumer, position] : uses_[op.results[r].index()]) {
        if (auto strategy = project(map.results[r], pricer_.wanted_layout(program_.main, consumer, position, sharding_))) {
          add(*strategy);
        }
      }
      for (std::size_t result : result_uses_[op.results[r].index()]) {
        if (auto strategy = project(map.results[r], decisions_.results[result])) add(*strategy);
      }
    }
    const bool heavy = op.kind == OpKind::DotGeneral || op.kind == OpKind::Convolution;
    for (std::size_t a = 0; a < static_cast<std::size_t>(mesh_.rank()); ++a) {
      for (std::size_t factor = 0; factor < map.factors.size(); ++factor) {
        Strategy one = with_split(map, whole, factor, static_cast<AxisId>(a));
        add(one);
        add(with_split(map, decisions_.ops[id.index()], factor, static_cast<AxisId>(a)));
        if (!heavy) continue;
        for (std::size_t b = 0; b < static_cast<std::size_t>(mesh_.rank()); ++b) {
          for (std::size_t second = 0; b != a && second < map.factors.size(); ++second) {
            add(with_split(map, one, second, static_cast<AxisId>(b)));
          }
        }
      }
    }
    return out;
  }

  /// The operands that are partial in the same way stay so, if the op lets that through.
  template <class Add>
  void add_carried(const Op& op, const Strategy& strategy, const Layout& partial, const Add& add) {
    std::vector<bool> carried(op.operands.size(), false);
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const Layout& layout = layouts_[op.operands[i].index()];
      carried[i] = layout.partial_axes == partial.partial_axes && layout.partial_kind == partial.partial_kind;
    }
    if (!shard::carries_partial(program_, f_, op, partial.partial_kind, carried)) return;
    Strategy with = strategy;
    with.carried_axes = partial.partial_axes;
    with.carried_kind = partial.partial_kind;
    with.carried_operands = carried;
    add(with);
  }

  /// `strategy` with the axis taken from wherever it is and given to one factor (behind the axes that it has).
  Strategy with_split(const FactorMap& map, Strategy strategy, std::size_t factor, AxisId axis) const {
    for (DimLayout& dim : strategy.factors) {
      for (shard::SubDim& sub : dim.subs) sub.axes.erase(std::remove(sub.axes.begin(), sub.axes.end(), axis), sub.axes.end());
    }
    std::erase(strategy.carried_axes, axis);
    if (strategy.carried_axes.empty()) strategy.carried_operands.assign(strategy.carried_operands.size(), false);
    DimLayout& target = strategy.factors[factor];
    if (target.subs.empty()) target.subs.push_back({map.factors[factor].size, {}});
    target.subs.front().axes.push_back(axis);
    return strategy;
  }

  /// `first`, with the splits of `second` on the factors that `first` leaves whole, as far as axes are free.
  Strategy merged(Strategy first, const Strategy& second) const {
    std::vector<bool> used(static_cast<std::size_t>(mesh_.rank()), false);
    const auto mark = [&](const DimLayout& dim) {
      for (const auto& sub : dim.subs) {
        for (AxisId axis : sub.axes) used[static_cast<std::size_t>(axis)] = true;
      }
    };
    std::for_each(first.factors.begin(), first.factors.end(), mark);
    for (std::size_t i = 0; i < first.factors.size(); ++i) {
      if (first.factors[i].is_split() || !second.factors[i].is_split()) continue;
      bool free = true;
      for (const auto& sub : second.factors[i].subs) {
        for (AxisId axis : sub.axes) free = free && !used[static_cast<std::size_t>(axis)];
      }
      if (!free) continue;
      first.factors[i] = second.factors[i];
      mark(first.factors[i]);
    }
    return first;
  }

  bool is_valid(const FactorMap& map, const Strategy& strategy) const {
    // Splits into more parts than there are elements only waste devices.
    for (std::size_t i = 0; i < map.factors.size(); ++i) {
      std::int64_t parts = 1;
      for (const auto& sub : strategy.factors[i].subs) parts *= mesh_.group_size(sub.axes);
      if (parts > map.factors[i].size) return false;
      if (parts > 1 && map.factors[i].kind == FactorKind::NoSplit) return false;
    }
    try {
      shard::check_strategy(map, strategy, mesh_, "candidate");
    } catch (const InputError&) {
      return false;
    }
    return true;
  }

  /// Chooses the layout of a parameter and, for a state, of the result that replaces it.
  bool improve_param(std::size_t p) {
    const ValueId param = f_.params[p];
    const Layout current = decisions_.params[p];
    std::vector<Layout> options{Layout::replicated(f_.type(param).dims)};
    const auto offer = [&](Layout layout) {
      if (layout.is_partial()) return;
      layout = shard::canonical(std::move(layout), mesh_);
      if (std::find(options.begin(), options.end(), layout) == options.end()) options.push_back(std::move(layout));
    };
    for (const auto& [op, position] : uses_[param.index()]) offer(pricer_.wanted_layout(program_.main, op, position, sharding_));
    if (updates_[p]) offer(layouts_[f_.results[*updates_[p]].index()]);
    const auto cost = [&](const Layout& layout) {
      ++work_;
      double sum = readers_cost(param, layout);
      if (updates_[p]) {
        const ValueId made = f_.results[*updates_[p]];
        sum += pricer_.reshard_seconds(program_.main, made, layouts_[made.index()], layout);
      }
      return sum;
    };
    double best_cost = cost(current);
    const Layout* best = nullptr;
    for (const Layout& option : options) {
      if (option == current) continue;
      const double option_cost = cost(option);
      if (option_cost < best_cost * (1 - 1e-9) - 1e-12) {
        best_cost = option_cost;
        best = &option;
      }
    }
    if (best == nullptr) return false;
    decisions_.params[p] = *best;
    layouts_[param.index()] = *best;
    if (updates_[p]) decisions_.results[*updates_[p]] = *best;
    return true;
  }

  Pricer& pricer_;
  const ir::Program& program_;
  const Function& f_;
  const shard::MeshShape& mesh_;
  shard::Sharding& sharding_;
  shard::FunctionSharding& decisions_;
  LocalSearchOptions options_;
  std::vector<Layout> layouts_;  ///< per value, as left by its producer
  std::vector<std::vector<std::pair<OpId, std::uint32_t>>> uses_;
  std::vector<std::optional<std::uint32_t>> updates_;
  std::vector<std::vector<std::size_t>> result_uses_;  ///< per value: results of the function that it is
  std::int64_t work_ = 0;
};

}  // namespace

std::int64_t improve(Pricer& pricer, const ir::Signature& signature, shard::Sharding& sharding,
                     const LocalSearchOptions& options) {
  return LocalSearch(pricer, signature, sharding, options).run();
}

}  // namespace rhino::plan
