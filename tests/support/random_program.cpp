// SPDX-License-Identifier: Apache-2.0
#include "support/random_program.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include <rhino/ir/op_info.hpp>

#include "support/random_program_generator.hpp"

namespace rhino::test {
namespace {

/// Floats above this are scaled down before others use them.
constexpr double comfortable_bound = 50;

template <class T>
void put(std::vector<std::byte>& bytes, std::int64_t index, T value) {
  std::memcpy(bytes.data() + static_cast<std::size_t>(index) * sizeof(T), &value, sizeof(T));
}

}  // namespace

ir::Literal random_literal(const ir::TensorType& type, Rng& rng) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(type.bytes()));
  const auto integer = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(high - low + 1));
  };
  const auto real = [&] {
    const double magnitude = 0.1 + 0.9 * static_cast<double>(rng() >> 11) * 0x1p-53;
    return rng() % 2 == 0 ? magnitude : -magnitude;
  };
  for (std::int64_t i = 0; i < type.elements(); ++i) {
    switch (type.dtype) {
      case ir::DType::I1:
        put(bytes, i, static_cast<std::uint8_t>(rng() % 2));
        break;
      case ir::DType::I8:
        put(bytes, i, static_cast<std::int8_t>(integer(-3, 9)));
        break;
      case ir::DType::I16:
        put(bytes, i, static_cast<std::int16_t>(integer(-3, 9)));
        break;
      case ir::DType::I32:
        put(bytes, i, static_cast<std::int32_t>(integer(-3, 9)));
        break;
      case ir::DType::I64:
        put(bytes, i, integer(-3, 9));
        break;
      case ir::DType::U8:
        put(bytes, i, static_cast<std::uint8_t>(integer(0, 9)));
        break;
      case ir::DType::U16:
        put(bytes, i, static_cast<std::uint16_t>(integer(0, 9)));
        break;
      case ir::DType::U32:
        put(bytes, i, static_cast<std::uint32_t>(integer(0, 9)));
        break;
      case ir::DType::U64:
        put(bytes, i, rng());
        break;
      case ir::DType::F32:
        put(bytes, i, static_cast<float>(real()));
        break;
      case ir::DType::F64:
        put(bytes, i, real());
        break;
      case ir::DType::F16:
      case ir::DType::BF16: {
        const auto one = ir::Literal::splat({type.dtype, {}}, real());
        std::memcpy(bytes.data() + 2 * i, one.stored_bytes().data(), 2);
        break;
      }
    }
  }
  return ir::Literal(type, std::move(bytes));
}

std::int64_t Generator::pick(std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(rng_);
}

ir::Dims Generator::dims(int rank) {
  ir::Dims result(static_cast<std::size_t>(rank));
  for (auto& entry : result)
    entry = size();
  while (!small(result))
    result[static_cast<std::size_t>(pick(0, rank - 1))] = 1;
  return result;
}

std::vector<int> Generator::permutation(int count) {
  std::vector<int> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), 0);
  std::shuffle(result.begin(), result.end(), rng_);
  return result;
}

std::vector<int> Generator::subset(int count, double probability) {
  std::vector<int> result;
  for (int i = 0; i < count; ++i)
    if (chance(probability)) result.push_back(i);
  return result;
}

bool Generator::small(const ir::Dims& dims) const {
  return ir::TensorType{ir::DType::I8, dims}.elements() <= options_.max_elements;
}

std::optional<ir::ValueId> Generator::any(const std::function<bool(Value)>& fits) {
  std::vector<Value> found;
  for (const Value value : pool_)
    if (fits(value)) found.push_back(value);
  if (found.empty()) return std::nullopt;
  // The larger of two draws: deep programs rather than flat ones.
  const auto last = static_cast<std::int64_t>(found.size()) - 1;
  return found[static_cast<std::size_t>(std::max(pick(0, last), pick(0, last)))];
}

std::optional<ir::ValueId> Generator::any_float(int min_rank) {
  return any([&](Value v) { return is_float(v) && type(v).rank() >= min_rank; });
}

std::optional<ir::ValueId> Generator::any_f64(int min_rank) {
  return any([&](Value v) { return type(v).dtype == ir::DType::F64 && type(v).rank() >= min_rank; });
}

ir::ValueId Generator::note(Value value, ValueFacts facts) {
  if (facts_.size() <= value.index()) facts_.resize(value.index() + 1);
  facts_[value.index()] = facts;
  return value;
}

ValueFacts Generator::merged(const std::vector<Value>& values) {
  ValueFacts result{0, true};
  for (const Value value : values) {
    result.bound = std::max(result.bound, bound(value));
    result.exact = result.exact && exact(value);
  }
  return result;
}

ir::ValueId Generator::op(ir::OpKind kind, std::vector<Value> operands, ir::Attributes attrs,
                          std::vector<ir::FunctionId> regions) {
  const ValueFacts facts = merged(operands);
  return note(b_.add(kind, std::move(operands), std::move(attrs), std::move(regions)), facts);
}

