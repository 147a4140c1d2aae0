// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/zoo/layers/convolution.hpp>
#include <rhino/zoo/layers/losses.hpp>
#include <rhino/zoo/transformer.hpp>

#include "common.hpp"
#include "families.hpp"

namespace rhino::zoo {

using ir::Dims;
using ir::DType;

namespace {

/// The U-Net that guesses the noise: residual blocks that know the time, transformers that attend to the condition.
class NoisePredictor {
 public:
  NoisePredictor(ModelBuilder& b, const Settings& settings, const Tensor& time, const Tensor& context)
      : b_(b), settings_(settings), context_(context), levels_(settings.integers("multipliers")) {
    const std::int64_t features = settings.integer("features");
    time_ = dense(b, "time0", sinusoids(time, features), {4 * features}, normal(0.02));
    time_ = activate(b, dense(b, "time1", activate(b, time_, Activation::Silu), {4 * features}, normal(0.02)),
                     Activation::Silu);
  }

  Tensor operator()(Tensor x) {
    const std::int64_t channels = x.dim(-1), blocks = settings_.integer("residual_blocks");
    std::vector<Tensor> skips{x = convolve("input", x, settings_.integer("features"))};
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      for (std::int64_t i = 0; i < blocks; ++i)
        skips.push_back(x = stage(fmt::format("down{}_{}", level, i), x, level));
      if (level + 1 < levels_.size()) skips.push_back(x = halve(fmt::format("halve{}", level), x));
    }
    x = residual("middle0", x, x.dim(-1));
    x = attend("middle_attention", x);
    x = residual("middle1", x, x.dim(-1));
    for (std::size_t level = levels_.size(); level-- > 0;) {
      for (std::int64_t i = 0; i < blocks + 1; ++i) {
        x = b_.concatenate({x, skips.back()}, -1);
        skips.pop_back();
        x = stage(fmt::format("up{}_{}", level, i), x, level);
      }
      if (level > 0) x = convolve(fmt::format("double{}", level), upsample_nearest(b_, x), x.dim(-1));
    }
    x = activate(b_, group_norm(b_, "output_norm", x, settings_.integer("groups")), Activation::Silu);
    return convolve("output", x, channels, 0);
  }

 private:
  Tensor sinusoids(const Tensor& time, std::int64_t width) {
    RHINO_CHECK_AS(UsageError, width % 2 == 0, "features={} must be even", width);
    const Tensor number = b_.iota({DType::F32, {width / 2}}, 0);
    const Tensor angle = b_.expand(time, -1) * b_.exp(number * (-2 * std::log(10000.0) / static_cast<double>(width)));
    return b_.convert(b_.concatenate({b_.cos(angle), b_.sin(angle)}, -1), b_.compute());
  }

  Tensor convolve(std::string_view name, const Tensor& x, std::int64_t features, double gain = 1) {
    return convolution(b_, name, x, {.features = features, .gain = gain});
  }

  Tensor halve(std::string_view name, const Tensor& x) {
    RHINO_CHECK_AS(UsageError, x.dim(1) % 2 == 0, "image={} cannot be halved once per multiplier",
                   settings_.integer("image"));
    ir::WindowSpec window = ir::WindowSpec::valid(2);
    window.pad_low = window.pad_high = {1};
    return convolution(b_, name, x, {.features = x.dim(-1), .window = window, .gain = 1});
  }

  Tensor stage(std::string_view name, const Tensor& x, std::size_t level) {
    const auto scope = b_.scope(name);
    const Tensor y = residual("residual", x, levels_[level] * settings_.integer("features"));
    return static_cast<std::int64_t>(level) < settings_.integer("attention_levels") ? attend("attention", y) : y;
  }

  Tensor residual(std::string_view name, const Tensor& x, std::int64_t features) {
    const auto scope = b_.scope(name);
    const std::int64_t groups = settings_.integer("groups");
    const Tensor first = activate(b_, group_norm(b_, "norm0", x, groups), Activation::Silu);
    const Tensor time = dense(b_, "time", time_, {features}, normal(0.02));
    const Tensor y = convolve("conv0", first, features) + b_.reshape(time, {x.dim(0), 1, 1, features});
    const Tensor z = convolve("conv1", activate(b_, group_norm(b_, "norm1", y, groups), Activation::Silu), features, 0);
    if (x.dim(-1) == features) return x + z;
    return convolution(b_, "skip", x, {.features = features, .kernel = {1}, .gain = 1}) + z;
  }

