// SPDX-License-Identifier: Apache-2.0
#include <rhino/shard/propagate_function.hpp>

#include <algorithm>

#include <rhino/base/contains.hpp>
#include <rhino/base/error.hpp>
#include <rhino/shard/control_functions.hpp>

namespace rhino::shard {

namespace {

/// Forward and backward passes; each adds splits, and two or three are enough for all but contrived programs.
constexpr int max_rounds = 8;

bool any_split(const Layout& layout) { return !layout.is_replicated(); }

}  // namespace

FunctionPropagation::FunctionPropagation(PropagationContext& context, const ir::Function& function, int depth)
    : context_(context), function_(function), mesh_(context.mesh), depth_(depth), uses_(ir::value_uses(function)) {
  for (const ir::Value& value : function.values)
    layouts_.push_back(canonical(Layout::replicated(value.type.dims), mesh_));
  for (const ir::Op& op : function.ops) {
    OpState state;
    state.map = factor_map(context.program, function, op);
    state.strategy = replicated_strategy(state.map);
    for (DimLayout& factor : state.strategy.factors)
      factor = canonical(std::move(factor), mesh_);
    for (ir::ValueId operand : op.operands)
      state.wants.push_back(layouts_[operand.index()]);
    ops_.push_back(std::move(state));
  }
  pinned_.assign(function.params.size(), false);
  param_open_.assign(function.params.size(), true);
  result_wants_.resize(function.results.size());
  tied_param_.assign(function.results.size(), -1);
  result_positions_.resize(function.values.size());
  for (std::size_t i = 0; i < function.results.size(); ++i)
    result_positions_[function.results[i].index()].push_back(i);
}

void FunctionPropagation::set_param(std::size_t param, const Layout& layout, bool pinned) {
  set_layout(function_.params[param], layout);
  pinned_[param] = pinned;
}

void FunctionPropagation::seed(ir::ValueId value, const Layout& layout) {
  const std::size_t o = function_.value(value).producer.index();
  OpState& state = ops_[o];
  if (is_control(op(o).kind)) return;  // decided by what its regions do
  const auto& tensor = state.map.results[function_.value(value).result_index];
  if (grow_strategy(state.map, state.strategy, tensor, layout, GrowthSource::Seed, mesh_)) refresh(o);
}

void FunctionPropagation::tie(std::size_t param, std::size_t result) {
  tied_param_[result] = static_cast<int>(param);
  open_producer(function_.results[result]);
}

void FunctionPropagation::want_result(std::size_t result, const Layout& layout) {
  result_wants_[result] = layout;
  open_producer(function_.results[result]);
}

void FunctionPropagation::run() {
  for (int round = 0; round < max_rounds; ++round) {
    bool changed = false;
    for (std::size_t o = 0; o < ops_.size(); ++o) {
      if (!ops_[o].forward_open) continue;
      ops_[o].forward_open = false;
      changed |= forward(o);
    }
    for (std::size_t o = ops_.size(); o-- > 0;) {
      if (!ops_[o].backward_open) continue;
      ops_[o].backward_open = false;
      changed |= backward(o);
    }
    for (std::size_t p = 0; p < pinned_.size(); ++p) {
      if (pinned_[p] || !param_open_[p]) continue;
      param_open_[p] = false;
      changed |= adopt(p);
    }
    if (!changed) break;
  }
  if (context_.carry_partials) carry_partials();
}

bool FunctionPropagation::forward(std::size_t o) {
  if (is_control(op(o).kind)) return evaluate_control(o);
  OpState& state = ops_[o];
  std::vector<std::size_t> split;
  for (std::size_t i = 0; i < op(o).operands.size(); ++i)
    if (any_split(layouts_[op(o).operands[i].index()])) split.push_back(i);
  if (split.empty()) return false;
  std::stable_sort(split.begin(), split.end(), [&](std::size_t a, std::size_t b) {
    return function_.type(op(o).operands[a]).elements() > function_.type(op(o).operands[b]).elements();
  });
  bool changed = false;
  for (std::size_t i : split)
    changed |= grow_strategy(state.map, state.strategy, state.map.operands[i], layouts_[op(o).operands[i].index()],
                             GrowthSource::Operand, mesh_);
  if (changed) refresh(o);
  return changed;
}

bool FunctionPropagation::backward(std::size_t o) {
  if (is_control(op(o).kind)) return evaluate_control(o);
  OpState& state = ops_[o];
  bool changed = false;
  for (std::size_t r = 0; r < op(o).results.size(); ++r) {
    const Layout wanted = common_want(op(o).results[r]);
    if (!any_split(wanted) || wanted == layouts_[op(o).results[r].index()]) continue;
    changed |= grow_strategy(state.map, state.strategy, state.map.results[r], wanted, GrowthSource::Result, mesh_);
  }
  if (changed) refresh(o);
  return changed;
}

bool FunctionPropagation::adopt(std::size_t param) {
  const ir::ValueId value = function_.params[param];
  Layout layout = layouts_[value.index()];
  merge_growth(layout, common_want(value));
  if (layout == layouts_[value.index()]) return false;
  set_layout(value, std::move(layout));
  for (std::size_t r = 0; r < tied_param_.size(); ++r)
    if (tied_param_[r] == static_cast<int>(param)) open_producer(function_.results[r]);
  return true;
}

void FunctionPropagation::merge_growth(Layout& layout, const Layout& wanted) const {
  for (std::size_t d = 0; d < layout.dims.size(); ++d) {
    if (layout.dims[d] == wanted.dims[d] || !extends(wanted.dims[d], layout.dims[d], mesh_)) continue;
    Layout grown = layout;
    grown.dims[d] = wanted.dims[d];
    std::vector<AxisId> axes;
    for (const DimLayout& dim : grown.dims)
      for (const SubDim& sub : dim.subs)
        axes.insert(axes.end(), sub.axes.begin(), sub.axes.end());
    std::sort(axes.begin(), axes.end());
    if (std::adjacent_find(axes.begin(), axes.end()) == axes.end()) layout = std::move(grown);
  }
}

Layout FunctionPropagation::common_want(ir::ValueId value) const {
  const Layout& own = layouts_[value.index()];
  std::optional<Layout> common;
  const auto vote = [&](const Layout& wanted) {
    if (!common) {
      common = wanted;
      return;
    }
    for (std::size_t d = 0; d < own.dims.size(); ++d)
      if (common->dims[d] != wanted.dims[d])
        common->dims[d] = common_split(common->dims[d], wanted.dims[d], own.dims[d], mesh_);
  };
  for (const auto& [user, operand] : uses_[value.index()]) {
    vote(ops_[user.index()].wants[operand]);
  }
  for (std::size_t r : result_positions_[value.index()]) {
    if (tied_param_[r] >= 0) {
      const auto p = static_cast<std::size_t>(tied_param_[r]);
      const ir::ValueId param = function_.params[p];
      // State that is only read to make its own successor (moments of an optimizer) follows it, and so has no vote.
      const bool follows = !pinned_[p] && uses_[param.index()].size() == 1 && !any_split(layouts_[param.index()]);
      if (!follows || !common) vote(layouts_[param.index()]);
    } else if (result_wants_[r]) {
      vote(*result_wants_[r]);
    }
  }
  return common.value_or(own);
}

void FunctionPropagation::open_producer(ir::ValueId value) {
  const ir::Value& v = function_.value(value);
  if (v.producer.valid())
    ops_[v.producer.index()].backward_open = true;
  else
    param_open_[v.result_index] = true;
}

void FunctionPropagation::set_layout(ir::ValueId value, Layout layout) {
  if (layouts_[value.index()] == layout) return;
  layouts_[value.index()] = std::move(layout);
  for (const auto& [user, operand] : uses_[value.index()])
    ops_[user.index()].forward_open = true;
}

void FunctionPropagation::set_wants(std::size_t o, std::vector<Layout> wants) {
  for (std::size_t i = 0; i < wants.size(); ++i) {
    if (ops_[o].wants[i] == wants[i]) continue;
    ops_[o].wants[i] = std::move(wants[i]);
    open_producer(op(o).operands[i]);
  }
}

void FunctionPropagation::refresh(std::size_t o) {
  OpState& state = ops_[o];
  std::vector<Layout> wants;
  for (std::size_t i = 0; i < op(o).operands.size(); ++i)
    wants.push_back(operand_layout(state.map, state.strategy, static_cast<int>(i), mesh_));
  set_wants(o, std::move(wants));
  for (std::size_t r = 0; r < op(o).results.size(); ++r) {
    Layout layout = result_layout(state.map, state.strategy, static_cast<int>(r), mesh_);
    layout.partial_axes.clear();
    layout.partial_kind = PartialKind::Sum;
    set_layout(op(o).results[r], std::move(layout));
  }
}

FunctionSharding FunctionPropagation::finish() {
  FunctionSharding sharding;
  for (std::size_t i = 0; i < function_.params.size(); ++i)
    sharding.params.push_back(param(i));
  for (std::size_t i = 0; i < function_.results.size(); ++i)
    sharding.results.push_back(tied_param_[i] >= 0 ? param(static_cast<std::size_t>(tied_param_[i])) : result(i));
  for (std::size_t o = 0; o < ops_.size(); ++o) {
    if (is_control(op(o).kind) && !ops_[o].settled)
      for (ir::FunctionId region : op(o).regions)
        decide_whole(region);
    sharding.ops.push_back(std::move(ops_[o].strategy));
  }
  return sharding;
}

/// What an earlier attempt decided for a region is void where this one left its op whole.
void FunctionPropagation::decide_whole(ir::FunctionId region) {
  std::vector<ir::FunctionId> open{region};
  while (!open.empty()) {
    const ir::Function& function = context_.program.function(open.back());
    context_.decided[open.back().index()] = replicated_function(context_.program, function);
    open.pop_back();
    for (const ir::Op& inner : function.ops)
      if (is_control(inner.kind)) open.insert(open.end(), inner.regions.begin(), inner.regions.end());
  }
}

/// A partial value with one user is handed on where the user can carry it and its result is not larger.
void FunctionPropagation::carry_partials() {
  struct Partial {
    std::vector<AxisId> axes;
    PartialKind kind = PartialKind::Sum;
  };
  std::vector<Partial> partial(function_.values.size());
  for (std::size_t o = 0; o < ops_.size(); ++o) {
    if (is_control(op(o).kind)) continue;
    OpState& state = ops_[o];
    const Partial* carried = nullptr;
    std::int64_t elements = 0;
    std::vector<bool> marks(op(o).operands.size(), false);
    for (std::size_t i = 0; i < marks.size(); ++i) {
      const ir::ValueId value = op(o).operands[i];
      const Partial& candidate = partial[value.index()];
      if (candidate.axes.empty() || uses_[value.index()].size() != 1 || !result_positions_[value.index()].empty())
        continue;
      if (carried != nullptr && (carried->axes != candidate.axes || carried->kind != candidate.kind)) continue;
      carried = &candidate;
      marks[i] = true;
      elements = std::max(elements, function_.type(value).elements());
    }
    if (carried != nullptr) {
      const std::vector<AxisId> used = axes_of(state.strategy);
      bool possible = carries_partial(context_.program, function_, op(o), carried->kind, marks);
      for (AxisId axis : carried->axes)
        possible &= !contains(used, axis);
      for (std::size_t f = 0; f < state.map.factors.size(); ++f)
        possible &= !makes_partial(state.map.factors[f].kind) || !state.strategy.factors[f].is_split() ||
                    state.map.factors[f].reduction == carried->kind;
      for (ir::ValueId result : op(o).results)
        possible &= function_.type(result).elements() <= elements;
      if (possible) {
        state.strategy.carried_axes = carried->axes;
        state.strategy.carried_kind = carried->kind;
        state.strategy.carried_operands = marks;
      }
    }
    for (std::size_t r = 0; r < op(o).results.size(); ++r) {
      const Layout layout = result_layout(state.map, state.strategy, static_cast<int>(r), mesh_);
      partial[op(o).results[r].index()] = {layout.partial_axes, layout.partial_kind};
    }
  }
}

}  // namespace rhino::shard
