// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <rhino/ad/rules.hpp>

// dot_general: the gradient of a factor is the gradient of the result contracted with the other factor.

namespace rhino::ad {

using ir::DotGeneralAttrs;
using ir::DType;
using ir::OpKind;
using ir::TensorType;
using ir::ValueId;

namespace {

/// Dimensions of a factor that are neither batch nor contracting.
std::vector<int> free_dims(int rank, const std::vector<int>& batch, const std::vector<int>& contracting) {
  std::vector<int> free;
  for (int d = 0; d < rank; ++d)
    if (std::find(batch.begin(), batch.end(), d) == batch.end() &&
        std::find(contracting.begin(), contracting.end(), d) == contracting.end())
      free.push_back(d);
  return free;
}

std::vector<int> range(int first, std::size_t count) {
  std::vector<int> list(count);
  std::iota(list.begin(), list.end(), first);
  return list;
}

/// One factor of a product, with the dimensions that each of its dimensions belongs to in the gradient that is wanted.
struct Factor {
  ValueId value;
  std::vector<int> batch;
  std::vector<int> contracting;
  std::vector<int> origin;  ///< for each dimension: dimension of the wanted gradient, or -1 where it is contracted
};

/// Dimensions of the wanted gradient in the order in which `first . second` has them.
std::vector<int> product_order(const Factor& first, const Factor& second) {
  std::vector<int> order;
  for (const int d : first.batch)
    order.push_back(first.origin[at(d)]);
  for (const Factor* factor : {&first, &second})
    for (const int d : free_dims(static_cast<int>(factor->origin.size()), factor->batch, factor->contracting))
      order.push_back(factor->origin[at(d)]);
  return order;
}

/// The product, its factors in the order that needs no transposition if there is one.
ValueId product(Rule& r, const Factor& a, const Factor& b, DType dtype) {
  const std::vector<int> b_first = product_order(b, a);
  const bool swap = std::is_sorted(b_first.begin(), b_first.end());
  const Factor& lhs = swap ? b : a;
  const Factor& rhs = swap ? a : b;
  const ValueId dot = r.b.add(OpKind::DotGeneral, {lhs.value, rhs.value},
                              DotGeneralAttrs{lhs.batch, rhs.batch, lhs.contracting, rhs.contracting, dtype});
  const std::vector<int> order = product_order(lhs, rhs);
  if (std::is_sorted(order.begin(), order.end())) return dot;
  std::vector<int> permutation(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    permutation[at(order[i])] = static_cast<int>(i);
  return r.b.transpose(dot, permutation);
}

/// The gradient in the element type of the other factor if that is narrower: both then stand in it, as in the forward dot.
ValueId narrowed(Rule& r, ValueId gradient, DType other) {
  if (ir::dtype_bits(r.type(gradient).dtype) <= ir::dtype_bits(other)) return gradient;
  return r.b.convert(gradient, other);
}

}  // namespace

void rule_dot_general(Rule& r) {
  const auto& attrs = r.op.as<DotGeneralAttrs>();
  const TensorType types[2] = {r.type(r.operand(0)), r.type(r.operand(1))};
  const std::vector<int>* batch[2] = {&attrs.lhs_batch, &attrs.rhs_batch};
  const std::vector<int>* contracting[2] = {&attrs.lhs_contracting, &attrs.rhs_contracting};
  const std::vector<int> free[2] = {free_dims(types[0].rank(), *batch[0], *contracting[0]),
                                    free_dims(types[1].rank(), *batch[1], *contracting[1])};
  const int batch_count = static_cast<int>(attrs.lhs_batch.size());
  const int first_free[2] = {batch_count, batch_count + static_cast<int>(free[0].size())};
  for (std::size_t mine = 0; mine < 2; ++mine) {
    if (!r.needs(mine)) continue;
    const std::size_t other = 1 - mine;
    Factor gradient{narrowed(r, r.cotangent(), types[other].dtype), range(0, attrs.lhs_batch.size()),
                    range(first_free[other], free[other].size()),
                    std::vector<int>(static_cast<std::size_t>(r.type(r.result()).rank()), -1)};
    for (std::size_t i = 0; i < batch[mine]->size(); ++i)
      gradient.origin[i] = (*batch[mine])[i];
    for (std::size_t i = 0; i < free[mine].size(); ++i)
      gradient.origin[at(first_free[mine]) + i] = free[mine][i];
    Factor factor{r.operand(other), *batch[other], free[other], std::vector<int>(types[other].dims.size(), -1)};
    for (std::size_t i = 0; i < batch[other]->size(); ++i)
      factor.origin[at((*batch[other])[i])] = (*batch[mine])[i];
    for (std::size_t i = 0; i < contracting[other]->size(); ++i)
      factor.origin[at((*contracting[other])[i])] = (*contracting[mine])[i];
    r.add(mine, product(r, gradient, factor, types[mine].dtype));
  }
}

}  // namespace rhino::ad
