// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include <rhino/base/error.hpp>
#include <rhino/kernels/reference/interpreter.hpp>
#include <rhino/kernels/reference/op_context.hpp>

namespace rhino::kernels::reference {
namespace {

using Value = std::shared_ptr<const Tensor>;

/// What is worked out once per function: which values die after which op, and the constants written out.
struct FunctionPlan {
  std::vector<std::uint32_t> release_begin;  ///< per op the first of its entries in `release`; one more at the end
  std::vector<std::uint32_t> release;        ///< values not needed after the op
  std::vector<Value> constants;              ///< per op, for functions that run more than once; filled on demand
};

FunctionPlan plan_of(const ir::Function& function) {
  constexpr std::uint32_t never = 0xffffffffu;
  std::vector<std::uint32_t> last(function.values.size(), never);
  for (std::size_t i = 0; i < function.ops.size(); ++i) {
    for (const ir::ValueId operand : function.ops[i].operands) last[operand.index()] = static_cast<std::uint32_t>(i);
    for (const ir::ValueId result : function.ops[i].results) last[result.index()] = static_cast<std::uint32_t>(i);
  }
  for (const ir::ValueId result : function.results) last[result.index()] = never;
  FunctionPlan plan;
  plan.release_begin.assign(function.ops.size() + 1, 0);
  for (const std::uint32_t op : last)
    if (op != never) ++plan.release_begin[op + 1];
  for (std::size_t i = 0; i < function.ops.size(); ++i) plan.release_begin[i + 1] += plan.release_begin[i];
  plan.release.resize(plan.release_begin.back());
  std::vector<std::uint32_t> next(plan.release_begin.begin(), plan.release_begin.end() - 1);
  for (std::size_t v = 0; v < last.size(); ++v)
    if (last[v] != never) plan.release[next[last[v]]++] = static_cast<std::uint32_t>(v);
  return plan;
}

/// Runs functions with a stack of its own: the depth of calls and loops of a program costs no machine stack.
class Machine {
 public:
  Machine(const ir::Program& program, const RunOptions& options)
      : program_(program), options_(options), plans_(program.functions.size()) {}

  std::vector<Value> run(ir::FunctionId function, std::vector<Value> arguments) {
    push(function, std::move(arguments));
    while (true) {
      Frame& frame = frames_.back();
      if (frame.next == frame.function->ops.size()) {
        std::vector<Value> results = collect(frame);
        frames_.pop_back();
        if (frames_.empty()) return results;
        deliver(std::move(results));
      } else {
        step(frame);
      }
    }
  }

  /// Runs one call, case or while whose operands are given.
  std::vector<Value> run_op(const ir::Op& op, std::vector<Value> operands) {
    switch (op.kind) {
      case ir::OpKind::Call: return run(op.regions[0], std::move(operands));
      case ir::OpKind::Case: {
        const ir::FunctionId branch = choose_branch(op, *operands[0]);
        operands.erase(operands.begin());
        return run(branch, std::move(operands));
      }
      case ir::OpKind::While:
        while (is_true(*run(op.regions[0], operands)[0])) operands = run(op.regions[1], std::move(operands));
        return operands;
      default: break;
    }
    RHINO_ASSERT(false, "{} is not control flow", ir::op_name(op.kind));
    return {};
  }

 private:
  struct Frame {
    const ir::Function* function = nullptr;
    FunctionPlan* plan = nullptr;
    bool repeated = false;  ///< part of a loop: its constants are kept
    std::size_t next = 0;   ///< op to run
    std::vector<Value> values;
    // Of a while that is running as op `next`:
    std::vector<Value> loop_state;
    bool in_condition = false;
  };

  static bool is_true(const Tensor& predicate) { return predicate.bytes[0] != std::byte{0}; }

  static ir::FunctionId choose_branch(const ir::Op& op, const Tensor& index) {
    const auto count = static_cast<std::int64_t>(op.regions.size());
    std::int64_t branch = index_element(index, 0);
    if (branch < 0 || branch >= count) branch = count - 1;
    return op.regions[static_cast<std::size_t>(branch)];
  }

  void push(ir::FunctionId id, std::vector<Value> arguments) {
    const ir::Function& function = program_.function(id);
    auto& plan = plans_[id.index()];
    const bool seen = plan != nullptr;
    if (!seen) plan = std::make_unique<FunctionPlan>(plan_of(function));
    Frame frame;
    frame.function = &function;
    frame.plan = plan.get();
    frame.repeated = seen;
    frame.values.resize(function.values.size());
    RHINO_CHECK(arguments.size() == function.params.size(), "function @{} takes {} arguments, {} were given",
                function.name, function.params.size(), arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const ir::TensorType& expected = function.type(function.params[i]);
      RHINO_CHECK(arguments[i]->type == expected, "argument {} of function @{} is {}, expected {}", i, function.name,
                  ir::to_string(arguments[i]->type), ir::to_string(expected));
      frame.values[function.params[i].index()] = std::move(arguments[i]);
    }
    RHINO_CHECK(frames_.size() < program_.functions.size(), "function @{} calls itself", function.name);
    frames_.push_back(std::move(frame));
  }

