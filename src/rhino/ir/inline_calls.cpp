// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <rhino/base/error.hpp>
#include <rhino/base/math.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/ir/rewrite.hpp>

namespace rhino::ir {
namespace {

/// A chain of functions that call each other twice grows exponentially; no honest program comes near this.
constexpr std::int64_t max_ops_after_inlining = 20'000'000;

bool is_call(const Op& op) { return op.kind == OpKind::Call; }

}  // namespace

void inline_calls(Program& program) {
  std::int64_t total = 0;
  for (const std::size_t f : callees_first(program)) {
    Function& function = program.functions[f];
    std::int64_t size = 0;
    for (const Op& op : function.ops)
      size = checked_add(
          size, is_call(op) ? static_cast<std::int64_t>(program.function(op.regions[0]).ops.size()) : 1);
    total = checked_add(total, size);
    RHINO_CHECK(total <= max_ops_after_inlining, "@{} has more than {} ops once its calls are inlined", function.name,
                max_ops_after_inlining);
    if (std::none_of(function.ops.begin(), function.ops.end(), is_call)) continue;
    Rewriter rewriter(function);
    for (Op& op : function.ops) {
      if (!is_call(op)) {
        rewriter.copy(op);
        continue;
      }
      const std::vector<ValueId> results =
          rewriter.splice(program.function(op.regions[0]), rewriter.mapped(op.operands), op.location);
      for (std::size_t i = 0; i < results.size(); ++i) rewriter.replace(op.results[i], results[i]);
    }
    function = rewriter.finish();
  }
  drop_unreachable_functions(program);
}

}  // namespace rhino::ir
