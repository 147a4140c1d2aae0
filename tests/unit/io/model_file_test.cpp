// SPDX-License-Identifier: Apache-2.0
#include <rhino/io/model_file.hpp>

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/base/file.hpp>
#include <rhino/frontend/roles.hpp>
#include <rhino/frontend/stablehlo.hpp>
#include <rhino/io/hdf5.hpp>
#include <rhino/io/state_import.hpp>
#include <rhino/ir/op_info.hpp>

#include "hostile.hpp"
#include "small_model.hpp"
#include "support/test_data.hpp"

namespace rhino::io {
namespace {

using ir::DType;
using test::message_of;
using test::numbers;
using test::small_model;
using testing::ElementsAre;
using testing::HasSubstr;

/// The function's ops with large constants of every element type that a constant can have, and a call.
Model constant_model() {
  Model model;
  ir::Program& program = model.program;
  program.name = "constants";
  program.main = program.add_function("main");
  ir::Function& main = program.entry();
  for (const DType dtype : {DType::F32, DType::F64, DType::BF16, DType::F16, DType::I1, DType::I8, DType::U8, DType::I32,
                            DType::U64}) {
    const ir::Literal literal = numbers(dtype, {25, 13}, 7);
    const ir::OpId op = main.append(ir::OpKind::Constant, ir::ConstantAttrs{literal}, {}, {literal.type()});
    main.results.push_back(main.op(op).results[0]);
    model.signature.results.push_back({"r" + std::to_string(main.results.size()), ir::ResultRole::Metric, 0,
                                       ir::Evidence::Assumed});
  }
  return model;
}

void expect_equal(const Model& a, const Model& b) {
  EXPECT_TRUE(ir::equivalent(a.program, b.program));
  EXPECT_EQ(a.program.name, b.program.name);
  ASSERT_EQ(a.signature.params.size(), b.signature.params.size());
  for (std::size_t i = 0; i < a.signature.params.size(); ++i) {
    EXPECT_EQ(a.signature.params[i].path, b.signature.params[i].path);
    EXPECT_EQ(a.signature.params[i].role, b.signature.params[i].role);
    if (a.signature.params[i].role == ir::ParamRole::State) {
      EXPECT_EQ(a.signature.params[i].kind, b.signature.params[i].kind);
    }
    EXPECT_EQ(a.signature.params[i].evidence, b.signature.params[i].evidence);
  }
  ASSERT_EQ(a.signature.results.size(), b.signature.results.size());
  for (std::size_t i = 0; i < a.signature.results.size(); ++i) {
    EXPECT_EQ(a.signature.results[i].path, b.signature.results[i].path);
    EXPECT_EQ(a.signature.results[i].role, b.signature.results[i].role);
    if (a.signature.results[i].role == ir::ResultRole::State) {
      EXPECT_EQ(a.signature.results[i].state_param, b.signature.results[i].state_param);
    }
  }
  EXPECT_TRUE(a.state == b.state);
  EXPECT_EQ(a.meta, b.meta);
}

TEST(ModelFile, WhatWasWrittenIsRead) {
  const Model model = small_model();
  write_model(model, "small.h5");
  expect_equal(model, read_model("small.h5"));
}

TEST(ModelFile, EqualModelsGiveEqualFiles) {
  write_model(small_model(), "one.h5");
  write_model(small_model(), "two.h5");
  EXPECT_EQ(test::read_bytes("one.h5"), test::read_bytes("two.h5"));
}

TEST(ModelFile, LargeConstantsAreDataSets) {
  const Model model = constant_model();
  write_model(model, "constants.h5");
  EXPECT_EQ(Hdf5File::open("constants.h5").root().group("constants").names().size(), 9u);
  expect_equal(model, read_model("constants.h5"));
}

TEST(ModelFile, ShippedModelsComeBack) {
  for (const std::string name : {"mlp_digits", "gpt_tiny"}) {
    const std::string folder = test::source_path("inputs/" + name).string();
    Model model;
    model.program = frontend::parse_stablehlo(read_file(folder + "/step.mlir"));
    model.signature =
        frontend::infer_roles(model.program, {.manifest_text = read_file(folder + "/manifest.json")}).signature;
    model.state = import_state(folder + "/state.npz", model.signature, model.program.entry());
    write_model(model, name + ".h5");
    expect_equal(model, read_model(name + ".h5"));
    // Without the manifest the path names say the same.
    const frontend::InferredRoles inferred = frontend::infer_roles(model.program);
    for (std::size_t i = 0; i < model.signature.params.size(); ++i) {
      EXPECT_EQ(inferred.signature.params[i].path, model.signature.params[i].path);
      EXPECT_EQ(inferred.signature.params[i].role, model.signature.params[i].role);
      if (model.signature.params[i].role == ir::ParamRole::State) {
        EXPECT_EQ(inferred.signature.params[i].kind, model.signature.params[i].kind) << model.signature.params[i].path;
      }
    }
    for (std::size_t i = 0; i < model.signature.results.size(); ++i) {
      EXPECT_EQ(inferred.signature.results[i].role, model.signature.results[i].role);
      EXPECT_EQ(inferred.signature.results[i].state_param, model.signature.results[i].state_param);
    }
  }
}

TEST(ModelFile, AShardIsReadByGlobalIndices) {
  Model model = small_model();
  write_model(model, "shard.h5");
  const ModelReader reader("shard.h5");
  const auto& w = std::get<ir::Literal>(model.state["params/w"]);
  std::vector<double> part(4);
  reader.read_state("params/w", {{3, -1}, {2, 0}}, DType::F64, std::as_writable_bytes(std::span(part)));
  EXPECT_THAT(part, ElementsAre(w.element_as_double(11), w.element_as_double(9), 0, 0));
  std::int32_t step = 0;
  reader.read_state("step", {}, DType::I32, std::as_writable_bytes(std::span(&step, 1)));
  EXPECT_EQ(step, 7);
  std::vector<float> h(3);
  reader.read_state("params/h", {{0, 1, 2}}, DType::F32, std::as_writable_bytes(std::span(h)));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(h[i], std::get<ir::Literal>(model.state["params/h"]).element_as_double(i));
}

TEST(ModelFile, AModelInMemoryIsReadAlike) {
  write_model(small_model(), "memory.h5");
  const ModelReader file("memory.h5");
  const ModelReader memory(small_model());
  const std::vector<std::pair<std::string, std::vector<std::vector<std::int64_t>>>> parts = {
      {"params/w", {{3, 0, -1}, {1, 2}}}, {"params/h", {{2, -1}}}, {"mask", {{0, 1}}}, {"step", {}}};
  for (const auto& [path, indices] : parts) {
    std::size_t elements = 1;
    for (const auto& list : indices) elements *= list.size();
    std::vector<double> a(elements), b(elements);
    file.read_state(path, indices, DType::F64, std::as_writable_bytes(std::span(a)));
    memory.read_state(path, indices, DType::F64, std::as_writable_bytes(std::span(b)));
    EXPECT_EQ(a, b) << path;
  }
  EXPECT_EQ(file.recipe("step"), memory.recipe("step"));
  EXPECT_FALSE(memory.recipe("mask").has_value());
  Model missing = small_model();
  missing.state.erase("mask");
  EXPECT_THROW(ModelReader{missing}, InputError);
}

TEST(ModelFile, RecipesAreStoredExactly) {
  Model model = small_model();
  for (const auto kind : {InitRecipe::Kind::Zeros, InitRecipe::Kind::Constant, InitRecipe::Kind::Normal,
                          InitRecipe::Kind::Uniform, InitRecipe::Kind::TruncatedNormal}) {
    const bool random = kind >= InitRecipe::Kind::Normal;
    model.state["params/w"] = InitRecipe{kind, kind == InitRecipe::Kind::Zeros ? 0 : 0.1, random ? 1.0 / 3 : 0,
                                         random ? std::uint64_t{0xfedcba9876543210} : 0};
    write_model(model, "recipe.h5");
    EXPECT_TRUE(read_model("recipe.h5").state == model.state);
  }
}

TEST(ModelFile, WrongModelsAreNotWritten) {
  Model missing = small_model();
  missing.state.erase("mask");
  EXPECT_THAT(message_of([&] { write_model(missing, "never.h5"); }), HasSubstr("'mask' has no initial value"));
  Model extra = small_model();
  extra.state["other"] = InitRecipe{};
  EXPECT_THAT(message_of([&] { write_model(extra, "never.h5"); }), HasSubstr("'other'"));
  Model shape = small_model();
  shape.state["params/w"] = numbers(DType::F32, {3, 4});
  EXPECT_THAT(message_of([&] { write_model(shape, "never.h5"); }), HasSubstr("'params/w'"));
  Model path = small_model();
  path.signature.params[0].path = "params//w";
  EXPECT_THROW(write_model(path, "never.h5"), InputError);
  EXPECT_FALSE(std::filesystem::exists("never.h5"));
  EXPECT_THROW(write_model(small_model(), "absent_folder/m.h5"), EnvironmentError);
}

TEST(ModelFile, ForeignAndIncompleteFilesAreErrors) {
  {
    Hdf5File file = Hdf5File::create("foreign.h5");
    file.root().write_numbers<double>("x", {1, 2});
    file.commit();
  }
  EXPECT_THAT(message_of([] { read_model("foreign.h5"); }), HasSubstr("not a model file"));
  EXPECT_THAT(message_of([] { read_model("absent.h5"); }), HasSubstr("no file 'absent.h5'"));
  EXPECT_THROW(read_model(test::source_path("inputs/mlp_digits/data.h5").string()), InputError);
  {
    Hdf5File file = Hdf5File::create("bare.h5");
    set_format(file, "rhino-model", 1);
    file.commit();
  }
  EXPECT_THAT(message_of([] { read_model("bare.h5"); }), HasSubstr("has no 'program'"));
}

TEST(ModelFile, DamageNeverGoesUnnoticed) {
  const Model model = small_model();
  write_model(model, "damaged.h5");
  const std::string good = test::read_bytes("damaged.h5");
  test::damage("damaged.h5", good, 211, [&] {
    const Model read = read_model("damaged.h5");
    return ir::equivalent(read.program, model.program) && read.state == model.state && read.meta == model.meta;
  });
}

}  // namespace
}  // namespace rhino::io
