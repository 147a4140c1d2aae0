// SPDX-License-Identifier: Apache-2.0
#include <rhino/zoo/model_builder.hpp>

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/hash.hpp>

namespace rhino::zoo {

using ir::Dims;
using ir::DType;
using ir::InitRecipe;
using ir::OpKind;

InitRecipe zeros() { return {}; }
InitRecipe constant(double value) { return {InitRecipe::Kind::Constant, value, 0, 0}; }
InitRecipe normal(double deviation) { return {InitRecipe::Kind::Normal, 0, deviation, 0}; }
InitRecipe truncated_normal(double deviation) { return {InitRecipe::Kind::TruncatedNormal, 0, deviation, 0}; }
InitRecipe uniform(double bound) { return {InitRecipe::Kind::Uniform, -bound, bound, 0}; }

namespace detail {

ModelUnderConstruction::ModelUnderConstruction(std::string name) {
  model_.program.name = std::move(name);
  model_.program.main = model_.program.add_function("main");
}

}  // namespace detail

ModelBuilder::ModelBuilder(std::string name, const BuildPolicy& policy)
    : ModelUnderConstruction(std::move(name)), Graph(model_.program, model_.program.main), policy_(policy) {}

void ModelBuilder::check_size(std::string_view path, const Dims& dims) const {
  constexpr std::int64_t most = std::int64_t{1} << 59;  // 8 bytes each still fit into 64 bits
  std::int64_t elements = 1;
  for (const std::int64_t size : dims)
    if (size < 1 || __builtin_mul_overflow(elements, size, &elements) || elements > most)
      fail(fmt::format("'{}' would have the shape {}", path, ir::to_string(dims)));
}

Tensor ModelBuilder::declare(std::string path, ir::TensorType type, InitRecipe recipe, ir::StateKind kind) {
  check_size(path, type.dims);
  const auto [place, added] = declared_.try_emplace(path, states_.size());
  if (!added) {
    const Tensor& known = states_[place->second].value;
    if (sharing_ == 0) fail(fmt::format("'{}' is declared twice", path));
    if (known.type() != type)
      fail(fmt::format("'{}' is shared as {} and as {}", path, ir::to_string(known.type()), ir::to_string(type)));
    return known;
  }
  if (recipe.kind != InitRecipe::Kind::Zeros && recipe.kind != InitRecipe::Kind::Constant)
    recipe.seed = hash64(path, policy_.seed);
  State state{{std::move(path), ir::ParamRole::State, kind, ir::Evidence::Manifest}, recipe, {}, {}};
  state.value = entry_param(std::move(type));
  by_value_.emplace(state.value.id(), states_.size());
  states_.push_back(state);
  return state.value;
}

Tensor ModelBuilder::parameter(std::string_view name, const Dims& dims, const InitRecipe& recipe) {
  const auto around = sharing_ > 0 ? std::vector<std::pair<std::int64_t, Tensor>>{} : loops();
  Dims stacked;
  for (const auto& [count, counter] : around)
    stacked.push_back(count);
  stacked.insert(stacked.end(), dims.begin(), dims.end());
  Tensor value = declare("params/" + path_of(name), {DType::F32, std::move(stacked)}, recipe, ir::StateKind::Param);
  for (const auto& [count, counter] : around)
    value = element(value, counter);
  return value;
}

Tensor ModelBuilder::weight(std::string_view name, const Dims& dims, const InitRecipe& recipe) {
  return convert(parameter(name, dims, recipe), compute());
}

Tensor ModelBuilder::statistics(std::string_view name, const Dims& dims, const InitRecipe& recipe) {
  if (!loops().empty()) fail("running statistics cannot be kept within a scanned block");
  return declare("statistics/" + path_of(name), {DType::F32, dims}, recipe, ir::StateKind::Statistics);
}

Tensor ModelBuilder::memory(std::string_view name, ir::TensorType type) {
  if (!loops().empty()) fail("memory cannot be kept within a scanned block");
  return declare("memory/" + path_of(name), std::move(type), zeros(), ir::StateKind::Statistics);
}

Tensor ModelBuilder::optimizer_state(std::string_view path, ir::TensorType type) {
  return declare(fmt::format("optimizer/{}", path), std::move(type), zeros(), ir::StateKind::Optimizer);
}

void ModelBuilder::set_next(const Tensor& state, const Tensor& next) {
  const auto place = by_value_.find(state.id());
  RHINO_ASSERT(place != by_value_.end() && next.type() == state.type(), "no state '{}' of this type", path());
  states_[place->second].next = next;
}

Tensor ModelBuilder::batch(std::string_view name, ir::TensorType type) {
  check_size(name, type.dims);
  State input{{std::string(name), ir::ParamRole::Batch, ir::StateKind::Param, ir::Evidence::Manifest}, {}, {}, {}};
  input.value = entry_param(std::move(type));
  RHINO_ASSERT(declared_.try_emplace(input.info.path, states_.size()).second, "two inputs are named '{}'", name);
  states_.push_back(input);
  return input.value;
}

void ModelBuilder::local_loss(std::string_view name, const Tensor& loss) {
  local_losses_.emplace_back("params/" + path_of(name) + "/", loss);
}

void ModelBuilder::metric(std::string_view name, const Tensor& value) { metrics_.emplace_back(name, value); }

Tensor ModelBuilder::step() {
  const auto place = declared_.find("step");
  if (place != declared_.end()) return states_[place->second].value;
  return declare("step", {DType::I32, {}}, zeros(), ir::StateKind::Step);
}

std::vector<Tensor> ModelBuilder::repeat(std::int64_t count, std::string_view name, std::vector<Tensor> carried,
                                         const Block& block) {
  if (count < 1) fail(fmt::format("'{}' would be repeated {} times; at least once is needed", name, count));
  if (policy_.scan && count > 1) {
    const Scope here = scope(fmt::format("{}s", name));
    return loop(count, carried, [&](const Tensor&, std::vector<Tensor> values) { return block(std::move(values)); });
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const Scope here = scope(sharing_ > 0 ? std::string(name) : fmt::format("{}{}", name, i));
    carried = block(std::move(carried));
  }
  return carried;
}

Tensor ModelBuilder::random_key() {
  const auto u64 = [&](std::uint64_t value) { return scalar_int(DType::U64, static_cast<std::int64_t>(value)); };
  const auto shift = [&](const Tensor& x, std::uint64_t bits) {
    return binary(OpKind::ShiftRightLogical, x, u64(bits));
  };
  const auto mix_xor = [&](const Tensor& x, std::uint64_t bits) { return binary(OpKind::Xor, x, shift(x, bits)); };
  ++random_sites_;
  Tensor key = u64(hash64(fmt::format("draw {}", random_sites_), policy_.seed));
  // A Weyl sequence in the step and in each loop counter, then the finaliser of SplitMix64.
  std::uint64_t increment = 0x9e3779b97f4a7c15u;
  std::vector<Tensor> counters{step()};
  for (const auto& [count, counter] : loops())
    counters.push_back(counter);
  for (const Tensor& counter : counters) {
    key = key + convert(counter, DType::U64) * u64(increment);
    increment = increment * 0xd1342543de82ef95u;
  }
  key = mix_xor(key, 30) * u64(0xbf58476d1ce4e5b9u);
  key = mix_xor(key, 27) * u64(0x94d049bb133111ebu);
  return binary(OpKind::Or, mix_xor(key, 31), u64(1));
}

Tensor ModelBuilder::random_bits(const Dims& dims) {
  const Tensor key = random_key();
  const ir::TensorType type{DType::U64, dims};
  const Dims strides = ir::row_major_strides(dims);
  Tensor index = full(type, 1);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const Tensor along = iota(type, static_cast<int>(d));
    index = index + (strides[d] == 1 ? along : along * scalar_int(DType::U64, strides[d]));
  }
  const Tensor half = broadcast(scalar_int(DType::U64, 32), dims);
  const auto high = [&](const Tensor& x) { return binary(OpKind::ShiftRightLogical, x, half); };
  const auto swap = [&](const Tensor& x) { return binary(OpKind::Or, high(x), binary(OpKind::ShiftLeft, x, half)); };
  const Tensor y = index * key;
  const Tensor z = y + key;
  Tensor x = swap(y * y + y);
  x = swap(x * x + z);
  x = swap(x * x + y);
  return convert(high(x * x + z), DType::U32);
}

Tensor ModelBuilder::random_uniform(const Dims& dims) {
  const Tensor top = binary(OpKind::ShiftRightLogical, random_bits(dims), scalar_int(DType::U32, 8));
  return convert(top, DType::F32) * 0x1p-24;
}

Tensor ModelBuilder::random_normal(const Dims& dims) {
  const Tensor radius = sqrt(-2.0 * log(1.0 - random_uniform(dims)));
  return radius * cos(2 * std::numbers::pi * random_uniform(dims));
}

Tensor ModelBuilder::dropout(const Tensor& x, double rate) {
  if (rate < 0 || rate >= 1) fail(fmt::format("a dropout rate of {} is not in [0, 1)", rate));
  if (rate == 0 || !policy_.training) return x;
  const auto threshold = static_cast<std::int64_t>(rate * 0x1p32);
  const Tensor bits = random_bits(x.dims());
  return select(greater_equal(bits, scalar_int(DType::U32, threshold)), x * (1 / (1 - rate)), 0);
}

}  // namespace rhino::zoo
