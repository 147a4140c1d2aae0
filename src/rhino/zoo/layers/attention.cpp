// SPDX-License-Identifier: Apache-2.0
#include <rhino/zoo/layers/attention.hpp>

#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include <rhino/base/error.hpp>

namespace rhino::zoo {

using ir::Comparison;
using ir::Dims;
using ir::DType;

namespace {

constexpr double kMasked = -1e9;  // far below any score, and finite in bf16 and f32

ir::Literal literal(Dims dims, const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return {{DType::F32, std::move(dims)}, std::move(bytes)};
}

/// Which dimensions queries, keys and values have: one head per key head ("h"), one key head for all, or groups "g" of
/// "r".
struct HeadNotation {
  Dims query_heads, key_heads;
  const char *scores, *values, *output;
};

HeadNotation head_notation(ModelBuilder& b, const AttentionSpec& spec) {
  if (spec.heads < 1 || spec.kv_heads < 1 || spec.head_width < 1 || spec.heads % spec.kv_heads != 0)
    b.fail(fmt::format("{} key and value heads do not divide {} heads of width {}", spec.kv_heads, spec.heads,
                       spec.head_width));
  const std::int64_t width = spec.head_width;
  if (spec.kv_heads == spec.heads)
    return {{spec.heads, width}, {spec.heads, width}, "bqhd,bkhd->bhqk", "bhqk,bkhd->bqhd", "bqhd,hdm->bqm"};
  if (spec.kv_heads == 1) return {{spec.heads, width}, {width}, "bqhd,bkd->bhqk", "bhqk,bkd->bqhd", "bqhd,hdm->bqm"};
  return {{spec.kv_heads, spec.heads / spec.kv_heads, width},
          {spec.kv_heads, width},
          "bqgrd,bkgd->bgrqk",
          "bgrqk,bkgd->bqgrd",
          "bqgrd,grdm->bqm"};
}

/// Place of each query among the keys, i32 [queries, keys].
Tensor query_places(ModelBuilder& b, std::int64_t queries, std::int64_t keys, const Tensor& first) {
  const Tensor number = b.iota({DType::I32, {queries, keys}}, 0);
  if (first.valid()) return number + first;
  return keys == queries ? number : number + static_cast<double>(keys - queries);
}

/// True where a query must not look: keys behind it; i1 [queries, keys].
Tensor hidden_keys(ModelBuilder& b, std::int64_t queries, std::int64_t keys, const Tensor& first) {
  return b.compare(Comparison::Gt, b.iota({DType::I32, {queries, keys}}, 1), query_places(b, queries, keys, first));
}

Tensor alibi_bias(ModelBuilder& b, std::int64_t heads, std::int64_t queries, std::int64_t keys, const Tensor& first) {
  std::vector<float> slopes;
  for (std::int64_t h = 1; h <= heads; ++h)
    slopes.push_back(static_cast<float>(std::exp2(-8.0 * static_cast<double>(h) / static_cast<double>(heads))));
  const Tensor behind = query_places(b, queries, keys, first) - b.iota({DType::I32, {queries, keys}}, 1);
  return -b.constant(literal({heads, 1, 1}, slopes)) * b.convert(b.abs(behind), DType::F32);
}

/// Puts new keys or values [batch, places, ..] into what is kept of all places, and gives that.
Tensor remember(ModelBuilder& b, std::string_view name, const Tensor& fresh, const AttentionSpec& spec) {
  Dims dims = fresh.dims();
  dims[1] = spec.remembered;
  const Tensor kept = b.memory(name, {fresh.dtype(), std::move(dims)});
  std::vector<Tensor> operands{kept, fresh};
  for (int d = 0; d < fresh.rank(); ++d)
    operands.push_back(d == 1 ? spec.first : b.scalar_int(DType::I32, 0));
  const Tensor all = b.add(ir::OpKind::DynamicUpdateSlice, operands);
  b.set_next(kept, all);
  return all;
}

}  // namespace

Tensor rotate_by_place(ModelBuilder& b, const Tensor& x, double base, const Tensor& first) {
  const std::int64_t places = x.dim(1), half = x.dim(-1) / 2;
  if (x.dim(-1) % 2 != 0) b.fail(fmt::format("rotary positions need an even head width, not {}", x.dim(-1)));
  const ir::TensorType type{DType::F32, {places, half}};
  const Tensor frequency = b.exp(b.iota(type, 1) * (-std::log(base) / static_cast<double>(half)));
  Tensor place = b.iota(type, 0);
  if (first.valid()) place = place + b.convert(first, DType::F32);
  const Tensor angle = place * frequency;
  Dims dims(x.dims().size() - 1, 1);
  dims.front() = places;
  dims.back() = half;
  const Tensor cosine = b.convert(b.reshape(b.cos(angle), dims), x.dtype());
  const Tensor sine = b.convert(b.reshape(b.sin(angle), dims), x.dtype());
  const std::vector<Tensor> halves = b.split(x, -1, 2);
  return b.concatenate({halves[0] * cosine - halves[1] * sine, halves[1] * cosine + halves[0] * sine}, -1);
}

Tensor relative_bias(ModelBuilder& b, std::string_view name, std::int64_t queries, std::int64_t keys,
                     std::int64_t heads, bool both_directions, std::int64_t buckets, std::int64_t furthest,
                     const Tensor& first) {
  const auto scope = b.scope(name);
  const std::int64_t side = both_directions ? buckets / 2 : buckets;
  const std::int64_t exact = side / 2;
  if (exact < 1 || furthest <= exact)
    b.fail(fmt::format("{} buckets up to a distance of {} leave none for exact distances", buckets, furthest));
  const Tensor ahead = b.iota({DType::I32, {queries, keys}}, 1) - query_places(b, queries, keys, first);
  const Tensor distance = both_directions ? b.abs(ahead) : b.maximum(-ahead, 0);
  const Tensor growth = b.log(b.maximum(b.convert(distance, DType::F32), 1) / static_cast<double>(exact));
  const double per_bucket =
      static_cast<double>(side - exact) / std::log(static_cast<double>(furthest) / static_cast<double>(exact));
  const Tensor far =
      b.minimum(b.convert(growth * per_bucket, DType::I32) + static_cast<double>(exact), static_cast<double>(side - 1));
  Tensor bucket = b.select(b.less(distance, static_cast<double>(exact)), distance, far);
  if (both_directions) {
    const Tensor forward = b.compare(Comparison::Gt, ahead, 0);
    bucket = bucket + b.convert(forward, DType::I32) * static_cast<double>(side);
  }
  const Tensor table = b.parameter("table", {buckets, heads}, normal(1 / std::sqrt(static_cast<double>(heads))));
  return b.transpose(b.take(table, bucket), {2, 0, 1});
}

Tensor attention(ModelBuilder& b, std::string_view name, const Tensor& x, const Tensor& context,
                 const AttentionSpec& spec, const Tensor& score_bias) {
  const auto scope = b.scope(name);
  const HeadNotation heads = head_notation(b, spec);
  if (x.rank() != 3 || context.rank() != 3 || x.dim(0) != context.dim(0))
    b.fail(fmt::format("attention of {} to {}: expected [batch, places, width]", ir::to_string(x.type()),
                       ir::to_string(context.type())));
  const std::int64_t queries = x.dim(1), width = x.dim(2);
  Tensor q = dense(b, "q", x, heads.query_heads, spec.query_recipe.value_or(spec.recipe), spec.bias);
  Tensor k = dense(b, "k", context, heads.key_heads, spec.recipe, spec.bias);
  Tensor v = dense(b, "v", context, heads.key_heads, spec.recipe, spec.bias);
  if (spec.positions == Positions::Rope) {
    q = rotate_by_place(b, q, spec.rope_base, spec.first);
    k = rotate_by_place(b, k, spec.rope_base, spec.first);
  }
  if (spec.remembered > 0) {
    k = remember(b, "k", k, spec);
    v = remember(b, "v", v, spec);
  }
  const std::int64_t keys = k.dim(1);
  const double scale = spec.scale != 0 ? spec.scale : 1 / std::sqrt(static_cast<double>(spec.head_width));
  Tensor scores = b.convert(b.einsum(heads.scores, scale == 1 ? q : q * scale, k), DType::F32);
  const Dims grouped = scores.dims();
  const auto per_head = [&](const Tensor& bias) {  // [.., heads, queries, keys] in the form of the scores
    if (grouped.size() == 4 || bias.rank() < 3) return bias;
    if (bias.dim(-3) == 1) return b.expand(bias, -3);
    Dims dims = bias.dims();
    dims.resize(dims.size() - 3);
    dims.insert(dims.end(), grouped.begin() + 1, grouped.end());
    return b.reshape(bias, dims);
  };
  if (spec.positions == Positions::Alibi)
    scores = scores + per_head(alibi_bias(b, spec.heads, queries, keys, spec.first));
  if (score_bias.valid()) scores = scores + per_head(score_bias);
  if (spec.causal) scores = b.select(hidden_keys(b, queries, keys, spec.first), b.scalar(DType::F32, kMasked), scores);
  const Tensor weights = b.dropout(b.convert(b.softmax(scores), x.dtype()), spec.dropout);
  const Tensor mixed = b.einsum(heads.values, weights, v);
  const auto inner = b.scope("out");
  Dims dims = heads.query_heads;
  dims.push_back(width);
  const Tensor y = b.einsum(heads.output, mixed, b.weight("w", dims, spec.output_recipe));
  return spec.output_bias ? add_bias(b, y, "b", {width}) : y;
}

}  // namespace rhino::zoo
