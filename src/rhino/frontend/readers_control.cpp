// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

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

/// The elided constants that any of some functions needs, each once.
std::vector<ElidedConstant> elided_constants(OpContext& context, const std::vector<ir::FunctionId>& functions) {
  std::vector<ElidedConstant> all;
  for (const ir::FunctionId function : functions)
    for (const ElidedConstant& elided : context.assembler.elided_constants_of(function))
      if (std::none_of(all.begin(), all.end(), [&](const ElidedConstant& known) { return known.name == elided.name; }))
        all.push_back(elided);
  return all;
}

/// How a function is called from one with more parameters.
struct Adaptation {
  std::vector<ir::TensorType> params;  ///< of the new function
  std::size_t first, count;            ///< those that are the arguments of the old one
  std::vector<ElidedConstant> elided;  ///< what the last parameters are
  bool returns_elided;                 ///< the last parameters are results too
};

/// A function that calls `function` with a part of its own parameters.
ir::FunctionId adapter(OpContext& context, ir::FunctionId function, const Adaptation& adaptation) {
  const std::vector<ElidedConstant> needed = context.assembler.elided_constants_of(function);
  const ir::FunctionId id = context.assembler.new_function("adapter");
  ir::Builder builder(context.assembler.program(), id);
  std::vector<ir::ValueId> params;
  for (const ir::TensorType& type : adaptation.params)
    params.push_back(builder.param(type));
  const auto first = params.begin() + static_cast<std::ptrdiff_t>(adaptation.first);
  std::vector<ir::ValueId> arguments(first, first + static_cast<std::ptrdiff_t>(adaptation.count));
  const std::size_t extra = params.size() - adaptation.elided.size();
  for (const ElidedConstant& constant : needed)
    for (std::size_t i = 0; i < adaptation.elided.size(); ++i)
      if (adaptation.elided[i].name == constant.name) arguments.push_back(params[extra + i]);
  std::vector<ir::ValueId> results = builder.add_multi(OpKind::Call, std::move(arguments), {}, {function});
  if (adaptation.returns_elided)
    results.insert(results.end(), params.begin() + static_cast<std::ptrdiff_t>(extra), params.end());
  builder.set_results(std::move(results));
  return id;
}

std::vector<Bound> read_call(OpContext& context) { return call(context, context.word({"callee"})); }

/// Ops that portable artifacts wrap: those of ours that a composite names ("chlo.erf") are taken as such, which is more
/// exact than their decompositions; any other composite is a call of its decomposition.
std::vector<Bound> read_composite(OpContext& context) {
  const std::string name = context.word({"name"});
  const AttributeValue* attributes = context.find({"composite_attributes"});
  context.ignore({"version"});
  const std::string decomposition = context.word({"decomposition"});
  if (name.starts_with("chlo.")) {
    const auto kind = ir::op_kind_from_name(name);
    if (kind && ir::is_elementwise(*kind)) return results(context.builder.add(*kind, context.values()));
    const AttributeValue* k = attributes == nullptr ? nullptr : find_attribute(attributes->fields, "k");
    if (name == "chlo.top_k" && k != nullptr)
      return results(context.builder.add_multi(OpKind::TopK, context.values(), ir::TopKAttrs{k->integer, true}));
  }
  return call(context, decomposition);
}

/// A loop of HLO text: condition and body are functions of the module.
std::vector<Bound> while_of_computations(OpContext& context) {
  std::vector<ir::FunctionId> functions;
  for (const std::string_view name : context.op.computations)
    functions.push_back(context.assembler.callee(name, context.op));
  std::vector<ir::ValueId> carried = context.values();
  const std::size_t own = carried.size();
  const auto elided = elided_constants(context, functions);
  for (const ElidedConstant& constant : elided)
    flatten(context.assembler.elided_constant(context.scope, constant.name, constant.type, context.op), carried);
  if (!elided.empty()) {
    std::vector<ir::TensorType> types;
    for (const ir::ValueId value : carried)
      types.push_back(context.type(value));
    for (std::size_t i = 0; i < functions.size(); ++i)
      functions[i] = adapter(context, functions[i], {types, 0, own, elided, i == 1});
  }
  auto values = context.builder.add_multi(OpKind::While, std::move(carried), {}, functions);
  values.resize(own);
  return shaped_results(context, values);
}

