// SPDX-License-Identifier: Apache-2.0
#include <rhino/shard/sharding.hpp>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/shard/control_functions.hpp>

namespace rhino::shard {

bool is_control(ir::OpKind kind) {
  return kind == ir::OpKind::While || kind == ir::OpKind::Case || kind == ir::OpKind::Call;
}

std::vector<int> control_uses(const ir::Program& program) {
  std::vector<int> uses(program.functions.size(), 0);
  std::vector<ir::FunctionId> open{program.main};
  uses[program.main.index()] = 1;
  while (!open.empty()) {
    const ir::Function& function = program.function(open.back());
    open.pop_back();
    for (const ir::Op& op : function.ops) {
      if (!is_control(op.kind)) continue;
      for (ir::FunctionId region : op.regions)
        if (uses[region.index()]++ == 0) open.push_back(region);
    }
  }
  return uses;
}

FunctionSharding replicated_function(const ir::Program& program, const ir::Function& function) {
  FunctionSharding sharding;
  for (ir::ValueId value : function.params)
    sharding.params.push_back(Layout::replicated(function.type(value).dims));
  for (ir::ValueId value : function.results)
    sharding.results.push_back(Layout::replicated(function.type(value).dims));
  for (const ir::Op& op : function.ops)
    sharding.ops.push_back(replicated_strategy(factor_map(program, function, op)));
  return sharding;
}

Sharding replicated_sharding(const ir::Program& program, const MeshShape& mesh) {
  Sharding sharding{mesh, std::vector<FunctionSharding>(program.functions.size())};
  const std::vector<int> uses = control_uses(program);
  for (std::size_t f = 0; f < program.functions.size(); ++f)
    if (uses[f] > 0) sharding.functions[f] = replicated_function(program, program.functions[f]);
  return sharding;
}

namespace {

void check_layouts(const std::vector<Layout>& layouts, const ir::Function& function,
                   const std::vector<ir::ValueId>& values, const MeshShape& mesh, const char* what) {
  RHINO_CHECK(layouts.size() == values.size(), "@{}: {} layouts for {} {}s", function.name, layouts.size(),
              values.size(), what);
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    const std::string name = fmt::format("@{} {} {}", function.name, what, i);
    check_layout(layouts[i], function.type(values[i]).dims, mesh, name);
    RHINO_CHECK(!layouts[i].is_partial(), "{} must not be partial", name);
  }
}

void check_same(const std::vector<Layout>& a, const std::vector<Layout>& b, const MeshShape& mesh,
                const std::string& what) {
  RHINO_CHECK(a.size() == b.size(), "{}: {} and {} layouts", what, a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    RHINO_CHECK(canonical(a[i], mesh) == canonical(b[i], mesh), "{}: value {} has the layouts {} and {}", what, i,
                to_string(a[i], mesh), to_string(b[i], mesh));
}

}  // namespace

void check_sharding(const ir::Program& program, const Sharding& sharding) {
  RHINO_CHECK(sharding.functions.size() == program.functions.size(),
              "the sharding has {} functions, the program {}; it belongs to another program", sharding.functions.size(),
              program.functions.size());
  const MeshShape& mesh = sharding.mesh;
  const std::vector<int> uses = control_uses(program);
  for (std::size_t f = 0; f < program.functions.size(); ++f) {
    if (uses[f] == 0) continue;
    const ir::Function& function = program.functions[f];
    const FunctionSharding& decided = sharding.functions[f];
    check_layouts(decided.params, function, function.params, mesh, "parameter");
    check_layouts(decided.results, function, function.results, mesh, "result");
    RHINO_CHECK(decided.ops.size() == function.ops.size(), "@{}: {} strategies for {} ops", function.name,
                decided.ops.size(), function.ops.size());
    for (std::size_t o = 0; o < function.ops.size(); ++o) {
      const ir::Op& op = function.ops[o];
      const Strategy& strategy = decided.ops[o];
      const std::string what = fmt::format("@{} op {} ({})", function.name, o, ir::op_name(op.kind));
      check_strategy(factor_map(program, function, op), strategy, mesh, what);
      if (!strategy.carried_axes.empty())
        RHINO_CHECK(carries_partial(program, function, op, strategy.carried_kind, strategy.carried_operands),
                    "{}: cannot carry these partial operands", what);
    }
  }
  // Only now is every list known to have the right length.
  for (std::size_t f = 0; f < program.functions.size(); ++f) {
    if (uses[f] == 0) continue;
    for (const ir::Op& op : program.functions[f].ops) {
      if (!is_control(op.kind)) continue;
      const std::string what = fmt::format("{} in @{}", ir::op_name(op.kind), program.functions[f].name);
      const auto region = [&](std::size_t i) -> const FunctionSharding& {
        return sharding.functions[op.regions[i].index()];
      };
      if (op.kind == ir::OpKind::While) {
        check_same(region(0).params, region(1).params, mesh, what + ": condition and body");
        check_same(region(1).params, region(1).results, mesh, what + ": start and end of an iteration");
      } else {
        for (std::size_t i = 1; i < op.regions.size(); ++i) {
          check_same(region(0).params, region(i).params, mesh, what + ": branches");
          check_same(region(0).results, region(i).results, mesh, what + ": branches");
        }
      }
    }
  }
}

}  // namespace rhino::shard
