// SPDX-License-Identifier: Apache-2.0
#include <rhino/io/model_import.hpp>

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/file.hpp>
#include <rhino/ir/op_info.hpp>

#include "small_model.hpp"
#include "support/test_data.hpp"

namespace rhino::io {
namespace {

using test::message_of;
using testing::HasSubstr;

ImportRequest shipped(const std::string& name) {
  const std::string folder = test::source_path("inputs/" + name).string();
  ImportRequest request;
  request.program_path = folder + "/step.mlir";
  request.state_path = folder + "/state.npz";
  request.manifest_path = folder + "/manifest.json";
  return request;
}

class ShippedModels : public testing::TestWithParam<std::string> {};

TEST_P(ShippedModels, ImportWriteReadAndInferTheSameRoles) {
  const ImportedModel imported = import_model(shipped(GetParam()));
  EXPECT_TRUE(imported.assumptions.empty());
  EXPECT_TRUE(imported.model.signature.loss().has_value());
  for (const ir::Function& function : imported.model.program.functions)
    for (const ir::Op& op : function.ops) EXPECT_NE(op.kind, ir::OpKind::Call);
  const std::string path = GetParam() + ".h5";
  write_model(imported.model, path);
  const Model read = read_model(path);
  EXPECT_TRUE(ir::equivalent(read.program, imported.model.program));
  EXPECT_TRUE(read.state == imported.model.state);

  ImportRequest bare = shipped(GetParam());
  bare.manifest_path.clear();
  const ImportedModel inferred = import_model(bare);
  for (std::size_t i = 0; i < read.signature.params.size(); ++i) {
    const ir::ParamInfo& expected = read.signature.params[i];
    const ir::ParamInfo& got = inferred.model.signature.params[i];
    EXPECT_EQ(got.path, expected.path);
    EXPECT_EQ(got.role, expected.role) << expected.path;
    if (expected.role == ir::ParamRole::State) {
      EXPECT_EQ(got.kind, expected.kind) << expected.path;
    }
  }
  for (std::size_t i = 0; i < read.signature.results.size(); ++i) {
    EXPECT_EQ(inferred.model.signature.results[i].role, read.signature.results[i].role);
    if (read.signature.results[i].role == ir::ResultRole::State) {
      EXPECT_EQ(inferred.model.signature.results[i].state_param, read.signature.results[i].state_param);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShippedModels,
                         testing::Values("mlp_digits", "gpt_tiny", "gpt_tiny_dropout", "gpt_tiny_scan", "resnet_tiny",
                                         "moe_tiny", "unet_tiny"),
                         [](const auto& info) { return info.param; });

TEST(ModelImport, WithoutStateValuesAreMadeUpByRole) {
  ImportRequest request = shipped("mlp_digits");
  request.state_path.clear();
  const ImportedModel imported = import_model(request);
  ASSERT_EQ(imported.assumptions.size(), 1u);
  EXPECT_THAT(imported.assumptions[0], HasSubstr("no state was given"));
  EXPECT_EQ(std::get<InitRecipe>(imported.model.state.at("params/layer0/w")).kind, InitRecipe::Kind::TruncatedNormal);
  EXPECT_EQ(std::get<InitRecipe>(imported.model.state.at("step")).kind, InitRecipe::Kind::Zeros);
  const auto& w0 = std::get<InitRecipe>(imported.model.state.at("params/layer0/w"));
  const auto& w1 = std::get<InitRecipe>(imported.model.state.at("params/layer1/w"));
  EXPECT_NE(w0.seed, w1.seed);
  write_model(imported.model, "recipes.h5");
  EXPECT_TRUE(read_model("recipes.h5").state == imported.model.state);
}

TEST(ModelImport, FilesThatDoNotFitEachOtherAreErrors) {
  ImportRequest request = shipped("mlp_digits");
  request.manifest_path = shipped("gpt_tiny").manifest_path;
  EXPECT_THAT(message_of([&] { import_model(request); }), HasSubstr("arguments, but the program has"));
  request = shipped("mlp_digits");
  request.state_path = shipped("unet_tiny").state_path;
  EXPECT_THAT(message_of([&] { import_model(request); }), HasSubstr("has no value for the state"));
  request = shipped("mlp_digits");
  request.program_path = request.manifest_path;
  EXPECT_THROW(import_model(request), InputError);
  request.program_path = request.state_path;
  EXPECT_THROW(import_model(request), InputError);
  request.program_path = "absent.mlir";
  EXPECT_THAT(message_of([&] { import_model(request); }), HasSubstr("absent.mlir"));
  request = shipped("mlp_digits");
  request.manifest_path = "absent.json";
  EXPECT_THAT(message_of([&] { import_model(request); }), HasSubstr("absent.json"));
  write_file("blank.json", "  \n");
  request.manifest_path = "blank.json";
  EXPECT_THAT(message_of([&] { import_model(request); }), HasSubstr("'blank.json' is empty"));
}

TEST(ModelImport, AStepCutOffAnywhereIsAnError) {
  const std::string text = read_file(shipped("mlp_digits").program_path);
  ImportRequest request = shipped("mlp_digits");
  request.program_path = "cut.mlir";
  // Behind the last closing brace there are only blanks and locations.
  const std::size_t end = text.rfind("\n}") == std::string::npos ? text.size() : text.rfind("\n}");
  for (std::size_t size = 0; size < end; size += 1024) {
    write_file("cut.mlir", text.substr(0, size));
    EXPECT_THROW(import_model(request), InputError) << size;
  }
}

}  // namespace
}  // namespace rhino::io
