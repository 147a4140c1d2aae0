// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <rhino/frontend/hlo_text.hpp>
#include <rhino/kernels/reference/interpreter.hpp>

#include "parse_helpers.hpp"

namespace rhino::frontend {
namespace {

using kernels::reference::Tensor;

/// Arguments by a formula: floats of eighths, small integers.
std::vector<Tensor> arguments(const ir::Function& function, std::size_t count) {
  std::vector<Tensor> all;
  for (std::size_t p = 0; p < count; ++p) {
    Tensor tensor(function.type(function.params[p]));
    const std::int64_t elements = tensor.type.elements();
    for (std::int64_t i = 0; i < elements; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (tensor.type.dtype == ir::DType::F32)
        tensor.as<float>()[at] = static_cast<float>((i * 7 + static_cast<std::int64_t>(p) * 3) % 11 - 5) / 8.0F;
      else
        tensor.as<std::int32_t>()[at] = static_cast<std::int32_t>((i + static_cast<std::int64_t>(p)) % 3);
    }
    all.push_back(std::move(tensor));
  }
  return all;
}

std::vector<Tensor> run(const ir::Program& program) {
  return kernels::reference::run(program, program.main, arguments(program.entry(), program.entry().params.size()));
}

ir::Program load(const std::string& name) {
  ImportOptions options;
  options.source_name = name;
  ir::Program program = import_text(data_file(name), options);
  ir::verify(program);
  return program;
}

/// The step as JAX 0.10.2 computes it (convolution, pooling, scan, gather and its gradient, top_k, cond, sort,
/// threefry).
TEST(HloText, StepGivesWhatJaxGives) {
  for (const std::string name : {"step.mlir", "step.generic.mlir", "step.hlo"}) {
    const std::vector<Tensor> results = run(load(name));
    ASSERT_EQ(results.size(), 9u) << name;
    EXPECT_EQ(results[0].as<std::int32_t>()[0], 1) << name;
    EXPECT_NEAR(results[1].as<float>()[0], -0.4469072222709656, 1e-6) << name;
    EXPECT_NEAR(results[1].as<float>()[5], -0.12008582800626755, 1e-6) << name;
    EXPECT_NEAR(results[2].as<float>()[0], 0.2919921875, 1e-6) << name;
    EXPECT_EQ(results[3].as<std::uint32_t>()[0], 4070199207u) << name;
    EXPECT_EQ(results[3].as<std::uint32_t>()[2], 1427181096u) << name;
    EXPECT_NEAR(results[4].as<float>()[0], 4.40184211730957, 2e-6) << name;
    EXPECT_NEAR(results[5].as<float>()[2], -0.4580078125, 1e-6) << name;
    EXPECT_EQ(results[6].as<float>()[0], 0.625F) << name;
    EXPECT_EQ(results[7].as<std::int32_t>()[1], 2) << name;
    EXPECT_EQ(results[8].as<std::int32_t>()[0], 3) << name;
  }
}

TEST(HloText, AllRoutesGiveTheSameBits) {
  const std::vector<Tensor> reference = run(load("step.mlir"));
  for (const std::string name : {"step.generic.mlir", "step.hlo"}) {
    const std::vector<Tensor> results = run(load(name));
    for (std::size_t i = 0; i < reference.size(); ++i) {
      EXPECT_EQ(results[i].type, reference[i].type) << name << " result " << i;
      EXPECT_EQ(results[i].bytes, reference[i].bytes) << name << " result " << i;
    }
  }
}

TEST(HloText, ElidedConstantIsAnErrorOrAnInput) {
  ImportOptions options;
  options.source_name = "step.dump.txt";
  const std::string text = data_file("step.dump.txt");
  try {
    parse_hlo_text(text, options);
    FAIL() << "the constant is elided";
  } catch (const ImportError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("constant.89 (constant): the value of this constant"), std::string::npos) << message;
    EXPECT_NE(message.find("--elided-constants-as-inputs"), std::string::npos) << message;
  }
  options.elided_constants_as_inputs = true;
  const ir::Program program = parse_hlo_text(text, options);
  ir::verify(program);
  const ir::Function& entry = program.entry();
  ASSERT_EQ(entry.params.size(), 6u);
  EXPECT_EQ(entry.param_notes[5], (ir::Notes{{"loc", "constant.89"}, {"rhino.elided_constant", "true"}}));
  std::vector<Tensor> inputs = arguments(entry, 5);
  Tensor table(entry.type(entry.params[5]));
  const std::vector<std::int32_t> values = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
  std::copy(values.begin(), values.end(), table.as<std::int32_t>().begin());
  inputs.push_back(table);
  const auto results = kernels::reference::run(program, program.main, inputs);
  const auto reference = run(load("step.mlir"));
  for (std::size_t i = 0; i < reference.size(); ++i)
    EXPECT_EQ(results[i].bytes, reference[i].bytes) << i;
}

TEST(HloText, ParameterNotes) {
  const ir::Program dump = [] {
    ImportOptions options;
    options.elided_constants_as_inputs = true;
    return parse_hlo_text(data_file("step.dump.txt"), options);
  }();
  EXPECT_EQ(dump.entry().param_notes[1], (ir::Notes{{"tf.aliasing_output", "1"}, {"loc", "state['w']['e']"}}));
  const ir::Program plain = load("step.hlo");
  EXPECT_EQ(plain.entry().param_notes[1].back().second, "state__w____e__.1");
  EXPECT_EQ(plain.entry().name, "main");
}

std::string module(const std::string& entry) { return "HloModule m\n\nENTRY e {\n" + entry + "\n}\n"; }

TEST(HloText, OldDialectWithOperandShapesAndPercents) {
  const ir::Program program = parse(
      "HloModule m\n%add (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n  ROOT "
      "%s = f32[] add(f32[] %a, f32[] %b)\n}\n\nENTRY %e (x: f32[2,3]) -> (f32[2], s32[]) {\n  %x = f32[2,3]{1,0} "
      "parameter(0), sharding={devices=[2,1]<=[2]}\n  %c = f32[] constant(0)\n  %r = f32[2]{0} reduce(f32[2,3]{1,0} "
      "%x, "
      "f32[] %c), dimensions={1}, to_apply=%add, metadata={op_name=\"sum\"}\n  %i = s32[] constant(-4)\n  ROOT %t = "
      "(f32[2]{0}, /*index=1*/s32[]) tuple(%r, %i)\n}\n");
  EXPECT_EQ(program.entry().results.size(), 2u);
  EXPECT_EQ(program.entry().param_notes[0][0].second, "{devices=[2,1]<=[2]}");
  EXPECT_EQ(program.entry().ops[1].location.name, "sum");
}

TEST(HloText, TupleParametersAndLoops) {
  const ir::Program program = parse(
      "HloModule m\ncond {\n p = (s32[], f32[2]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n c = s32[] "
      "constant(3)\n ROOT lt = pred[] compare(i, c), direction=LT\n}\nbody {\n p = (s32[], f32[2]) parameter(0)\n i = "
      "s32[] get-tuple-element(p), index=0\n one = s32[] constant(1)\n j = s32[] add(i, one)\n x = f32[2] "
      "get-tuple-element(p), index=1\n y = f32[2] add(x, x)\n ROOT t = (s32[], f32[2]) tuple(j, y)\n}\nENTRY e {\n p = "
      "(f32[2]{0}, s32[]) parameter(0)\n x = f32[2] get-tuple-element(p), index=0\n i = s32[] get-tuple-element(p), "
      "index=1\n t = (s32[], f32[2]) tuple(i, x)\n w = (s32[], f32[2]) while(t), condition=cond, body=body\n ROOT r = "
      "f32[2] get-tuple-element(w), index=1\n}\n");
  Tensor x(program.entry().type(program.entry().params[0]));
  x.as<float>()[0] = 1.5F;
  const auto results =
      kernels::reference::run(program, program.main, {x, Tensor(program.entry().type(program.entry().params[1]))});
  EXPECT_EQ(results[0].as<float>()[0], 12.0F);
}

TEST(HloText, ConditionalOfBoolean) {
  const ir::Program program = parse(
      "HloModule m\nyes {\n a = f32[] parameter(0)\n ROOT r = f32[] negate(a)\n}\nno {\n p = (f32[], f32[]) "
      "parameter(0)\n a = f32[] get-tuple-element(p), index=0\n b = f32[] get-tuple-element(p), index=1\n ROOT r = "
      "f32[] "
      "multiply(a, b)\n}\nENTRY e {\n c = pred[] parameter(0)\n a = f32[] constant(3)\n b = f32[] constant(5)\n t = "
      "(f32[], f32[]) tuple(a, b)\n ROOT r = f32[] conditional(c, b, t), true_computation=yes, "
      "false_computation=no\n}\n");
  Tensor condition(program.entry().type(program.entry().params[0]));
  EXPECT_EQ(kernels::reference::run(program, program.main, {condition})[0].as<float>()[0], 15.0F);
  condition.as<std::uint8_t>()[0] = 1;
  EXPECT_EQ(kernels::reference::run(program, program.main, {condition})[0].as<float>()[0], -5.0F);
}

TEST(HloText, ElidedConstantsInsideLoopsAndBranches) {
  ImportOptions options;
  options.elided_constants_as_inputs = true;
  const ir::Program program = parse_hlo_text(
      "HloModule m\ncond {\n p = (s32[], f32[12]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n c = s32[] "
      "constant(2)\n ROOT lt = pred[] compare(i, c), direction=LT\n}\nbody {\n p = (s32[], f32[12]) parameter(0)\n i = "
      "s32[] get-tuple-element(p), index=0\n one = s32[] constant(1)\n j = s32[] add(i, one)\n x = f32[12] "
      "get-tuple-element(p), index=1\n k = f32[12] constant({...})\n y = f32[12] add(x, k)\n ROOT t = (s32[], f32[12]) "
      "tuple(j, y)\n}\nENTRY e {\n x = f32[12] parameter(0)\n i = s32[] constant(0)\n t = (s32[], f32[12]) tuple(i, "
      "x)\n "
      "w = (s32[], f32[12]) while(t), condition=cond, body=body\n ROOT r = f32[12] get-tuple-element(w), index=1\n}\n",
      options);
  ir::verify(program);
  const ir::Function& entry = program.entry();
  ASSERT_EQ(entry.params.size(), 2u);
  EXPECT_EQ(entry.param_notes[1][0].second, "body.k");
  Tensor x(entry.type(entry.params[0])), k(entry.type(entry.params[1]));
  k.as<float>()[11] = 2.5F;
  EXPECT_EQ(kernels::reference::run(program, program.main, {x, k})[0].as<float>()[11], 5.0F);
}

TEST(HloText, LiteralsPaddingAndWindows) {
  const ir::Program program = parse(
      "HloModule m\nadd {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\nENTRY e {\n "
      "c "
      "= f32[2,3]{1,0} constant({ { 1, -inf, nan }, /*i0=1*/ { 4.5, 5e-3, 6 } })\n z = f32[] constant(0)\n p = "
      "f32[3,6] "
      "pad(c, z), padding=0_1x-1_2_1\n w = f32[2,6] reduce-window(p, z), window={size=2x1 pad=0_0x0_0}, to_apply=add\n "
      "b = "
      "pred[3] constant({1, 0, true})\n ROOT t = (f32[2,6], pred[3]) tuple(w, b)\n}\n");
  const auto& value = program.entry().ops[0].as<ir::ConstantAttrs>().value;
  EXPECT_EQ(value.element_as_double(1), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(value.element_as_double(2)));
  EXPECT_EQ(value.element_as_double(3), 4.5);
}

TEST(HloText, ReplicaGroups) {
  const auto groups = [](const std::string& text) {
    const ir::Program program = parse(
        "HloModule m\nadd {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\nENTRY e "
        "{\n x "
        "= f32[4] parameter(0)\n ROOT r = f32[4] all-reduce(x), replica_groups=" +
        text + ", channel_id=1, use_global_device_ids=true, to_apply=add\n}\n");
    return *program.entry().ops[0].as<ir::CollectiveAttrs>().groups;
  };
  EXPECT_EQ(groups("{{0,2},{1,3}}"), (ir::ReplicaGroups{{0, 2}, {1, 3}}));
  EXPECT_EQ(groups("[2,2]<=[4]"), (ir::ReplicaGroups{{0, 1}, {2, 3}}));
  EXPECT_EQ(groups("[2,2]<=[2,2]T(1,0)"), (ir::ReplicaGroups{{0, 2}, {1, 3}}));
  for (const std::string bad :
       {"[2,2]<=[5]", "[0,2]<=[4]", "[2,2]<=[2,2]T(0,0)", "[2,2]<=[99999999,99999999]", "{{0,1"})
    EXPECT_THROW(groups(bad), ImportError) << bad;
}

TEST(HloText, Diagnostics) {
  struct Case {
    std::string text, message;
    bool unsupported;
  };
  const std::vector<Case> cases = {
      {"HloModule m, is_scheduled=true\nENTRY e { ROOT x = f32[] parameter(0) }", "optimised", true},
      {module(" ROOT f = f32[2] fusion(), kind=kLoop, calls=c"), ":4:7: f (fusion): this HLO is optimised", true},
      {module(" ROOT x = c64[2] parameter(0)"), "complex numbers", true},
      {module(" ROOT x = f32[<=2] parameter(0)"), "dynamic shapes", true},
      {module(" ROOT x = f32[2] custom-call(), custom_call_target=\"lapack_sgetrf\""), "custom call 'lapack_sgetrf'",
       true},
      {module(" ROOT x = f32[2] rng(), distribution=rng_uniform"), "jax.random", true},
      {module(" ROOT x = f32[2] flub()"), "x (flub): this op is not supported", true},
      {module(" ROOT x = f32[2] iota(), iota_dimension=0, foo={1}"), "x (iota): unknown attribute 'foo'", false},
      {module(" a = f32[2] iota(), iota_dimension=0\n ROOT x = f32[3] negate(a)"), ":5:7: x (negate): result 0 is",
       false},
      {module(" ROOT x = f32[2] negate(y)"), "x (negate): %y is not defined here", false},
      {module(" ROOT x = f32[2] call(), to_apply=g"), "there is no function 'g'", false},
      {module(" ROOT x = f32[3] constant({1, 2})"), "not as many items", false},
      {module(" ROOT x = f32[3] parameter(7)"), "", false},
  };
  for (const Case& test : cases) {
    const std::string message = message_of<ImportError>(test.text);
    EXPECT_NE(message, "") << test.text;
    EXPECT_NE(message.find(test.message), std::string::npos) << test.text << "\n gives: " << message;
    EXPECT_EQ(!message_of<UnsupportedError>(test.text).empty(), test.unsupported) << message;
  }
}

}  // namespace
}  // namespace rhino::frontend
