// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <rhino/frontend/op_context.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::frontend {
namespace {

using ir::OpKind;

/// The results of an op in the shapes that its declared types have (tuples rebuilt).
std::vector<Bound> shaped(const std::vector<SyntaxType>& types, const std::vector<ir::ValueId>& values,
                          std::size_t& next) {
  std::vector<Bound> all;
  for (const SyntaxType& type : types) {
    Bound bound;
    if (type.kind == SyntaxType::Kind::Tuple) {
      bound.is_tuple = true;
      bound.elements = shaped(type.results, values, next);
    } else if (next < values.size()) {
      bound.value = values[next++];
    }
    if (!bound.present()) return {};
    all.push_back(std::move(bound));
  }
  return all;
}

std::vector<Bound> shaped_results(OpContext& context, const std::vector<ir::ValueId>& values) {
  std::size_t next = 0;
  auto all = shaped(context.op.result_types, values, next);
  if (next != values.size()) context.fail("the results do not fit the types that the op says");
  return all;
}

std::vector<Bound> call(OpContext& context, std::string_view name) {
  const ir::FunctionId callee = context.assembler.callee(name, context.op);
  std::vector<ir::ValueId> arguments = context.values();
  for (const ElidedConstant& elided : std::vector(context.assembler.elided_constants_of(callee)))
    flatten(context.assembler.elided_constant(context.scope, elided.name, elided.type, context.op), arguments);
  return shaped_results(context, context.builder.add_multi(OpKind::Call, std::move(arguments), {}, {callee}));
}

std::vector<Bound> read_call(OpContext& context) { return call(context, context.word({"callee"})); }

std::vector<Bound> read_composite(OpContext& context) {
  context.ignore({"name", "composite_attributes", "version"});
  return call(context, context.word({"decomposition"}));
}

std::vector<Bound> read_while(OpContext& context) {
  context.expect_regions(2);
  Captures captures;
  Scope condition =
      context.assembler.lower_region(context.scope, context.op.regions[0], CapturePolicy::AsParameter, &captures,
                                     "while_condition");
  Scope body = context.assembler.lower_region(context.scope, context.op.regions[1], CapturePolicy::AsParameter,
                                              &captures, "while_body");
  context.assembler.complete_captures(condition);
  context.assembler.complete_captures(body);
  // What the loop uses of its surroundings goes around unchanged.
  ir::Function& function = context.assembler.program().function(body.function);
  function.results.insert(function.results.end(), body.captured_params.begin(), body.captured_params.end());
  std::vector<ir::ValueId> carried = context.values();
  const std::size_t own = carried.size();
  carried.insert(carried.end(), captures.outer.begin(), captures.outer.end());
  auto values = context.builder.add_multi(OpKind::While, std::move(carried), {}, {condition.function, body.function});
  values.resize(own);
  return shaped_results(context, values);
}

std::vector<Bound> branches(OpContext& context, ir::ValueId index) {
  Captures captures;
  std::vector<Scope> scopes;
  std::vector<ir::FunctionId> functions;
  for (const SyntaxRegion& region : context.op.regions) {
    if (!region.params.empty()) context.fail("a branch has no parameters");
    scopes.push_back(context.assembler.lower_region(context.scope, region, CapturePolicy::AsParameter, &captures,
                                                    "branch"));
    functions.push_back(scopes.back().function);
  }
  for (Scope& scope : scopes) context.assembler.complete_captures(scope);
  std::vector<ir::ValueId> operands = {index};
  operands.insert(operands.end(), captures.outer.begin(), captures.outer.end());
  return shaped_results(context, context.builder.add_multi(OpKind::Case, std::move(operands), {}, functions));
}

std::vector<Bound> read_case(OpContext& context) {
  context.expect_operands(1);
  if (context.op.regions.empty()) context.fail("needs at least one branch");
  return branches(context, context.operand(0));
}

/// A case of two branches, the first for true.
std::vector<Bound> read_if(OpContext& context) {
  context.expect_operands(1);
  context.expect_regions(2);
  if (context.operand_type(0) != ir::TensorType{ir::DType::I1, {}}) context.fail("the condition must be tensor<i1>");
  const ir::ValueId is_false = context.builder(OpKind::Not, context.operand(0));
  return branches(context, context.builder.convert(is_false, ir::DType::I32));
}

/// Applies a scalar computation to every element: its ops are written out on whole tensors.
std::vector<Bound> read_map(OpContext& context) {
  context.expect_regions(1);
  context.ignore({"dimensions"});
  if (context.operands.empty()) context.fail("needs operands");
  const ir::Dims dims = context.operand_type(0).dims;
  const ir::FunctionId id = context.region_by_copy(0, "map");
  const ir::Function body = context.assembler.program().function(id);
  // The scalar version was needed for its checks only; it is the newest function, unless it has regions of its own.
  if (id.index() + 1 == context.assembler.program().functions.size()) context.assembler.program().functions.pop_back();
  if (body.params.size() != context.operands.size()) context.fail("the computation has another number of parameters");
  std::vector<ir::ValueId> mapped(body.values.size());
  for (std::size_t i = 0; i < body.params.size(); ++i) {
    if (context.operand_type(i) != ir::TensorType{body.type(body.params[i]).dtype, dims})
      context.fail("the operands do not fit the parameters of the computation");
    mapped[body.params[i].index()] = context.operand(i);
  }
  for (const ir::Op& op : body.ops) {
    std::vector<ir::ValueId> operands;
    for (const ir::ValueId operand : op.operands) operands.push_back(mapped[operand.index()]);
    ir::ValueId result;
    if (op.kind == OpKind::Constant) {
      result = context.builder.broadcast_scalar(context.builder.add(op.kind, {}, op.attrs), dims);
    } else if (ir::is_elementwise(op.kind)) {
      result = context.builder.add(op.kind, std::move(operands), op.attrs);
    } else {
      context.unsupported(fmt::format("a computation with {} is not supported", ir::op_name(op.kind)),
                          "write the computation on whole tensors");
    }
    mapped[op.results[0].index()] = result;
  }
  if (body.results.size() != 1) context.fail("the computation must have one result");
  return results(mapped[body.results[0].index()]);
}

std::vector<Bound> read_rng(OpContext& context) {
  context.unsupported("random numbers without a key have no defined value and are not supported",
                      "draw them with jax.random (threefry) or rng_bit_generator");
}

std::vector<Bound> read_rng_bit_generator(OpContext& context) {
  ir::RngBitGeneratorAttrs attrs;
  const std::string algorithm = context.word_or({"rng_algorithm", "algorithm"}, "DEFAULT");
  if (algorithm == "THREE_FRY")
    attrs.algorithm = ir::RngAlgorithm::ThreeFry;
  else if (algorithm == "PHILOX")
    attrs.algorithm = ir::RngAlgorithm::Philox;
  else if (algorithm != "DEFAULT")
    context.fail(fmt::format("{} is not an algorithm", quoted(algorithm)));
  attrs.type = context.result_type(1);
  return results(context.builder.add_multi(OpKind::RngBitGenerator, context.values(), std::move(attrs)));
}

}  // namespace

void add_control_readers(OpReaders& readers) {
  readers["call"] = read_call;
  readers["composite"] = read_composite;
  readers["while"] = read_while;
  readers["case"] = read_case;
  readers["if"] = read_if;
  readers["map"] = read_map;
  readers["rng"] = readers["rng_uniform"] = readers["rng_normal"] = read_rng;
  readers["rng_bit_generator"] = read_rng_bit_generator;
}

}  // namespace rhino::frontend
