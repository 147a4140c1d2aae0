// SPDX-License-Identifier: Apache-2.0
#include <rhino/zoo/training.hpp>

#include <rhino/ad/gradient.hpp>
#include <rhino/base/error.hpp>
#include <rhino/zoo/optimizer.hpp>

namespace rhino::zoo {

using ir::DType;

const char* common_defaults() {
  return "batch=8 mode=train dtype=f32 optimizer=adam learning_rate=0.001 schedule=constant warmup=0 "
         "total_steps=100000 "
         "weight_decay=0 clip=0 scan=false seed=0";
}

BuildPolicy policy_of(const Settings& settings) {
  BuildPolicy policy;
  const std::string& dtype = settings.choice("dtype");
  policy.compute = dtype == "bf16" ? DType::BF16 : dtype == "f16" ? DType::F16 : DType::F32;
  policy.training = settings.choice("mode") == "train";
  policy.scan = settings.flag("scan");
  policy.seed = static_cast<std::uint64_t>(settings.integer("seed"));
  return policy;
}

/// Adds gradient and updates to a forward pass, and puts parameters, results and roles in place.
class TrainingStep {
 public:
  TrainingStep(ModelBuilder& builder, const Settings& settings) : b_(builder), settings_(settings) {}

  void train(const Tensor& loss) {
    std::vector<std::size_t> trained;
    for (std::size_t i = 0; i < b_.states_.size(); ++i)
      if (b_.states_[i].info.role == ir::ParamRole::State && b_.states_[i].info.kind == ir::StateKind::Param)
        trained.push_back(i);
    const Tensor step = b_.step();
    LossScale scale;
    if (b_.compute() == DType::F16) scale = declare_loss_scale();
    std::vector<Tensor> gradients = gradients_of(loss, trained, scale);
    Tensor finite;
    if (scale.value.valid()) finite = update_loss_scale(scale, gradients);
    if (settings_.real("clip") > 0) gradients = clip_by_norm(b_, std::move(gradients), settings_.real("clip"));
    Optimizer optimizer(b_, settings_, step);
    for (std::size_t k = 0; k < trained.size(); ++k) {
      const ModelBuilder::State parameter = b_.states_[trained[k]];
      const Tensor next = optimizer.update(parameter.info.path.substr(kPrefix.size()), parameter.value, gradients[k]);
      b_.states_[trained[k]].next = next;
    }
    b_.set_next(step, step + 1);
    if (settings_.integer("warmup") > 0 || settings_.choice("schedule") != "constant")
      b_.metric("learning_rate", optimizer.rate());
    if (finite.valid()) keep_where_not(finite);
  }

  BuiltModel finish(const Tensor& loss) {
    std::vector<Tensor> results;
    ir::Signature& signature = b_.model_.signature;
    for (std::size_t i = 0; i < b_.states_.size(); ++i) {
      const ModelBuilder::State& state = b_.states_[i];
      signature.params.push_back(state.info);
      if (state.info.role != ir::ParamRole::State) continue;
      b_.model_.state.emplace(state.info.path, state.recipe);
      if (!state.next.valid()) continue;
      signature.results.push_back(
          {state.info.path, ir::ResultRole::State, static_cast<std::uint32_t>(i), ir::Evidence::Manifest});
      results.push_back(state.next);
    }
    if (loss.valid()) add_result("loss", ir::ResultRole::Loss, loss, results);
    for (const auto& [name, value] : b_.metrics_)
      add_result(name, ir::ResultRole::Metric, value, results);
    b_.set_results(results);
    return std::move(b_.model_);
  }

 private:
  static constexpr std::string_view kPrefix = "params/";

  /// Factor of an f16 loss that keeps small gradients from vanishing (Micikevicius et al. 2018, section 3.2): doubled
  /// after kPatience steps without overflow, halved at an overflow, whose step is then left out.
  struct LossScale {
    Tensor value;  ///< f32 scalar; invalid: none
    Tensor good;   ///< i32 scalar: steps since the last change
  };
  static constexpr double kFirstScale = 32768;
  static constexpr std::int64_t kPatience = 1000;