  Tensor attend(std::string_view name, const Tensor& x) {
    const auto scope = b_.scope(name);
    const std::int64_t width = x.dim(-1), heads = settings_.integer("heads");
    RHINO_CHECK_AS(UsageError, width % heads == 0, "heads={} do not divide {} features", heads, width);
    TransformerSpec spec;
    spec.attention.heads = spec.attention.kv_heads = heads;
    spec.attention.head_width = width / heads;
    spec.attention.bias = false;
    spec.attention.recipe = spec.attention.output_recipe = normal(1 / std::sqrt(static_cast<double>(width)));
    spec.feed_forward = {.hidden = 4 * width,
                         .gated = true,
                         .recipe = spec.attention.recipe,
                         .output_recipe = normal(0.5 / std::sqrt(static_cast<double>(width)))};
    const Tensor flat = b_.reshape(group_norm(b_, "norm", x, settings_.integer("groups"), 1e-6), {x.dim(0), -1, width});
    TransformerInputs inputs;
    inputs.context = context_;
    const Tensor y = transformer(b_, dense(b_, "in", flat, {width}, spec.attention.recipe), spec, inputs).x;
    return x + b_.reshape(dense(b_, "out", y, {width}, zeros()), x.dims());
  }

  ModelBuilder& b_;
  const Settings& settings_;
  Tensor time_, context_;
  std::vector<std::int64_t> levels_;
};

/// Share of the signal that is left after each diffusion step: betas whose roots grow linearly from 0.00085 to 0.012.
ir::Literal signal_shares(std::int64_t steps) {
  std::vector<float> shares;
  double left = 1;
  for (std::int64_t t = 0; t < steps; ++t) {
    const double place = steps > 1 ? static_cast<double>(t) / static_cast<double>(steps - 1) : 0;
    const double root = std::sqrt(0.00085) + place * (std::sqrt(0.012) - std::sqrt(0.00085));
    left *= 1 - root * root;
    shares.push_back(static_cast<float>(left));
  }
  std::vector<std::byte> bytes(shares.size() * sizeof(float));
  std::memcpy(bytes.data(), shares.data(), bytes.size());
  return {{DType::F32, {steps}}, std::move(bytes)};
}

/// Clean latents and what they are conditioned on.
std::pair<Tensor, Tensor> read_batch(ModelBuilder& b, const Settings& settings) {
  const std::int64_t batch = settings.integer("batch"), size = settings.integer("image");
  const std::int64_t width = settings.integer("context_width"), count = settings.integer("context");
  if (settings.choice("condition") == "tokens") {
    const Tensor image = b.convert(image_batch(b, settings), DType::F32);
    const Tensor text = token_batch(b, settings, "text", count);
    return {image, embed(b, "condition", text, settings.integer("vocabulary"), width, normal(0.5)).rows};
  }
  const Tensor latent = b.batch("latent", {DType::F32, {batch, size, size, settings.integer("channels")}});
  return {latent, b.convert(b.batch("context", {DType::F32, {batch, count, width}}), b.compute())};
}

Tensor build_latent_diffusion(ModelBuilder& b, const Settings& settings) {
  const auto [clean, context] = read_batch(b, settings);
  const std::int64_t batch = clean.dim(0), steps = settings.integer("diffusion_steps");
  const Tensor draw = b.convert(b.random_uniform({batch}) * static_cast<double>(steps), DType::I32);
  const Tensor time = b.minimum(draw, static_cast<double>(steps - 1));
  const Tensor share = b.reshape(b.take(b.constant(signal_shares(steps)), time), {batch, 1, 1, 1});
  const Tensor noise = b.random_normal(clean.dims());
  const Tensor noisy = clean * b.sqrt(share) + noise * b.sqrt(1.0 - share);
  NoisePredictor predict(b, settings, b.convert(time, DType::F32), context);
  return mean_squared_error(b, predict(b.convert(noisy, b.compute())), noise);
}

}  // namespace

Family latent_diffusion_family() {
  return {"latent_diffusion",
          "text-conditioned U-Net that predicts the noise in a latent image",
          "Rombach et al. 2022",
          "batch=4 image=64 white=255 channels=4 condition=embeddings context=77 context_width=768 vocabulary=2 "
          "features=320 "
          "multipliers=1,2,4,4 residual_blocks=2 attention_levels=3 heads=8 groups=32 diffusion_steps=1000",
          {{"tiny",
            "batch=8 image=16 white=16 channels=1 condition=tokens context=8 context_width=16 vocabulary=32 features=8 "
            "multipliers=1,2 residual_blocks=1 attention_levels=1 heads=2 groups=4 learning_rate=0.003",
            0, ""},
           {"860M", "", 859.5e6, "the U-Net alone, without autoencoder and text encoder"}},
          build_latent_diffusion};
}

}  // namespace rhino::zoo
