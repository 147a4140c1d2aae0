// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/host/region.hpp>

namespace rhino::kernels::host {

std::optional<ir::OpKind> reducer_op(ir::ReducerKind kind) {
  switch (kind) {
    case ir::ReducerKind::Add: return ir::OpKind::Add;
    case ir::ReducerKind::Multiply: return ir::OpKind::Multiply;
    case ir::ReducerKind::Maximum: return ir::OpKind::Maximum;
    case ir::ReducerKind::Minimum: return ir::OpKind::Minimum;
    case ir::ReducerKind::And: return ir::OpKind::And;
    case ir::ReducerKind::Or: return ir::OpKind::Or;
    case ir::ReducerKind::Xor: return ir::OpKind::Xor;
    case ir::ReducerKind::Other: break;
  }
  return std::nullopt;
}

bool returns_second(const ir::Function& region) {
  return region.params.size() == 2 && region.results.size() == 1 && region.results[0] == region.params[1];
}

std::optional<ir::Comparison> comparison_of(const ir::Function& region) {
  if (region.params.size() != 2 || region.results.size() != 1) return std::nullopt;
  const ir::Op* op = region.producer(region.results[0]);
  if (op == nullptr || op->kind != ir::OpKind::Compare || op->operands[0] != region.params[0] ||
      op->operands[1] != region.params[1])
    return std::nullopt;
  const auto& attrs = op->as<ir::CompareAttrs>();
  if (attrs.type == ir::ComparisonType::TotalOrder) return std::nullopt;
  return attrs.direction;
}

bool is_identity(const OpContext& context, std::size_t i, ir::ReducerKind kind) {
  const ir::Op* producer = context.function.producer(context.op.operands[i]);
  while (producer != nullptr && (producer->kind == ir::OpKind::BroadcastInDim || producer->kind == ir::OpKind::Reshape)) {
    producer = context.function.producer(producer->operands[0]);
  }
  if (producer == nullptr || producer->kind != ir::OpKind::Constant) return false;
  const ir::Literal& value = producer->as<ir::ConstantAttrs>().value;
  return value.element_as_double(0) == ir::reducer_identity(kind, value.type().dtype).element_as_double(0);
}

}  // namespace rhino::kernels::host