ir::ValueId Generator::full_like(Value value, double number) {
  return note(b_.full(type(value), number), {std::abs(number), true});
}

bool Generator::keep(Value value, ValueFacts facts) {
  note(value, facts);
  // f32 rounds coarsely: a sum in another order would differ visibly.
  if (type(value).dtype == ir::DType::F32 && !facts.exact) return false;
  if (is_float(value) && facts.bound > comfortable_bound) {
    value = note(b_.add(ir::OpKind::Multiply, {value, full_like(value, 4.0 / facts.bound)}), {4, facts.exact});
  }
  const ir::DType dtype = type(value).dtype;
  if (ir::is_unsigned_int(dtype)) {
    note(value, {std::ldexp(1, ir::dtype_bits(dtype)), true});  // differences wrap around
  } else if (ir::is_signed_int(dtype)) {
    const double limit = std::ldexp(1, ir::dtype_bits(dtype) - 1);
    note(value, {facts.bound < limit ? facts.bound : limit, true});
  }
  pool_.push_back(value);
  return true;
}

ir::ValueId Generator::param(ir::TensorType type, ValueFacts facts) {
  const Value value = note(b_.param(std::move(type)), facts);
  pool_.push_back(value);
  ++params_;
  return value;
}

ir::ValueId Generator::fresh(const ir::TensorType& type) {
  const double bound = ir::is_float(type.dtype) ? 1 : type.dtype == ir::DType::U64 ? 0x1p64 : 9;
  if (depth_ == 0 && (params_ < 6 || chance(0.3))) return param(type, {bound, true});
  const Value value = note(b_.constant(random_literal(type, rng_)), {bound, true});
  pool_.push_back(value);
  return value;
}

ir::ValueId Generator::of_type(const ir::TensorType& wanted, bool need_exact) {
  const auto usable = [&](Value v) { return !need_exact || exact(v); };
  if (const auto found = any([&](Value v) { return type(v) == wanted && usable(v); }); found && chance(0.8))
    return *found;
  if (chance(0.5)) {
    // Spread a smaller value: its dimensions are a subsequence of the wanted ones.
    for (int tries = 0; tries < 4; ++tries) {
      const auto from =
          any([&](Value v) { return type(v).dtype == wanted.dtype && type(v).rank() < wanted.rank() && usable(v); });
      if (!from) break;
      std::vector<int> dimensions;
      const ir::Dims& have = type(*from).dims;
      for (int i = 0; i < wanted.rank() && dimensions.size() < have.size(); ++i)
        if (wanted.dims[static_cast<std::size_t>(i)] == have[dimensions.size()]) dimensions.push_back(i);
      if (dimensions.size() != have.size()) continue;
      const Value spread = op(ir::OpKind::BroadcastInDim, {*from}, ir::BroadcastInDimAttrs{wanted.dims, dimensions});
      pool_.push_back(spread);
      return spread;
    }
  }
  return fresh(wanted);
}

ir::ValueId Generator::index_tensor(ir::Dims dims, std::int64_t limit) {
  const ir::TensorType wanted{chance(0.8) ? ir::DType::I32 : ir::DType::I64, std::move(dims)};
  if (const auto found = any([&](Value v) { return type(v) == wanted; }); found && chance(0.5)) return *found;
  if (depth_ == 0 && chance(0.4)) return fresh(wanted);
  // In range but for an occasional element: that is where masks and clamps go wrong.
  const auto elements = wanted.elements();
  std::vector<std::byte> bytes(static_cast<std::size_t>(wanted.bytes()));
  for (std::int64_t i = 0; i < elements; ++i) {
    const std::int64_t index = chance(0.9) ? pick(0, std::max<std::int64_t>(limit - 1, 0)) : pick(-2, limit + 2);
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * ir::dtype_bytes(wanted.dtype), &index,
                ir::dtype_bytes(wanted.dtype));
  }
  return note(b_.constant(ir::Literal(wanted, std::move(bytes))), {static_cast<double>(limit + 2), true});
}

ir::ValueId Generator::scalar_index(std::int64_t limit) {
  const auto found = any([&](Value v) { return type(v) == ir::TensorType{ir::DType::I32, {}}; });
  if (found && chance(0.6)) return *found;
  if (depth_ == 0 && chance(0.5)) return fresh({ir::DType::I32, {}});
  return note(b_.scalar_int(ir::DType::I32, pick(-1, limit)), {static_cast<double>(limit), true});
}

ir::ValueId Generator::small_integer(Value value) {
  return note(b_(ir::OpKind::Remainder, value, full_like(value, 13)), {13, true});
}

ir::ValueId Generator::positive(Value value) {
  const Value square = op(ir::OpKind::Multiply, {value, value});
  note(square, {bound(value) * bound(value), exact(value)});
  const Value sum = op(ir::OpKind::Add, {square, full_like(value, 0.5)});
  return note(sum, {bound(square) + 0.5, exact(value)});
}

ir::ValueId Generator::bounded(Value value) { return note(b_(ir::OpKind::Tanh, value), {1, false}); }

