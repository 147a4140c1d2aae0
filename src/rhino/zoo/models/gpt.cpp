// SPDX-License-Identifier: Apache-2.0
// Decoders: gpt, palm, llama, glam.
#include <cmath>

#include <rhino/zoo/layers/losses.hpp>
#include <rhino/zoo/transformer.hpp>

#include "common.hpp"
#include "families.hpp"

namespace rhino::zoo {

namespace {

/// What the decoders differ in besides their settings.
struct DecoderStyle {
  Arrangement arrangement = Arrangement::Pre;
  Norm norm = Norm::Layer;
  double epsilon = 1e-5;
  bool bias = true;          ///< of dense layers and norms
  bool gated_dense = false;  ///< feed-forward layers have a gate where experts have none
};

/// Weights of matrix products that each token meets, the experts that it does not choose left out.
double product_weights(const Settings& settings, const TransformerSpec& spec) {
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  const AttentionSpec& a = spec.attention;
  const double width = number(settings.integer("width"));
  const double attention = 2 * width * number((a.heads + a.kv_heads) * a.head_width);
  const double feed_forward = width * number(spec.feed_forward.hidden) * (spec.feed_forward.gated ? 3 : 2);
  return number(spec.layers) * (attention + feed_forward) + width * number(settings.integer("vocabulary"));
}

Tensor decoder(ModelBuilder& b, const Settings& settings, const DecoderStyle& style) {
  const auto [inputs, targets] = shifted_tokens(b, settings);
  const std::int64_t vocabulary = settings.integer("vocabulary"), width = settings.integer("width");
  const std::int64_t sequence = settings.integer("sequence");
  constexpr double deviation = 0.02;
  TransformerSpec spec = transformer_spec(settings, deviation,
                                          deviation / std::sqrt(2.0 * static_cast<double>(settings.integer("layers"))));
  spec.arrangement = style.arrangement;
  spec.norm = style.norm;
  spec.epsilon = style.epsilon;
  spec.norm_bias = spec.attention.bias = spec.attention.output_bias = spec.feed_forward.bias = style.bias;
  spec.attention.causal = true;
  if (style.gated_dense) spec.feed_forward.gated = true;

  const Embedding embedding = embed(b, "embedding", inputs, vocabulary, width, normal(deviation));
  Tensor x = embedding.rows;
  TransformerInputs extra;
  const std::string& positions = settings.choice("positions");
  if (positions == "learned") x = add_positions(b, x, deviation);
  if (positions == "relative")
    extra.score_bias = relative_bias(b, "relative", sequence, sequence, spec.attention.heads, false);
  const TransformerOutput output = transformer(b, b.dropout(x, spec.dropout), spec, extra);
  x = norm(b, "final_norm", output.x, style.norm, style.epsilon, style.bias);
  Tensor scores;
  if (settings.flag("tied")) {
    scores = tied_scores(b, x, embedding.table);
  } else {
    scores = dense(b, "head", x, {vocabulary}, normal(deviation), false);
  }
  if (spec.mixture.experts == 0) {
    const double examples = static_cast<double>(settings.integer("batch")), places = static_cast<double>(sequence);
    note_formula_flops(b, product_weights(settings, spec), examples * places,
                       static_cast<double>(spec.layers * spec.attention.heads * spec.attention.head_width) * places *
                           places * examples);
  }
  return with_balance(b, cross_entropy(b, scores, targets), output, settings);
}

Tensor build_gpt(ModelBuilder& b, const Settings& settings) { return decoder(b, settings, {}); }

Tensor build_palm(ModelBuilder& b, const Settings& settings) {
  return decoder(b, settings, {.arrangement = Arrangement::Parallel, .epsilon = 1e-6, .bias = false});
}

Tensor build_llama(ModelBuilder& b, const Settings& settings) {
  return decoder(b, settings, {.norm = Norm::Rms, .bias = false});
}

Tensor build_glam(ModelBuilder& b, const Settings& settings) {
  return decoder(b, settings, {.norm = Norm::Rms, .epsilon = 1e-6, .bias = false, .gated_dense = true});
}

#define DECODER_TINY "batch=8 sequence=64 vocabulary=256 layers=2 width=48 heads=4 learning_rate=0.003 "

}  // namespace

Family gpt_family() {
  return {"gpt",
          "decoder with learned positions, GELU and a tied output layer",
          "Radford et al. 2019 (GPT-2); Brown et al. 2020 (GPT-3)",
          "batch=8 sequence=1024 vocabulary=50257 layers=12 width=768 heads=12 kv_heads=0 head_width=0 hidden=0 "
          "positions=learned activation=gelu_tanh gated=false tied=true dropout=0 experts=0 chosen=2 experts_every=2 "
          "capacity_factor=1.25 balance_weight=0.01 dispatch=one_hot",
          {{"tiny", DECODER_TINY, 0, ""},
           {"moe_tiny", DECODER_TINY "experts=4 hidden=96", 0, ""},
           {"124M", "", 124.44e6, "GPT-2 small with its tied output layer once"},
           {"355M", "layers=24 width=1024 heads=16", 354.82e6, ""},
           {"774M", "layers=36 width=1280 heads=20", 774.03e6, ""},
           {"1.5B", "layers=48 width=1600 heads=25", 1557.6e6, ""},
           {"1.3B", "sequence=2048 layers=24 width=2048 heads=16", 1315.6e6, "with the embeddings; 1.3B is rounded"},
           {"2.7B", "sequence=2048 layers=32 width=2560 heads=32", 2651.3e6, "with the embeddings; 2.7B is rounded"},
           {"6.7B", "sequence=2048 layers=32 width=4096 heads=32", 6.7e9, ""},
           {"13B", "sequence=2048 layers=40 width=5120 heads=40", 12.85e9,
            "width 5120 for the table's 5140; 13B is rounded"},
           {"175B", "sequence=2048 layers=96 width=12288 heads=96", 175e9, ""},
           {"1T", "sequence=2048 vocabulary=51200 layers=128 width=25600 heads=160", 1008e9,
            "Narayanan et al. 2021, table 1: 1008.0 billion"}},
          build_gpt};
}

Family palm_family() {
  return {"palm",
          "decoder with parallel blocks, multi-query attention, SwiGLU and rotary positions, no biases",
          "Chowdhery et al. 2022",
          "batch=8 sequence=2048 vocabulary=256000 layers=32 width=4096 heads=16 kv_heads=1 head_width=256 hidden=0 "
          "positions=rope rope_base=10000 activation=silu gated=true tied=true dropout=0",
          {{"tiny", DECODER_TINY "head_width=12", 0, ""},
           {"8B", "", 8.63e9, "table 1"},
           {"62B", "layers=64 width=8192 heads=32", 62.50e9, "table 1"},
           {"540B", "layers=118 width=18432 heads=48", 540.35e9, "table 1"}},
          build_palm};
}

Family llama_family() {
  return {
      "llama",
      "decoder with RMS norm, SwiGLU, rotary positions and grouped-query attention, no biases",
      "Touvron et al. 2023 (7B, 70B); Grattafiori et al. 2024 (8B)",
      "batch=8 sequence=2048 vocabulary=32000 layers=32 width=4096 heads=32 kv_heads=0 head_width=0 hidden=11008 "
      "positions=rope rope_base=10000 activation=silu gated=true tied=false dropout=0",
      {{"tiny", DECODER_TINY "kv_heads=2 hidden=128", 0, ""},
       {"7B", "", 6.738e9, ""},
       {"70B", "sequence=4096 layers=80 width=8192 heads=64 kv_heads=8 hidden=28672", 68.98e9, "70B is rounded"},
       {"8B", "sequence=8192 vocabulary=128256 kv_heads=8 hidden=14336 rope_base=500000", 8.03e9, "third generation"}},
      build_llama};
}

Family glam_family() {
  return {
      "glam",
      "decoder with a mixture of experts (top-2) in every other block and a GeGLU in the others",
      "Du et al. 2022",
      "batch=8 sequence=1024 vocabulary=256000 layers=64 width=8192 heads=128 kv_heads=0 head_width=128 hidden=32768 "
      "positions=relative activation=gelu_tanh gated=false tied=true dropout=0 experts=64 chosen=2 experts_every=2 "
      "capacity_factor=1.25 balance_weight=0.01 dispatch=one_hot",
      {{"tiny", DECODER_TINY "head_width=12 hidden=96 experts=4", 0, ""},
       {"64B_64E", "", 1162e9, "all experts; 96.6 B work on a token"}},
      build_glam};
}

}  // namespace rhino::zoo