std::vector<Bound> read_while(OpContext& context) {
  context.expect_regions(2);
  if (!context.op.computations.empty()) return while_of_computations(context);
  Captures captures;
  Scope condition = context.assembler.lower_region(context.scope, context.op.regions[0], CapturePolicy::AsParameter,
                                                   &captures, "while_condition");
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
    scopes.push_back(
        context.assembler.lower_region(context.scope, region, CapturePolicy::AsParameter, &captures, "branch"));
    functions.push_back(scopes.back().function);
  }
  for (Scope& scope : scopes)
    context.assembler.complete_captures(scope);
  std::vector<ir::ValueId> operands = {index};
  operands.insert(operands.end(), captures.outer.begin(), captures.outer.end());
  return shaped_results(context, context.builder.add_multi(OpKind::Case, std::move(operands), {}, functions));
}

/// The conditional of HLO text: a boolean or an index, one argument per branch, branches that are functions. Each
/// branch here gets the arguments of all.
std::vector<Bound> read_hlo_conditional(OpContext& context) {
  const std::size_t count = context.op.computations.size();
  context.expect_operands(count + 1);
  std::vector<ir::FunctionId> functions;
  for (const std::string_view name : context.op.computations)
    functions.push_back(context.assembler.callee(name, context.op));
  ir::ValueId index = context.operand(0);
  if (context.type(index).dtype == ir::DType::I1)  // the first branch is for true
    index = context.builder.convert(context.builder(OpKind::Not, index), ir::DType::I32);
  std::vector<ir::ValueId> operands = {index};
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < count; ++i) {
    starts.push_back(operands.size() - 1);
    flatten(context.operands[i + 1], operands);
  }
  starts.push_back(operands.size() - 1);
  const auto elided = elided_constants(context, functions);
  for (const ElidedConstant& constant : elided)
    flatten(context.assembler.elided_constant(context.scope, constant.name, constant.type, context.op), operands);
  std::vector<ir::TensorType> types;
  for (std::size_t i = 1; i < operands.size(); ++i)
    types.push_back(context.type(operands[i]));
  for (std::size_t i = 0; i < count; ++i)
    functions[i] = adapter(context, functions[i], {types, starts[i], starts[i + 1] - starts[i], elided, false});
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
  if (context.op.computations.empty() && id.index() + 1 == context.assembler.program().functions.size())
    context.assembler.program().functions.pop_back();
  if (body.params.size() != context.operands.size()) context.fail("the computation has another number of parameters");
  std::vector<ir::ValueId> mapped(body.values.size());
  for (std::size_t i = 0; i < body.params.size(); ++i) {
    if (context.operand_type(i) != ir::TensorType{body.type(body.params[i]).dtype, dims})
      context.fail("the operands do not fit the parameters of the computation");
    mapped[body.params[i].index()] = context.operand(i);
  }
  for (const ir::Op& op : body.ops) {
    std::vector<ir::ValueId> operands;
    for (const ir::ValueId operand : op.operands)
      operands.push_back(mapped[operand.index()]);
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
    context.fail(fmt::format("{} is not an algorithm", in_quotes(algorithm)));
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
  readers["hlo.conditional"] = read_hlo_conditional;
  readers["map"] = read_map;
  readers["rng"] = readers["rng_uniform"] = readers["rng_normal"] = read_rng;
  readers["rng_bit_generator"] = read_rng_bit_generator;
}

}  // namespace rhino::frontend
