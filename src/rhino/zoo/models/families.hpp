// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rhino/zoo/zoo.hpp>

namespace rhino::zoo {

// To add a model: write models/<name>.cpp that gives its Family, name the function here and in the list of zoo.cpp.
Family vgg_family();
Family resnet_family();
Family wide_resnet_family();
Family bert_family();
Family roberta_family();
Family albert_family();
Family t5_family();
Family gpt_family();
Family palm_family();
Family llama_family();
Family switch_family();
Family gshard_family();
Family glam_family();
Family m6_family();
Family vit_family();
Family unet_family();
Family latent_diffusion_family();
Family dlrm_family();
Family forward_forward_family();
Family clip_family();

}  // namespace rhino::zoo
