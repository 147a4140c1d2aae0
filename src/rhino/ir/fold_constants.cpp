// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <rhino/base/error.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/ir/rewrite.hpp>

namespace rhino::ir {
namespace {

/// Operands may be larger than results by this factor (a reduction), not more: folding must stay cheap.
constexpr std::int64_t operand_factor = 64;

bool may_fold(OpKind kind) {
  switch (kind) {
    // Kept as they are: sources, fences, control flow (which may not end), foreign code, what differs between devices,
    // and random bits, which a reader of the program expects to see drawn.
    case OpKind::Constant:
    case OpKind::Iota:
    case OpKind::OptimizationBarrier:
    case OpKind::While:
    case OpKind::Case:
    case OpKind::Call:
    case OpKind::CustomCall:
    case OpKind::PartitionId:
    case OpKind::ReplicaId:
    case OpKind::RngBitGenerator:
      return false;
    default:
      return !is_collective(kind);
  }
}

/// Whether a floating result of this op is one of its operands' values (or a sign change of it). Others are rounded,
/// and a rounded constant would stay rounded if the program is widened to f64 later.
bool is_exact_on_floats(OpKind kind) {
  switch (kind) {
    case OpKind::Abs:
    case OpKind::BroadcastInDim:
    case OpKind::Clamp:
    case OpKind::Concatenate:
    case OpKind::DynamicSlice:
    case OpKind::DynamicUpdateSlice:
    case OpKind::Gather:
    case OpKind::Maximum:
    case OpKind::Minimum:
    case OpKind::Negate:
    case OpKind::Pad:
    case OpKind::Reshape:
    case OpKind::Reverse:
    case OpKind::Select:
    case OpKind::Sign:
    case OpKind::Slice:
    case OpKind::Sort:
    case OpKind::Transpose:
      return true;
    default:
      return false;
  }
}

/// The same value, stored as one element if all are equal.
Literal compact(Literal literal) {
  const auto bytes = literal.stored_bytes();
  if (literal.is_splat() || bytes.empty()) return literal;
  const auto first = bytes.first(dtype_bytes(literal.type().dtype));
  Literal splat(literal.type(), {first.begin(), first.end()}, true);
  return splat == literal ? splat : literal;
}

}  // namespace

void fold_constants(Program& program, const OpEvaluator& evaluate, std::int64_t max_elements) {
  for (std::size_t f = 0; f < program.functions.size(); ++f) {
    Function old = std::move(program.functions[f]);
    Rewriter rewriter(old);
    Function& made = rewriter.result();
    for (Op& op : old.ops) {
      const auto is_small = [&](ValueId id, std::int64_t limit) { return old.type(id).elements() <= limit; };
      const auto is_constant = [&](ValueId id) {
        const Op* producer = made.producer(rewriter.mapped(id));
        return producer != nullptr && producer->kind == OpKind::Constant;
      };
      const bool foldable =
          may_fold(op.kind) && !op.operands.empty() &&
          (is_exact_on_floats(op.kind) || std::none_of(op.results.begin(), op.results.end(),
                                                       [&](ValueId id) { return is_float(old.type(id).dtype); })) &&
          std::all_of(op.results.begin(), op.results.end(), [&](ValueId id) { return is_small(id, max_elements); }) &&
          std::all_of(op.operands.begin(), op.operands.end(),
                      [&](ValueId id) { return is_constant(id) && is_small(id, operand_factor * max_elements); });
      if (!foldable) {
        rewriter.copy(op);
        continue;
      }
      std::vector<Literal> operands;
      for (const ValueId operand : op.operands)
        operands.push_back(made.producer(rewriter.mapped(operand))->as<ConstantAttrs>().value);
      const std::vector<Literal> results = evaluate(program, op, operands);
      RHINO_ASSERT(results.size() == op.results.size(), "{} was evaluated to {} results", op_name(op.kind),
                   results.size());
      for (std::size_t i = 0; i < results.size(); ++i) {
        const TensorType& type = old.type(op.results[i]);
        RHINO_ASSERT(results[i].type() == type, "{} was evaluated to {} instead of {}", op_name(op.kind),
                     to_string(results[i].type()), to_string(type));
        const OpId id = made.append(OpKind::Constant, ConstantAttrs{compact(results[i])}, {}, {type}, {}, op.location);
        rewriter.replace(op.results[i], made.op(id).results[0]);
      }
    }
    program.functions[f] = rewriter.finish();
  }
}

}  // namespace rhino::ir
