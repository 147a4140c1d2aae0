// SPDX-License-Identifier: Apache-2.0
// Propagation through while, case and call.
#include <algorithm>

#include <rhino/base/error.hpp>
#include <rhino/shard/control_functions.hpp>
#include <rhino/shard/propagate_function.hpp>

namespace rhino::shard {

namespace {

/// Loops nested deeper than this, and functions that several ops share, stay whole.
constexpr int max_depth = 6;

/// Attempts to find layouts that an iteration keeps, by depth: what does not settle becomes whole.
int max_iterations(int depth) { return depth == 0 ? 6 : depth == 1 ? 3 : 2; }

}  // namespace

bool FunctionPropagation::evaluate_control(std::size_t o) {
  bool own_regions = depth_ < max_depth;
  for (ir::FunctionId region : op(o).regions)
    own_regions &= context_.uses[region.index()] == 1;
  if (!own_regions) return false;  // decided and wanted whole from the start
  return op(o).kind == ir::OpKind::While ? evaluate_while(o) : evaluate_branches(o);
}

bool FunctionPropagation::settle_control(std::size_t o, std::vector<Layout> wants, const std::vector<Layout>& results) {
  bool changed = ops_[o].wants != wants;
  ops_[o].settled = true;
  set_wants(o, std::move(wants));
  for (std::size_t r = 0; r < results.size(); ++r) {
    changed |= layouts_[op(o).results[r].index()] != results[r];
    set_layout(op(o).results[r], results[r]);
  }
  return changed;
}

/// The carried values grow with what goes in and with what their users want, and with what the body makes of them; what
/// the body does not keep shrinks again and is then frozen, so that this ends.
bool FunctionPropagation::evaluate_while(std::size_t o) {
  const std::size_t n = op(o).operands.size();
  OpState& state = ops_[o];
  state.frozen.resize(n, false);
  std::vector<Layout> carried = state.wants;
  for (std::size_t i = 0; i < n; ++i) {
    if (state.frozen[i]) continue;
    merge_growth(carried[i], layouts_[op(o).operands[i].index()]);
    merge_growth(carried[i], common_want(op(o).results[i]));
  }
  const bool nothing_split =
      std::none_of(carried.begin(), carried.end(), [](const Layout& l) { return !l.is_replicated(); });
  if (nothing_split) return false;
  const ir::FunctionId condition = op(o).regions[0], body = op(o).regions[1];
  const auto run_body = [&](bool pin_all) {
    FunctionPropagation propagation(context_, context_.program.function(body), depth_ + 1);
    for (std::size_t i = 0; i < n; ++i) {
      propagation.set_param(i, carried[i], pin_all || state.frozen[i]);
      propagation.tie(i, i);
    }
    propagation.run();
    return propagation;
  };
  for (int iteration = 0;; ++iteration) {
    FunctionPropagation propagation = run_body(false);
    const bool last = iteration + 1 == max_iterations(depth_);
    bool stable = true;
    for (std::size_t i = 0; i < n; ++i) {
      if (state.frozen[i]) continue;
      const Layout start = propagation.param(i), end = propagation.result(i);
      if (start == carried[i] && end == start) continue;
      stable = false;
      if (last) {
        carried[i] = canonical(Layout::replicated(function_.type(op(o).operands[i]).dims), mesh_);
        state.frozen[i] = true;
      } else if (extends(end, start, mesh_)) {
        carried[i] = end;
      } else {
        Layout kept = start;
        for (std::size_t d = 0; d < kept.dims.size(); ++d)
          kept.dims[d] = common_split(start.dims[d], end.dims[d], DimLayout(), mesh_);
        const Layout whole = Layout::replicated(function_.type(op(o).operands[i]).dims);
        for (std::size_t d = 0; d < kept.dims.size(); ++d)
          if (!kept.dims[d].is_split()) kept.dims[d] = canonical(whole.dims[d], mesh_);
        carried[i] = std::move(kept);
        state.frozen[i] = true;
      }
    }
    if (stable || last) break;
  }
  FunctionPropagation propagation = run_body(true);
  context_.decided[body.index()] = propagation.finish();
  FunctionPropagation test(context_, context_.program.function(condition), depth_ + 1);
  for (std::size_t i = 0; i < n; ++i)
    test.set_param(i, carried[i], true);
  test.run();
  context_.decided[condition.index()] = test.finish();
  std::vector<Layout> results = carried;
  return settle_control(o, std::move(carried), results);
}

/// Branches (or a callee) take their arguments as they come, and leave results in a layout common to all branches.
bool FunctionPropagation::evaluate_branches(std::size_t o) {
  const std::size_t first = op(o).kind == ir::OpKind::Case ? 1 : 0;  // operand 0 of `case` is the index
  std::vector<Layout> wants = ops_[o].wants;
  for (std::size_t i = first; i < wants.size(); ++i)
    wants[i] = layouts_[op(o).operands[i].index()];
  std::vector<FunctionPropagation> branches;
  for (ir::FunctionId region : op(o).regions) {
    FunctionPropagation propagation(context_, context_.program.function(region), depth_ + 1);
    for (std::size_t i = first; i < wants.size(); ++i)
      propagation.set_param(i - first, wants[i], true);
    for (std::size_t r = 0; r < op(o).results.size(); ++r) {
      Layout wanted = layouts_[op(o).results[r].index()];
      merge_growth(wanted, common_want(op(o).results[r]));
      propagation.want_result(r, wanted);
    }
    propagation.run();
    branches.push_back(std::move(propagation));
  }
  std::vector<Layout> results;
  for (std::size_t r = 0; r < op(o).results.size(); ++r) {
    const Layout whole = canonical(Layout::replicated(function_.type(op(o).results[r]).dims), mesh_);
    Layout common = branches[0].result(r);
    for (const FunctionPropagation& branch : branches) {
      const Layout other = branch.result(r);
      for (std::size_t d = 0; d < common.dims.size(); ++d)
        common.dims[d] = common_split(common.dims[d], other.dims[d], whole.dims[d], mesh_);
    }
    results.push_back(std::move(common));
  }
  for (std::size_t b = 0; b < branches.size(); ++b) {
    FunctionSharding sharding = branches[b].finish();
    sharding.results = results;
    context_.decided[op(o).regions[b].index()] = std::move(sharding);
  }
  return settle_control(o, std::move(wants), results);
}

}  // namespace rhino::shard
