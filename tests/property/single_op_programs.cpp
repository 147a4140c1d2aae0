// SPDX-License-Identifier: Apache-2.0
#include "single_op_programs.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>

#include <rhino/ir/builder.hpp>
#include <rhino/ir/op_info.hpp>

#include "window_programs.hpp"

namespace rhino::test {

using ir::Builder;
using ir::Dims;
using ir::DType;
using ir::OpKind;
using ir::TensorType;
using ir::ValueId;

namespace {

std::string_view inference_rule(OpKind kind) {
  switch (kind) {
#define RHINO_OP(Kind, spelling, Attrs, infer, factors, cost) \
  case OpKind::Kind: return #infer;
#include <rhino/ir/op_list.def>
#undef RHINO_OP
  }
  return {};
}

DType number_type(Random& random) {
  return random.pick(std::vector<DType>{DType::F64, DType::F64, DType::F64, DType::I32, DType::I64, DType::U32, DType::I8});
}

DType integer_type(Random& random) {
  return random.pick(std::vector<DType>{DType::I32, DType::I64, DType::U32, DType::U64, DType::U8});
}

DType element_type(OpKind kind, std::string_view rule, Random& random) {
  if (rule == "unary_float" || rule == "binary_float" || rule == "float_predicate") return DType::F64;
  if (rule == "unary_int" || rule == "binary_int") return integer_type(random);
  if (rule == "unary_bits" || rule == "binary_bits") return random.chance(0.3) ? DType::I1 : integer_type(random);
  if (kind == OpKind::Abs || kind == OpKind::Sign) return random.chance(0.5) ? DType::F64 : DType::I32;
  if (rule == "binary_same" || rule == "compare" || rule == "select") return random.chance(0.2) ? DType::I1 : number_type(random);
  return number_type(random);
}

void make_elementwise(Builder& b, OpKind kind, Random& random, std::vector<ValueId>& results) {
  const std::string_view rule = inference_rule(kind);
  const Dims dims = random_dims(random, 0, 3);
  const DType dtype = element_type(kind, rule, random);
  const ValueId a = b.param({dtype, dims});
  if (rule.starts_with("binary")) {
    results = {b.add(kind, {a, b.param({dtype, dims})})};
  } else if (kind == OpKind::Compare) {
    const auto direction = static_cast<ir::Comparison>(random.integer(0, 5));
    results = {b.compare(a, b.param({dtype, dims}), direction)};
  } else if (kind == OpKind::Select) {
    const ValueId predicate = b.param({DType::I1, random.chance(0.3) ? Dims{} : dims});
    results = {b.select(predicate, a, b.param({dtype, dims}))};
  } else if (kind == OpKind::Clamp) {
    const Dims lower = random.chance(0.5) ? Dims{} : dims;
    const Dims upper = random.chance(0.5) ? Dims{} : dims;
    results = {b.add(kind, {b.param({dtype, lower}), a, b.param({dtype, upper})})};
  } else if (kind == OpKind::Convert) {
    results = {b.convert(a, random.pick(std::vector<DType>{DType::F64, DType::I32, DType::I1, DType::F32}))};
  } else if (kind == OpKind::ReducePrecision) {
    results = {b.add(kind, {a}, ir::ReducePrecisionAttrs{8, 7})};
  } else {
    results = {b.add(kind, {a})};
  }
}

void make_reshape(Builder& b, Random& random, std::vector<ValueId>& results) {
  // Digits regrouped in two ways.
  std::vector<std::int64_t> digits;
  for (std::int64_t n = random.integer(1, 4); n > 0; --n) digits.push_back(random.integer(1, 6));
  const auto grouped = [&] {
    Dims dims;
    for (const std::int64_t digit : digits) {
      if (!dims.empty() && random.chance(0.5)) dims.back() *= digit;
      else dims.push_back(digit);
      if (random.chance(0.15)) dims.push_back(1);
    }
    return dims;
  };
  const Dims from = grouped();
  results = {b.reshape(b.param({number_type(random), from}), grouped())};
}

void make_concatenate(Builder& b, Random& random, std::vector<ValueId>& results) {
  Dims dims = random_dims(random, 1, 3);
  const auto dim = static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(dims.size()) - 1));
  const DType dtype = number_type(random);
  const std::int64_t unit = random.integer(1, 4);
  const bool stacked = random.chance(0.3);
  std::vector<ValueId> operands;
  for (std::int64_t n = random.integer(1, 4); n > 0; --n) {
    dims[dim] = unit * (stacked ? 1 : random.integer(random.chance(0.1) ? 0 : 1, 4));
    operands.push_back(b.param({dtype, dims}));
  }
  results = {b.concatenate(operands, static_cast<int>(dim))};
}

