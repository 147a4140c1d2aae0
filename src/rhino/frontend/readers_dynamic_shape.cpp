// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <rhino/frontend/op_context.hpp>

namespace rhino::frontend {
namespace {

using ir::OpKind;

// Ops of dynamic shapes whose shapes are known after all: the type of the result is static (anything else is refused by
// the type reader), and operands that say sizes are constants.

/// Checks that a shape operand, where its value is known, agrees with the result type.
void check_shape_operand(const OpContext& context, std::size_t index) {
  const auto sizes = context.constant_integers(context.operand(index), "the shape operand");
  if (sizes != context.result_type().dims)
    context.fail(fmt::format("the shape operand says {}, but the result is {}", ir::to_string(ir::Dims(sizes)),
                             ir::to_string(context.result_type())));
}

std::vector<Bound> read_dynamic_broadcast_in_dim(OpContext& context) {
  context.expect_operands(2);
  check_shape_operand(context, 1);
  return results(context.builder.broadcast(context.operand(0), context.result_type().dims,
                                           context.dims({"broadcast_dimensions", "dims"})));
}

std::vector<Bound> read_dynamic_reshape(OpContext& context) {
  context.expect_operands(2);
  check_shape_operand(context, 1);
  return results(context.builder.reshape(context.operand(0), context.result_type().dims));
}

std::vector<Bound> read_dynamic_iota(OpContext& context) {
  context.expect_operands(1);
  check_shape_operand(context, 0);
  return results(
      context.builder.iota(context.result_type(), static_cast<int>(context.integer({"iota_dimension", "dim"}))));
}

std::vector<Bound> read_dynamic_pad(OpContext& context) {
  context.expect_operands(5);
  ir::PadAttrs attrs;
  attrs.low = context.constant_integers(context.operand(2), "the low padding");
  attrs.high = context.constant_integers(context.operand(3), "the high padding");
  attrs.interior = context.constant_integers(context.operand(4), "the interior padding");
  return results(context.builder.add(OpKind::Pad, {context.operand(0), context.operand(1)}, std::move(attrs)));
}

std::vector<Bound> read_real_dynamic_slice(OpContext& context) {
  context.expect_operands(4);
  ir::SliceAttrs attrs;
  attrs.start = context.constant_integers(context.operand(1), "the start of the slice");
  attrs.limit = context.constant_integers(context.operand(2), "the limit of the slice");
  attrs.stride = context.constant_integers(context.operand(3), "the stride of the slice");
  return results(context.builder.add(OpKind::Slice, {context.operand(0)}, std::move(attrs)));
}

std::vector<Bound> read_set_dimension_size(OpContext& context) {
  context.unsupported("dynamic shapes are not supported", "export the program with concrete sizes for every dimension");
}

}  // namespace

void add_dynamic_shape_readers(OpReaders& readers) {
  readers["dynamic_broadcast_in_dim"] = read_dynamic_broadcast_in_dim;
  readers["dynamic_reshape"] = read_dynamic_reshape;
  readers["dynamic_iota"] = read_dynamic_iota;
  readers["dynamic_pad"] = read_dynamic_pad;
  readers["real_dynamic_slice"] = read_real_dynamic_slice;
  readers["set_dimension_size"] = read_set_dimension_size;
}

}  // namespace rhino::frontend
