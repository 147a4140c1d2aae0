// SPDX-License-Identifier: Apache-2.0
#include <rhino/shard/factor_map.hpp>

#include <algorithm>

#include <rhino/base/error.hpp>
#include <rhino/shard/factor_rules.hpp>

namespace rhino::shard {

bool makes_partial(FactorKind kind) {
  return kind == FactorKind::Reduction || kind == FactorKind::HaloReduction || kind == FactorKind::Masked;
}

bool needs_plain_blocks(FactorKind kind) {
  return kind == FactorKind::Halo || kind == FactorKind::HaloReduction || kind == FactorKind::Masked ||
         kind == FactorKind::Owned;
}

FactorMapBuilder::FactorMapBuilder(const ir::Program& program, const ir::Function& function, const ir::Op& op)
    : program_(program), function_(function), op_(op) {
  for (int i = 0; i < operand_count(); ++i)
    map_.operands.emplace_back(operand(i).dims.size());
  for (int i = 0; i < result_count(); ++i)
    map_.results.emplace_back(result(i).dims.size());
}

TensorFactors& FactorMapBuilder::tensor(const Place& place) {
  return (place.result ? map_.results : map_.operands)[static_cast<std::size_t>(place.tensor)];
}

void FactorMapBuilder::add(FactorKind kind, const std::vector<Place>& places, PartialKind reduction) {
  std::vector<std::int64_t> sizes;
  std::int64_t size = -1;
  for (const Place& place : places) {
    const ir::TensorType& type = place.result ? result(place.tensor) : operand(place.tensor);
    const std::int64_t own = place.size < 0 ? type.dims[static_cast<std::size_t>(place.dim)] : place.size;
    sizes.push_back(own);
    if (size < 0 || place.result) size = own;
    if (own == 0) return;
  }
  const auto same = [&](std::int64_t other) { return other == size; };
  if (std::all_of(sizes.begin(), sizes.end(), same) && size == 1) return;
  RHINO_ASSERT(
      kind == FactorKind::Halo || kind == FactorKind::HaloReduction || std::all_of(sizes.begin(), sizes.end(), same),
      "a factor of {} has two sizes", ir::op_name(op_.kind));
  const int factor = static_cast<int>(map_.factors.size());
  map_.factors.push_back({size, kind, reduction, group_});
  for (std::size_t i = 0; i < places.size(); ++i)
    tensor(places[i])[static_cast<std::size_t>(places[i].dim)].push_back({factor, sizes[i]});
}

void FactorMapBuilder::masked(const Place& place) {
  add(FactorKind::Masked, {place}, result(0).dtype == ir::DType::I1 ? PartialKind::Or : PartialKind::Sum);
}

FactorMap FactorMapBuilder::finish() {
  const auto complete = [&](TensorFactors& tensor, const ir::TensorType& type) {
    for (std::size_t d = 0; d < tensor.size(); ++d) {
      std::int64_t covered = 1;
      for (const DimFactor& part : tensor[d])
        covered *= part.size;
      if (covered == type.dims[d]) continue;
      RHINO_ASSERT(tensor[d].empty(), "the factors of dimension {} of {} do not make its size", d,
                   ir::op_name(op_.kind));
      tensor[d].push_back({static_cast<int>(map_.factors.size()), type.dims[d]});
      map_.factors.push_back({type.dims[d], FactorKind::NoSplit, PartialKind::Sum});
    }
  };
  for (int i = 0; i < operand_count(); ++i)
    complete(map_.operands[static_cast<std::size_t>(i)], operand(i));
  for (int i = 0; i < result_count(); ++i)
    complete(map_.results[static_cast<std::size_t>(i)], result(i));
  return std::move(map_);
}

std::optional<PartialKind> partial_kind_of(ir::ReducerKind reducer, ir::DType dtype) {
  const bool boolean = dtype == ir::DType::I1;
  switch (reducer) {
    case ir::ReducerKind::Add:
      return boolean ? PartialKind::Or : PartialKind::Sum;
    case ir::ReducerKind::Maximum:
      return boolean ? PartialKind::Or : PartialKind::Max;
    case ir::ReducerKind::Minimum:
      return boolean ? PartialKind::And : PartialKind::Min;
    case ir::ReducerKind::And:
      return PartialKind::And;
    case ir::ReducerKind::Or:
      return PartialKind::Or;
    case ir::ReducerKind::Multiply:
      if (boolean) return PartialKind::And;
      return std::nullopt;
    case ir::ReducerKind::Xor:
    case ir::ReducerKind::Other:
      return std::nullopt;
  }
  return std::nullopt;
}

FactorMap factor_map(const ir::Program& program, const ir::Function& function, const ir::Op& op) {
  FactorMapBuilder builder(program, function, op);
  switch (op.kind) {
#define RHINO_OP(Kind, spelling, Attrs, infer, factors, cost) \
  case ir::OpKind::Kind:                                      \
    factors_##factors(builder);                               \
    break;
#include <rhino/ir/op_list.def>
#undef RHINO_OP
  }
  return builder.finish();
}

}  // namespace rhino::shard
