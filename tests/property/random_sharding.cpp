// SPDX-License-Identifier: Apache-2.0
#include "random_sharding.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <rhino/base/error.hpp>

namespace rhino::test {

using ir::FunctionId;
using ir::OpKind;
using ir::ValueId;
using shard::AxisId;
using shard::DimLayout;
using shard::FactorKind;
using shard::FactorMap;
using shard::Layout;
using shard::MeshShape;
using shard::Strategy;
using shard::SubDim;

shard::MeshShape random_mesh(Random& random, std::int64_t largest) {
  std::vector<shard::MeshAxis> axes;
  std::int64_t devices = 1;
  static const char* const names[] = {"x", "y", "z"};
  for (std::int64_t n = random.integer(1, 3); n > 0; --n) {
    const std::int64_t size = random.chance(0.08) ? 1 : random.integer(2, 6);
    if (devices * size > largest) continue;
    devices *= size;
    axes.push_back({names[axes.size()], size});
  }
  if (axes.empty()) axes.push_back({"x", 2});
  return MeshShape(axes);
}

namespace {

/// Puts `axis` on a random digit of `dim`; with `plain`, on its only one.
void place_axis(DimLayout& dim, AxisId axis, bool plain, Random& random) {
  if (dim.subs.empty()) dim.subs.push_back({});
  auto& sub = dim.subs[static_cast<std::size_t>(plain ? 0 : random.integer(0, static_cast<std::int64_t>(dim.subs.size()) - 1))];
  if (!plain && sub.axes.empty() && random.chance(0.4)) {
    std::vector<std::int64_t> divisors;
    for (std::int64_t n = 2; n < sub.size; ++n) {
      if (sub.size % n == 0) divisors.push_back(n);
    }
    if (!divisors.empty()) {
      const std::int64_t minor = random.pick(divisors);
      SubDim low{minor, {}};
      sub.size /= minor;
      (random.chance(0.6) ? low : sub).axes.push_back(axis);
      dim.subs.insert(dim.subs.begin() + (&sub - dim.subs.data()) + 1, low);
      return;
    }
  }
  sub.axes.insert(sub.axes.begin() + random.integer(0, static_cast<std::int64_t>(sub.axes.size())), axis);
}

bool holds(const std::function<void()>& check) {
  try {
    check();
  } catch (const InputError&) {
    return false;
  }
  return true;
}

std::vector<AxisId> axes_of(const Strategy& strategy) {
  std::vector<AxisId> axes = strategy.carried_axes;
  for (const DimLayout& factor : strategy.factors) {
    for (const SubDim& sub : factor.subs) axes.insert(axes.end(), sub.axes.begin(), sub.axes.end());
  }
  return axes;
}

/// Lets partial operands through, where the op allows it.
void carry_partials(const ir::Program& program, const ir::Function& function, const ir::Op& op, const FactorMap& map,
                    const MeshShape& mesh, const std::vector<std::optional<Layout>>& layouts, Strategy& strategy, Random& random) {
  for (const ValueId operand : op.operands) {
    std::optional<Layout> from = layouts[operand.index()];
    if (random.chance(0.05)) {  // a whole value taken for a partial one
      from = Layout{};
      from->partial_axes = {static_cast<AxisId>(random.integer(0, mesh.rank() - 1))};
      const bool bits = function.type(operand).dtype == ir::DType::I1;
      from->partial_kind = random.pick(bits ? std::vector{shard::PartialKind::Or, shard::PartialKind::And}
                                            : std::vector{shard::PartialKind::Sum, shard::PartialKind::Max, shard::PartialKind::Min});
    }
    if (!from || !from->is_partial() || random.chance(0.2)) continue;
    Strategy carried = strategy;
    carried.carried_axes = from->partial_axes;
    carried.carried_kind = from->partial_kind;
    carried.carried_operands.assign(op.operands.size(), false);
    // Either this operand alone, or all operands that are partial in the same way.
    const bool alone = random.chance(0.4);
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const auto& other = layouts[op.operands[i].index()];
      const bool same = other && other->partial_axes == from->partial_axes && other->partial_kind == from->partial_kind;
      carried.carried_operands[i] = alone ? op.operands[i] == operand : same;
    }
    const std::vector<AxisId> used = axes_of(strategy);
    const bool free = std::none_of(carried.carried_axes.begin(), carried.carried_axes.end(), [&](AxisId axis) {
      return std::find(used.begin(), used.end(), axis) != used.end();
    });
    if (!free || !shard::carries_partial(program, function, op, carried.carried_kind, carried.carried_operands)) continue;
    if (!holds([&] { shard::check_strategy(map, carried, mesh, "carried"); })) continue;
    strategy = carried;
    return;
  }
}

}  // namespace

Layout random_layout(const ir::Dims& dims, const MeshShape& mesh, Random& random) {
  Layout layout = Layout::replicated(dims);
  for (AxisId axis = 0; axis < mesh.rank(); ++axis) {
    if (dims.empty() || random.chance(0.3)) continue;
    Layout next = layout;
    const auto d = static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(dims.size()) - 1));
    place_axis(next.dims[d], axis, false, random);
    if (holds([&] { shard::check_layout(next, dims, mesh, "random layout"); })) layout = next;
  }
  return layout;
}

