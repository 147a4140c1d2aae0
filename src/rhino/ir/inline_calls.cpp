// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <rhino/base/error.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/ir/rewrite.hpp>

namespace rhino::ir {
namespace {

/// A chain of functions that call each other twice grows exponentially; no honest program comes near this.
constexpr std::int64_t max_ops_after_inlining = 5'000'000;

bool is_call(const Op& op) { return op.kind == OpKind::Call; }

/// Throws before anything has grown.
void check_growth(const Program& program, const std::vector<std::size_t>& order) {
  std::vector<std::int64_t> size(program.functions.size(), 0);
  std::int64_t total = 0;
  for (const std::size_t f : order) {
    for (const Op& op : program.functions[f].ops)
      size[f] += is_call(op) ? size[op.regions[0].index()] : 1;
    total += size[f];
    RHINO_CHECK(total <= max_ops_after_inlining,
                "the program has more than {} ops once its calls are inlined (met in @{})", max_ops_after_inlining,
                program.functions[f].name);
  }
}

}  // namespace

void inline_calls(Program& program) {
  const std::vector<std::size_t> order = callees_first(program);
  check_growth(program, order);
  for (const std::size_t f : order) {
    Function& function = program.functions[f];
    if (std::none_of(function.ops.begin(), function.ops.end(), is_call)) continue;
    Rewriter rewriter(function);
    for (Op& op : function.ops) {
      if (!is_call(op)) {
        rewriter.copy(op);
        continue;
      }
      const std::vector<ValueId> results =
          rewriter.splice(program.function(op.regions[0]), rewriter.mapped(op.operands), op.location);
      for (std::size_t i = 0; i < results.size(); ++i)
        rewriter.replace(op.results[i], results[i]);
    }
    function = rewriter.finish();
  }
  drop_unreachable_functions(program);
}

}  // namespace rhino::ir
