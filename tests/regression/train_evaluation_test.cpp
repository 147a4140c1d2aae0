// SPDX-License-Identifier: Apache-2.0
// The [eval] section of a deck: an evaluation sees the state of the step before it, under every plan, and changes nothing.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <rhino/io/hdf5.hpp>

#include "support/process.hpp"
#include "support/test_data.hpp"

namespace rhino::test {
namespace {

using testing::HasSubstr;

constexpr int kBatch = 20, kPixels = 64, kSteps = 6;

/// Examples for mlp_digits: exactly one batch, so that every step trains on the same.
std::string one_batch() {
  std::vector<float> image;
  std::vector<std::int32_t> label;
  for (int e = 0; e < kBatch; ++e) {
    for (int p = 0; p < kPixels; ++p) image.push_back(static_cast<float>(std::sin(e * 7 + p * 3)));
    label.push_back(e % 10);
  }
  const std::string path = std::filesystem::absolute("one_batch.h5").string();
  io::Hdf5File file = io::Hdf5File::create(path);
  file.root().create_data_set("image", io::Hdf5Type::F32, {kBatch, kPixels}).write(std::as_bytes(std::span(image)));
  file.root().create_data_set("label", io::Hdf5Type::I32, {kBatch}).write(std::as_bytes(std::span(label)));
  file.commit();
  return path;
}

std::string train(const std::string& more) {
  return fmt::format("train {} train.steps={} train.log_every=1000 {}", source_path("inputs/mlp_digits.toml").string(), kSteps, more);
}

/// The training step itself as the step that evaluates.
std::string evaluate_the_step() {
  const std::string folder = source_path("inputs/mlp_digits").string();
  return fmt::format("eval.import={0}/step.mlir eval.manifest={0}/manifest.json eval.batches=1", folder);
}

std::vector<nlohmann::json> metrics_of(int ranks, const std::string& arguments) {
  const std::string file = "metrics.jsonl";
  std::filesystem::remove(file);
  const ProcessResult result = run_process(fmt::format("{} {} --metrics {}", rhino_on_ranks(ranks), train(arguments), file));
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  std::vector<nlohmann::json> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  EXPECT_EQ(lines.size(), static_cast<std::size_t>(kSteps));
  return lines;
}

TEST(TrainEvaluation, SeesTheStateOfTheStepBeforeItUnderEveryPlan) {
  const std::string data = fmt::format("data.file={0} eval.data={0}", one_batch());
  // Without an evaluation before the last step.
  const auto plain = metrics_of(1, fmt::format("{} {} eval.every=0 model.promote=f64", data, evaluate_the_step()));
  for (const int ranks : {1, 2, 3}) {
    for (const char* plan : {"auto", "data", "tensor"}) {
      SCOPED_TRACE(fmt::format("{} on {}", plan, ranks));
      const auto lines = metrics_of(
          ranks, fmt::format("{} {} eval.every=1 model.promote=f64 plan.strategy={}", data, evaluate_the_step(), plan));
      ASSERT_EQ(lines.size(), plain.size());
      for (std::size_t s = 0; s < lines.size(); ++s) {
        const double loss = plain[s]["loss"];
        EXPECT_NEAR(lines[s]["loss"], loss, 1e-9 * loss);
        // All steps see one batch: the loss after a step is the one that the next step reports.
        if (s + 1 < lines.size()) {
          EXPECT_NEAR(lines[s]["eval/loss"], plain[s + 1]["loss"], 1e-9 * loss);
        }
        EXPECT_TRUE(lines[s].contains("eval/accuracy"));
      }
      EXPECT_LT(lines.back()["eval/loss"], lines.back()["loss"]);
    }
  }
}

TEST(TrainEvaluation, RunsWhenAskedAndAfterTheLastStep) {
  const std::string data = fmt::format("data.file={0} eval.data={0}", one_batch());
  const auto every_second = metrics_of(2, fmt::format("{} {} eval.every=4", data, evaluate_the_step()));
  for (std::size_t s = 0; s < every_second.size(); ++s)
    EXPECT_EQ(every_second[s].contains("eval/loss"), s + 1 == 4 || s + 1 == kSteps) << s;
  const auto last = metrics_of(1, fmt::format("{} {}", data, evaluate_the_step()));
  for (std::size_t s = 0; s < last.size(); ++s) EXPECT_EQ(last[s].contains("eval/loss"), s + 1 == kSteps) << s;
}

TEST(TrainEvaluation, RefusesStepsThatDoNotFit) {
  const auto error_of = [](const std::string& arguments, const std::string& deck = "mlp_digits") {
    const std::string file = source_path("inputs/" + deck + ".toml").string();
    const ProcessResult result = run_process(fmt::format("{} train {} train.steps=1 {}", rhino_program(), file, arguments));
    EXPECT_TRUE(result.exit_code == 2 || result.exit_code == 3) << result.exit_code;
    return result.errors;
  };
  EXPECT_THAT(error_of("eval.every=2", "gpt_tiny"), HasSubstr("no evaluation step"));
  const std::string other = source_path("inputs/resnet_tiny").string();
  EXPECT_THAT(error_of(fmt::format("eval.import={0}/step.mlir eval.manifest={0}/manifest.json eval.data={0}/data.h5", other)),
              HasSubstr("which the training step does not have"));
  EXPECT_THAT(error_of(fmt::format("{} eval.data={}", evaluate_the_step(), "missing.h5")), HasSubstr("missing.h5"));
}

}  // namespace
}  // namespace rhino::test
