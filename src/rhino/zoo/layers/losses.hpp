// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rhino/zoo/model_builder.hpp>

namespace rhino::zoo {

// All give an f32 scalar.

/// Mean over all places of -log softmax(scores)[label]. scores [.., classes] in any float type, labels [..] of
/// integers. The label's score is picked, no one-hot tensor is made. With `weights` f32 [..] the weighted mean.
Tensor cross_entropy(ModelBuilder& b, const Tensor& scores, const Tensor& labels, const Tensor& weights = {});
Tensor mean_squared_error(ModelBuilder& b, const Tensor& x, const Tensor& target);
/// Mean of log(1 + exp(-score)) where the target is 1 and log(1 + exp(score)) where it is 0, for any target between.
Tensor binary_cross_entropy(ModelBuilder& b, const Tensor& scores, const Tensor& targets);
/// Softplus, without overflow.
Tensor softplus(ModelBuilder& b, const Tensor& x);
/// Symmetric contrastive loss over the whole batch (Radford et al. 2021): rows [batch, width] of both, scaled to length
/// 1, times exp(log_scale); the partner of row i is row i.
Tensor contrastive(ModelBuilder& b, const Tensor& left, const Tensor& right, const Tensor& log_scale);
/// Fraction of places whose largest score is the label's.
Tensor accuracy(ModelBuilder& b, const Tensor& scores, const Tensor& labels);

}  // namespace rhino::zoo
