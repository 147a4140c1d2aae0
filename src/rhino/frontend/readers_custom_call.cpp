// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <fmt/format.h>

#include <rhino/frontend/op_context.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::frontend {
namespace {

using ir::OpKind;

/// Calls that only say where values should live: the value passes through.
bool is_annotation(std::string_view target) {
  constexpr std::array<std::string_view, 6> targets = {"Sharding",
                                                       "xla.sdy.FuncResultSharding",
                                                       "xla.sdy.ShardingGroup",
                                                       "xla.sdy.PropagationBarrier",
                                                       "annotate_device_placement",
                                                       "LayoutConstraint"};
  for (const std::string_view known : targets)
    if (target == known) return true;
  return false;
}

bool is_kept(std::string_view target) { return target.starts_with("check.") || target.starts_with("interpreter."); }

/// Puts facts about a value where it is made.
void note(OpContext& context, ir::ValueId value, std::string_view key, std::string text) {
  ir::Function& function = context.assembler.program().function(context.scope.function);
  const ir::Value& entry = function.value(value);
  if (entry.producer.valid()) {
    function.ops[entry.producer.index()].notes.emplace_back(key, std::move(text));
    return;
  }
  function.param_notes.resize(function.params.size());
  function.param_notes[entry.result_index].emplace_back(key, std::move(text));
}

std::string text_of(const AttributeValue& value) {
  return value.kind == AttributeValue::Kind::String ? value.string : std::string(value.written);
}

std::vector<Bound> pass_through(OpContext& context) {
  for (const Attribute& attribute : context.op.attributes) {
    const AttributeValue& value = attribute.value.resolved();
    const bool sharding = attribute.key == "mhlo.sharding" || attribute.key == "sdy.sharding" ||
                          attribute.key == "sharding" || attribute.key == "mhlo.frontend_attributes";
    if (!sharding) continue;
    for (const ir::ValueId operand : context.values())
      note(context, operand, attribute.key, text_of(value));
  }
  return context.operands;
}

/// Functions named by `called_computations` or `programs`, nested lists row by row.
void collect_functions(OpContext& context, const AttributeValue& value, std::vector<ir::FunctionId>& functions) {
  if (value.kind == AttributeValue::Kind::Symbol) {
    functions.push_back(context.assembler.callee(value.string, context.op));
    return;
  }
  for (const AttributeValue& item : value.items)
    collect_functions(context, item, functions);
}

std::vector<Bound> kept_call(OpContext& context, std::string target, std::string config,
                             std::vector<ir::FunctionId> regions, bool side_effect) {
  ir::CustomCallAttrs attrs;
  attrs.target = std::move(target);
  attrs.backend_config = std::move(config);
  attrs.has_side_effect = side_effect;
  attrs.result_types = context.result_types();
  return results(context.builder.add_multi(OpKind::CustomCall, context.values(), std::move(attrs), std::move(regions)));
}

/// `mhlo.erf`, `mhlo.topk` and the like: ops that portable artifacts wrap as calls.
std::vector<Bound> wrapped_op(OpContext& context, std::string_view name) {
  if (name == "topk") {
    ir::TopKAttrs attrs;
    const AttributeValue* inner = context.find({"mhlo.attributes"});
    const AttributeValue* k = inner == nullptr ? nullptr : find_attribute(inner->fields, "k");
    if (k == nullptr) context.fail("the attribute 'k' is missing");
    attrs.k = k->integer;
    if (const AttributeValue* largest = find_attribute(inner->fields, "largest")) attrs.largest = largest->integer != 0;
    return results(context.builder.add_multi(OpKind::TopK, context.values(), attrs));
  }
  auto kind = ir::op_kind_from_name("chlo." + std::string(name));
  if (!kind) kind = ir::op_kind_from_name(name);
  if (!kind || !ir::is_elementwise(*kind)) return {};
  return results(context.builder.add(*kind, context.values()));
}

std::string_view remedy_for(std::string_view target) {
  if (target.starts_with("cu") || target.starts_with("__cu") || target.starts_with("__gpu") ||
      target.starts_with("triton") || target.starts_with("tpu"))
    return "lower the program for CPU: jax.jit(f).trace(..).lower(lowering_platforms=('cpu',))";
  if (target.starts_with("lapack") || target.starts_with("blas") || target.starts_with("hipsolver"))
    return "matrix decompositions are not supported; compute them outside the step";
  if (target.find("callback") != std::string_view::npos)
    return "remove host callbacks (jax.debug.print, pure_callback, io_callback) from the step";
  if (target.starts_with("SPMD"))
    return "export the program before it is partitioned (without shard_map): Rhino finds the partition";
  return "Rhino cannot know what it computes; lower the program for CPU, or write this part in plain jax.numpy";
}

std::vector<Bound> read_custom_call(OpContext& context) {
  const std::string target = context.word({"call_target_name", "callee"});
  const std::string config = [&] {
    const AttributeValue* value = context.find({"backend_config"});
    return value == nullptr ? std::string() : text_of(*value);
  }();
  const bool side_effect = context.boolean_or({"has_side_effect"}, false);
  std::vector<ir::FunctionId> regions;
  if (const AttributeValue* called = context.find({"called_computations"}))
    collect_functions(context, *called, regions);
  if (is_kept(target)) return kept_call(context, target, config, std::move(regions), side_effect);
  if (is_annotation(target)) return pass_through(context);
  if (target.starts_with("mhlo.") || target.starts_with("chlo.")) {
    if (auto wrapped = wrapped_op(context, std::string_view(target).substr(5)); !wrapped.empty()) return wrapped;
  }
  if (target == "TopK" && context.op.result_types.size() == 2) {  // how older XLA spells top_k
    const ir::Dims& dims = context.result_type(0).dims;
    ir::TopKAttrs attrs;
    attrs.k = dims.empty() ? 0 : dims.back();
    return results(context.builder.add_multi(OpKind::TopK, context.values(), attrs));
  }
  context.unsupported(fmt::format("the custom call {} is not supported", in_quotes(target)), remedy_for(target));
}

/// `interpreter.run_parallel`: programs of a grid of processes, row by row.
std::vector<Bound> read_run_parallel(OpContext& context) {
  const AttributeValue& programs = context.require({"programs"});
  std::vector<ir::FunctionId> functions;
  collect_functions(context, programs, functions);
  const std::size_t rows = programs.items.size();
  if (rows == 0 || functions.empty() || functions.size() % rows != 0)
    context.fail("the programs must be a grid of functions");
  if (context.has({"infeed"})) context.unsupported("infeed is not supported", "pass the data as parameters");
  std::string grid = fmt::format("{} x {}", rows, functions.size() / rows);
  return kept_call(context, "interpreter.run_parallel", std::move(grid), std::move(functions), true);
}

std::vector<Bound> read_probe(OpContext& context) {
  context.expect_operands(1);
  return kept_call(context, "interpreter.probe", context.word({"probe_id"}), {}, true);
}

std::vector<Bound> read_print(OpContext& context) { return context.operands; }

std::vector<Bound> refuse_manual(OpContext& context) {
  context.unsupported("manual computations (shard_map) are not supported",
                      "export the program before it is partitioned by hand: Rhino finds the partition");
}

/// check.expect_* as an op: the same as the custom call of that name; constants become operands.
std::vector<Bound> read_check(OpContext& context) {
  std::string_view name = context.op.name;
  std::vector<ir::ValueId> operands = context.values();
  if (name.ends_with("_const")) {
    name.remove_suffix(6);
    operands.push_back(context.builder.constant(context.literal({"value"})));
  }
  std::string config;
  for (const std::string_view key : {"tolerance", "max_ulp_difference", "min_ulp_difference", "probe_id", "iter"}) {
    const AttributeValue* value = context.find({key});
    if (value == nullptr) continue;
    if (!config.empty()) config += ", ";
    const bool text = value->kind == AttributeValue::Kind::String;
    config += fmt::format("{} = {}", key, text ? std::string_view(value->string) : value->text);
  }
  ir::CustomCallAttrs attrs;
  attrs.target = std::string(name);
  attrs.backend_config = std::move(config);
  attrs.has_side_effect = true;
  context.builder.add_multi(OpKind::CustomCall, std::move(operands), std::move(attrs));
  return {};
}

}  // namespace

void add_custom_call_readers(OpReaders& readers) {
  readers["custom_call"] = read_custom_call;
  readers["interpreter.run_parallel"] = read_run_parallel;
  readers["interpreter.probe"] = read_probe;
  readers["interpreter.print"] = read_print;
  readers["sdy.sharding_constraint"] = readers["sdy.reshard"] = readers["sdy.propagation_barrier"] = pass_through;
  readers["sdy.manual_computation"] = readers["sdy.constant"] = refuse_manual;
}

void add_check_readers(OpReaders& readers) {
  for (const std::string_view name :
       {"check.expect_eq", "check.expect_eq_const", "check.expect_almost_eq", "check.expect_almost_eq_const",
        "check.expect_close", "check.expect_serialized_eq"})
    readers[name] = read_check;
}

}  // namespace rhino::frontend
