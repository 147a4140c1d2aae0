// SPDX-License-Identifier: Apache-2.0
// Decoders: gpt, palm, llama, glam.
#include <cmath>

#include <rhino/base/error.hpp>
#include <rhino/zoo/layers/losses.hpp>
#include <rhino/zoo/transformer.hpp>

#include "common.hpp"
#include "families.hpp"

namespace rhino::zoo {

using ir::DType;

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

/// Embedding, blocks and scores, for training and for inference.
class Decoder {
 public:
  Decoder(ModelBuilder& b, const Settings& settings, const DecoderStyle& style)
      : b_(b),
        settings_(settings),
        style_(style),
        spec_(transformer_spec(settings, kDeviation, output_deviation(settings))) {
    spec_.arrangement = style.arrangement;
    spec_.norm = style.norm;
    spec_.epsilon = style.epsilon;
    spec_.norm_bias = spec_.attention.bias = spec_.attention.output_bias = spec_.feed_forward.bias = style.bias;
    spec_.attention.causal = true;
    if (style.gated_dense) spec_.feed_forward.gated = true;
  }

  Tensor loss() {
    const auto [inputs, targets] = shifted_tokens(b_, settings_);
    const auto [scores, output] = run(inputs, {});
    if (spec_.mixture.experts == 0) {
      const double examples = static_cast<double>(inputs.dim(0)), places = static_cast<double>(inputs.dim(1));
      const double attention = static_cast<double>(spec_.layers * spec_.attention.heads * spec_.attention.head_width);
      note_formula_flops(b_, product_weights(settings_, spec_), examples * places,
                         attention * places * places * examples);
    }
    return with_balance(b_, cross_entropy(b_, scores, targets), output, settings_);
  }

  /// Scores of what follows each of the `chunk` new tokens, and the likeliest one behind the last; no loss.
  Tensor infer() {
    const std::int64_t chunk = settings_.integer("chunk"), sequence = settings_.integer("sequence");
    RHINO_CHECK_AS(UsageError, chunk <= sequence, "chunk={} new tokens are more than sequence={} that are kept", chunk,
                   sequence);
    const Tensor first = b_.memory("place", {DType::I32, {}});
    spec_.attention.remembered = sequence;
    spec_.attention.first = first;
    const Tensor scores = run(token_batch(b_, settings_, "tokens", chunk), first).first;
    b_.set_next(first, first + static_cast<double>(chunk));
    const Tensor last = b_.reshape(b_.slice(scores, 1, chunk - 1, chunk), {scores.dim(0), scores.dim(2)});
    b_.metric("next", b_.reshape(b_.top_k(last, 1).second, {scores.dim(0)}));
    b_.metric("scores", scores);
    return {};
  }

 private:
  static constexpr double kDeviation = 0.02;
  static double output_deviation(const Settings& settings) {
    return kDeviation / std::sqrt(2.0 * static_cast<double>(settings.integer("layers")));
  }

  /// Scores f32 [batch, places, vocabulary] of tokens [batch, places] from place `first` (or zero) on.
  std::pair<Tensor, TransformerOutput> run(const Tensor& tokens, const Tensor& first) {
    const std::int64_t vocabulary = settings_.integer("vocabulary"), width = settings_.integer("width");
    const std::int64_t sequence = settings_.integer("sequence");
    const Embedding embedding = embed(b_, "embedding", tokens, vocabulary, width, normal(kDeviation));
    const std::string& positions = settings_.choice("positions");
    Tensor x = embedding.rows;
    if (positions == "learned" && !first.valid()) x = add_positions(b_, x, kDeviation);
    if (positions == "learned" && first.valid()) {
      const Tensor table = b_.parameter("positions", {sequence, width}, normal(kDeviation));
      x = x + look_up(b_, table, b_.iota({DType::I32, {tokens.dim(1)}}, 0) + first);
    }
    TransformerInputs inputs;
    if (positions == "relative")
      inputs.score_bias =
          relative_bias(b_, "relative", tokens.dim(1), sequence, spec_.attention.heads, false, 32, 128, first);
    TransformerOutput output = transformer(b_, b_.dropout(x, spec_.dropout), spec_, inputs);
    x = norm(b_, "final_norm", output.x, style_.norm, style_.epsilon, style_.bias);
    if (settings_.flag("tied")) return {tied_scores(b_, x, embedding.table), output};
    return {b_.convert(dense(b_, "head", x, {vocabulary}, normal(kDeviation), false), DType::F32), output};
  }

  ModelBuilder& b_;
  const Settings& settings_;
  DecoderStyle style_;
  TransformerSpec spec_;
};

Tensor decoder(ModelBuilder& b, const Settings& settings, const DecoderStyle& style) {
  Decoder decoder(b, settings, style);
  return settings.choice("mode") == "infer" ? decoder.infer() : decoder.loss();
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
  return {
      "gpt",
      "decoder with learned positions, GELU and a tied output layer",
      "Radford et al. 2019 (GPT-2); Brown et al. 2020 (GPT-3)",
      "batch=8 sequence=1024 chunk=1 vocabulary=50257 layers=12 width=768 heads=12 kv_heads=0 head_width=0 hidden=0 "
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
          "batch=8 sequence=2048 chunk=1 vocabulary=256000 layers=32 width=4096 heads=16 kv_heads=1 head_width=256 "
          "hidden=0 "
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
      "batch=8 sequence=2048 chunk=1 vocabulary=32000 layers=32 width=4096 heads=32 kv_heads=0 head_width=0 "
      "hidden=11008 "
      "positions=rope rope_base=10000 activation=silu gated=true tied=false dropout=0",
      {{"tiny", DECODER_TINY "kv_heads=2 hidden=128", 0, ""},
       {"7B", "", 6.738e9, ""},
       {"70B", "sequence=4096 layers=80 width=8192 heads=64 kv_heads=8 hidden=28672", 68.98e9, "70B is rounded"},
       {"8B", "sequence=8192 vocabulary=128256 kv_heads=8 hidden=14336 rope_base=500000", 8.03e9, "third generation"}},
      build_llama};
}

Family glam_family() {
  return {"glam",
          "decoder with a mixture of experts (top-2) in every other block and a GeGLU in the others",
          "Du et al. 2022",
          "batch=8 sequence=1024 chunk=1 vocabulary=256000 layers=64 width=8192 heads=128 kv_heads=0 head_width=128 "
          "hidden=32768 "
          "positions=relative activation=gelu_tanh gated=false tied=true dropout=0 experts=64 chosen=2 experts_every=2 "
          "capacity_factor=1.25 balance_weight=0.01 dispatch=one_hot",
          {{"tiny", DECODER_TINY "head_width=12 hidden=96 experts=4", 0, ""},
           {"64B_64E", "", 1162e9, "all experts; 96.6 B work on a token"}},
          build_glam};
}

}  // namespace rhino::zoo
