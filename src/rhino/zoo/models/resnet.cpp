// SPDX-License-Identifier: Apache-2.0
// Residual networks: resnet, wide_resnet.
#include <cmath>

#include <fmt/format.h>

#include <rhino/zoo/layers/convolution.hpp>

#include "common.hpp"
#include "families.hpp"

namespace rhino::zoo {

namespace {

Tensor normed_convolution(ModelBuilder& b, std::string_view name, const Tensor& x, std::int64_t features,
                          std::int64_t kernel, std::int64_t stride) {
  ir::WindowSpec window = ir::WindowSpec::valid(stride);
  window.pad_low = window.pad_high = {kernel / 2};
  const auto scope = b.scope(name);
  const Tensor y =
      convolution(b, "conv", x, {.features = features, .kernel = {kernel}, .window = window, .bias = false});
  return batch_norm(b, "norm", y);
}

/// Stride in the 3x3 convolution of a bottleneck, as in the common implementations.
Tensor residual_block(ModelBuilder& b, const Tensor& x, std::int64_t reduced, std::int64_t inner, std::int64_t outer,
                      std::int64_t stride, bool bottleneck) {
  const auto relu = [&](const Tensor& y) { return activate(b, y, Activation::Relu); };
  Tensor y = x;
  if (bottleneck) {
    y = relu(normed_convolution(b, "reduce", y, reduced, 1, 1));
    y = relu(normed_convolution(b, "middle", y, inner, 3, stride));
    y = normed_convolution(b, "widen", y, outer, 1, 1);
  } else {
    y = relu(normed_convolution(b, "first", y, inner, 3, stride));
    y = normed_convolution(b, "second", y, outer, 3, 1);
  }
  const bool changed = stride != 1 || x.dim(-1) != outer;
  return relu(y + (changed ? normed_convolution(b, "shortcut", x, outer, 1, stride) : x));
}

Tensor build_resnet(ModelBuilder& b, const Settings& settings) {
  const std::int64_t first = settings.integer("features");
  const bool bottleneck = settings.flag("bottleneck"), imagenet = settings.choice("stem") == "imagenet";
  Tensor x = normed_convolution(b, "stem", image_batch(b, settings), first, imagenet ? 7 : 3, imagenet ? 2 : 1);
  x = activate(b, x, Activation::Relu);
  if (imagenet) {
    ir::WindowSpec window = ir::WindowSpec::valid(2);
    window.pad_low = window.pad_high = {1};
    x = max_pool(b, x, 3, window);
  }
  const std::vector<std::int64_t> stages = settings.integers("blocks");
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const std::int64_t features = first << s;
    const std::int64_t inner = features * settings.integer("width_factor"),
                       outer = bottleneck ? 4 * features : features;
    const std::int64_t reduced = settings.flag("middle_only") ? features : inner;
    for (std::int64_t i = 0; i < stages[s]; ++i) {
      const auto scope = b.scope(fmt::format("stage{}/block{}", s, i));
      x = residual_block(b, x, reduced, inner, outer, s > 0 && i == 0 ? 2 : 1, bottleneck);
    }
  }
  const Tensor pooled = global_average_pool(b, x);
  const double deviation = 1 / std::sqrt(static_cast<double>(pooled.dim(-1)));
  return classification_loss(b, dense(b, "head", pooled, {settings.integer("classes")}, normal(deviation)),
                             label_batch(b, settings));
}

#define RESNET_DEFAULTS(classes)                             \
  "batch=32 image=224 white=255 channels=3 classes=" classes \
  " features=64 bottleneck=true width_factor=1 middle_only=false stem=imagenet "
#define RESNET_TINY                                                                                     \
  "batch=16 image=16 white=16 channels=1 classes=10 features=8 bottleneck=false blocks=1,1 stem=small " \
  "optimizer=momentum "                                                                                 \
  "learning_rate=0.05 "
#define ALPA "middle_only=true "

}  // namespace

Family resnet_family() {
  return {"resnet",
          "residual blocks of convolutions with batch norm",
          "He et al. 2016",
          RESNET_DEFAULTS("1000") "blocks=3,4,6,3",
          {{"tiny", RESNET_TINY, 0, ""},
           {"18", "bottleneck=false blocks=2,2,2,2", 11.69e6, ""},
           {"34", "bottleneck=false", 21.80e6, ""},
           {"50", "", 25.56e6, ""},
           {"101", "blocks=3,4,23,3", 44.55e6, ""},
           {"152", "blocks=3,8,36,3", 60.19e6, ""}},
          build_resnet};
}

Family wide_resnet_family() {
  return {"wide_resnet",
          "residual network with wide inner convolutions",
          "Zagoruyko, Komodakis 2016; the sizes in billions: Zheng et al. 2022 (Alpa)",
          RESNET_DEFAULTS("1024") "blocks=3,4,6,3",
          {{"tiny", RESNET_TINY "bottleneck=true width_factor=2", 0, ""},
           {"50_2", "classes=1000 width_factor=2", 68.88e6, ""},
           {"250M", ALPA "features=160 width_factor=2", 254.1e6, "1024 classes; the name is rounded"},
           {"500M", ALPA "features=224 width_factor=2", 495.0e6, "1024 classes; the name is rounded"},
           {"1B", ALPA "features=320 width_factor=2", 1005.7e6, "1024 classes; the name is rounded"},
           {"2B", ALPA "features=448 width_factor=2", 1965.0e6, "1024 classes; the name is rounded"},
           {"4B", ALPA "features=640 width_factor=2", 4000.9e6, "1024 classes; the name is rounded"},
           {"7B", ALPA "features=320 width_factor=16", 6727.7e6, "1024 classes; the name is rounded"},
           {"13B", ALPA "blocks=3,4,23,3 features=320 width_factor=16", 12633e6, "1024 classes; the name is rounded"}},
          build_resnet};
}

}  // namespace rhino::zoo
