// SPDX-License-Identifier: Apache-2.0
// Encoders trained on masked tokens: bert, roberta, albert.
#include <rhino/base/error.hpp>
#include <rhino/zoo/layers/losses.hpp>
#include <rhino/zoo/transformer.hpp>

#include "common.hpp"
#include "families.hpp"

namespace rhino::zoo {

using ir::DType;

namespace {

constexpr double kDeviation = 0.02;
constexpr double kBertEpsilon = 1e-12;

/// Tokens with 15 of 100 places to be guessed; of these 80 of 100 show the mask (the last token of the vocabulary), 10
/// a random token and 10 themselves. Drawn anew in every step.
struct Masked {
  Tensor tokens;
  Tensor weights;  ///< f32, 1 where to guess
};

Masked mask(ModelBuilder& b, const Tensor& tokens, std::int64_t vocabulary) {
  const auto scope = b.scope("mask");
  const Tensor guess = b.less(b.random_uniform(tokens.dims()), 0.15);
  const Tensor kind = b.random_uniform(tokens.dims());
  const Tensor random = b.convert(b.random_uniform(tokens.dims()) * static_cast<double>(vocabulary), DType::I32);
  const Tensor hidden = b.full({DType::I32, tokens.dims()}, static_cast<double>(vocabulary - 1));
  const Tensor shown = b.select(b.less(kind, 0.8), hidden, b.select(b.less(kind, 0.9), random, tokens));
  return {b.select(guess, shown, tokens), b.convert(guess, DType::F32)};
}

/// Whether the second segment follows the first, from the first token.
Tensor next_sentence_loss(ModelBuilder& b, const Settings& settings, const Tensor& x) {
  const Tensor first = b.reshape(b.slice(x, 1, 0, 1), {x.dim(0), x.dim(2)});
  const Tensor pooled = activate(b, dense(b, "pooler", first, {x.dim(2)}, normal(kDeviation)), Activation::Tanh);
  const Tensor scores = dense(b, "next_sentence", pooled, {2}, normal(kDeviation));
  return cross_entropy(b, scores, b.batch("next", {DType::I32, {settings.integer("batch")}}));
}

Tensor encoder(ModelBuilder& b, const Settings& settings, bool shared) {
  const std::int64_t vocabulary = settings.integer("vocabulary"), width = settings.integer("width");
  const std::int64_t embedding_width = settings.has("embedding_width") ? settings.integer("embedding_width") : width;
  const bool next_sentence = settings.flag("next_sentence");
  const Tensor tokens = token_batch(b, settings, "tokens", settings.integer("sequence"));
  const Masked masked = mask(b, tokens, vocabulary);
  TransformerSpec spec = transformer_spec(settings, kDeviation, kDeviation);
  spec.arrangement = Arrangement::Post;
  spec.epsilon = kBertEpsilon;

  const Embedding embedding = embed(b, "embedding", masked.tokens, vocabulary, embedding_width, normal(kDeviation));
  Tensor x = add_positions(b, embedding.rows, kDeviation);
  if (next_sentence) {
    const Tensor segments = token_batch(b, settings, "segments", settings.integer("sequence"));
    x = x + embed(b, "segments", segments, 2, embedding_width, normal(kDeviation)).rows;
  }
  x = b.dropout(norm(b, "embedding_norm", x, Norm::Layer, kBertEpsilon), spec.dropout);
  if (embedding_width != width) x = dense(b, "widen", x, {width}, normal(kDeviation));
  if (shared) {
    const ModelBuilder::Sharing sharing(b);
    x = transformer(b, x, spec).x;
  } else {
    x = transformer(b, x, spec).x;
  }
  const Tensor transformed =
      activate(b, dense(b, "transform", x, {embedding_width}, normal(kDeviation)), Activation::Gelu);
  const Tensor scores = tied_scores(b, norm(b, "transform_norm", transformed, Norm::Layer, kBertEpsilon), embedding.table) +
                        b.parameter("output_bias", {vocabulary}, zeros());
  Tensor loss = cross_entropy(b, scores, tokens, masked.weights);
  if (next_sentence) {
    const Tensor next = next_sentence_loss(b, settings, x);
    b.metric("next_sentence", next);
    loss = loss + next;
  }
  return loss;
}

Tensor build_bert(ModelBuilder& b, const Settings& settings) { return encoder(b, settings, false); }
Tensor build_albert(ModelBuilder& b, const Settings& settings) { return encoder(b, settings, true); }

#define ENCODER_DEFAULTS                                                                                            \
  "batch=8 sequence=512 layers=12 width=768 heads=12 kv_heads=0 head_width=0 hidden=0 activation=gelu gated=false " \
  "dropout=0.1 "
#define ENCODER_TINY \
  "batch=8 sequence=65 vocabulary=257 layers=2 width=48 heads=4 dropout=0 learning_rate=0.003 next_sentence=false "

}  // namespace

Family bert_family() {
  return {"bert",
          "encoder trained on masked tokens and on which sentence follows",
          "Devlin et al. 2019",
          ENCODER_DEFAULTS "vocabulary=30522 next_sentence=true",
          {{"tiny", ENCODER_TINY, 0, ""},
           {"base", "", 110.1e6, "with both heads of pre-training, the tied table once"},
           {"large", "layers=24 width=1024 heads=16", 336.2e6, "with both heads; 335 M without, 340 M in the paper"}},
          build_bert};
}

Family roberta_family() {
  return {"roberta",
          "BERT with a larger vocabulary, trained on masked tokens only",
          "Liu et al. 2019",
          ENCODER_DEFAULTS "vocabulary=50265 next_sentence=false",
          {{"tiny", ENCODER_TINY, 0, ""},
           {"base", "", 125e6, "with the head for masked tokens"},
           {"large", "layers=24 width=1024 heads=16", 355.4e6, "with the head for masked tokens"}},
          build_bert};
}

Family albert_family() {
  return {"albert",
          "BERT whose blocks share their weights, with narrow embeddings",
          "Lan et al. 2020",
          ENCODER_DEFAULTS "embedding_width=128 vocabulary=30000 next_sentence=true",
          {{"tiny", ENCODER_TINY "embedding_width=24", 0, ""},
           {"base", "", 11.81e6, "with both heads; 11.7 M without, 12 M in the paper"},
           {"xxlarge", "width=4096 heads=64", 223.2e6, "with both heads, as released (223 M); 235 M in the paper"}},
          build_albert};
}

}  // namespace rhino::zoo