ir::ValueId Generator::squashed(const ir::TensorType& wanted) {
  const Value value = of_type(wanted);
  return wanted.dtype == ir::DType::F64 ? bounded(value) : value;
}

ir::FunctionId Generator::function(const std::string& name, const std::vector<ir::TensorType>& params,
                                   const std::function<std::vector<Value>(ir::Builder&)>& body) {
  const ir::FunctionId id = program_.add_function(name);
  ir::Builder inner(program_, id);
  for (const ir::TensorType& type : params)
    inner.param(type);
  inner.set_results(body(inner));
  return id;
}

ir::FunctionId Generator::comparator(const std::vector<ir::TensorType>& operands, bool ascending) {
  std::vector<ir::TensorType> params;
  for (const ir::TensorType& operand : operands)
    params.insert(params.end(), 2, {operand.dtype, {}});
  return function("comparator", params, [&](ir::Builder& b) -> std::vector<Value> {
    const auto p = b.function().params;
    return {b.compare(p[0], p[1], ascending ? ir::Comparison::Lt : ir::Comparison::Gt)};
  });
}

void Generator::grow(int count) {
  struct Row {
    Attempt attempt;
    int weight;
  };
  static const std::vector<Row> table{
      {&Generator::unary_float, 6},
      {&Generator::unary_positive, 2},
      {&Generator::unary_bounded, 2},
      {&Generator::unary_exact, 2},
      {&Generator::unary_integer, 2},
      {&Generator::binary_number, 8},
      {&Generator::binary_float, 3},
      {&Generator::binary_integer, 2},
      {&Generator::logic, 1},
      {&Generator::compare, 2},
      {&Generator::select, 3},
      {&Generator::clamp, 1},
      {&Generator::convert, 2},
      {&Generator::bitcast, 1},
      {&Generator::broadcast, 3},
      {&Generator::concatenate, 3},
      {&Generator::constant, 1},
      {&Generator::dynamic_slice, 2},
      {&Generator::dynamic_update_slice, 2},
      {&Generator::iota, 1},
      {&Generator::barrier, 1},
      {&Generator::pad, 3},
      {&Generator::reshape, 5},
      {&Generator::reverse, 2},
      {&Generator::slice, 3},
      {&Generator::transpose, 3},
      {&Generator::gather, 4},
      {&Generator::scatter, 4},
      {&Generator::dot_general, 8},
      {&Generator::convolution, 4},
      {&Generator::reduce, 6},
      {&Generator::variadic_reduce, 2},
      {&Generator::reduce_window, 3},
      {&Generator::select_and_scatter, 2},
      {&Generator::sort, 2},
      {&Generator::top_k, 2},
      {&Generator::rng_bits, 1},
      {&Generator::while_map, 1},
      {&Generator::while_scan, 1},
      {&Generator::case_of, 1},
      {&Generator::call, 1},
  };
  static const int total =
      std::accumulate(table.begin(), table.end(), 0, [](int sum, const Row& row) { return sum + row.weight; });
  int made = 0;
  for (int attempts = 0; made < count && attempts < 20 * count; ++attempts) {
    std::int64_t ticket = pick(0, total - 1);
    for (const Row& row : table) {
      ticket -= row.weight;
      if (ticket >= 0) continue;
      if ((this->*row.attempt)()) ++made;
      break;
    }
  }
}

void Generator::finish() {
  const ir::Function& function = b_.function();
  std::vector<bool> used(function.values.size(), false);
  for (const ir::Op& op : function.ops)
    for (const Value operand : op.operands)
      used[operand.index()] = true;
  std::vector<Value> results;
  for (const Value value : pool_) {
    const bool is_param = !function.value(value).producer.valid();
    if (!used[value.index()] ? !is_param : chance(0.05)) results.push_back(value);
  }
  if (results.empty()) results.push_back(pool_.back());
  b_.set_results(std::move(results));
}

ir::Program random_program(Rng& rng, const RandomProgramOptions& options) {
  ir::Program program;
  program.name = "random";
  program.main = program.add_function("main");
  std::vector<std::int64_t> palette;
  for (int i = 0; i < 4; ++i)
    palette.push_back(options.sizes[rng() % options.sizes.size()]);
  Generator generator(program, program.main, rng, options, 0, palette);
  const auto size = [&] { return palette[rng() % palette.size()]; };
  generator.param({ir::DType::F64, {size(), size()}}, {1, true});
  generator.param({ir::DType::F64, {size(), size(), size()}}, {1, true});
  if (rng() % 2 == 0) generator.param({ir::DType::I32, {size()}}, {9, true});
  const int span = options.max_ops - options.min_ops + 1;
  generator.grow(options.min_ops + static_cast<int>(rng() % static_cast<std::uint64_t>(span)));
  generator.finish();
  ir::verify(program);
  return program;
}

std::vector<ir::Literal> random_arguments(const ir::Program& program, Rng& rng) {
  std::vector<ir::Literal> arguments;
  for (const ir::TensorType& type : program.entry().param_types())
    arguments.push_back(random_literal(type, rng));
  return arguments;
}

}  // namespace rhino::test
