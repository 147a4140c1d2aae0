// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::ir {
namespace {

/// Interpreters and printers recurse once per level of regions or calls.
constexpr int max_nesting = 1000;

std::string place(const Function& function, const Op& op) {
  std::string text = fmt::format("in @{}", function.name);
  if (op.location.line != 0) text += fmt::format(", line {}", op.location.line);
  if (!op.location.name.empty()) text += fmt::format(", {}", op.location.name);
  return text;
}

void check_values(const Function& function) {
  const auto check_id = [&](ValueId id, std::string_view what) {
    RHINO_CHECK(id.valid() && id.index() < function.values.size(), "in @{}: {} refers to a value that does not exist",
                function.name, what);
  };
  for (const ValueId id : function.params)
    check_id(id, "the parameter list");
  for (const ValueId id : function.results)
    check_id(id, "the result list");
  RHINO_CHECK(function.param_notes.empty() || function.param_notes.size() == function.params.size(),
              "in @{}: {} parameters but notes for {}", function.name, function.params.size(),
              function.param_notes.size());
  RHINO_CHECK(function.result_notes.empty() || function.result_notes.size() == function.results.size(),
              "in @{}: {} results but notes for {}", function.name, function.results.size(),
              function.result_notes.size());
}

void check_function(const Program& program, const Function& function) {
  check_values(function);
  std::vector<bool> defined(function.values.size(), false);
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const ValueId id = function.params[i];
    const Value& value = function.value(id);
    RHINO_CHECK(!defined[id.index()], "in @{}: parameter {} occurs twice", function.name, i);
    RHINO_CHECK(!value.producer.valid() && value.result_index == i, "in @{}: parameter {} is marked as an op's result",
                function.name, i);
    RHINO_CHECK(std::all_of(value.type.dims.begin(), value.type.dims.end(), [](std::int64_t d) { return d >= 0; }),
                "in @{}: parameter {} has the type {} with a negative dimension", function.name, i,
                to_string(value.type));
    static_cast<void>(value.type.bytes());
    defined[id.index()] = true;
  }
  std::vector<TensorType> operand_types;
  for (std::size_t i = 0; i < function.ops.size(); ++i) {
    const Op& op = function.ops[i];
    operand_types.clear();
    for (std::size_t j = 0; j < op.operands.size(); ++j) {
      const ValueId id = op.operands[j];
      RHINO_CHECK(id.valid() && id.index() < function.values.size() && defined[id.index()],
                  "{}: operand {} of {} is not defined before its use", place(function, op), j,
                  qualified_op_name(op.kind));
      operand_types.push_back(function.type(id));
    }
    std::vector<TensorType> expected;
    try {
      for (const FunctionId region : op.regions)
        RHINO_CHECK(region.valid() && region.index() < program.functions.size(),
                    "{}: refers to a function that does not exist", qualified_op_name(op.kind));
      expected = infer_result_types({program, op.kind, op.attrs, operand_types, op.regions});
    } catch (const InputError& error) {
      RHINO_FAIL(InputError, "{}: {}", place(function, op), error.what());
    }
    RHINO_CHECK(op.results.size() == expected.size(), "{}: {} has {} results, expected {}", place(function, op),
                qualified_op_name(op.kind), op.results.size(), expected.size());
    for (std::size_t j = 0; j < expected.size(); ++j) {
      const ValueId id = op.results[j];
      RHINO_CHECK(id.valid() && id.index() < function.values.size() && !defined[id.index()],
                  "{}: result {} of {} is not a value of its own", place(function, op), j, qualified_op_name(op.kind));
      const Value& value = function.value(id);
      RHINO_CHECK(value.producer == OpId(i) && value.result_index == j,
                  "{}: result {} of {} is marked as the result of another op", place(function, op), j,
                  qualified_op_name(op.kind));
      RHINO_CHECK(value.type == expected[j], "{}: result {} of {} is given as {}, but must be {}", place(function, op),
                  j, qualified_op_name(op.kind), to_string(value.type), to_string(expected[j]));
      defined[id.index()] = true;
    }
  }
  for (std::size_t i = 0; i < function.results.size(); ++i)
    RHINO_CHECK(defined[function.results[i].index()], "in @{}: result {} is never defined", function.name, i);
}

/// No function reaches itself, and nesting stays within max_nesting. Walks the call graph from the callees upwards.
void check_nesting(const Program& program) {
  const std::size_t count = program.functions.size();
  std::vector<std::vector<std::size_t>> callers(count);
  std::vector<std::size_t> open_callees(count, 0);
  for (std::size_t f = 0; f < count; ++f) {
    for (const Op& op : program.functions[f].ops) {
      for (const FunctionId callee : op.regions) {
        callers[callee.index()].push_back(f);
        ++open_callees[f];
      }
    }
  }
  std::vector<std::size_t> ready;
  std::vector<int> depth(count, 1);
  for (std::size_t f = 0; f < count; ++f)
    if (open_callees[f] == 0) ready.push_back(f);
  for (std::size_t next = 0; next < ready.size(); ++next) {
    const std::size_t callee = ready[next];
    RHINO_CHECK(depth[callee] <= max_nesting, "@{} nests functions and regions more than {} deep",
                program.functions[callee].name, max_nesting);
    for (const std::size_t caller : callers[callee]) {
      depth[caller] = std::max(depth[caller], depth[callee] + 1);
      if (--open_callees[caller] == 0) ready.push_back(caller);
    }
  }
  for (std::size_t f = 0; f < count; ++f)
    RHINO_CHECK(open_callees[f] == 0, "@{} is recursive, or calls a recursive function", program.functions[f].name);
}

}  // namespace

void verify(const Program& program) {
  RHINO_CHECK(program.main.valid() && program.main.index() < program.functions.size(),
              "the program has no entry function");
  for (const Function& function : program.functions)
    check_function(program, function);
  check_nesting(program);
}

}  // namespace rhino::ir