void make_slice(Builder& b, Random& random, std::vector<ValueId>& results) {
  const Dims dims = random_dims(random, 1, 3, 12);
  Dims start, limit, stride;
  for (const std::int64_t size : dims) {
    if (random.chance(0.25)) {
      start.push_back(0);
      limit.push_back(size);
      stride.push_back(1);
      continue;
    }
    const std::int64_t group = size % 3 == 0 ? 3 : size % 2 == 0 ? 2 : 1;
    const std::int64_t unit = random.chance(0.5) ? group : 1;
    start.push_back(random.integer(0, size / unit - 1) * unit);
    limit.push_back(random.integer(start.back() / unit + 1, size / unit) * unit);
    stride.push_back(random.chance(0.6) ? 1 : random.integer(1, 3));
    if (random.chance(0.2)) {
      start.back() = random.integer(0, group - 1);
      limit.back() = size;
      stride.back() = group;
    }
  }
  results = {b.slice(b.param({number_type(random), dims}), start, limit, stride)};
}

void make_pad(Builder& b, Random& random, std::vector<ValueId>& results) {
  const Dims dims = random_dims(random, 1, 3, 8);
  Dims low, high, interior;
  for (const std::int64_t size : dims) {
    const std::int64_t unit = random.chance(0.4) ? size : 1;
    const bool spaced = unit == 1 && random.chance(0.4);
    interior.push_back(spaced ? random.integer(1, 2) : 0);
    const std::int64_t extent = (size - 1) * (interior.back() + 1) + 1;
    low.push_back(random.chance(0.3) ? 0 : random.integer(-1, 3) * unit);
    high.push_back(random.chance(0.3) ? 0 : random.integer(-1, 3) * unit);
    if (spaced && random.chance(0.4)) {  // each element with a gap of its own
      low.back() = random.integer(0, interior.back());
      high.back() = interior.back() - low.back();
    }
    if (extent + low.back() + high.back() < 0) low.back() = high.back() = 0;
  }
  const DType dtype = number_type(random);
  const ValueId value = b.param({dtype, dims});
  results = {b.pad(value, b.param({dtype, {}}), low, high, interior)};
}

void make_broadcast(Builder& b, Random& random, std::vector<ValueId>& results) {
  const Dims to = random_dims(random, 0, 4);
  Dims from;
  std::vector<int> dimensions;
  for (std::size_t d = 0; d < to.size(); ++d) {
    if (random.chance(0.4)) continue;
    dimensions.push_back(static_cast<int>(d));
    from.push_back(random.chance(0.25) ? 1 : to[d]);
  }
  results = {b.broadcast(b.param({number_type(random), from}), to, dimensions)};
}

void make_transpose(Builder& b, Random& random, std::vector<ValueId>& results) {
  const Dims dims = random_dims(random, 1, 4);
  std::vector<int> permutation(dims.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  for (std::size_t i = permutation.size(); i > 1; --i) {
    std::swap(permutation[i - 1], permutation[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(i) - 1))]);
  }
  results = {b.transpose(b.param({number_type(random), dims}), permutation)};
}

void make_reverse(Builder& b, Random& random, std::vector<ValueId>& results) {
  const Dims dims = random_dims(random, 1, 3, 9);
  std::vector<int> reversed;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (random.chance(0.7)) reversed.push_back(static_cast<int>(d));
  }
  results = {b.add(OpKind::Reverse, {b.param({number_type(random), dims})}, ir::DimensionsAttrs{reversed})};
}

void make_bitcast(Builder& b, Random& random, std::vector<ValueId>& results) {
  Dims dims = random_dims(random, 1, 3);
  const std::int64_t form = random.integer(0, 2);
  if (form == 0) {
    results = {b.add(OpKind::BitcastConvert, {b.param({DType::F64, dims})}, ir::ConvertAttrs{DType::U64})};
  } else if (form == 1) {
    results = {b.add(OpKind::BitcastConvert, {b.param({DType::U64, dims})}, ir::ConvertAttrs{DType::U32})};
  } else {
    dims.push_back(2);
    results = {b.add(OpKind::BitcastConvert, {b.param({DType::U32, dims})}, ir::ConvertAttrs{DType::U64})};
  }
}

