// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rhino/zoo/layers/attention.hpp>
#include <rhino/zoo/layers/feed_forward.hpp>
#include <rhino/zoo/settings.hpp>

namespace rhino::zoo {

/// Where the norms of a block stand. Pre: x + f(norm(x)); Post: norm(x + f(x)); Parallel: attention and feed-forward
/// read one norm and are added together.
enum class Arrangement : std::uint8_t { Pre, Post, Parallel };

/// Blocks of a transformer: attention, attention to a context if there is one, feed-forward or a mixture of experts.
struct TransformerSpec {
  std::int64_t layers = 1;
  Arrangement arrangement = Arrangement::Pre;
  Norm norm = Norm::Layer;
  bool norm_bias = true;
  double epsilon = 1e-5;
  double dropout = 0;  ///< of what a layer adds
  AttentionSpec attention;
  FeedForwardSpec feed_forward;
  MixtureSpec mixture{.experts = 0};  ///< used if it has experts
  std::int64_t experts_every = 1;  ///< every n-th block, the n-th first, has the mixture in place of the feed-forward
};

/// What a stack of blocks reads besides its input.
struct TransformerInputs {
  Tensor score_bias;  ///< added to the scores of self-attention; may be invalid
  Tensor context;     ///< [batch, keys, any] that "cross" attends to; may be invalid
};

struct TransformerOutput {
  Tensor x;
  Tensor balance;  ///< f32 scalar, sum over the mixture layers; invalid if there are none
};

/// x [batch, tokens, width] through all blocks, without a norm behind the last one. Reports "dropped", the mean
/// fraction of tokens that found no expert, where there are mixtures.
TransformerOutput transformer(ModelBuilder& b, const Tensor& x, const TransformerSpec& spec,
                              const TransformerInputs& inputs = {});

/// Attention, feed-forward and mixture as the keys of `settings` say (those that it has), with weights of deviation
/// `deviation`, and `output_deviation` in the layers that add to the stream. Throws UsageError where heads do not
/// divide.
TransformerSpec transformer_spec(const Settings& settings, double deviation, double output_deviation);

/// Loss + balance_weight * balance, if there is one.
Tensor with_balance(ModelBuilder& b, const Tensor& loss, const TransformerOutput& output, const Settings& settings);

/// Learned positions "positions" [count, width] for x [batch, count, width].
Tensor add_positions(ModelBuilder& b, const Tensor& x, double deviation);

/// Notes what a training step of a dense transformer should cost: 6 * weights * tokens for the products with weights
/// and 12 * layers * queries * keys * heads * head_width * examples for attention (Kaplan et al. 2020, section 2.1).
void note_formula_flops(ModelBuilder& b, double product_weights, double tokens, double attention_products);

}  // namespace rhino::zoo
