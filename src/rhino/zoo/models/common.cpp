// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"

#include <rhino/base/error.hpp>
#include <rhino/zoo/layers/losses.hpp>

namespace rhino::zoo {

using ir::DType;

Tensor token_batch(ModelBuilder& b, const Settings& settings, std::string_view name, std::int64_t count) {
  return b.batch(name, {DType::I32, {settings.integer("batch"), count}});
}

std::pair<Tensor, Tensor> shifted_tokens(ModelBuilder& b, const Settings& settings) {
  const std::int64_t sequence = settings.integer("sequence");
  const Tensor tokens = token_batch(b, settings, "tokens", sequence + 1);
  return {b.slice(tokens, 1, 0, sequence), b.slice(tokens, 1, 1, sequence + 1)};
}

Tensor image_batch(ModelBuilder& b, const Settings& settings) {
  const std::int64_t size = settings.integer("image");
  const Tensor image =
      b.batch("image", {DType::U8, {settings.integer("batch"), size, size, settings.integer("channels")}});
  return b.convert(b.convert(image, DType::F32) * (2 / static_cast<double>(settings.integer("white"))) - 1,
                   b.compute());
}

Tensor label_batch(ModelBuilder& b, const Settings& settings) {
  return b.batch("label", {DType::I32, {settings.integer("batch")}});
}

Tensor patches(ModelBuilder& b, const Tensor& image, std::int64_t patch) {
  const std::int64_t batch = image.dim(0), height = image.dim(1), width = image.dim(2), channels = image.dim(3);
  RHINO_CHECK_AS(UsageError, height % patch == 0 && width % patch == 0, "patch={} does not divide an image of {} x {}",
                 patch, height, width);
  const Tensor cut = b.reshape(image, {batch, height / patch, patch, width / patch, patch, channels});
  return b.reshape(b.transpose(cut, {0, 1, 3, 2, 4, 5}), {batch, -1, patch * patch * channels});
}

Tensor classification_loss(ModelBuilder& b, const Tensor& scores, const Tensor& labels) {
  b.metric("accuracy", accuracy(b, scores, labels));
  return cross_entropy(b, scores, labels);
}

}  // namespace rhino::zoo
