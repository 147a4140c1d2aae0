// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include <rhino/zoo/layers/basic.hpp>

namespace rhino::zoo {

/// How positions enter the scores. Rope: Su et al. 2021, rotating halves; Alibi: Press et al. 2022, slopes 2^(-8 i /
/// heads).
enum class Positions : std::uint8_t { None, Rope, Alibi };

/// Dot-product attention (Vaswani et al. 2017) of any number of key and value heads: as many as query heads
/// (multi-head), one (multi-query, Shazeer 2019), or a number between that divides them (grouped-query, Ainslie et al.
/// 2023).
struct AttentionSpec {
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t head_width = 1;
  bool bias = true;         ///< of queries, keys and values
  bool output_bias = true;  ///< of the projection back
  bool causal = false;      ///< a position sees itself and what is before it
  double scale = 0;         ///< of the scores; 0: 1 / sqrt(head_width)
  Positions positions = Positions::None;
  double rope_base = 10000;
  double dropout = 0;  ///< of the weights
  /// Inference with memory: keys and values of `remembered` places are kept, and x holds the places from `first` on (an
  /// i32 scalar, at most remembered minus the places of x). Not with cross-attention.
  std::int64_t remembered = 0;
  Tensor first;
  ir::InitRecipe recipe = normal(0.02);
  std::optional<ir::InitRecipe> query_recipe;  ///< of the queries, where it is not `recipe`
  ir::InitRecipe output_recipe = normal(0.02);
};

/// x [batch, queries, width], context [batch, keys, any] (x itself: self-attention; another sequence: cross-attention).
/// `score_bias`, if valid, is f32 and broadcasts to [batch, heads, queries, keys].
/// Weights "q/w" [width, heads, head_width], "k/w", "v/w" [any, kv_heads, head_width] and "out/w" [heads, head_width,
/// width]. With one key head its dimension is left out.
Tensor attention(ModelBuilder& b, std::string_view name, const Tensor& x, const Tensor& context,
                 const AttentionSpec& spec, const Tensor& score_bias = {});

/// T5's bias by distance (Raffel et al. 2020, section 2.1): f32 [heads, queries, keys] from a table "table"
/// [buckets, heads]; half of the buckets are exact, the others grow logarithmically up to `furthest`.
/// The first query is at place `first` (an i32 scalar) of the keys; without it the queries are the last keys.
Tensor relative_bias(ModelBuilder& b, std::string_view name, std::int64_t queries, std::int64_t keys,
                     std::int64_t heads, bool both_directions, std::int64_t buckets = 32, std::int64_t furthest = 128,
                     const Tensor& first = {});

/// Rotates x [batch, places, .., head_width] by its place, counted from `first` or zero: RoPE.
Tensor rotate_by_place(ModelBuilder& b, const Tensor& x, double base, const Tensor& first = {});

}  // namespace rhino::zoo
