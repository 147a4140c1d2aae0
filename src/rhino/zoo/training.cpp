// SPDX-License-Identifier: Apache-2.0
#include <rhino/zoo/training.hpp>

#include <rhino/base/error.hpp>

namespace rhino::zoo {

const char* common_defaults() {
  return "batch=8 mode=train dtype=f32 optimizer=adam learning_rate=0.001 schedule=constant warmup=0 "
         "total_steps=100000 "
         "weight_decay=0 clip=0 scan=false seed=0";
}

BuildPolicy policy_of(const Settings& settings) {
  BuildPolicy policy;
  const std::string& dtype = settings.choice("dtype");
  policy.compute = dtype == "bf16" ? ir::DType::BF16 : dtype == "f16" ? ir::DType::F16 : ir::DType::F32;
  policy.training = settings.choice("mode") == "train";
  policy.scan = settings.flag("scan");
  policy.seed = static_cast<std::uint64_t>(settings.integer("seed"));
  return policy;
}

/// Puts parameters, results and roles in place.
class TrainingStep {
 public:
  TrainingStep(ModelBuilder& builder, const Settings& settings) : b_(builder), settings_(settings) {}

  BuiltModel finish(const Tensor& loss) {
    std::vector<Tensor> results;
    ir::Signature& signature = b_.model_.signature;
    for (std::size_t i = 0; i < b_.states_.size(); ++i) {
      ModelBuilder::State& state = b_.states_[i];
      signature.params.push_back(state.info);
      if (state.info.role != ir::ParamRole::State) continue;
      b_.model_.state.emplace(state.info.path, state.recipe);
      if (!state.next.valid()) continue;
      signature.results.push_back(
          {state.info.path, ir::ResultRole::State, static_cast<std::uint32_t>(i), ir::Evidence::Manifest});
      results.push_back(state.next);
    }
    add_result("loss", ir::ResultRole::Loss, loss, results);
    for (const auto& [name, value] : b_.metrics_)
      add_result(name, ir::ResultRole::Metric, value, results);
    b_.set_results(results);
    return std::move(b_.model_);
  }

 private:
  void add_result(const std::string& name, ir::ResultRole role, const Tensor& value, std::vector<Tensor>& results) {
    b_.model_.signature.results.push_back({name, role, 0, ir::Evidence::Manifest});
    results.push_back(value);
  }

  ModelBuilder& b_;
  const Settings& settings_;
};

BuiltModel finish_step(ModelBuilder& builder, const Tensor& loss, const Settings& settings) {
  RHINO_CHECK_AS(UsageError, settings.choice("mode") == "evaluate", "models are not trained yet: give mode=evaluate");
  TrainingStep step(builder, settings);
  return step.finish(loss);
}

}  // namespace rhino::zoo
