// SPDX-License-Identifier: Apache-2.0
// Inference token by token gives the scores that the whole sequence gives at once.
#include <algorithm>
#include <cmath>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/base/hash.hpp>
#include <rhino/base/random.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/kernels/reference/interpreter.hpp>
#include <rhino/zoo/zoo.hpp>

namespace rhino::zoo {
namespace {

using Value = kernels::reference::Tensor;

constexpr std::int64_t kInferenceBatch = 2, kInferenceSequence = 6, kInferenceVocabulary = 11;

std::int32_t token(std::int64_t example, std::int64_t place) {
  return static_cast<std::int32_t>((example * 5 + place * place + 3) % kInferenceVocabulary);
}

/// First value of a parameter, from its path alone, so that both programs have the same.
Value first_value(const std::string& path, const ir::TensorType& type) {
  Value value(type);
  const RandomStream stream{hash64(path), 0};
  if (type.dtype == ir::DType::F64 && path.starts_with("params/"))
    for (std::int64_t i = 0; i < type.elements(); ++i)
      value.as<double>()[static_cast<std::size_t>(i)] =
          0.5 * stream.normal(static_cast<std::uint64_t>(i)) + (path.ends_with("scale") ? 1 : 0);
  return value;
}

struct Run {
  BuiltModel model;
  std::vector<Value> arguments;
  std::size_t tokens = 0;

  explicit Run(const std::string& family, std::vector<std::string> settings) {
    for (const char* setting : {"batch=2", "sequence=6", "vocabulary=11", "width=8", "heads=4", "layers=2"})
      settings.emplace_back(setting);
    model = build_model(family, "tiny", settings);
    ir::promote_floats_to_f64(model.program);
    const ir::Function& main = model.program.entry();
    for (std::size_t i = 0; i < main.params.size(); ++i) {
      const ir::ParamInfo& info = model.signature.params[i];
      if (info.role == ir::ParamRole::Batch) tokens = i;
      arguments.push_back(first_value(info.path, main.type(main.params[i])));
    }
  }
  /// Results by path; state is put back.
  std::map<std::string, Value> step() {
    std::map<std::string, Value> results;
    std::vector<Value> values = kernels::reference::run(model.program, model.program.main, arguments);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const ir::ResultInfo& info = model.signature.results[i];
      if (info.role == ir::ResultRole::State)
        arguments[info.state_param] = std::move(values[i]);
      else
        results[info.path] = std::move(values[i]);
    }
    return results;
  }
};

double whole_loss(const std::string& family, std::vector<std::string> settings) {
  settings.emplace_back("mode=evaluate");
  Run run(family, settings);
  for (std::int64_t n = 0; n < kInferenceBatch; ++n)
    for (std::int64_t t = 0; t <= kInferenceSequence; ++t)
      run.arguments[run.tokens].as<std::int32_t>()[static_cast<std::size_t>(n * (kInferenceSequence + 1) + t)] = token(n, t);
  return run.step().at("loss").as<double>()[0];
}

double stepwise_loss(const std::string& family, std::vector<std::string> settings, std::int64_t chunk) {
  settings.emplace_back("mode=infer");
  settings.push_back("chunk=" + std::to_string(chunk));
  Run run(family, settings);
  double loss = 0;
  for (std::int64_t begin = 0; begin < kInferenceSequence; begin += chunk) {
    for (std::int64_t n = 0; n < kInferenceBatch; ++n)
      for (std::int64_t t = 0; t < chunk; ++t)
        run.arguments[run.tokens].as<std::int32_t>()[static_cast<std::size_t>(n * chunk + t)] = token(n, begin + t);
    const auto results = run.step();
    for (std::int64_t n = 0; n < kInferenceBatch; ++n)
      for (std::int64_t t = 0; t < chunk; ++t) {
        const double* scores = results.at("scores").as<double>().data() + (n * chunk + t) * kInferenceVocabulary;
        double total = 0;
        for (std::int64_t v = 0; v < kInferenceVocabulary; ++v)
          total += std::exp(scores[v]);
        loss += (std::log(total) - scores[token(n, begin + t + 1)]) / (kInferenceBatch * kInferenceSequence);
        if (t + 1 == chunk) {
          const double best = *std::max_element(scores, scores + kInferenceVocabulary);
          EXPECT_EQ(scores[results.at("next").as<std::int32_t>()[static_cast<std::size_t>(n)]], best);
        }
      }
  }
  return loss;
}

TEST(Inference, GivesTheScoresOfTheWholeSequence) {
  for (const char* positions : {"learned", "rope", "alibi", "relative", "none"})
    for (const char* kv_heads : {"1", "2", "4"}) {
      const std::vector<std::string> settings{std::string("positions=") + positions,
                                              std::string("kv_heads=") + kv_heads, "head_width=4"};
      const double whole = whole_loss("gpt", settings);
      for (const std::int64_t chunk : {1, 2, 6})
        EXPECT_NEAR(stepwise_loss("gpt", settings, chunk), whole, 1e-9) << positions << " " << kv_heads;
    }
  for (const char* family : {"palm", "llama"})
    EXPECT_NEAR(stepwise_loss(family, {"head_width=4"}, 3), whole_loss(family, {"head_width=4"}), 1e-9) << family;
}

TEST(Inference, ExpertsOfEachTokenWhereAllHaveRoom) {
  const std::vector<std::string> settings{"capacity_factor=8", "head_width=4", "balance_weight=0"};
  EXPECT_NEAR(stepwise_loss("glam", settings, 1), whole_loss("glam", settings), 1e-9);
}

TEST(Inference, IsForDecodersOnly) {
  EXPECT_THROW(build_model("bert", "tiny", std::vector<std::string>{"mode=infer"}), UsageError);
  EXPECT_THROW(build_model("gpt", "tiny", std::vector<std::string>{"mode=infer", "chunk=65"}), UsageError);
  EXPECT_THROW(build_model("gpt", "tiny", std::vector<std::string>{"mode=infer", "scan=true"}), UsageError);
}

}  // namespace
}  // namespace rhino::zoo