  static std::vector<Value> collect(const Frame& frame) {
    std::vector<Value> results;
    results.reserve(frame.function->results.size());
    for (const ir::ValueId result : frame.function->results) results.push_back(frame.values[result.index()]);
    return results;
  }

  static std::vector<Value> operands_of(const Frame& frame, const ir::Op& op, std::size_t first = 0) {
    std::vector<Value> operands;
    operands.reserve(op.operands.size() - first);
    for (std::size_t i = first; i < op.operands.size(); ++i) operands.push_back(frame.values[op.operands[i].index()]);
    return operands;
  }

  /// Runs one op of the frame, or enters its first function.
  void step(Frame& frame) {
    const ir::Op& op = frame.function->ops[frame.next];
    switch (op.kind) {
      case ir::OpKind::Call: return push(op.regions[0], operands_of(frame, op));
      case ir::OpKind::Case:
        return push(choose_branch(op, *frame.values[op.operands[0].index()]), operands_of(frame, op, 1));
      case ir::OpKind::While:
        frame.loop_state = operands_of(frame, op);
        frame.in_condition = true;
        return push(op.regions[0], frame.loop_state);
      case ir::OpKind::Constant:
        if (frame.repeated && !wants_op_reports()) {
          if (frame.plan->constants.empty()) frame.plan->constants.resize(frame.function->ops.size());
          Value& constant = frame.plan->constants[frame.next];
          if (!constant) constant = std::make_shared<Tensor>(op.as<ir::ConstantAttrs>().value);
          frame.values[op.results[0].index()] = constant;
          return finish_op(frame);
        }
        break;
      default: break;
    }
    operand_pointers_.clear();
    for (const ir::ValueId operand : op.operands) operand_pointers_.push_back(frame.values[operand.index()].get());
    std::vector<Tensor> results =
        reference::run_op(program_, *frame.function, op, operand_pointers_, options_);
    report(frame, results);
    for (std::size_t i = 0; i < results.size(); ++i)
      frame.values[op.results[i].index()] = std::make_shared<Tensor>(std::move(results[i]));
    finish_op(frame);
  }

  /// Gives the results of a function to the op that entered it.
  void deliver(std::vector<Value> results) {
    Frame& frame = frames_.back();
    const ir::Op& op = frame.function->ops[frame.next];
    if (op.kind == ir::OpKind::While) {
      if (!frame.in_condition) {
        frame.loop_state = std::move(results);
        frame.in_condition = true;
        return push(op.regions[0], frame.loop_state);
      }
      if (is_true(*results[0])) {
        frame.in_condition = false;
        return push(op.regions[1], std::move(frame.loop_state));
      }
      results = std::move(frame.loop_state);
      frame.loop_state.clear();
    }
    if (wants_op_reports() && frames_.size() == 1) {
      std::vector<Tensor> copies;
      for (const Value& result : results) copies.push_back(*result);
      report(frame, copies);
    }
    for (std::size_t i = 0; i < results.size(); ++i) frame.values[op.results[i].index()] = std::move(results[i]);
    finish_op(frame);
  }

  bool wants_op_reports() const { return static_cast<bool>(options_.on_op); }

  void report(const Frame& frame, std::span<const Tensor> results) {
    if (wants_op_reports() && frames_.size() == 1) options_.on_op(ir::OpId(frame.next), results);
  }

  void finish_op(Frame& frame) {
    for (std::uint32_t i = frame.plan->release_begin[frame.next]; i < frame.plan->release_begin[frame.next + 1]; ++i)
      frame.values[frame.plan->release[i]].reset();
    ++frame.next;
  }

  const ir::Program& program_;
  const RunOptions& options_;
  std::vector<std::unique_ptr<FunctionPlan>> plans_;
  std::vector<Frame> frames_;
  std::vector<const Tensor*> operand_pointers_;
};

std::vector<Tensor> to_tensors(std::vector<Value> values) {
  std::vector<Tensor> tensors;
  tensors.reserve(values.size());
  for (auto& value : values) {
    // A value that nobody else holds was made by this run (always as a non-const Tensor): it may be moved out.
    if (value.use_count() == 1) tensors.push_back(std::move(const_cast<Tensor&>(*value)));
    else tensors.push_back(*value);
    value.reset();
  }
  return tensors;
}

}  // namespace

std::vector<Tensor> run(const ir::Program& program, ir::FunctionId function, std::vector<Tensor> arguments,
                        const RunOptions& options) {
  std::vector<Value> values;
  values.reserve(arguments.size());
  for (Tensor& argument : arguments) values.push_back(std::make_shared<Tensor>(std::move(argument)));
  return to_tensors(Machine(program, options).run(function, std::move(values)));
}

std::vector<Tensor> run_control(const OpContext& context) {
  std::vector<Value> operands;
  for (const Tensor* operand : context.operands) operands.push_back(std::make_shared<Tensor>(*operand));
  RunOptions options;
  options.peers = context.options.peers;
  options.on_custom_call = context.options.on_custom_call;
  return to_tensors(Machine(context.program, options).run_op(context.op, std::move(operands)));
}

}  // namespace rhino::kernels::reference
