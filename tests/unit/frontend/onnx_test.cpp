// SPDX-License-Identifier: Apache-2.0
// ONNX files that PyTorch wrote (tools/make_onnx_data.py), and damaged ones.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/base/file.hpp>
#include <rhino/frontend/import.hpp>
#include <rhino/frontend/onnx.hpp>
#include <rhino/io/state_import.hpp>
#include <rhino/kernels/reference/evaluate.hpp>
#include <rhino/kernels/reference/interpreter.hpp>

#include "support/test_data.hpp"

namespace rhino::frontend {
namespace {

namespace reference = kernels::reference;
using testing::HasSubstr;

/// A program with weights and inputs as parameters.
class Target final : public OnnxTarget {
 public:
  ir::Graph& graph() override { return graph_; }
  ir::Tensor weight(const OnnxWeight& weight) override {
    weights.push_back(weight);
    return declare(weight.path, weight.value.type());
  }
  ir::Tensor input(const std::string& path, const ir::TensorType& type) override { return declare(path, type); }

  ir::Program program;
  std::vector<std::string> params;
  std::vector<OnnxWeight> weights;

 private:
  ir::Tensor declare(const std::string& path, const ir::TensorType& type) {
    params.push_back(path);
    return graph_.param(type);
  }
  ir::Graph graph_{program, (program.main = program.add_function("main"))};
};

std::string data(const std::string& file) {
  return test::source_path("tests/unit/frontend/data/onnx/" + file).string();
}

OnnxOptions options(std::map<std::string, std::int64_t> dimensions) {
  return {"model.onnx", data("."), std::move(dimensions), reference::evaluate};
}

/// Largest difference of the first output from PyTorch's, relative to the largest of those.
double error_of(const std::string& name, std::map<std::string, std::int64_t> dimensions) {
  Target target;
  const OnnxResult result = build_onnx(read_file(data(name + ".onnx")), options(std::move(dimensions)), target);
  target.graph().set_results(std::vector{result.outputs.at(0).second});
  EXPECT_EQ(result.outputs[0].first, "output");
  const auto values = io::open_npz(data(name + ".npz"));
  const ir::Function& main = target.program.entry();
  std::vector<reference::Tensor> arguments;
  for (std::size_t i = 0; i < main.params.size(); ++i) {
    const auto weight = std::ranges::find(target.weights, target.params[i], &OnnxWeight::path);
    arguments.emplace_back(weight != target.weights.end() ? weight->value
                                                          : values->read(target.params[i], main.type(main.params[i])));
  }
  const auto got = reference::run(target.program, target.program.main, std::move(arguments)).at(0);
  const ir::Literal want = values->read("output", got.type);
  double largest = 0, error = 0;
  for (std::int64_t i = 0; i < got.type.elements(); ++i) {
    largest = std::max(largest, std::abs(want.element_as_double(i)));
    error = std::max(error, std::abs(want.element_as_double(i) - got.as<float>()[static_cast<std::size_t>(i)]));
  }
  return error / largest;
}

std::string failure(const std::string& bytes, std::map<std::string, std::int64_t> dimensions = {{"batch", 2}}) {
  try {
    Target target;
    build_onnx(bytes, options(std::move(dimensions)), target);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

constexpr double kTolerance = 1e-5;

TEST(Onnx, ExportsHaveTheResultsOfPyTorch) {
  EXPECT_LT(error_of("mlp", {{"batch", 4}}), kTolerance);
  EXPECT_LT(error_of("resnet", {{"batch", 2}}), kTolerance);
  EXPECT_LT(error_of("bert", {{"batch", 2}, {"sequence", 6}}), kTolerance);
  EXPECT_LT(error_of("gpt2", {{"batch", 2}, {"sequence", 6}}), kTolerance);
  EXPECT_LT(error_of("vit", {{"batch", 2}}), kTolerance);
  EXPECT_LT(error_of("unet", {{"batch", 2}}), kTolerance);
}

TEST(Onnx, WeightsHavePathsAndKinds) {
  Target target;
  build_onnx(read_file(data("resnet.onnx")), options({{"batch", 2}}), target);
  std::map<std::string, ir::StateKind> kinds;
  for (const OnnxWeight& weight : target.weights)
    kinds[weight.path] = weight.kind;
  EXPECT_EQ(kinds.at("layer2/downsample/0/weight"), ir::StateKind::Param);
  EXPECT_EQ(kinds.at("bn1/bias"), ir::StateKind::Param);
  EXPECT_EQ(kinds.at("bn1/running_var"), ir::StateKind::Statistics);

  // Weights that the exporter transposed and numbered are found by the module that uses them.
  Target bert;
  build_onnx(read_file(data("bert.onnx")), options({{"batch", 2}, {"sequence", 6}}), bert);
  for (const char* path : {"layer/1/query/weight", "layer/1/query/bias"})
    EXPECT_EQ(std::ranges::count(bert.weights, path, &OnnxWeight::path), 1) << path;
}

TEST(Onnx, DimensionsMustHaveASize) {
  const std::string bert = read_file(data("bert.onnx"));
  EXPECT_THAT(failure(bert, {}), HasSubstr("dimensions without a size: batch, sequence; give --dims"));
  EXPECT_THAT(failure(bert, {{"batch", 2}}), HasSubstr("dimensions without a size: sequence"));
  EXPECT_THAT(failure(bert, {{"batch", 2}, {"sequence", 6}, {"sequnce", 5}}), HasSubstr("did you mean 'sequence'"));
  // A size at which the positions are not enough.
  EXPECT_THAT(failure(bert, {{"batch", 2}, {"sequence", 17}}), HasSubstr("model.onnx: "));
}

TEST(Onnx, WhatIsNoModel) {
  EXPECT_THAT(failure(""), HasSubstr("no ONNX model"));
  EXPECT_THAT(failure("module @step {}"), HasSubstr("no ONNX model"));
  EXPECT_THAT(failure(std::string("\x08\x08", 2)), HasSubstr("no ONNX model"));
  EXPECT_THROW(import_text(read_file(data("mlp.onnx"))), UnsupportedError);
}

TEST(Onnx, CutFilesAreErrors) {
  for (const char* name : {"mlp.onnx", "unet.onnx"}) {
    const std::string bytes = read_file(data(name));
    for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 300) {
      // A cut between two fields of the message leaves a shorter message, which has no opset or no graph.
      EXPECT_NE(failure(bytes.substr(0, size)), "") << name << " cut to " << size;
    }
  }
}

/// Replaces every occurrence by text of the same length.
std::string replaced(std::string bytes, const std::string& from, const std::string& to) {
  EXPECT_EQ(from.size(), to.size());
  std::size_t count = 0;
  for (std::size_t at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at)) {
    bytes.replace(at, from.size(), to);
    ++count;
  }
  EXPECT_GT(count, 0u) << from;
  return bytes;
}

TEST(Onnx, UnsupportedOpsAreListedAtOnce) {
  std::string bytes = replaced(read_file(data("unet.onnx")), "LeakyRelu", "LazyReLUs");
  bytes = replaced(bytes, "MaxPool", "MixPool");
  EXPECT_THAT(failure(bytes), HasSubstr("ops that are not supported: LazyReLUs (1x), MixPool (1x)"));
}

TEST(Onnx, NodesMustBeSorted) {
  // The first layer's ReLU takes what the second layer makes.
  std::string bytes = read_file(data("mlp.onnx"));
  const std::string first = "/body/body.0/Gemm_output_0", second = "/body/body.3/Gemm_output_0";
  bytes.replace(bytes.find(first, bytes.find(first) + 1), first.size(), second);
  EXPECT_THAT(failure(bytes),
              HasSubstr("Relu '/body/body.1/Relu': its input '" + second + "' is not defined before it"));
  bytes = replaced(read_file(data("mlp.onnx")), first, second);
  EXPECT_THAT(failure(bytes), HasSubstr("is defined already"));
}

/// Random bytes in place of others: an error or another model, but never a crash, a hang or an internal error.
TEST(Onnx, DamagedFilesAreErrors) {
  for (const char* name : {"mlp.onnx", "unet.onnx", "gpt2.onnx"}) {
    const std::string good = read_file(data(name));
    // The graph lies in front of the weights: damage there is seen.
    const std::size_t graph = std::min<std::size_t>(good.size(), 12000);
    int errors = 0;
    for (std::uint32_t seed = 0; seed < 150; ++seed) {
      std::mt19937 random(seed);
      std::string bytes = good;
      for (int change = 0; change < 3; ++change)
        bytes[random() % graph] = static_cast<char>(random());
      try {
        Target target;
        build_onnx(bytes, options({{"batch", 2}, {"sequence", 6}}), target);
      } catch (const Error& error) {
        ++errors;
        EXPECT_TRUE(error.kind() == ErrorKind::Input || error.kind() == ErrorKind::Usage)
            << error.what() << " seed " << seed;
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      }
    }
    EXPECT_GT(errors, 30) << name;
  }
}

}  // namespace
}  // namespace rhino::frontend
