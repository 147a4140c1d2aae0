// SPDX-License-Identifier: Apache-2.0
#include <rhino/frontend/roles.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <support/message_of.hpp>

namespace rhino::frontend {
namespace {

using ir::DType;
using ir::ParamRole;
using ir::ResultRole;
using ir::TensorType;
using testing::ElementsAre;
using testing::HasSubstr;

const TensorType f32_scalar{DType::F32, {}};
const TensorType i32_scalar{DType::I32, {}};
const TensorType matrix{DType::F32, {4, 3}};
const TensorType vector{DType::F32, {3}};
const TensorType tokens{DType::I32, {8, 16}};

struct Named {
  std::string name;  ///< location or result_info; "" for none
  TensorType type;
};

/// A program whose results have the given types; only the signature of the entry function matters here.
ir::Program program_of(const std::vector<Named>& params, const std::vector<Named>& results) {
  ir::Program program;
  program.main = program.add_function("main");
  ir::Function& main = program.entry();
  for (const Named& param : params) {
    main.add_param(param.type);
    main.param_notes.resize(main.params.size());
    if (!param.name.empty()) main.param_notes.back() = {{"loc", param.name}};
  }
  for (const Named& result : results) {
    const ir::OpId op = main.append(ir::OpKind::Constant, ir::ConstantAttrs{ir::Literal::splat(result.type, 0)}, {},
                                    {result.type});
    main.results.push_back(main.op(op).results[0]);
    main.result_notes.resize(main.results.size());
    if (!result.name.empty()) main.result_notes.back() = {{"jax.result_info", result.name}};
  }
  return program;
}

std::vector<std::string> params_of(const ir::Signature& signature) {
  std::vector<std::string> text;
  for (const auto& param : signature.params)
    text.push_back(param.path + ":" + std::string(name_of(param.role)) +
                   (param.role == ParamRole::State ? "/" + std::string(name_of(param.kind)) : ""));
  return text;
}

std::vector<std::string> results_of(const ir::Signature& signature) {
  std::vector<std::string> text;
  for (const auto& result : signature.results)
    text.push_back(result.path + ":" +
                   (result.role == ResultRole::State ? std::to_string(result.state_param) : std::string(name_of(result.role))));
  return text;
}

TEST(Roles, PathsOfJaxAreSplit) {
  EXPECT_THAT(split_path("state['opt'][0].mu['a/b']['w']"), ElementsAre("state", "opt", "0", "mu", "a/b", "w"));
  EXPECT_THAT(split_path("result[0]"), ElementsAre("result", "0"));
  EXPECT_THAT(split_path("x"), ElementsAre("x"));
  EXPECT_TRUE(split_path("").empty());
  EXPECT_THAT(split_path("broken['x"), ElementsAre("broken['x"));
}

TEST(Roles, NamesOfHloTextAreSplit) {
  EXPECT_THAT(split_path("state__params____layer_0____w__.1"), ElementsAre("state", "params", "layer_0", "w"));
  EXPECT_THAT(split_path("batch__x__"), ElementsAre("batch", "x"));
  EXPECT_THAT(split_path("Arg_0.1"), ElementsAre("Arg_0", "1"));
  EXPECT_THAT(split_path("____"), ElementsAre("____"));
}

TEST(Roles, ACounterOfItsOwnFollowsItsNeighbour) {
  const auto program = program_of(
      {{"params['w']", matrix}, {"params['b']", vector}, {"step", i32_scalar}, {"lr", f32_scalar}, {"x", tokens}},
      {{"result[0]['w']", matrix}, {"result[0]['b']", vector}, {"result[1]", i32_scalar}, {"result[2]", f32_scalar}});
  const InferredRoles roles = infer_roles(program);
  EXPECT_THAT(params_of(roles.signature), ElementsAre("params/w:state/param", "params/b:state/param", "step:state/step",
                                                      "lr:const", "x:batch"));
  EXPECT_THAT(results_of(roles.signature), ElementsAre("params/w:0", "params/b:1", "step:2", "loss:loss"));
}

TEST(Roles, NamesOfResultsNameTheStateThatTheyReplace) {
  const auto program = program_of({{"", matrix}, {"", i32_scalar}, {"", tokens}},
                                  {{"result[0]['params']['w']", matrix}, {"result[0]['step']", i32_scalar},
                                   {"result[1]['accuracy']", f32_scalar}, {"result[1]['loss']", f32_scalar}});
  const InferredRoles roles = infer_roles(program);
  EXPECT_THAT(params_of(roles.signature), ElementsAre("params/w:state/param", "step:state/step", "arg2:batch"));
  EXPECT_THAT(results_of(roles.signature), ElementsAre("params/w:0", "step:1", "accuracy:metric", "loss:loss"));
}

TEST(Roles, EqualPathsDecide) {
  const auto program = program_of({{"state['opt'][0].count", i32_scalar},
                                   {"state['opt'][0].mu['w']", matrix},
                                   {"state['opt'][0].nu['w']", matrix},
                                   {"state['params']['w']", matrix},
                                   {"batch['tokens']", tokens}},
                                  {{"result[0]['params']['w']", matrix},
                                   {"result[0]['opt'][0].nu['w']", matrix},
                                   {"result[0]['opt'][0].mu['w']", matrix},
                                   {"result[0]['opt'][0].count", i32_scalar},
                                   {"result[1]['accuracy']", f32_scalar},
                                   {"result[1]['loss']", f32_scalar}});
  const InferredRoles roles = infer_roles(program);
  EXPECT_THAT(params_of(roles.signature),
              ElementsAre("opt/0/count:state/step", "opt/0/mu/w:state/optimizer", "opt/0/nu/w:state/optimizer",
                          "params/w:state/param", "tokens:batch"));
  EXPECT_THAT(results_of(roles.signature), ElementsAre("params/w:3", "opt/0/nu/w:2", "opt/0/mu/w:1", "opt/0/count:0",
                                                       "accuracy:metric", "loss:loss"));
  EXPECT_EQ(roles.signature.params[1].evidence, ir::Evidence::PathNames);
  EXPECT_TRUE(roles.assumptions.empty());
}

// Donated buffers are paired by shape, first in, first out: following the alias would feed the metric back as state.
TEST(Roles, AStorageAliasIsNoMapping) {
  auto program = program_of({{"state['lr']", f32_scalar}, {"state['w']", matrix}, {"x", tokens}},
                            {{"result[1]['loss']", f32_scalar}, {"result[0]['lr']", f32_scalar}, {"result[0]['w']", matrix}});
  program.entry().param_notes[0].emplace_back("tf.aliasing_output", "0 : i32");
  const InferredRoles roles = infer_roles(program);
  EXPECT_THAT(results_of(roles.signature), ElementsAre("loss:loss", "lr:0", "w:1"));
}

TEST(Roles, SeveralTreesOfEqualShapeAreTakenInOrderAndSaidSo) {
  const auto program = program_of(
      {{"params['w']", matrix}, {"params['b']", vector}, {"m['w']", matrix}, {"m['b']", vector}, {"x", tokens}},
      {{"[0]['w']", matrix}, {"[0]['b']", vector}, {"[1]['w']", matrix}, {"[1]['b']", vector}, {"[2]", f32_scalar}});
  const InferredRoles roles = infer_roles(program);
  EXPECT_THAT(results_of(roles.signature), ElementsAre("params/w:0", "params/b:1", "m/w:2", "m/b:3", "loss:loss"));
  ASSERT_FALSE(roles.assumptions.empty());
  EXPECT_THAT(roles.assumptions[0], HasSubstr("'params'"));
}

TEST(Roles, WithoutNamesTheLongestRunDecidesAtAnyOffset) {
  const auto program = program_of({{"", matrix}, {"", vector}, {"", i32_scalar}, {"", tokens}},
                                  {{"", f32_scalar}, {"", f32_scalar}, {"", matrix}, {"", vector}, {"", i32_scalar}});
  const InferredRoles roles = infer_roles(program);
  EXPECT_THAT(params_of(roles.signature), ElementsAre("arg0:state/param", "arg1:state/param", "arg2:state/statistics",
                                                      "arg3:batch"));
  EXPECT_THAT(results_of(roles.signature), ElementsAre("loss:loss", "result1:metric", "arg0:0", "arg1:1", "arg2:2"));
  EXPECT_EQ(roles.signature.params[0].evidence, ir::Evidence::ShapeRun);
  EXPECT_FALSE(roles.assumptions.empty());
}

TEST(Roles, TheLossIsNotTakenAsStateOfARun) {
  const auto program = program_of({{"", matrix}, {"", f32_scalar}}, {{"", matrix}, {"", f32_scalar}});
  const InferredRoles roles = infer_roles(program);
  EXPECT_THAT(results_of(roles.signature), ElementsAre("arg0:0", "loss:loss"));
  EXPECT_EQ(roles.signature.params[1].role, ParamRole::Const);
}

TEST(Roles, StateThatIsNotReturnedStaysConstant) {
  const auto program = program_of({{"state['frozen']", matrix}, {"state['w']", matrix}, {"x", tokens}},
                                  {{"result[0]['w']", matrix}, {"result[1]", f32_scalar}});
  const InferredRoles roles = infer_roles(program);
  EXPECT_THAT(params_of(roles.signature), ElementsAre("frozen:const", "w:state/param", "x:batch"));
  ASSERT_EQ(roles.assumptions.size(), 1u);
  EXPECT_THAT(roles.assumptions[0], HasSubstr("frozen"));
}

TEST(Roles, PathsAreUniqueAndNameDataSets) {
  const auto program = program_of(
      {{"s['a']", matrix}, {"s['a/b']", matrix}, {"s['']", vector}, {"b['x']", tokens}, {"b['a']", tokens}},
      {{"[0]['a']", matrix}, {"[0]['a/b']", matrix}, {"[0]['']", vector}, {"[1]", f32_scalar}});
  const InferredRoles roles = infer_roles(program);
  EXPECT_THAT(params_of(roles.signature), ElementsAre("a/_:state/param", "a/b:state/param", "_:state/param", "x:batch",
                                                      "b/a:batch"));
}

constexpr const char* good_manifest = R"({"format": "rhino-manifest", "version": 1,
  "arguments": [{"index": 0, "path": "w", "role": "state", "kind": "param", "shape": [4, 3], "dtype": "f32"},
                {"index": 1, "path": "x", "role": "batch", "shape": [8, 16], "dtype": "i32"}],
  "results": [{"index": 0, "path": "loss", "role": "loss", "shape": [], "dtype": "f32"},
              {"index": 1, "path": "w", "role": "state", "argument": 0, "shape": [4, 3], "dtype": "f32"}]})";