  LossScale declare_loss_scale() {
    return {b_.declare("loss_scale/value", {DType::F32, {}}, constant(kFirstScale), ir::StateKind::Statistics),
            b_.declare("loss_scale/good_steps", {DType::I32, {}}, zeros(), ir::StateKind::Statistics)};
  }

  /// Gradients of the loss, or of the local loss of a parameter's scope, by all parameters of which `trained` has the
  /// place.
  std::vector<Tensor> gradients_of(const Tensor& loss, const std::vector<std::size_t>& trained,
                                   const LossScale& scale) {
    std::vector<Tensor> gradients(trained.size());
    const auto run = [&](const Tensor& of, std::string_view prefix) {
      std::vector<ir::ValueId> wrt;
      std::vector<std::size_t> places;
      for (std::size_t k = 0; k < trained.size(); ++k) {
        const ModelBuilder::State& parameter = b_.states_[trained[k]];
        if (!parameter.info.path.starts_with(prefix)) continue;
        wrt.push_back(parameter.value.id());
        places.push_back(k);
      }
      const Tensor scaled = scale.value.valid() ? of * scale.value : of;
      const std::vector<ir::ValueId> values = ad::gradient(b_.program(), b_.function(), scaled.id(), wrt);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const Tensor gradient = b_.wrap(values[i]);
        gradients[places[i]] = scale.value.valid() ? gradient / scale.value : gradient;
      }
    };
    if (b_.local_losses_.empty()) run(loss, kPrefix);
    for (const auto& [prefix, local] : b_.local_losses_)
      run(local, prefix);
    for (std::size_t k = 0; k < trained.size(); ++k)
      RHINO_ASSERT(gradients[k].valid(), "no loss trains '{}'", b_.states_[trained[k]].info.path);
    return gradients;
  }

  /// Whether all gradients are finite; sets the next scale.
  Tensor update_loss_scale(const LossScale& scale, const std::vector<Tensor>& gradients) {
    const auto scope = b_.scope("loss_scale");
    Tensor magnitude = b_.scalar(DType::F32, 0);
    for (const Tensor& gradient : gradients)
      magnitude = magnitude + b_.sum(b_.abs(gradient));
    const Tensor finite = b_.add(ir::OpKind::IsFinite, {magnitude});
    const Tensor good = b_.select(finite, scale.good + 1, 0);
    const Tensor grows = b_.greater_equal(good, b_.scalar_int(DType::I32, kPatience));
    const Tensor grown = b_.select(grows, scale.value * 2, scale.value);
    b_.set_next(scale.value, b_.select(finite, grown, b_.maximum(scale.value * 0.5, 1)));
    b_.set_next(scale.good, b_.select(grows, b_.scalar_int(DType::I32, 0), good));
    b_.metric("loss_scale", scale.value);
    return finite;
  }

  /// Parameters and optimizer state change only where the gradients are finite.
  void keep_where_not(const Tensor& finite) {
    for (ModelBuilder::State& state : b_.states_)
      if (state.next.valid() &&
          (state.info.kind == ir::StateKind::Param || state.info.kind == ir::StateKind::Optimizer))
        state.next = b_.select(finite, state.next, state.value);
  }

  void add_result(const std::string& name, ir::ResultRole role, const Tensor& value, std::vector<Tensor>& results) {
    b_.model_.signature.results.push_back({name, role, 0, ir::Evidence::Manifest});
    results.push_back(value);
  }

  ModelBuilder& b_;
  const Settings& settings_;
};

BuiltModel finish_step(ModelBuilder& builder, const Tensor& loss, const Settings& settings) {
  TrainingStep step(builder, settings);
  if (settings.choice("mode") == "train") step.train(loss);
  return step.finish(loss);
}

}  // namespace rhino::zoo
