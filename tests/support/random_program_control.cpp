// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "support/random_program_generator.hpp"

namespace rhino::test {

using ir::Dims;
using ir::DType;
using ir::OpKind;

bool Generator::rng_bits() {
  if (!options_.random_bits) return false;
  const bool three_words = chance(0.2);
  const Value state = of_type({DType::U64, {three_words ? 3 : 2}}, true);
  static const std::vector<ir::RngAlgorithm> algorithms{ir::RngAlgorithm::ThreeFry, ir::RngAlgorithm::Philox,
                                                        ir::RngAlgorithm::Default};
  const ir::RngAlgorithm algorithm = three_words ? ir::RngAlgorithm::Philox : choose(algorithms);
  const ir::TensorType bits{chance(0.6) ? DType::U32 : DType::U64, dims(static_cast<int>(pick(0, 3)))};
  const std::vector<Value> results =
      b_.add_multi(OpKind::RngBitGenerator, {state}, ir::RngBitGeneratorAttrs{algorithm, bits});
  keep(results[0], {0x1p64, true});
  keep(results[1], {0x1p64, true});
  const Value shift = full_like(results[1], bits.dtype == DType::U32 ? 24 : 56);
  const Value top = note(b_(OpKind::ShiftRightLogical, results[1], shift), {256, true});
  const Value number = note(b_.convert(top, DType::F64), {256, true});
  return keep(b_(OpKind::Multiply, number, full_like(number, 0x1p-8)), {1, true});
}

bool Generator::may_nest() { return options_.control_flow && (depth_ == 0 || (depth_ == 1 && chance(0.3))); }

ir::FunctionId Generator::body(
    const std::string& name, const std::vector<ir::TensorType>& params,
    const std::function<std::vector<Value>(Generator&, const std::vector<Value>&)>& results) {
  const ir::FunctionId id = program_.add_function(name);
  Generator inner(program_, id, rng_, options_, depth_ + 1, palette_);
  std::vector<Value> values;
  for (const ir::TensorType& type : params)
    values.push_back(inner.param(type, {ir::is_float(type.dtype) ? 50.0 : 9.0, !ir::is_float(type.dtype)}));
  inner.grow(static_cast<int>(pick(1, 4)));
  inner.set_results(results(inner, values));
  return id;
}

namespace {

/// i < count, for a loop whose first value is the counter.
void counts_to(ir::Builder& b, std::int64_t count) {
  const ir::ValueId limit = b.scalar_int(DType::I32, count);
  b.set_results({b.compare(b.function().params[0], limit, ir::Comparison::Lt, ir::ComparisonType::Signed)});
}

}  // namespace

bool Generator::while_map() {
  if (!may_nest()) return false;
  const auto x = any_f64();
  if (!x) return false;
  const Value state = bounded(*x);
  const auto captured = any([&](Value v) { return type(v).dtype == DType::F64; });
  const std::vector<ir::TensorType> types{{DType::I32, {}}, type(state), type(*captured)};
  const ValueFacts same = facts(*captured);
  const std::int64_t count = pick(0, 4);
  const ir::FunctionId condition = program_.add_function("condition");
  ir::Builder c(program_, condition);
  for (const ir::TensorType& type : types)
    c.param(type);
  counts_to(c, count);
  const ir::FunctionId step = body("body", types, [&](Generator& g, const std::vector<Value>& p) {
    const Value next = g.squashed(types[1]);
    const Value one = g.b_.scalar_int(DType::I32, 1);
    return std::vector<Value>{g.b_(OpKind::Add, p[0], one), next, p[2]};
  });
  const Value zero = b_.scalar_int(DType::I32, 0);
  const std::vector<Value> results =
      b_.add_multi(OpKind::While, {zero, state, *captured}, ir::NoAttrs{}, {condition, step});
  note(results[0], {static_cast<double>(count), true});
  note(results[2], same);
  return keep(results[1], {1, false});
}

bool Generator::while_scan() {
  if (!may_nest()) return false;
  const auto x = any([&](Value v) { return type(v).dtype == DType::F64 && type(v).rank() == 2; });
  if (!x) return false;
  const std::int64_t rows = type(*x).dims[0];
  const std::int64_t columns = type(*x).dims[1];
  const std::int64_t count = size();
  const Dims stacked_results{count, rows, columns};
  const Dims stacked_weights{count, columns, columns};
  if (!small(stacked_results) || !small(stacked_weights)) return false;
  const Value weights = of_type({DType::F64, stacked_weights});
  const Value state = bounded(*x);
  const Value history = b_.full({DType::F64, stacked_results}, 0);
  const Value zero = b_.scalar_int(DType::I32, 0);
  const std::vector<ir::TensorType> types{type(zero), type(state), type(weights), type(history)};
  const ir::FunctionId condition = program_.add_function("condition");
  ir::Builder c(program_, condition);
  for (const ir::TensorType& type : types)
    c.param(type);
  counts_to(c, count);
  const ir::FunctionId step = program_.add_function("body");
  ir::Builder b(program_, step);
  std::vector<Value> p;
  for (const ir::TensorType& type : types)
    p.push_back(b.param(type));
  const Value start = b.scalar_int(DType::I32, 0);
  const Value layer = b.reshape(b.dynamic_slice(p[2], {p[0], start, start}, {1, columns, columns}), {columns, columns});
  const Value product = b.add(OpKind::DotGeneral, {p[1], layer}, ir::DotGeneralAttrs{{}, {}, {1}, {0}, DType::F64});
  const Value next = b(OpKind::Tanh, product);
  const Value entry = b.reshape(next, {1, rows, columns});
  const Value stored = b.add(OpKind::DynamicUpdateSlice, {p[3], entry, p[0], start, start});
  b.set_results({b(OpKind::Add, p[0], b.scalar_int(DType::I32, 1)), next, p[2], stored});
  const std::vector<Value> results =
      b_.add_multi(OpKind::While, {zero, state, weights, history}, ir::NoAttrs{}, {condition, step});
  keep(results[1], {1, false});
  return keep(results[3], {1, false});
}

bool Generator::case_of() {
  if (!may_nest()) return false;
  const auto x = any_f64();
  const auto y = any([&](Value) { return true; });
  if (!x || !y) return false;
  const std::vector<ir::TensorType> captured{type(*x), type(*y)};
  const ir::TensorType result{DType::F64, type(*x).dims};
  const std::int64_t branches = pick(1, 3);
  std::vector<ir::FunctionId> regions;
  for (std::int64_t i = 0; i < branches; ++i)
    regions.push_back(body("branch", captured, [&](Generator& g, const std::vector<Value>&) {
      return std::vector<Value>{g.squashed(result), g.squashed(result)};
    }));
  const Value index = scalar_index(branches);
  const std::vector<Value> results = b_.add_multi(OpKind::Case, {index, *x, *y}, ir::NoAttrs{}, regions);
  keep(results[1], {1, false});
  return keep(results[0], {1, false});
}

bool Generator::call() {
  if (!may_nest()) return false;
  const auto x = any_f64();
  const auto y = any([&](Value) { return true; });
  if (!x || !y) return false;
  const ir::TensorType result{DType::F64, type(*x).dims};
  const ir::FunctionId callee = body("helper", {type(*x), type(*y)}, [&](Generator& g, const std::vector<Value>&) {
    return std::vector<Value>{g.squashed(result)};
  });
  return keep(b_.add(OpKind::Call, {*x, *y}, ir::NoAttrs{}, {callee}), {1, false});
}

}  // namespace rhino::test
