// SPDX-License-Identifier: Apache-2.0

#include <rhino/base/contains.hpp>
#include <rhino/shard/factor_rules.hpp>

namespace rhino::shard {

ir::ReducerKind reducer_of(PartialKind kind) {
  switch (kind) {
    case PartialKind::Sum:
      return ir::ReducerKind::Add;
    case PartialKind::Max:
      return ir::ReducerKind::Maximum;
    case PartialKind::Min:
      return ir::ReducerKind::Minimum;
    case PartialKind::And:
      return ir::ReducerKind::And;
    case PartialKind::Or:
      return ir::ReducerKind::Or;
  }
  return ir::ReducerKind::Other;
}

namespace {

/// Whether a value is a constant of the identity of `kind` everywhere, as such or broadcast.
bool is_identity(const ir::Function& function, ir::ValueId value, PartialKind kind) {
  for (int depth = 0; depth < 8; ++depth) {
    const ir::Op* producer = function.producer(value);
    if (producer == nullptr) return false;
    switch (producer->kind) {
      case ir::OpKind::BroadcastInDim:
      case ir::OpKind::Reshape:
      case ir::OpKind::Transpose:
        value = producer->operands[0];
        continue;
      case ir::OpKind::Constant: {
        const ir::Literal& literal = producer->as<ir::ConstantAttrs>().value;
        if (!literal.is_splat() && literal.type().elements() != 1) return false;
        if (kind == PartialKind::Sum) return literal.element_as_double(0) == 0.0;
        return literal == ir::Literal(literal.type(),
                                      ir::reducer_identity(reducer_of(kind), literal.type().dtype).expanded_bytes(),
                                      true);
      }
      default:
        return false;
    }
  }
  return false;
}

}  // namespace

bool carries_partial(const ir::Program& program, const ir::Function& function, const ir::Op& op, PartialKind kind,
                     const std::vector<bool>& partial_operands) {
  if (!contains(partial_operands, true)) return false;
  const bool sum = kind == PartialKind::Sum;
  const ir::DType dtype = function.type(op.results[0]).dtype;
  /// Operand arrives partial, or may be taken for partial although it is whole.
  const auto partial = [&](std::size_t i) {
    return partial_operands[i] || !sum || is_identity(function, op.operands[i], kind);
  };
  const auto whole = [&](std::size_t i) { return !partial_operands[i]; };
  const auto all = [&](auto&& test, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      if (!test(i)) return false;
    return true;
  };
  const std::size_t n = op.operands.size();
  const auto region_combines = [&](std::size_t region) {
    return partial_kind_of(ir::classify_reducer(program.function(op.regions[region])), dtype) == kind;
  };
  switch (op.kind) {
    case ir::OpKind::Add:
      if (dtype == ir::DType::I1) return kind == PartialKind::Or;
      return sum && all(partial, 0, n);
    case ir::OpKind::Subtract:
      return sum && all(partial, 0, n);
    case ir::OpKind::Negate:
      return sum;
    case ir::OpKind::Multiply:
      if (dtype == ir::DType::I1) return kind == PartialKind::And || (kind == PartialKind::Or && whole(0) != whole(1));
      return sum && whole(0) != whole(1);
    case ir::OpKind::Divide:
      return sum && ir::is_float(dtype) && whole(1);
    case ir::OpKind::Maximum:
      return kind == PartialKind::Max || (dtype == ir::DType::I1 && kind == PartialKind::Or);
    case ir::OpKind::Minimum:
      return kind == PartialKind::Min || (dtype == ir::DType::I1 && kind == PartialKind::And);
    case ir::OpKind::And:
      return kind == PartialKind::And || (kind == PartialKind::Or && whole(0) != whole(1));
    case ir::OpKind::Or:
      return kind == PartialKind::Or || (kind == PartialKind::And && whole(0) != whole(1));
    case ir::OpKind::Convert: {
      const ir::DType from = function.type(op.operands[0]).dtype;
      if (from == dtype) return true;
      // Rounding is not additive; widening is exact. (f16 and bf16 do not contain each other.)
      return ir::is_float(from) && ir::is_float(dtype) && ir::dtype_bytes(dtype) > ir::dtype_bytes(from);
    }
    case ir::OpKind::Select:
      return whole(0) && partial(1) && partial(2);
    case ir::OpKind::BroadcastInDim:
    case ir::OpKind::Reshape:
    case ir::OpKind::Reverse:
    case ir::OpKind::Slice:
    case ir::OpKind::Transpose:
      return true;
    case ir::OpKind::Concatenate:
    case ir::OpKind::Pad:
      return all(partial, 0, n);
    // Its operands have types of their own, and all results are said to be partial: none may be whole.
    case ir::OpKind::OptimizationBarrier:
      return !contains(partial_operands, false);
    case ir::OpKind::DynamicSlice:
    case ir::OpKind::Gather:
      return all(whole, 1, n);
    case ir::OpKind::DynamicUpdateSlice:
      return partial(0) && partial(1) && all(whole, 2, n);
    case ir::OpKind::DotGeneral:
    case ir::OpKind::Convolution:
      return sum && dtype != ir::DType::I1 && whole(0) != whole(1);
    case ir::OpKind::Reduce:
      return op.results.size() == 1 && region_combines(0) && partial(0) && partial(1);
    case ir::OpKind::ReduceWindow:
      return op.results.size() == 1 && region_combines(0) && partial(0) && partial(1);
    case ir::OpKind::Scatter:
      return op.results.size() == 1 && region_combines(0) && partial(0) && whole(1) && partial(2);
    case ir::OpKind::SelectAndScatter:
      return region_combines(1) && whole(0) && partial(1) && partial(2);
    default:
      return false;
  }
}

}  // namespace rhino::shard
