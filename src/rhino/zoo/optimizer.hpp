// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <rhino/zoo/model_builder.hpp>
#include <rhino/zoo/settings.hpp>

namespace rhino::zoo {

/// An update rule with its schedule, as a part of the step: every quantity is computed in the program from the step
/// counter and from state under "optimizer/". Rules: SGD; momentum and Nesterov (0.9); Adam (Kingma, Ba 2015: 0.9,
/// 0.999, 1e-8); AdamW (Loshchilov, Hutter 2019); LAMB (You et al. 2020); Lion (Chen et al. 2023: 0.9, 0.99); Adafactor
/// (Shazeer, Stern 2018: factored second moments, no momentum, update clipped at a root mean square of 1). Weight decay
/// (adamw, lamb, lion) is decoupled and applies to parameters of two or more dimensions.
class Optimizer {
 public:
  /// Reads optimizer, learning_rate, schedule, warmup, total_steps and weight_decay of `settings`. `step` is the i32
  /// number of steps done.
  Optimizer(ModelBuilder& b, const Settings& settings, const Tensor& step);

  /// Next value of a parameter named `path`, given its gradient in f32; declares the state that the rule needs.
  Tensor update(const std::string& path, const Tensor& parameter, const Tensor& gradient);

  /// The learning rate of this step, an f32 scalar.
  const Tensor& rate() const { return rate_; }

 private:
  /// A state of the rule for one parameter, and the moving average that replaces it.
  Tensor average(const char* name, const std::string& path, const Tensor& value, double decay);
  Tensor adam_direction(const std::string& path, const Tensor& gradient);
  Tensor adafactor_direction(const std::string& path, const Tensor& gradient);
  Tensor decayed(const Tensor& direction, const Tensor& parameter);

  ModelBuilder& b_;
  std::string rule_;
  double weight_decay_;
  Tensor count_;  ///< steps with this one, f32
  Tensor rate_;
  Tensor first_correction_, second_correction_;  ///< of Adam's averages, which begin at zero
};

/// Gradients scaled so that all together have a norm of at most `largest`.
std::vector<Tensor> clip_by_norm(ModelBuilder& b, std::vector<Tensor> gradients, double largest);

}  // namespace rhino::zoo
