// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include <rhino/zoo/layers/basic.hpp>
#include <rhino/zoo/settings.hpp>

namespace rhino::zoo {

// What several models read their batch by. Values come as data files hold them: tokens as i32 (any integers widen to
// it), images as u8.

/// Tokens i32 [batch, count] named `name`.
Tensor token_batch(ModelBuilder& b, const Settings& settings, std::string_view name, std::int64_t count);
/// What a language model reads and what it should say: "tokens" [batch, sequence + 1] without its last and first one.
std::pair<Tensor, Tensor> shifted_tokens(ModelBuilder& b, const Settings& settings);
/// "image" u8 [batch, image, image, channels] as the policy's type, from -1 to 1.
Tensor image_batch(ModelBuilder& b, const Settings& settings);
/// "label" i32 [batch].
Tensor label_batch(ModelBuilder& b, const Settings& settings);

/// Image [batch, height, width, channels] -> [batch, patches, patch * patch * channels]. Throws UsageError unless the
/// patch size divides the image.
Tensor patches(ModelBuilder& b, const Tensor& image, std::int64_t patch);

/// Cross-entropy, with the metric "accuracy".
Tensor classification_loss(ModelBuilder& b, const Tensor& scores, const Tensor& labels);

}  // namespace rhino::zoo
