// SPDX-License-Identifier: Apache-2.0
// Broken inputs and lost ranks: each ends the job within seconds, with one line that says why and a non-zero exit code, and
// leaves no half-written file behind.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/file.hpp>

#include "support/process.hpp"
#include "support/test_data.hpp"

namespace rhino::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Failures : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::current_path() / testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    deck_ = source_path("inputs/mlp_digits.toml").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  }

  /// Runs `rhino ARGUMENTS` on so many ranks and expects one error line that contains `part`.
  void expect_error(int ranks, const std::string& arguments, const std::string& part) {
    const std::string command = (ranks == 1 ? rhino_program() : rhino_on_ranks(ranks)) + " " + arguments;
    const ProcessResult result = run_process(command, 60);
    EXPECT_NE(result.exit_code, 0) << command;
    EXPECT_NE(result.exit_code, 124) << command << " hangs";
    EXPECT_LT(result.exit_code, 128) << command << " crashes";
    EXPECT_NE(result.exit_code, 70) << result.errors;
    EXPECT_EQ(count(result.errors, "rhino: error"), 1u) << command << "\n" << result.errors;
    EXPECT_THAT(result.errors, HasSubstr(part)) << command;
  }

  std::string train(const std::string& more) const { return fmt::format("train {} train.steps=3 {}", deck_, more); }

  fs::path folder_;
  std::string deck_;
};

TEST_F(Failures, MisspeltDeckKey) {
  expect_error(1, train("train.stpes=3"), "did you mean 'steps'");
  expect_error(3, train("train.stpes=3"), "did you mean 'steps'");
}

TEST_F(Failures, MissingAndBrokenDeck) {
  expect_error(2, "train " + (folder_ / "none.toml").string(), "none.toml");
  write_file(folder_ / "broken.toml", "[train\n");
  expect_error(1, "train " + (folder_ / "broken.toml").string(), "broken.toml:1");
  expect_error(1, "train", "");
}

TEST_F(Failures, BrokenModelFiles) {
  const fs::path model = folder_ / "model.h5";
  write_file(model, "");
  expect_error(1, "train " + model.string(), "model.h5");
  expect_error(3, "train " + model.string(), "model.h5");
  write_file(model, std::string(10000, 'x'));
  expect_error(1, "train " + model.string(), "model.h5");
  // A good HDF5 file, but no model.
  fs::copy_file(source_path("inputs/mlp_digits/data.h5"), model, fs::copy_options::overwrite_existing);
  expect_error(1, "train " + model.string(), "model.h5");
}

TEST_F(Failures, BrokenSteps) {
  const std::string text = read_file(source_path("inputs/mlp_digits/step.mlir"));
  const fs::path step = folder_ / "step.mlir";
  for (const std::size_t size : {std::size_t{0}, std::size_t{1000}, text.size() / 2, text.size() - 5}) {
    write_file(step, text.substr(0, size));
    expect_error(1, train(fmt::format("model.import={}", step.string())), "step.mlir");
  }
}

TEST_F(Failures, BrokenData) {
  const fs::path data = folder_ / "data.h5";
  write_file(data, read_file(source_path("inputs/mlp_digits/data.h5")).substr(0, 20000));
  expect_error(2, train(fmt::format("data.file={}", data.string())), "data.h5");
  expect_error(1, train(fmt::format("data.file={}", (folder_ / "none.h5").string())), "none.h5");
  // Data of another model.
  expect_error(1, train(fmt::format("data.file={}", source_path("inputs/gpt_tiny/data.h5").string())), "data.h5");
}

TEST_F(Failures, PlanOfAnotherModelAndNoPlan) {
  expect_error(2, train(fmt::format("plan.strategy={}", source_path("inputs/mlp_digits/data.h5").string())), "data.h5");
  expect_error(2, train("plan.strategy=none.h5"), "none.h5");
  expect_error(1, train("plan.strategy=atuo"), "did you mean 'auto'");
}

TEST_F(Failures, UnwritableMetrics) {
  expect_error(2, train(fmt::format("train.metrics={}", (folder_ / "no" / "m.jsonl").string())), "m.jsonl");
  expect_error(2, train("train.metrics=/dev/full"), "/dev/full");
}

TEST_F(Failures, MetricsOnAFullDiskEndInWholeLines) {
  // As on a full disk: once it trains, the files of the process may not grow beyond a limit (at the start OpenMPI needs more).
  const fs::path file = folder_ / "metrics.jsonl";
  const ProcessResult result = run_process(fmt::format(
      "trap '' XFSZ; {0} train {1} train.steps=1000000 --metrics {2} & while ! [ -s {2} ]; do sleep 0.05; done; "
      "prlimit --pid $! --fsize=100000; wait $!",
      rhino_program(), deck_, file.string()));
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.errors, HasSubstr("cannot write metrics"));
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  ASSERT_FALSE(text.empty());
  EXPECT_LE(text.size(), 100000u);
  EXPECT_EQ(text.back(), '\n');
}

TEST_F(Failures, PlansThatNeedMoreThanTheMemoryLimit) {
  expect_error(2, train("plan.strategy=data plan.memory_limit=\"100 KiB\""), "no plan fits 100.00 KiB per rank: the leanest of");
  // Planning estimates a little less than lowering then needs.
  expect_error(2, train("plan.strategy=data plan.memory_limit=\"190 KiB\""), "but only 190.00 KiB may be used");
  expect_error(2, train("plan.memory_limit=\"20 KiB\""), "no plan fits 20.00 KiB per rank: the leanest of");
}

TEST_F(Failures, MoreEvaluationThanData) {
  expect_error(1, train("eval.batches=100000"), "eval.batches = 100000, but the evaluation data holds");
}

TEST_F(Failures, RanksWithDifferentDecks) {
  const std::string mpiexec = rhino_on_ranks(1);
  const ProcessResult result = run_process(fmt::format("{} {} : -n 1 {} {}", mpiexec, train("train.seed=1"), rhino_program(),
                                                       train("train.seed=2")));
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.exit_code, 124);
  EXPECT_EQ(count(result.errors, "rhino: error"), 1u) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("differ"));
}

TEST_F(Failures, KilledRankEndsTheJob) {
  const std::string metrics = (folder_ / "m.jsonl").string();
  const std::string pid = (folder_ / "pid").string();
  const std::string endless = fmt::format("train {} train.steps=100000000 train.metrics={}", deck_, metrics);
  write_file(folder_ / "mortal.sh", fmt::format("echo $$ > {}; exec {} {}\n", pid, rhino_program(), endless));
  // Rank 1 is killed once the first step is written.
  const ProcessResult result = run_process(
      fmt::format("{} {} : -n 1 sh {} &\n"
                  "tries=0; while [ ! -s {} ] && [ $tries -lt 1000 ]; do sleep 0.1; tries=$((tries + 1)); done\n"
                  "kill -9 $(cat {})\n"
                  "wait $!\n",
                  rhino_on_ranks(1), endless, (folder_ / "mortal.sh").string(), metrics, pid),
      180);
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.exit_code, 124) << "the job hangs";
  EXPECT_GT(fs::file_size(metrics), 0u) << result.errors;
}

TEST_F(Failures, NothingHalfWrittenIsLeft) {
  const auto files = [&] { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); };
  expect_error(2, train(fmt::format("train.metrics={}/no/m.jsonl plan.output={}/plan.h5", folder_.string(), folder_.string())),
               "m.jsonl");
  for (const auto& entry : fs::directory_iterator(folder_))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry.path();
  EXPECT_LE(files(), 1);
}

}  // namespace
}  // namespace rhino::test