void make_constant(Builder& b, Random& random, std::vector<ValueId>& results) {
  const TensorType type{DType::I32, random_dims(random, 0, 3)};
  if (random.chance(0.3)) {
    results = {b.constant(ir::Literal::splat_int(type, random.integer(-9, 9)))};
    return;
  }
  std::vector<std::int32_t> values(static_cast<std::size_t>(type.elements()));
  for (auto& value : values) value = static_cast<std::int32_t>(random.integer(-99, 99));
  std::vector<std::byte> bytes(values.size() * sizeof(std::int32_t));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  results = {b.constant(ir::Literal(type, bytes))};
}

void make_iota(Builder& b, Random& random, std::vector<ValueId>& results) {
  const TensorType type{number_type(random), random_dims(random, 1, 3, 12)};
  results = {b.iota(type, static_cast<int>(random.integer(0, type.rank() - 1)))};
}

void make_rng(Builder& b, Random& random, std::vector<ValueId>& results) {
  ir::RngBitGeneratorAttrs attrs;
  attrs.algorithm = random.chance(0.5) ? ir::RngAlgorithm::ThreeFry : ir::RngAlgorithm::Philox;
  attrs.type = {random.pick(std::vector<DType>{DType::U32, DType::U64, DType::U8}), random_dims(random, 1, 3)};
  results = b.add_multi(OpKind::RngBitGenerator, {b.param({DType::U64, {2}})}, attrs);
}

void make_barrier(Builder& b, Random& random, std::vector<ValueId>& results) {
  std::vector<ValueId> operands;
  for (std::int64_t n = random.integer(1, 3); n > 0; --n) operands.push_back(b.param({number_type(random), random_dims(random, 0, 3)}));
  results = b.add_multi(OpKind::OptimizationBarrier, operands);
}

void make_dot(Builder& b, Random& random, std::vector<ValueId>& results) {
  ir::DotGeneralAttrs attrs;
  const DType dtype = random.chance(0.8) ? DType::F64 : DType::I32;
  attrs.result_dtype = dtype;
  struct Role {
    bool left, right, batch;
    std::int64_t size;
  };
  std::vector<Role> roles;
  for (std::int64_t n = random.integer(0, 2); n > 0; --n) roles.push_back({true, true, true, random_size(random)});
  for (std::int64_t n = random.integer(0, 2); n > 0; --n) roles.push_back({true, true, false, random_size(random)});
  for (std::int64_t n = random.integer(0, 2); n > 0; --n) roles.push_back({true, false, false, random_size(random)});
  for (std::int64_t n = random.integer(0, 2); n > 0; --n) roles.push_back({false, true, false, random_size(random)});
  const auto arranged = [&](bool left) {
    std::vector<std::size_t> order;
    for (std::size_t r = 0; r < roles.size(); ++r) {
      if (left ? roles[r].left : roles[r].right) order.push_back(r);
    }
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(i) - 1))]);
    }
    return order;
  };
  const auto left = arranged(true), right = arranged(false);
  const auto place = [](const std::vector<std::size_t>& order, std::size_t role) {
    return static_cast<int>(std::find(order.begin(), order.end(), role) - order.begin());
  };
  for (std::size_t r = 0; r < roles.size(); ++r) {
    if (!roles[r].left || !roles[r].right) continue;
    (roles[r].batch ? attrs.lhs_batch : attrs.lhs_contracting).push_back(place(left, r));
    (roles[r].batch ? attrs.rhs_batch : attrs.rhs_contracting).push_back(place(right, r));
  }
  const auto shape = [&](const std::vector<std::size_t>& order) {
    Dims dims;
    for (const std::size_t r : order) dims.push_back(roles[r].size);
    return dims;
  };
  const ValueId lhs = b.param({dtype, shape(left)});
  results = {b.add(OpKind::DotGeneral, {lhs, b.param({dtype, shape(right)})}, attrs)};
}

