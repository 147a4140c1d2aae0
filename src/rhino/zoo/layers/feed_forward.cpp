// SPDX-License-Identifier: Apache-2.0
#include <rhino/zoo/layers/feed_forward.hpp>

#include <cmath>

#include <fmt/format.h>

namespace rhino::zoo {

using ir::Dims;
using ir::DType;

Tensor feed_forward(ModelBuilder& b, std::string_view name, const Tensor& x, const FeedForwardSpec& spec) {
  const auto scope = b.scope(name);
  Tensor hidden;
  if (spec.gated) {
    const Tensor gate = dense(b, "gate", x, {spec.hidden}, spec.recipe, spec.bias);
    hidden = activate(b, gate, spec.activation) * dense(b, "up", x, {spec.hidden}, spec.recipe, spec.bias);
  } else {
    hidden = activate(b, dense(b, "up", x, {spec.hidden}, spec.recipe, spec.bias), spec.activation);
  }
  return dense(b, "down", b.dropout(hidden, spec.dropout), {x.dim(-1)}, spec.output_recipe, spec.bias);
}

namespace {

/// What the router decided; choices are listed as [groups, chosen * tokens], first choices first.
struct Routing {
  std::int64_t groups, tokens, experts, chosen, capacity;
  Tensor expert;  ///< i32
  Tensor weight;  ///< f32
  Tensor balance;
};

Routing route(ModelBuilder& b, const Tensor& x, const MixtureSpec& spec) {
  if (spec.chosen < 1 || spec.chosen > 2)
    b.fail(fmt::format("{} experts per token; 1 and 2 are possible", spec.chosen));
  if (spec.experts < spec.chosen)
    b.fail(fmt::format("{} expert(s) are fewer than the {} that each token chooses", spec.experts, spec.chosen));
  if (!(spec.capacity_factor > 0)) b.fail(fmt::format("a capacity factor of {} is not positive", spec.capacity_factor));
  Routing r;
  r.groups = x.dim(0);
  r.tokens = x.dim(1);
  r.experts = spec.experts;
  r.chosen = spec.chosen;
  const double fair = static_cast<double>(r.chosen * r.tokens) / static_cast<double>(r.experts);
  r.capacity = std::min(r.tokens, static_cast<std::int64_t>(std::ceil(spec.capacity_factor * fair - 1e-9)));
  Tensor probability;
  {
    const auto scope = b.scope("router");
    const Tensor w = b.parameter("w", {x.dim(2), r.experts}, normal(1 / std::sqrt(static_cast<double>(x.dim(2)))));
    probability = b.softmax(b.dot(b.convert(x, DType::F32), w));
  }
  auto [weight, choice] = b.top_k(probability, r.chosen);
  if (r.chosen > 1) weight = weight / b.sum(weight, {-1}, true);
  const Tensor first = b.one_hot(b.reshape(b.slice(choice, -1, 0, 1), {r.groups, r.tokens}), r.experts, DType::F32);
  r.balance = static_cast<double>(r.experts) * b.sum(b.mean(first, {0, 1}) * b.mean(probability, {0, 1}));
  const Dims listed{r.groups, r.chosen * r.tokens};
  r.expert = b.reshape(b.transpose(choice, {0, 2, 1}), listed);
  r.weight = b.reshape(b.transpose(weight, {0, 2, 1}), listed);
  return r;
}

/// What all experts make of their places: [groups, experts, capacity, width] -> the same.
Tensor run_experts(ModelBuilder& b, const Tensor& sent, const FeedForwardSpec& spec) {
  const std::int64_t experts = sent.dim(1), width = sent.dim(3);
  const auto up = [&](std::string_view name) {
    return b.einsum("gecm,emh->gech", sent, b.weight(name, {experts, width, spec.hidden}, spec.recipe));
  };
  Tensor hidden = activate(b, up(spec.gated ? "gate" : "up"), spec.activation);
  if (spec.gated) hidden = hidden * up("up");
  hidden = b.dropout(hidden, spec.dropout);
  return b.einsum("gech,ehm->gecm", hidden, b.weight("down", {experts, spec.hidden, width}, spec.output_recipe));
}

MixtureOutput by_one_hot(ModelBuilder& b, const Tensor& x, const Routing& r, const FeedForwardSpec& expert) {
  const Tensor chosen = b.one_hot(r.expert, r.experts, DType::F32);
  const Tensor place = b.sum((b.cumulative_sum(chosen, 1) - 1) * chosen, {-1});
  const Tensor fits = b.less(place, static_cast<double>(r.capacity));
  const Tensor kept = b.convert(fits, DType::F32);
  const Tensor place_one_hot = b.one_hot(b.convert(place, DType::I32), r.capacity, DType::F32);  // zero past the end
  const Tensor sent_to = b.einsum("gne,gnc->gnec", chosen, place_one_hot);
  const auto by_token = [&](const Tensor& t) {
    return b.sum(b.reshape(t, {r.groups, r.chosen, r.tokens, r.experts, r.capacity}), {1});
  };
  const Tensor dispatch = b.convert(by_token(sent_to), x.dtype());
  const Tensor combine = b.convert(by_token(sent_to * b.reshape(r.weight, {r.groups, -1, 1, 1})), x.dtype());
  const Tensor done = run_experts(b, b.einsum("gtec,gtm->gecm", dispatch, x), expert);
  return {b.einsum("gtec,gecm->gtm", combine, done), r.balance, 1.0 - b.mean(kept)};
}

MixtureOutput by_sort(ModelBuilder& b, const Tensor& x, const Routing& r, const FeedForwardSpec& expert) {
  const std::int64_t listed = r.chosen * r.tokens;
  const ir::TensorType list_type{DType::I32, {r.groups, listed}};
  // Stable: within an expert first choices stay before second ones, earlier tokens before later ones.
  const std::vector<Tensor> by_expert = b.sort({r.expert, b.iota(list_type, 1)}, 1);
  const Tensor& entry_at = by_expert[1];
  const Tensor rank_of = b.sort({entry_at, b.iota(list_type, 1)}, 1)[1];
  const Tensor count = b.sum(b.one_hot(r.expert, r.experts, DType::I32), {1});
  const Tensor first = b.cumulative_sum(count, 1) - count;
  // Dispatch: place c of expert e is entry first[e] + c of the sorted list, if the expert has that many.
  const ir::TensorType place_type{DType::I32, {r.groups, r.experts, r.capacity}};
  const Tensor place = b.iota(place_type, 2);
  const Tensor filled = b.less(place, b.expand(count, -1));
  const Dims flat{r.groups, r.experts * r.capacity};
  const Tensor sorted_at = b.reshape(b.minimum(b.expand(first, -1) + place, static_cast<double>(listed - 1)), flat);
  const Tensor entry = b.take_batched(b.expand(entry_at, -1), sorted_at);
  const Tensor token = b.binary(ir::OpKind::Remainder, b.reshape(entry, flat), b.scalar_int(DType::I32, r.tokens));
  const Tensor taken = b.reshape(b.take_batched(x, token), {r.groups, r.experts, r.capacity, x.dim(2)});
  const Tensor done = run_experts(b, b.select(b.expand(filled, -1), taken, 0), expert);
  // Combine: choice n lies at place rank - first[expert] of its expert.
  const Tensor own_first = b.reshape(b.take_batched(b.expand(first, -1), r.expert), {r.groups, listed});
  const Tensor own_place = rank_of - own_first;
  const Tensor fits = b.less(own_place, static_cast<double>(r.capacity));
  const Tensor slot =
      r.expert * static_cast<double>(r.capacity) + b.minimum(own_place, static_cast<double>(r.capacity - 1));
  const Tensor fetched = b.take_batched(b.reshape(done, {r.groups, r.experts * r.capacity, x.dim(2)}), slot);
  const Tensor weight = b.convert(b.select(fits, r.weight, 0), x.dtype());
  const Tensor weighted = fetched * b.expand(weight, -1);
  const Tensor y = b.sum(b.reshape(weighted, {r.groups, r.chosen, r.tokens, x.dim(2)}), {1});
  return {y, r.balance, 1.0 - b.mean(b.convert(fits, DType::F32))};
}

}  // namespace

MixtureOutput mixture(ModelBuilder& b, std::string_view name, const Tensor& x, const MixtureSpec& spec) {
  const auto scope = b.scope(name);
  if (x.rank() != 3)
    b.fail(fmt::format("a mixture of experts of {}: expected [batch, tokens, width]", ir::to_string(x.type())));
  const Routing routing = route(b, x, spec);
  return spec.dispatch == Dispatch::OneHot ? by_one_hot(b, x, routing, spec.expert)
                                           : by_sort(b, x, routing, spec.expert);
}

}  // namespace rhino::zoo
