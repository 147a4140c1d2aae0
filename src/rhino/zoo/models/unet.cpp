// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/zoo/layers/convolution.hpp>

#include "common.hpp"
#include "families.hpp"

namespace rhino::zoo {

namespace {

/// Two 3x3 convolutions.
Tensor double_convolution(ModelBuilder& b, std::string_view name, Tensor x, const Settings& settings,
                          std::int64_t features) {
  const auto scope = b.scope(name);
  const bool valid = settings.choice("padding") == "valid";
  for (const char* part : {"first", "second"}) {
    RHINO_CHECK_AS(UsageError, !valid || x.dim(1) > 2, "image={} is too small for depth={} without padding",
                   settings.integer("image"), settings.integer("depth"));
    x = convolution(b, part, x,
                    {.features = features, .window = valid ? ir::WindowSpec::valid() : ir::WindowSpec::same()});
    x = activate(b, x, Activation::Relu);
  }
  return x;
}

/// The middle of an image, `size` high and wide.
Tensor crop(ModelBuilder& b, Tensor x, std::int64_t size) {
  for (const int dimension : {1, 2}) {
    const std::int64_t low = (x.dim(dimension) - size) / 2;
    x = b.slice(x, dimension, low, low + size);
  }
  return x;
}

Tensor build_unet(ModelBuilder& b, const Settings& settings) {
  const std::int64_t size = settings.integer("image"), batch = settings.integer("batch");
  const std::int64_t depth = settings.integer("depth"), features = settings.integer("features");
  const Tensor image = b.batch("image", {ir::DType::U8, {batch, size, size}});
  const double white = static_cast<double>(settings.integer("white"));
  Tensor x = b.convert(b.convert(b.expand(image, -1), ir::DType::F32) * (2 / white) - 1, b.compute());
  std::vector<Tensor> skips;
  for (std::int64_t level = 0; level < depth; ++level) {
    x = double_convolution(b, fmt::format("down{}", level), x, settings, features << level);
    RHINO_CHECK_AS(UsageError, x.dim(1) % 2 == 0, "image={} cannot be halved {} times", size, depth);
    skips.push_back(x);
    x = max_pool(b, x, 2, ir::WindowSpec::valid(2));
  }
  x = double_convolution(b, "bottom", x, settings, features << depth);
  for (std::int64_t level = depth; level-- > 0;) {
    x = transposed_convolution(b, fmt::format("up{}", level), x, features << level);
    const Tensor skip = crop(b, skips[static_cast<std::size_t>(level)], x.dim(1));
    x = double_convolution(b, fmt::format("merge{}", level), b.concatenate({skip, x}, -1), settings, features << level);
  }
  const Tensor scores = convolution(b, "head", x, {.features = settings.integer("classes"), .kernel = {1}, .gain = 1});
  const Tensor mask = b.batch("mask", {ir::DType::I32, {batch, x.dim(1), x.dim(2)}});
  return classification_loss(b, scores, mask);
}

}  // namespace

Family unet_family() {
  return {"unet",
          "segmentation: convolutions down and up again with skips, no padding in the original",
          "Ronneberger, Fischer, Brox 2015",
          "batch=4 image=572 white=255 classes=2 features=64 depth=4 padding=valid",
          {{"tiny", "batch=8 image=32 white=15 classes=3 features=8 depth=2 padding=same learning_rate=0.003", 0, ""},
           {"original", "", 31.03e6, ""}},
          build_unet};
}

}  // namespace rhino::zoo
