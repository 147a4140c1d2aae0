// SPDX-License-Identifier: Apache-2.0
// Transformers on image patches: vit, clip, m6.
#include <cmath>

#include <rhino/base/error.hpp>
#include <rhino/zoo/layers/losses.hpp>
#include <rhino/zoo/transformer.hpp>

#include "common.hpp"
#include "families.hpp"

namespace rhino::zoo {

using ir::DType;

namespace {

constexpr double kVitDeviation = 0.02;

/// Patches of the image as tokens behind a trained class token, with learned positions.
Tensor image_tokens(ModelBuilder& b, const Settings& settings, bool bias) {
  const std::int64_t width = settings.integer("width");
  const Tensor cut = patches(b, image_batch(b, settings), settings.integer("patch"));
  const Tensor tokens =
      dense(b, "patches", cut, {width}, normal(1 / std::sqrt(static_cast<double>(cut.dim(-1)))), bias);
  const Tensor first = add_bias(b, b.full({tokens.dtype(), {tokens.dim(0), 1, width}}, 0), "class_token", {width});
  return add_positions(b, b.concatenate({first, tokens}, 1), kVitDeviation);
}

Tensor first_token(ModelBuilder& b, const Tensor& x) { return b.reshape(b.slice(x, 1, 0, 1), {x.dim(0), x.dim(2)}); }

Tensor build_vit(ModelBuilder& b, const Settings& settings) {
  TransformerSpec spec = transformer_spec(settings, kVitDeviation, kVitDeviation);
  spec.epsilon = 1e-6;
  const Tensor x = transformer(b, b.dropout(image_tokens(b, settings, true), spec.dropout), spec).x;
  const Tensor features = first_token(b, norm(b, "final_norm", x, Norm::Layer, 1e-6));
  return classification_loss(b, dense(b, "head", features, {settings.integer("classes")}, zeros()),
                             label_batch(b, settings));
}

/// Features of each text at its end: the place of the largest token, which ends every text and occurs once.
Tensor text_features(ModelBuilder& b, const Settings& settings) {
  const auto scope = b.scope("text");
  const std::int64_t width = settings.integer("text_width");
  TransformerSpec spec = transformer_spec(
      settings, kVitDeviation, kVitDeviation / std::sqrt(2.0 * static_cast<double>(settings.integer("text_layers"))));
  spec.layers = settings.integer("text_layers");
  spec.attention.heads = spec.attention.kv_heads = settings.integer("text_heads");
  RHINO_CHECK_AS(UsageError, width % spec.attention.heads == 0, "text_heads={} do not divide text_width={}",
                 spec.attention.heads, width);
  spec.attention.head_width = width / spec.attention.heads;
  spec.attention.causal = true;
  spec.feed_forward.hidden = 4 * width;
  spec.feed_forward.activation = Activation::QuickGelu;
  const Tensor tokens = token_batch(b, settings, "text", settings.integer("sequence"));
  const Tensor rows = embed(b, "embedding", tokens, settings.integer("vocabulary"), width, normal(kVitDeviation)).rows;
  const Tensor x = norm(b, "final_norm", transformer(b, add_positions(b, rows, 0.01), spec).x);
  const Tensor end = b.convert(b.equal(tokens, b.max(tokens, {1}, true)), x.dtype());
  const Tensor features = b.einsum("bs,bsm->bm", end, x);
  return dense(b, "projection", features, {settings.integer("joint_width")},
               normal(1 / std::sqrt(static_cast<double>(width))), false);
}

Tensor image_features(ModelBuilder& b, const Settings& settings) {
  const auto scope = b.scope("image");
  const std::int64_t width = settings.integer("width");
  TransformerSpec spec = transformer_spec(
      settings, kVitDeviation, kVitDeviation / std::sqrt(2.0 * static_cast<double>(settings.integer("layers"))));
  spec.feed_forward.activation = Activation::QuickGelu;
  const Tensor tokens = norm(b, "first_norm", image_tokens(b, settings, false));
  const Tensor features = norm(b, "final_norm", first_token(b, transformer(b, tokens, spec).x));
  return dense(b, "projection", features, {settings.integer("joint_width")},
               normal(1 / std::sqrt(static_cast<double>(width))), false);
}

Tensor build_clip(ModelBuilder& b, const Settings& settings) {
  const Tensor image = image_features(b, settings), text = text_features(b, settings);
  return contrastive(b, image, text, b.parameter("log_scale", {}, constant(std::log(1 / 0.07))));
}

/// Image patches, which see each other, then text, which sees what is before it; the text is to be guessed.
Tensor build_m6(ModelBuilder& b, const Settings& settings) {
  const std::int64_t width = settings.integer("width"), vocabulary = settings.integer("vocabulary");
  TransformerSpec spec = transformer_spec(
      settings, kVitDeviation, kVitDeviation / std::sqrt(2.0 * static_cast<double>(settings.integer("layers"))));
  const Tensor cut = patches(b, image_batch(b, settings), settings.integer("patch"));
  const Tensor image = dense(b, "patches", cut, {width}, normal(1 / std::sqrt(static_cast<double>(cut.dim(-1)))));
  const std::int64_t sequence = settings.integer("sequence");
  const Tensor text = token_batch(b, settings, "text", sequence + 1);
  const Embedding embedding =
      embed(b, "embedding", b.slice(text, 1, 0, sequence), vocabulary, width, normal(kVitDeviation));
  const Tensor x = add_positions(b, b.concatenate({image, embedding.rows}, 1), kVitDeviation);
  const ir::TensorType places{DType::I32, {x.dim(1), x.dim(1)}};
  const Tensor key = b.iota(places, 1);
  const Tensor seen =
      b.binary(ir::OpKind::Or, b.greater_equal(b.iota(places, 0), key), b.less(key, static_cast<double>(image.dim(1))));
  TransformerInputs inputs;
  inputs.score_bias = b.select(seen, b.full({DType::F32, places.dims}, 0), -1e9);
  const TransformerOutput output = transformer(b, b.dropout(x, spec.dropout), spec, inputs);
  const Tensor read = norm(b, "final_norm", b.slice(output.x, 1, image.dim(1), x.dim(1)));
  const Tensor loss = cross_entropy(b, tied_scores(b, read, embedding.table), b.slice(text, 1, 1, sequence + 1));
  return with_balance(b, loss, output, settings);
}

}  // namespace

Family vit_family() {
  return {"vit",
          "encoder on image patches",
          "Dosovitskiy et al. 2021",
          "batch=32 image=224 white=255 channels=3 patch=16 classes=1000 layers=12 width=768 heads=12 hidden=0 "
          "activation=gelu dropout=0",
          {{"tiny",
            "batch=32 image=16 white=16 channels=1 patch=4 classes=10 layers=2 width=48 heads=4 hidden=96 "
            "learning_rate=0.003",
            0, ""},
           {"b16", "", 86.57e6, "with the head of 1000 classes"},
           {"l16", "layers=24 width=1024 heads=16", 304.33e6, "with the head of 1000 classes"},
           {"h14", "patch=14 layers=32 width=1280 heads=16", 632.05e6, "with the head of 1000 classes"}},
          build_vit};
}

Family clip_family() {
  return {"clip",
          "image and text encoders with a contrastive loss over the global batch",
          "Radford et al. 2021",
          "batch=32 image=224 white=255 channels=3 patch=32 layers=12 width=768 heads=12 sequence=77 vocabulary=49408 "
          "text_layers=12 "
          "text_width=512 text_heads=8 joint_width=512",
          {{"tiny",
            "batch=16 image=16 white=16 channels=1 patch=4 layers=2 width=48 heads=4 sequence=8 vocabulary=32 "
            "text_layers=1 "
            "text_width=32 text_heads=2 joint_width=32 learning_rate=0.003",
            0, ""},
           {"b32", "", 151.28e6, ""}},
          build_clip};
}

Family m6_family() {
  return {"m6",
          "one transformer over image patches and text, dense or with experts (top-1)",
          "Lin et al. 2021",
          "batch=8 image=256 white=255 channels=3 patch=64 sequence=128 vocabulary=21128 layers=50 width=4096 heads=32 "
          "hidden=0 "
          "activation=gelu_tanh gated=false dropout=0 experts=0 chosen=1 experts_every=1 capacity_factor=1.25 "
          "balance_weight=0.01 dispatch=one_hot",
          {{"tiny",
            "batch=16 image=16 white=16 channels=1 patch=4 sequence=7 vocabulary=32 layers=2 width=48 heads=4 "
            "hidden=96 experts=4 "
            "experts_every=2 learning_rate=0.003",
            0, ""},
           {"10B", "", 10.2e9, "dense, 50 blocks of width 4096; 10B is rounded"},
           {"100B", "layers=24 width=1024 heads=16 experts=512 experts_every=1", 103.3e9,
            "all experts, 24 blocks of width 1024; 100B is rounded"}},
          build_m6};
}

}  // namespace rhino::zoo
