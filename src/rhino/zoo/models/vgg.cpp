// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/zoo/layers/convolution.hpp>

#include "common.hpp"
#include "families.hpp"

namespace rhino::zoo {

namespace {

Tensor build_vgg(ModelBuilder& b, const Settings& settings) {
  Tensor x = image_batch(b, settings);
  int number = 0;
  for (const std::int64_t features : settings.integers("stages")) {
    if (features == 0) {
      RHINO_CHECK_AS(UsageError, x.dim(1) >= 2, "image={} is too small for the poolings in stages",
                     settings.integer("image"));
      x = max_pool(b, x, 2, ir::WindowSpec::valid(2));
      continue;
    }
    const std::string name = fmt::format("conv{}", number++);
    x = convolution(b, name, x, {.features = features});
    if (settings.flag("batch_norm")) x = batch_norm(b, name + "_norm", x);
    x = activate(b, x, Activation::Relu);
  }
  x = b.reshape(x, {x.dim(0), -1});
  for (const char* name : {"dense0", "dense1"}) {
    x = dense(b, name, x, {settings.integer("classifier")}, normal(0.01));
    x = b.dropout(activate(b, x, Activation::Relu), settings.real("dropout"));
  }
  return classification_loss(b, dense(b, "head", x, {settings.integer("classes")}, normal(0.01)),
                             label_batch(b, settings));
}

}  // namespace

Family vgg_family() {
  return {
      "vgg",
      "3x3 convolutions and poolings, then three dense layers",
      "Simonyan, Zisserman 2015",
      "batch=32 image=224 white=255 channels=3 classes=1000 classifier=4096 dropout=0.5 batch_norm=false "
      "stages=64,64,0,128,128,0,256,256,256,0,512,512,512,0,512,512,512,0",
      {{"tiny",
        "batch=16 image=16 white=16 channels=1 classes=10 classifier=64 dropout=0 batch_norm=true stages=8,0,16,0,32,0 "
        "learning_rate=0.003",
        0, ""},
       {"11", "stages=64,0,128,0,256,256,0,512,512,0,512,512,0", 132.86e6, ""},
       {"16", "", 138.36e6, ""},
       {"19", "stages=64,64,0,128,128,0,256,256,256,256,0,512,512,512,512,0,512,512,512,512,0", 143.67e6, ""}},
      build_vgg};
}

}  // namespace rhino::zoo