std::string edited(const std::string& from, const std::string& to) {
  std::string text = good_manifest;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Roles, ManifestCountsMost) {
  const auto program = program_of({{"p", matrix}, {"q", tokens}}, {{"", f32_scalar}, {"", matrix}});
  const InferredRoles roles = infer_roles(program, {.manifest_text = good_manifest});
  EXPECT_THAT(params_of(roles.signature), ElementsAre("w:state/param", "x:batch"));
  EXPECT_THAT(results_of(roles.signature), ElementsAre("loss:loss", "w:0"));
  EXPECT_EQ(roles.signature.params[0].evidence, ir::Evidence::Manifest);
}

TEST(Roles, WrongManifestsAreErrorsThatSayWhere) {
  const auto program = program_of({{"p", matrix}, {"q", tokens}}, {{"", f32_scalar}, {"", matrix}});
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[1, 2", "not JSON"},
      {"[]", "not a JSON object"},
      {edited("rhino-manifest", "other"), "format is 'other'"},
      {edited("\"version\": 1", "\"version\": 2"), "version 2"},
      {edited("[4, 3], \"dtype\": \"f32\"},\n", "[3, 4], \"dtype\": \"f32\"},\n"), "argument 0 'w': shape"},
      {edited("\"dtype\": \"i32\"", "\"dtype\": \"i64\""), "argument 1 'x': dtype i64 in the manifest, i32"},
      {edited("\"dtype\": \"i32\"", "\"dtype\": \"int\""), "unknown dtype 'int'"},
      {edited("\"index\": 1, \"path\": \"x\"", "\"index\": 5, \"path\": \"x\""), "'index' is 5"},
      {edited("\"role\": \"batch\"", "\"role\": \"bach\""), "role 'bach'"},
      {edited("\"kind\": \"param\"", "\"kind\": 3"), "'kind'"},
      {edited("\"argument\": 0", "\"argument\": 7"), "'argument' 7"},
      {edited("\"argument\": 0", "\"argument\": 1"), "not state"},
      {edited("\"path\": \"x\"", "\"path\": \"w\""), "\"w\""},
      {edited("\"arguments\"", "\"argument\""), "'arguments' is missing"},
      {edited(",\n                {\"index\": 1, \"path\": \"x\", \"role\": \"batch\", \"shape\": [8, 16], \"dtype\": \"i32\"}",
              ""),
       "lists 1 arguments, but the program has 2"},
  };
  for (const auto& [manifest, expected] : cases) {
    const std::string message =
        test::message_of([&] { infer_roles(program, {.manifest_text = manifest, .manifest_name = "m.json"}); });
    EXPECT_THAT(message, HasSubstr(expected));
    EXPECT_THAT(message, HasSubstr("m.json"));
  }
  EXPECT_THROW(infer_roles(program, {.manifest_text = std::string(100'000, '[')}), InputError);
}

TEST(Roles, UserRulesOverrule) {
  const auto program = program_of({{"s['w']", matrix}, {"s['v']", matrix}, {"x", tokens}, {"lr", f32_scalar}},
                                  {{"[0]['w']", matrix}, {"[0]['v']", matrix}, {"[1]['a']", f32_scalar}, {"[1]['b']", f32_scalar}});
  const InferredRoles roles = infer_roles(program, {.rules = {"v=optimizer", "2=const", "result:b=loss"}});
  EXPECT_THAT(params_of(roles.signature), ElementsAre("w:state/param", "v:state/optimizer", "x:const", "lr:const"));
  EXPECT_THAT(results_of(roles.signature), ElementsAre("w:0", "v:1", "a:metric", "b:loss"));
  EXPECT_THROW(infer_roles(program, {.rules = {"nothing=batch"}}), UsageError);
  EXPECT_THROW(infer_roles(program, {.rules = {"w=weight"}}), UsageError);
  EXPECT_THROW(infer_roles(program, {.rules = {"w"}}), UsageError);
  EXPECT_THROW(infer_roles(program, {.rules = {"result:a=state:zzz"}}), UsageError);
  const InferredRoles frozen = infer_roles(program, {.rules = {"v=const"}});
  EXPECT_EQ(frozen.signature.results[1].role, ResultRole::Metric);
}

TEST(Roles, TableNamesEverything) {
  const auto program = program_of({{"s['w']", matrix}, {"x", tokens}}, {{"[0]['w']", matrix}, {"[1]", f32_scalar}});
  const std::string table = signature_table(infer_roles(program).signature, program.entry());
  EXPECT_THAT(table, HasSubstr("parameter 0  state"));
  EXPECT_THAT(table, HasSubstr("4x3xf32"));
  EXPECT_THAT(table, HasSubstr("loss"));
}

TEST(Roles, ManyEqualNamesAreNoEvidence) {
  std::vector<Named> params(3000, Named{"w", matrix});
  std::vector<Named> results(3000, Named{"w", matrix});
  results.push_back({"", f32_scalar});
  const InferredRoles roles = infer_roles(program_of(params, results));
  EXPECT_EQ(roles.signature.params[7].evidence, ir::Evidence::ShapeRun);
  for (std::size_t i = 0; i < 3000; ++i) ASSERT_EQ(roles.signature.results[i].state_param, i);
}

TEST(Roles, ManyParametersTakeLinearTime) {
  std::vector<Named> params, results;
  for (int i = 0; i < 4000; ++i) {
    params.push_back({"state['layers'][" + std::to_string(i) + "]['w']", matrix});
    results.push_back({"result[0]['layers'][" + std::to_string(i) + "]['w']", matrix});
  }
  params.push_back({"x", tokens});
  results.push_back({"result[1]", f32_scalar});
  const InferredRoles roles = infer_roles(program_of(params, results));
  for (std::size_t i = 0; i < 4000; ++i) ASSERT_EQ(roles.signature.results[i].state_param, i);
}

}  // namespace
}  // namespace rhino::frontend