namespace {

Strategy random_strategy(const ir::Program& program, const ir::Function& function, const ir::Op& op, const MeshShape& mesh,
                         const std::vector<std::optional<Layout>>& layouts, Random& random) {
  const FactorMap map = shard::factor_map(program, function, op);
  Strategy strategy = shard::replicated_strategy(map);
  if (random.chance(0.6)) carry_partials(program, function, op, map, mesh, layouts, strategy, random);
  std::vector<std::size_t> open;
  for (std::size_t f = 0; f < map.factors.size(); ++f) {
    if (map.factors[f].kind != FactorKind::NoSplit) open.push_back(f);
  }
  const std::vector<AxisId> used = axes_of(strategy);
  for (AxisId axis = 0; axis < mesh.rank() && !open.empty(); ++axis) {
    if (std::find(used.begin(), used.end(), axis) != used.end() || random.chance(0.15)) continue;
    for (int attempt = 0; attempt < 3; ++attempt) {
      Strategy next = strategy;
      const std::size_t f = random.pick(open);
      place_axis(next.factors[f], axis, shard::needs_plain_blocks(map.factors[f].kind), random);
      if (!holds([&] { shard::check_strategy(map, next, mesh, "random strategy"); })) continue;
      strategy = next;
      break;
    }
  }
  return strategy;
}

}  // namespace

shard::Sharding random_sharding(const ir::Program& program, const MeshShape& mesh, Random& random) {
  shard::Sharding sharding = shard::replicated_sharding(program, mesh);
  // Loops and branches come before the function around them, so that their layouts are known there.
  std::vector<FunctionId> order;
  const std::function<void(FunctionId)> visit = [&](FunctionId id) {
    for (const ir::Op& op : program.function(id).ops) {
      if (op.kind != OpKind::While && op.kind != OpKind::Case) continue;
      for (const FunctionId region : op.regions) visit(region);
    }
    order.push_back(id);
  };
  visit(program.main);

  for (const FunctionId id : order) {
    const ir::Function& function = program.function(id);
    shard::FunctionSharding& decisions = sharding.functions[id.index()];
    std::vector<std::optional<Layout>> layouts(function.values.size());
    for (std::size_t p = 0; p < function.params.size(); ++p) {
      decisions.params[p] = random_layout(function.type(function.params[p]).dims, mesh, random);
    }
    for (std::size_t o = 0; o < function.ops.size(); ++o) {
      const ir::Op& op = function.ops[o];
      if (op.kind == OpKind::While || op.kind == OpKind::Case) {
        const auto& around = sharding.functions[op.regions.back().index()];
        const auto& results = op.kind == OpKind::While ? around.params : around.results;
        for (std::size_t r = 0; r < op.results.size(); ++r) layouts[op.results[r].index()] = results[r];
        continue;
      }
      decisions.ops[o] = random_strategy(program, function, op, mesh, layouts, random);
      const FactorMap map = shard::factor_map(program, function, op);
      for (std::size_t r = 0; r < op.results.size(); ++r) {
        layouts[op.results[r].index()] = shard::result_layout(map, decisions.ops[o], static_cast<int>(r), mesh);
      }
      for (std::size_t i = 0; i < op.operands.size(); ++i) {
        for (std::size_t p = 0; p < function.params.size(); ++p) {
          if (function.params[p] != op.operands[i] || random.chance(0.3)) continue;
          const Layout wanted = shard::operand_layout(map, decisions.ops[o], static_cast<int>(i), mesh);
          if (!wanted.is_partial()) decisions.params[p] = wanted;
        }
      }
    }
    for (std::size_t r = 0; r < function.results.size(); ++r) {
      const auto& made = layouts[function.results[r].index()];
      decisions.results[r] = made && !made->is_partial() && random.chance(0.6)
                                 ? *made
                                 : random_layout(function.type(function.results[r]).dims, mesh, random);
    }
    // Regions of one op agree: carried layouts of a loop, operands and results of branches.
    for (const ir::Op& op : function.ops) {
      if (op.kind == OpKind::While) {
        auto& condition = sharding.functions[op.regions[0].index()];
        auto& body = sharding.functions[op.regions[1].index()];
        body.results = body.params;
        condition.params = body.params;
        for (Layout& verdict : condition.results) verdict = Layout{};
      } else if (op.kind == OpKind::Case) {
        const auto& last = sharding.functions[op.regions.back().index()];
        for (const FunctionId region : op.regions) {
          sharding.functions[region.index()].params = last.params;
          sharding.functions[region.index()].results = last.results;
        }
      }
    }
  }
  return sharding;
}

namespace {

void drop(std::vector<AxisId>& axes, AxisId axis) { std::erase(axes, axis); }

void drop(Layout& layout, AxisId axis) {
  for (DimLayout& dim : layout.dims) {
    for (SubDim& sub : dim.subs) drop(sub.axes, axis);
  }
}

}  // namespace

shard::Sharding without_axis(const shard::Sharding& sharding, AxisId axis) {
  shard::Sharding result = sharding;
  for (auto& function : result.functions) {
    for (Layout& layout : function.params) drop(layout, axis);
    for (Layout& layout : function.results) drop(layout, axis);
    for (Strategy& strategy : function.ops) {
      for (DimLayout& factor : strategy.factors) {
        for (SubDim& sub : factor.subs) drop(sub.axes, axis);
      }
      drop(strategy.carried_axes, axis);
      if (strategy.carried_axes.empty()) {
        strategy.carried_operands.clear();
        strategy.carried_kind = shard::PartialKind::Sum;
      }
    }
  }
  return result;
}

}  // namespace rhino::test
