// SPDX-License-Identifier: Apache-2.0
#include <rhino/frontend/batch_norm.hpp>

#include <rhino/base/error.hpp>

namespace rhino::frontend {
namespace {

using ir::OpKind;
using ir::ValueId;

/// The pieces that all three share.
class Normaliser {
 public:
  Normaliser(ir::Builder& builder, ValueId operand, double epsilon, int feature)
      : builder_(builder), operand_(operand), type_(builder.type(operand)), epsilon_(epsilon), feature_(feature) {
    RHINO_CHECK(feature >= 0 && feature < type_.rank(), "the operand {} has no feature dimension {}",
                ir::to_string(type_), feature);
    for (int i = 0; i < type_.rank(); ++i)
      if (i != feature) reduced_.push_back(i);
    const std::int64_t features = type_.dims[static_cast<std::size_t>(feature)];
    per_feature_ = features == 0 ? 0.0 : static_cast<double>(type_.elements()) / static_cast<double>(features);
  }

  ValueId spread(ValueId per_feature) { return builder_.broadcast(per_feature, type_.dims, {feature_}); }
  ValueId sum(ValueId value) { return builder_.reduce(value, ir::ReducerKind::Add, reduced_); }
  ValueId average(ValueId value) {
    const ValueId total = sum(value);
    return builder_(OpKind::Divide, total, builder_.full(builder_.type(total), per_feature_));
  }
  ValueId centred(ValueId mean) { return builder_(OpKind::Subtract, operand_, spread(mean)); }
  ValueId with_epsilon(ValueId variance) {
    return builder_(OpKind::Add, variance, builder_.full(builder_.type(variance), epsilon_));
  }
  ValueId deviation(ValueId variance) { return spread(builder_(OpKind::Sqrt, with_epsilon(variance))); }
  ValueId count() { return builder_.full(type_, per_feature_); }

 private:
  ir::Builder& builder_;
  ValueId operand_;
  ir::TensorType type_;
  double epsilon_;
  int feature_;
  std::vector<int> reduced_;
  double per_feature_ = 0;
};

}  // namespace

ValueId batch_norm_inference(ir::Builder& builder, ValueId operand, ValueId scale, ValueId offset, ValueId mean,
                             ValueId variance, double epsilon, int feature) {
  Normaliser norm(builder, operand, epsilon, feature);
  const ValueId scaled = builder(OpKind::Multiply, norm.spread(scale), norm.centred(mean));
  const ValueId divided = builder(OpKind::Divide, scaled, norm.deviation(variance));
  return builder(OpKind::Add, divided, norm.spread(offset));
}

std::vector<ValueId> batch_norm_training(ir::Builder& builder, ValueId operand, ValueId scale, ValueId offset,
                                         double epsilon, int feature) {
  Normaliser norm(builder, operand, epsilon, feature);
  const ValueId mean = norm.average(operand);
  const ValueId centred = norm.centred(mean);
  const ValueId variance = norm.average(builder(OpKind::Multiply, centred, centred));
  return {batch_norm_inference(builder, operand, scale, offset, mean, variance, epsilon, feature), mean, variance};
}

std::vector<ValueId> batch_norm_grad(ir::Builder& builder, ValueId operand, ValueId scale, ValueId mean,
                                     ValueId variance, ValueId grad_output, double epsilon, int feature) {
  Normaliser norm(builder, operand, epsilon, feature);
  const ValueId centred = norm.centred(mean);
  const ValueId deviation = norm.deviation(variance);
  const ValueId normalised = builder(OpKind::Divide, centred, deviation);
  const ValueId grad_offset = norm.sum(grad_output);
  const ValueId projection = norm.sum(builder(OpKind::Multiply, grad_output, centred));
  const ValueId i1 = builder(OpKind::Multiply, grad_output, norm.count());
  const ValueId i4 = builder(OpKind::Multiply, norm.spread(projection), centred);
  const ValueId i5 = builder(OpKind::Divide, i4, norm.spread(norm.with_epsilon(variance)));
  const ValueId i6 = builder(OpKind::Subtract, builder(OpKind::Subtract, i1, norm.spread(grad_offset)), i5);
  const ValueId factor = builder(OpKind::Divide, builder(OpKind::Divide, norm.spread(scale), deviation), norm.count());
  const ValueId grad_scale = norm.sum(builder(OpKind::Multiply, grad_output, normalised));
  return {builder(OpKind::Multiply, factor, i6), grad_scale, grad_offset};
}

}  // namespace rhino::frontend
