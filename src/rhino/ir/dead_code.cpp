// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <rhino/ir/passes.hpp>
#include <rhino/ir/rewrite.hpp>

namespace rhino::ir {
namespace {

/// Marks what the results of a function need, backwards. `wanted` says which values are wanted to begin with.
/// Returns for each op whether it stays.
std::vector<bool> live_ops(const Function& function, std::vector<bool>& wanted, const std::vector<bool>& effects) {
  std::vector<bool> live(function.ops.size(), false);
  for (std::size_t i = function.ops.size(); i-- > 0;) {
    const Op& op = function.ops[i];
    live[i] = has_effects(op, effects) ||
              std::any_of(op.results.begin(), op.results.end(), [&](ValueId result) { return wanted[result.index()]; });
    if (!live[i]) continue;
    for (const ValueId operand : op.operands)
      wanted[operand.index()] = true;
  }
  return live;
}

/// Which carried values of a loop matter: those whose result is used, those that decide how often it runs, and those
/// that either of them is computed from.
std::vector<bool> needed_carried(const Program& program, const Op& loop, const std::vector<bool>& wanted_outside,
                                 const std::vector<bool>& effects) {
  const Function& condition = program.function(loop.regions[0]);
  const Function& body = program.function(loop.regions[1]);
  const std::size_t count = loop.operands.size();
  std::vector<bool> needed(count, false);
  for (std::size_t i = 0; i < count; ++i)
    needed[i] = wanted_outside[loop.results[i].index()];
  std::vector<bool> wanted(condition.values.size(), false);
  wanted[condition.results[0].index()] = true;
  live_ops(condition, wanted, effects);
  for (std::size_t i = 0; i < count; ++i)
    if (wanted[condition.params[i].index()]) needed[i] = true;
  // Ops of the body that nothing needed uses may need others, and so on; each round adds at least one value.
  for (bool changed = true; changed;) {
    changed = false;
    wanted.assign(body.values.size(), false);
    for (std::size_t i = 0; i < count; ++i)
      if (needed[i]) wanted[body.results[i].index()] = true;
    live_ops(body, wanted, effects);
    for (std::size_t i = 0; i < count; ++i) {
      if (needed[i] || !wanted[body.params[i].index()]) continue;
      needed[i] = true;
      changed = true;
    }
  }
  return needed;
}

/// A copy of a loop region without the parameters (and, for the body, results) that are not needed. What used a dropped
/// parameter is dead, and is dropped too.
FunctionId narrowed_region(Program& program, FunctionId region, const std::vector<bool>& needed, bool is_body,
                           const std::vector<bool>& effects) {
  Function old = program.function(region);
  std::vector<ValueId> results;
  for (std::size_t i = 0; i < old.results.size(); ++i)
    if (!is_body || needed[i]) results.push_back(old.results[i]);
  std::vector<bool> wanted(old.values.size(), false);
  for (const ValueId result : results)
    wanted[result.index()] = true;
  const std::vector<bool> live = live_ops(old, wanted, effects);

  Function narrow;
  narrow.name = old.name;
  std::vector<ValueId> image(old.values.size());
  for (std::size_t i = 0; i < old.params.size(); ++i)
    if (needed[i]) image[old.params[i].index()] = narrow.add_param(old.type(old.params[i]));
  for (std::size_t i = 0; i < old.ops.size(); ++i) {
    if (!live[i]) continue;
    Op& op = old.ops[i];
    std::vector<ValueId> operands;
    for (const ValueId operand : op.operands)
      operands.push_back(image[operand.index()]);
    std::vector<TensorType> types;
    for (const ValueId result : op.results)
      types.push_back(old.type(result));
    const OpId id = narrow.append(op.kind, std::move(op.attrs), std::move(operands), std::move(types), op.regions,
                                  std::move(op.location));
    narrow.ops[id.index()].notes = std::move(op.notes);
    for (std::size_t j = 0; j < op.results.size(); ++j)
      image[op.results[j].index()] = narrow.ops[id.index()].results[j];
  }
  for (const ValueId result : results)
    narrow.results.push_back(image[result.index()]);
  const FunctionId id(program.functions.size());
  program.functions.push_back(std::move(narrow));
  return id;
}

/// Removes dead ops, and carried values of loops that nothing needs. True if a loop became narrower, so that more may
/// be dead within its regions.
bool clean_function(Program& program, std::size_t index, std::vector<bool>& effects) {
  Function old = std::move(program.functions[index]);
  std::vector<bool> wanted(old.values.size(), false);
  for (const ValueId result : old.results)
    wanted[result.index()] = true;

  // Backwards, so that operands which only a dropped carried value used are dead as well.
  std::vector<bool> live(old.ops.size(), false);
  std::vector<std::vector<bool>> needed(old.ops.size());
  bool narrower = false;
  for (std::size_t i = old.ops.size(); i-- > 0;) {
    const Op& op = old.ops[i];
    live[i] = has_effects(op, effects) ||
              std::any_of(op.results.begin(), op.results.end(), [&](ValueId result) { return wanted[result.index()]; });
    if (!live[i]) continue;
    if (op.kind == OpKind::While && !has_effects(op, effects)) {
      needed[i] = needed_carried(program, op, wanted, effects);
      for (std::size_t j = 0; j < op.operands.size(); ++j)
        if (needed[i][j]) wanted[op.operands[j].index()] = true;
      if (std::find(needed[i].begin(), needed[i].end(), false) == needed[i].end()) {
        needed[i].clear();
      } else {
        narrower = true;
      }
    } else {
      for (const ValueId operand : op.operands)
        wanted[operand.index()] = true;
    }
  }
  if (!narrower && std::find(live.begin(), live.end(), false) == live.end()) {
    program.functions[index] = std::move(old);
    return false;
  }
  Rewriter rewriter(old);
  for (std::size_t i = 0; i < old.ops.size(); ++i) {
    if (!live[i]) continue;
    Op& op = old.ops[i];
    if (needed[i].empty()) {
      rewriter.copy(op);
      continue;
    }
    std::vector<FunctionId> regions{narrowed_region(program, op.regions[0], needed[i], false, effects),
                                    narrowed_region(program, op.regions[1], needed[i], true, effects)};
    effects.resize(program.functions.size(), false);
    std::vector<ValueId> operands;
    std::vector<TensorType> types;
    for (std::size_t j = 0; j < op.operands.size(); ++j) {
      if (!needed[i][j]) continue;
      operands.push_back(rewriter.mapped(op.operands[j]));
      types.push_back(old.type(op.results[j]));
    }
    Function& made = rewriter.result();
    const OpId id = made.append(OpKind::While, NoAttrs{}, std::move(operands), std::move(types), std::move(regions),
                                std::move(op.location));
    made.ops[id.index()].notes = std::move(op.notes);
    std::size_t next = 0;
    for (std::size_t j = 0; j < op.results.size(); ++j)
      if (needed[i][j]) rewriter.replace(op.results[j], made.ops[id.index()].results[next++]);
  }
  program.functions[index] = rewriter.finish();
  return narrower;
}

}  // namespace

void eliminate_dead_code(Program& program) {
  // A narrower loop leaves its wide regions behind and new ones to clean, hence the rounds: one per nesting level.
  for (bool again = true; again;) {
    again = false;
    drop_unreachable_functions(program);
    std::vector<bool> effects = functions_with_effects(program);
    const std::size_t count = program.functions.size();
    for (std::size_t f = 0; f < count; ++f)
      again = clean_function(program, f, effects) || again;
  }
  drop_unreachable_functions(program);
}

}  // namespace rhino::ir