/// Reducer of (value, index) pairs that keeps the larger value and, of equal ones, the smaller index.
ir::FunctionId make_argmax_reducer(ir::Program& program) {
  const ir::FunctionId id = program.add_function("argmax");
  Builder b(program, id);
  const ValueId a = b.param({DType::F64, {}}), i = b.param({DType::I32, {}});
  const ValueId c = b.param({DType::F64, {}}), k = b.param({DType::I32, {}});
  const ValueId larger = b.compare(a, c, ir::Comparison::Gt);
  const ValueId tie = b(OpKind::And, b.compare(a, c, ir::Comparison::Eq), b.compare(i, k, ir::Comparison::Lt));
  const ValueId first = b(OpKind::Or, larger, tie);
  b.set_results({b.select(first, a, c), b.select(first, i, k)});
  return id;
}

void make_reduce(Builder& b, Random& random, std::vector<ValueId>& results) {
  const Dims dims = random_dims(random, 1, 4);
  std::vector<int> reduced;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (random.chance(0.6)) reduced.push_back(static_cast<int>(d));
  }
  if (random.chance(0.2)) {
    const ir::FunctionId reducer = make_argmax_reducer(b.program());
    const ValueId values = b.param({DType::F64, dims}), indices = b.param({DType::I32, dims});
    const ValueId lowest = b.scalar(DType::F64, -1e30), none = b.scalar_int(DType::I32, 1000);
    results = b.add_multi(OpKind::Reduce, {values, indices, lowest, none}, ir::ReduceAttrs{reduced}, {reducer});
    return;
  }
  const RandomReducer reducer = random_reducer(b, random);
  const ValueId value = b.param({reducer.dtype, dims});
  const ValueId init = random.chance(0.5) ? b.param({reducer.dtype, {}}) : b.constant(ir::reducer_identity(reducer.kind, reducer.dtype));
  results = b.add_multi(OpKind::Reduce, {value, init}, ir::ReduceAttrs{reduced}, {reducer.function});
}

void make_sort(Builder& b, Random& random, std::vector<ValueId>& results) {
  const Dims dims = random_dims(random, 1, 3, 9);
  ir::SortAttrs attrs;
  attrs.dimension = static_cast<int>(random.integer(0, static_cast<std::int64_t>(dims.size()) - 1));
  attrs.is_stable = true;
  const bool pair = random.chance(0.5);
  const ir::FunctionId comparator = b.program().add_function("less");
  Builder c(b.program(), comparator);
  const ValueId x = c.param({DType::F64, {}}), y = c.param({DType::F64, {}});
  if (pair) {
    c.param({DType::I32, {}});
    c.param({DType::I32, {}});
  }
  c.set_results({c.compare(x, y, ir::Comparison::Lt)});
  std::vector<ValueId> operands{b.param({DType::F64, dims})};
  if (pair) operands.push_back(b.param({DType::I32, dims}));
  results = b.add_multi(OpKind::Sort, operands, attrs, {comparator});
}

void make_top_k(Builder& b, Random& random, std::vector<ValueId>& results) {
  const Dims dims = random_dims(random, 1, 3, 9);
  ir::TopKAttrs attrs;
  attrs.k = random.integer(1, dims.back());
  results = b.add_multi(OpKind::TopK, {b.param({DType::F64, dims})}, attrs);
}

/// Body and condition of a loop that runs a few times over a matrix, a counter and a vector.
void make_while(Builder& b, Random& random, std::vector<ValueId>& results) {
  const std::int64_t n = random_size(random), m = random_size(random);
  const TensorType matrix{DType::F64, {n, m}}, vector{DType::F64, {m}}, counter{DType::I32, {}};
  ir::Program& program = b.program();
  const ir::FunctionId condition = program.add_function("condition"), body = program.add_function("body");
  Builder c(program, condition);
  const ValueId i = c.param(counter), x = c.param(matrix);
  c.param(vector);
  const ValueId few = c.compare(i, c.scalar_int(DType::I32, random.integer(0, 3)), ir::Comparison::Lt);
  const ValueId total = c.reduce(x, ir::ReducerKind::Add, {0, 1});
  c.set_results({c(OpKind::And, few, c.compare(total, c.scalar(DType::F64, 1e6), ir::Comparison::Lt))});
  Builder w(program, body);
  const ValueId j = w.param(counter), y = w.param(matrix), v = w.param(vector);
  const ValueId next = w(OpKind::Add, j, w.scalar_int(DType::I32, 1));
  const ValueId mean = w.reduce(y, ir::ReducerKind::Add, {0});
  const ValueId moved = w(OpKind::Add, y, w.broadcast(w(OpKind::Tanh, v), matrix.dims, {1}));
  w.set_results({next, moved, w(OpKind::Add, w(OpKind::Sine, mean), v)});
  results = b.add_multi(OpKind::While, {b.scalar_int(DType::I32, 0), b.param(matrix), b.param(vector)}, ir::NoAttrs{},
                        {condition, body});
}

