// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/zoo/layers/losses.hpp>

#include "common.hpp"
#include "families.hpp"

namespace rhino::zoo {

using ir::DType;

namespace {

/// Flat images whose first pixels tell a label.
Tensor labelled(ModelBuilder& b, const Tensor& flat, const Tensor& label, std::int64_t classes) {
  const Tensor told = b.one_hot(label, classes, flat.dtype());
  return b.concatenate({told, b.slice(flat, 1, classes, flat.dim(1))}, 1);
}

/// Scaled to a mean square of one, so that the next layer cannot read the goodness.
Tensor direction(ModelBuilder& b, const Tensor& x) { return x * b.rsqrt(b.mean(x * x, {-1}, true) + 1e-6); }

/// Positive data carry their own label, negative data a wrong one. Each layer learns by itself to give positive data a
/// mean square activity above the threshold and negative data one below; no gradient passes between layers.
Tensor build_forward_forward(ModelBuilder& b, const Settings& settings) {
  const std::int64_t classes = settings.integer("classes"), width = settings.integer("width");
  const Tensor image = image_batch(b, settings);
  const Tensor flat = b.reshape(image, {image.dim(0), -1});
  RHINO_CHECK_AS(UsageError, flat.dim(1) > classes, "an image of {} values has no room for {} labels", flat.dim(1),
                 classes);
  const Tensor label = label_batch(b, settings);
  const Tensor other = b.convert(b.random_uniform({image.dim(0)}) * static_cast<double>(classes - 1), DType::I32) + 1;
  const Tensor wrong = b.binary(ir::OpKind::Remainder, label + other, b.scalar_int(DType::I32, classes));
  Tensor positive = labelled(b, flat, label, classes), negative = labelled(b, flat, wrong, classes);
  Tensor total;
  for (std::int64_t i = 0; i < settings.integer("layers"); ++i) {
    const std::string name = fmt::format("layer{}", i);
    const Tensor both = direction(b, b.concatenate({positive, negative}, 0));
    const double deviation = std::sqrt(1 / static_cast<double>(both.dim(-1)));
    const Tensor y = activate(b, dense(b, name, both, {width}, normal(deviation)), Activation::Relu);
    const Tensor goodness = b.mean(b.convert(y * y, DType::F32), {-1}) - settings.real("threshold");
    const std::int64_t batch = image.dim(0);
    const Tensor loss = 0.5 * (b.mean(softplus(b, -b.slice(goodness, 0, 0, batch))) +
                               b.mean(softplus(b, b.slice(goodness, 0, batch, 2 * batch))));
    b.local_loss(name, loss);
    total = i == 0 ? loss : total + loss;
    positive = b.slice(y, 0, 0, batch);
    negative = b.slice(y, 0, batch, 2 * batch);
  }
  return total * (1 / static_cast<double>(settings.integer("layers")));
}

}  // namespace

Family forward_forward_family() {
  return {"forward_forward",
          "layers that learn by themselves to tell positive from negative data, without a backward pass between them",
          "Hinton 2022",
          "batch=100 image=28 white=255 channels=1 classes=10 layers=4 width=2000 threshold=0.5",
          {{"tiny", "batch=64 image=16 white=16 layers=2 width=96 learning_rate=0.003", 0, ""},
           {"mnist", "", 13.576e6, "four layers of 2000 on 784 pixels"}},
          build_forward_forward};
}

}  // namespace rhino::zoo
