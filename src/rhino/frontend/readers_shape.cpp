// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <rhino/frontend/literal_parser.hpp>
#include <rhino/frontend/op_context.hpp>

namespace rhino::frontend {
namespace {

using ir::OpKind;

/// Name under which an elided constant becomes an input: what the text calls it, made unique by its function.
std::string elided_name(const OpContext& context) {
  const Scope* root = &context.scope;
  while (root->parent != nullptr)
    root = root->parent;
  const ir::Program& program = context.assembler.program();
  const std::string_view name = context.op.results.empty() ? "constant" : context.op.results[0].name;
  return root->function == program.main ? std::string(name)
                                        : fmt::format("{}.{}", program.function(root->function).name, name);
}

std::vector<Bound> read_constant(OpContext& context) {
  const AttributeValue& value = context.require({"value"});
  if (value.kind == AttributeValue::Kind::Literal) return results(context.builder.constant(value.literal));
  if (value.kind != AttributeValue::Kind::Resource)
    context.unsupported("a constant of this kind is not supported", "export constants as dense<..>");
  const ir::TensorType& type = context.result_type();
  const LiteralPlace place{context.assembler.source(), context.op.name, value.position};
  if (value.text == "__elided__") {
    const std::string name = elided_name(context);
    if (!context.assembler.options().elided_constants_as_inputs)
      context.fail(
          fmt::format("the value of this constant ({}, {}) was elided from the text; export the text with its "
                      "large constants, or use --elided-constants-as-inputs to make it a named input",
                      name, ir::to_string(type)));
    std::vector<Bound> result;
    result.push_back(context.assembler.elided_constant(context.scope, name, type, context.op));
    return result;
  }
  auto& own = context.assembler.module().resources;
  if (const auto found = own.find(value.text); found != own.end())
    return results(context.builder.constant(literal_from_bytes(found->second, type, place)));
  if (const auto& lookup = context.assembler.options().resource) {
    if (auto bytes = lookup(value.text))
      return results(context.builder.constant(literal_from_bytes(std::move(*bytes), type, place)));
  }
  context.fail(fmt::format("there are no data for the resource {}", in_quotes(value.text)));
}

std::vector<Bound> read_iota(OpContext& context) {
  const auto dimension = static_cast<int>(context.integer({"iota_dimension", "dim"}));
  return results(context.builder.iota(context.result_type(), dimension));
}

std::vector<Bound> read_broadcast_in_dim(OpContext& context) {
  context.expect_operands(1);
  return results(context.builder.broadcast(context.operand(0), context.result_type().dims,
                                           context.dims({"broadcast_dimensions", "dims"})));
}

/// The old `broadcast`: new dimensions in front.
std::vector<Bound> read_broadcast(OpContext& context) {
  context.expect_operands(1);
  ir::Dims dims = context.integers({"broadcast_sizes", "sizes"});
  const int added = static_cast<int>(dims.size());
  const ir::TensorType type = context.operand_type(0);
  dims.insert(dims.end(), type.dims.begin(), type.dims.end());
  std::vector<int> places;
  for (int i = 0; i < type.rank(); ++i)
    places.push_back(added + i);
  return results(context.builder.broadcast(context.operand(0), std::move(dims), std::move(places)));
}

std::vector<Bound> read_reshape(OpContext& context) {
  context.expect_operands(1);
  return results(context.builder.reshape(context.operand(0), context.result_type().dims));
}

std::vector<Bound> read_transpose(OpContext& context) {
  context.expect_operands(1);
  return results(context.builder.transpose(context.operand(0), context.dims({"permutation", "dims"})));
}

std::vector<Bound> read_reverse(OpContext& context) {
  return results(context.builder.add(OpKind::Reverse, context.values(),
                                     ir::DimensionsAttrs{context.dims({"dimensions", "dims"})}));
}

std::vector<Bound> read_concatenate(OpContext& context) {
  return results(
      context.builder.concatenate(context.values(), static_cast<int>(context.integer({"dimension", "dim"}))));
}

std::vector<Bound> read_slice(OpContext& context) {
  context.expect_operands(1);
  ir::SliceAttrs attrs;
  if (const AttributeValue* ranges = context.find({"ranges"})) {
    for (const AttributeValue& range : ranges->items) {
      if (range.integers.size() != 2 && range.integers.size() != 3)
        context.fail("a range of a slice is start:limit or start:limit:stride");
      attrs.start.push_back(range.integers[0]);
      attrs.limit.push_back(range.integers[1]);
      attrs.stride.push_back(range.integers.size() == 3 ? range.integers[2] : 1);
    }
  } else {
    attrs.start = context.integers({"start_indices"});
    attrs.limit = context.integers({"limit_indices"});
    attrs.stride = context.integers_or({"strides"}, attrs.start.size(), 1);
  }
  return results(context.builder.add(OpKind::Slice, context.values(), std::move(attrs)));
}

std::vector<Bound> read_pad(OpContext& context) {
  context.expect_operands(2);
  ir::PadAttrs attrs;
  attrs.low = context.integers({"edge_padding_low", "low"});
  attrs.high = context.integers({"edge_padding_high", "high"});
  attrs.interior = context.integers_or({"interior_padding", "interior"}, attrs.low.size(), 0);
  return results(context.builder.add(OpKind::Pad, context.values(), std::move(attrs)));
}

std::vector<Bound> read_get_dimension_size(OpContext& context) {
  const std::int64_t dimension = context.integer({"dimension", "dim"});
  const ir::TensorType type = context.operand_type(0);
  if (dimension < 0 || dimension >= type.rank()) context.fail(fmt::format("there is no dimension {}", dimension));
  return results(context.builder.scalar_int(ir::DType::I32, type.dims[static_cast<std::size_t>(dimension)]));
}

std::vector<Bound> read_optimization_barrier(OpContext& context) {
  const auto values = context.values();
  if (values.empty()) return {};
  const auto passed = results(context.builder.add_multi(OpKind::OptimizationBarrier, values));
  // Tuples keep their structure.
  std::size_t next = 0;
  const auto rebuild = [&](const auto& self, const Bound& shape) -> Bound {
    Bound result;
    result.is_tuple = shape.is_tuple;
    if (!shape.is_tuple) return passed[next++];
    for (const Bound& element : shape.elements)
      result.elements.push_back(self(self, element));
    return result;
  };
  std::vector<Bound> all;
  for (const Bound& operand : context.operands)
    all.push_back(rebuild(rebuild, operand));
  return all;
}

std::vector<Bound> read_tuple(OpContext& context) {
  Bound tuple;
  tuple.is_tuple = true;
  tuple.elements = context.operands;
  std::vector<Bound> all;
  all.push_back(std::move(tuple));
  return all;
}

std::vector<Bound> read_get_tuple_element(OpContext& context) {
  context.expect_operands(1);
  const std::int64_t index = context.integer({"index", "ranges"});
  const Bound& tuple = context.operands[0];
  if (!tuple.is_tuple) context.fail("the operand is not a tuple");
  if (index < 0 || static_cast<std::size_t>(index) >= tuple.elements.size())
    context.fail(fmt::format("the tuple has no element {}", index));
  std::vector<Bound> all;
  all.push_back(tuple.elements[static_cast<std::size_t>(index)]);
  return all;
}

}  // namespace

void add_shape_readers(OpReaders& readers) {
  readers["constant"] = readers["chlo.constant"] = read_constant;
  readers["iota"] = read_iota;
  readers["broadcast_in_dim"] = read_broadcast_in_dim;
  readers["broadcast"] = read_broadcast;
  readers["reshape"] = read_reshape;
  readers["transpose"] = read_transpose;
  readers["reverse"] = read_reverse;
  readers["concatenate"] = read_concatenate;
  readers["slice"] = read_slice;
  readers["pad"] = read_pad;
  readers["get_dimension_size"] = read_get_dimension_size;
  readers["optimization_barrier"] = read_optimization_barrier;
  readers["tuple"] = read_tuple;
  readers["get_tuple_element"] = read_get_tuple_element;
}

}  // namespace rhino::frontend