void make_case(Builder& b, Random& random, std::vector<ValueId>& results) {
  const TensorType matrix{DType::F64, {random_size(random), random_size(random)}};
  const TensorType vector{DType::F64, {matrix.dims[1]}};
  ir::Program& program = b.program();
  std::vector<ir::FunctionId> branches;
  for (std::int64_t n = random.integer(1, 3); n > 0; --n) {
    branches.push_back(program.add_function("branch" + std::to_string(n)));
    Builder c(program, branches.back());
    const ValueId x = c.param(matrix), v = c.param(vector);
    const ValueId wide = c.broadcast(v, matrix.dims, {1});
    const ValueId y = n == 1 ? c(OpKind::Add, x, wide) : n == 2 ? c(OpKind::Multiply, x, wide) : c(OpKind::Subtract, wide, x);
    c.set_results({y, c.reduce(y, n == 2 ? ir::ReducerKind::Maximum : ir::ReducerKind::Add, {0})});
  }
  const ValueId index = b.param({DType::I32, {}});
  results = b.add_multi(OpKind::Case, {index, b.param(matrix), b.param(vector)}, ir::NoAttrs{}, branches);
}

}  // namespace

std::vector<OpKind> single_op_kinds() {
  std::vector<OpKind> kinds;
  for (int k = 0; k < ir::op_kind_count; ++k) {
    const auto kind = static_cast<OpKind>(k);
    const bool device = kind == OpKind::PartitionId || kind == OpKind::ReplicaId;
    if (!device && !ir::is_collective(kind) && kind != OpKind::Call && kind != OpKind::CustomCall) kinds.push_back(kind);
  }
  return kinds;
}

ir::Program single_op_program(OpKind kind, Random& random) {
  ir::Program program;
  program.name = "single_op";
  program.main = program.add_function("main");
  Builder b(program, program.main);
  std::vector<ValueId> results;
  switch (kind) {
    case OpKind::Reshape: make_reshape(b, random, results); break;
    case OpKind::Concatenate: make_concatenate(b, random, results); break;
    case OpKind::Slice: make_slice(b, random, results); break;
    case OpKind::Pad: make_pad(b, random, results); break;
    case OpKind::BroadcastInDim: make_broadcast(b, random, results); break;
    case OpKind::Transpose: make_transpose(b, random, results); break;
    case OpKind::Reverse: make_reverse(b, random, results); break;
    case OpKind::BitcastConvert: make_bitcast(b, random, results); break;
    case OpKind::Constant: make_constant(b, random, results); break;
    case OpKind::Iota: make_iota(b, random, results); break;
    case OpKind::RngBitGenerator: make_rng(b, random, results); break;
    case OpKind::OptimizationBarrier: make_barrier(b, random, results); break;
    case OpKind::DotGeneral: make_dot(b, random, results); break;
    case OpKind::Reduce: make_reduce(b, random, results); break;
    case OpKind::Sort: make_sort(b, random, results); break;
    case OpKind::TopK: make_top_k(b, random, results); break;
    case OpKind::While: make_while(b, random, results); break;
    case OpKind::Case: make_case(b, random, results); break;
    case OpKind::Convolution: results = {make_convolution(b, random)}; break;
    case OpKind::ReduceWindow: results = make_reduce_window(b, random); break;
    case OpKind::SelectAndScatter: results = {make_select_and_scatter(b, random)}; break;
    case OpKind::DynamicSlice: results = {make_dynamic_slice(b, random)}; break;
    case OpKind::DynamicUpdateSlice: results = {make_dynamic_update_slice(b, random)}; break;
    case OpKind::Gather: results = {make_gather(b, random)}; break;
    case OpKind::Scatter: results = {make_scatter(b, random)}; break;
    default: make_elementwise(b, kind, random, results); break;
  }
  b.set_results(std::move(results));
  return program;
}

}  // namespace rhino::test
