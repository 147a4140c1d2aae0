// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <rhino/zoo/layers/basic.hpp>

namespace rhino::zoo {

/// Two dense layers with an activation between. Gated (Shazeer 2020): the activation of "gate" times "up"; SwiGLU is a
/// gate with Silu, GeGLU one with a GELU.
struct FeedForwardSpec {
  std::int64_t hidden = 1;
  Activation activation = Activation::Gelu;
  bool gated = false;
  bool bias = true;
  double dropout = 0;  ///< of the hidden values
  ir::InitRecipe recipe = normal(0.02);
  ir::InitRecipe output_recipe = normal(0.02);
};

/// x [.., width] -> [.., width]: "up" (and "gate") [width, hidden], "down" [hidden, width].
Tensor feed_forward(ModelBuilder& b, std::string_view name, const Tensor& x, const FeedForwardSpec& spec);

/// How tokens reach their experts: by products with a one-hot tensor [tokens, experts, places], or by sorting the
/// choices by expert and gathering. Both give the same values.
enum class Dispatch : std::uint8_t { OneHot, Sort };

/// Mixture of experts (Shazeer et al. 2017; top-1: Fedus et al. 2021; top-2: Lepikhin et al. 2020). Each sequence of
/// the batch is a group of its own; an expert takes at most capacity_factor * chosen * tokens / experts of its tokens
/// (rounded up), first choices before second ones, earlier tokens before later ones. Tokens that find no place give
/// zero.
struct MixtureSpec {
  std::int64_t experts = 1;
  std::int64_t chosen = 1;  ///< 1 or 2 experts per token; two weights are scaled to sum to one
  double capacity_factor = 1.25;
  Dispatch dispatch = Dispatch::OneHot;
  FeedForwardSpec expert;  ///< of one expert; without biases
};

struct MixtureOutput {
  Tensor y;        ///< [batch, tokens, width]
  Tensor balance;  ///< f32 scalar: experts * sum of (fraction of first choices * mean probability), 1 if even
  Tensor dropped;  ///< f32 scalar: fraction of choices that found no place
};

/// x [batch, tokens, width]. Weights: "router/w" [width, experts] in f32, "up", "gate" [experts, width, hidden],
/// "down".
MixtureOutput mixture(ModelBuilder& b, std::string_view name, const Tensor& x, const MixtureSpec& spec);

}  // namespace rhino::zoo
