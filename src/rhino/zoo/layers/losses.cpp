// SPDX-License-Identifier: Apache-2.0
#include <rhino/zoo/layers/losses.hpp>

namespace rhino::zoo {

using ir::DType;

Tensor cross_entropy(ModelBuilder& b, const Tensor& scores, const Tensor& labels, const Tensor& weights) {
  const auto scope = b.scope("cross_entropy");
  const Tensor s = b.convert(scores, DType::F32);
  const Tensor each = b.log_sum_exp(s) - b.pick(s, labels);
  if (!weights.valid()) return b.mean(each);
  return b.sum(each * weights) / b.maximum(b.sum(weights), 1e-6);
}

Tensor mean_squared_error(ModelBuilder& b, const Tensor& x, const Tensor& target) {
  const Tensor difference = b.convert(x, DType::F32) - b.convert(target, DType::F32);
  return b.mean(difference * difference);
}

Tensor softplus(ModelBuilder& b, const Tensor& x) { return b.maximum(x, 0) + b.log1p(b.exp(-b.abs(x))); }

Tensor binary_cross_entropy(ModelBuilder& b, const Tensor& scores, const Tensor& targets) {
  const auto scope = b.scope("binary_cross_entropy");
  const Tensor s = b.convert(scores, DType::F32);
  return b.mean(softplus(b, s) - s * b.convert(targets, DType::F32));
}

Tensor contrastive(ModelBuilder& b, const Tensor& left, const Tensor& right, const Tensor& log_scale) {
  const auto scope = b.scope("contrastive");
  const auto unit = [&](const Tensor& x) {
    const Tensor f = b.convert(x, DType::F32);
    return f * b.rsqrt(b.sum(f * f, {-1}, true) + 1e-12);
  };
  const Tensor scores = b.einsum("im,jm->ij", unit(left), unit(right)) * b.exp(log_scale);
  const Tensor own = b.iota({DType::I32, {scores.dim(0)}}, 0);
  return 0.5 * (cross_entropy(b, scores, own) + cross_entropy(b, b.transpose(scores, {1, 0}), own));
}

Tensor accuracy(ModelBuilder& b, const Tensor& scores, const Tensor& labels) {
  const Tensor s = b.convert(scores, DType::F32);
  return b.mean(b.convert(b.greater_equal(b.pick(s, labels), b.max(s, {-1})), DType::F32));
}

}  // namespace rhino::zoo
