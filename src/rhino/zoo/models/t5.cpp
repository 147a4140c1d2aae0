// SPDX-License-Identifier: Apache-2.0
// Encoders with decoders: t5, switch, gshard.
#include <cmath>

#include <rhino/zoo/layers/losses.hpp>
#include <rhino/zoo/transformer.hpp>

#include "common.hpp"
#include "families.hpp"

namespace rhino::zoo {

namespace {

/// RMS norms, no biases, a bias by distance shared by the blocks of a stack; weights as in T5, by fan-in and with
/// scores that are not scaled.
TransformerSpec stack_spec(const Settings& settings) {
  TransformerSpec spec = transformer_spec(settings, 0, 0);
  const auto by = [](std::int64_t fan_in) { return normal(1 / std::sqrt(static_cast<double>(fan_in))); };
  const std::int64_t width = settings.integer("width");
  spec.norm = Norm::Rms;
  spec.epsilon = 1e-6;
  spec.norm_bias = false;
  spec.attention.bias = spec.attention.output_bias = spec.feed_forward.bias = false;
  spec.attention.scale = 1;
  spec.attention.recipe = by(width);
  spec.attention.query_recipe = by(width * spec.attention.head_width);
  spec.attention.output_recipe = by(spec.attention.heads * spec.attention.head_width);
  spec.feed_forward.recipe = by(width);
  spec.feed_forward.output_recipe = by(spec.feed_forward.hidden);
  spec.mixture.expert.recipe = spec.feed_forward.recipe;
  spec.mixture.expert.output_recipe = spec.feed_forward.output_recipe;
  return spec;
}

TransformerOutput stack(ModelBuilder& b, std::string_view name, const Tensor& x, TransformerSpec spec, bool causal,
                        const Tensor& context) {
  const auto scope = b.scope(name);
  spec.attention.causal = causal;
  TransformerInputs inputs;
  inputs.context = context;
  inputs.score_bias = relative_bias(b, "relative", x.dim(1), x.dim(1), spec.attention.heads, !causal);
  TransformerOutput output = transformer(b, b.dropout(x, spec.dropout), spec, inputs);
  output.x = b.dropout(norm(b, "final_norm", output.x, spec.norm, spec.epsilon, false), spec.dropout);
  return output;
}

Tensor build_t5(ModelBuilder& b, const Settings& settings) {
  const std::int64_t width = settings.integer("width"), vocabulary = settings.integer("vocabulary");
  const Tensor source = token_batch(b, settings, "source", settings.integer("sequence"));
  const Tensor target = token_batch(b, settings, "target", settings.integer("target_sequence"));
  const TransformerSpec spec = stack_spec(settings);

  const Embedding embedding = embed(b, "embedding", source, vocabulary, width, normal(1));
  const TransformerOutput encoded = stack(b, "encoder", embedding.rows, spec, false, {});
  // The decoder reads the target one place later, behind token 0.
  const Tensor before = b.slice(b.pad(target, 1, 1, 0), 1, 0, target.dim(1));
  TransformerOutput decoded = stack(b, "decoder", look_up(b, embedding.table, before), spec, true, encoded.x);
  if (encoded.balance.valid()) decoded.balance = encoded.balance + decoded.balance;
  const Tensor scores = tied_scores(b, decoded.x * (1 / std::sqrt(static_cast<double>(width))), embedding.table);
  return with_balance(b, cross_entropy(b, scores, target), decoded, settings);
}

#define T5_DEFAULTS                                                                                                   \
  "batch=8 sequence=512 target_sequence=128 vocabulary=32128 layers=12 width=768 heads=12 head_width=64 hidden=3072 " \
  "activation=relu gated=false dropout=0.1"
#define T5_TINY                                                                                              \
  "batch=8 sequence=32 target_sequence=16 vocabulary=256 layers=2 width=48 heads=4 head_width=12 hidden=96 " \
  "dropout=0 learning_rate=0.003 "
#define MIXTURE_DEFAULTS " chosen=1 capacity_factor=1.25 balance_weight=0.01 dispatch=one_hot"

}  // namespace

Family t5_family() {
  return {"t5",
          "encoder and decoder with a bias by distance, RMS norm and a tied output layer",
          "Raffel et al. 2020",
          T5_DEFAULTS,
          {{"tiny", T5_TINY, 0, ""},
           {"small", "layers=6 width=512 heads=8 hidden=2048", 60.51e6, "version 1.0"},
           {"base", "", 222.9e6, "version 1.0"},
           {"large", "layers=24 width=1024 heads=16 hidden=4096", 737.67e6, "version 1.0"},
           {"3B", "layers=24 width=1024 heads=32 head_width=128 hidden=16384", 2851.6e6, "version 1.0"},
           {"11B", "layers=24 width=1024 heads=128 head_width=128 hidden=65536", 11307e6, "version 1.0"}},
          build_t5};
}

Family switch_family() {
  return {"switch",
          "T5 with a mixture of experts (top-1) in every other block",
          "Fedus, Zoph, Shazeer 2021",
          T5_DEFAULTS " experts=128 experts_every=2" MIXTURE_DEFAULTS,
          {{"tiny", T5_TINY "experts=4", 0, ""},
           {"base_128", "", 7.4e9, "all experts"},
           {"large_128", "layers=24 width=1024 heads=16 hidden=4096", 26.3e9, "all experts"},
           {"xxl", "layers=24 width=4096 heads=64 hidden=10240 activation=gelu_tanh gated=true", 395e9,
            "all experts; 128 of them, as released"},
           {"c", "layers=15 width=2080 heads=32 hidden=6144 experts=2048 experts_every=1", 1571e9, "all experts"}},
          build_t5};
}

Family gshard_family() {
  return {
      "gshard",
      "encoder and decoder with a mixture of experts (top-2) in every other block",
      "Lepikhin et al. 2020",
      "batch=8 sequence=128 target_sequence=128 vocabulary=64000 layers=18 width=1024 heads=16 head_width=128 "
      "hidden=8192 activation=relu gated=false dropout=0.1 experts=2048 experts_every=2 chosen=2 capacity_factor=1.25 "
      "balance_weight=0.01 dispatch=one_hot",
      {{"tiny", T5_TINY "experts=4", 0, ""},
       {"600B", "", 619e9, "36 blocks in all, 2048 experts in every other one; the paper rounds to 600B"}},
      build_t5};
}

}  // namespace rhino::zoo
