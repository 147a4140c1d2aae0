// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/builder.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::ir {
namespace {

const TensorType vector_type{DType::F32, {4}};

/// y = tanh(x); z = sum(y); returns (z, y)
Program sample() {
  Program program;
  program.main = program.add_function("main");
  Builder b(program, program.main);
  const ValueId x = b.param(vector_type);
  b.set_location({3, "model/tanh"});
  const ValueId y = b(OpKind::Tanh, x);
  const ValueId z = b.reduce(y, ReducerKind::Add, {0});
  b.set_results({z, y});
  return program;
}

void expect_fault(const std::function<void(Program&)>& damage, const std::string& message) {
  Program program = sample();
  damage(program);
  try {
    verify(program);
    ADD_FAILURE() << "expected: " << message;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(message));
  }
}

TEST(Verify, AcceptsWhatTheBuilderMakes) { EXPECT_NO_THROW(verify(sample())); }

TEST(Verify, NamesFunctionLineScopeOpAndOperand) {
  expect_fault([](Program& p) { p.entry().ops[0].operands[0] = p.entry().results[0]; },
               "in @main, line 3, model/tanh: operand 0 of stablehlo.tanh is not defined before its use");
  expect_fault([](Program& p) { p.entry().values[0].type.dtype = DType::I32; },
               "in @main, line 3, model/tanh: stablehlo.tanh: operand 0 is tensor<4xi32>, expected elements of a "
               "floating-point type");
}

TEST(Verify, FindsDamage) {
  expect_fault([](Program& p) { p.main = FunctionId(); }, "no entry function");
  expect_fault([](Program& p) { p.main = FunctionId(17); }, "no entry function");
  expect_fault([](Program& p) { p.entry().results[0] = ValueId(99); }, "result list refers to a value");
  expect_fault([](Program& p) { p.entry().params.push_back(p.entry().params[0]); }, "parameter 1 occurs twice");
  expect_fault([](Program& p) { p.entry().params[0] = p.entry().results[0]; }, "marked as an op's result");
  expect_fault([](Program& p) { p.entry().ops[0].operands[0] = ValueId(); }, "operand 0 of stablehlo.tanh");
  expect_fault([](Program& p) { p.entry().values[1].type.dims = {5}; },
               "result 0 of stablehlo.tanh is given as tensor<5xf32>, but must be tensor<4xf32>");
  expect_fault([](Program& p) { p.entry().ops[0].results.clear(); }, "has 0 results, expected 1");
  expect_fault([](Program& p) { p.entry().ops[0].results[0] = p.entry().params[0]; }, "not a value of its own");
  expect_fault([](Program& p) { p.entry().values[1].producer = OpId(1); }, "marked as the result of another op");
  expect_fault([](Program& p) { p.entry().ops.pop_back(); }, "result 0 is never defined");
  expect_fault([](Program& p) { p.entry().ops[2].regions[0] = FunctionId(40); }, "function that does not exist");
  expect_fault([](Program& p) { p.entry().ops[2].regions.clear(); }, "expected 1 region, got 0");
  expect_fault([](Program& p) { p.entry().param_notes.resize(3); }, "1 parameters but notes for 3");
  expect_fault([](Program& p) { p.entry().result_notes.resize(1); }, "2 results but notes for 1");
  expect_fault([](Program& p) { std::swap(p.entry().ops[0], p.entry().ops[2]); }, "not defined before its use");
}

TEST(Verify, RefusesRecursionAndBottomlessNesting) {
  expect_fault(
      [](Program& p) {
        const FunctionId f = p.add_function("loop");
        const FunctionId g = p.add_function("pool");
        p.function(f).append(OpKind::Call, NoAttrs{}, {}, {}, {g});
        p.function(g).append(OpKind::Call, NoAttrs{}, {}, {}, {f});
      },
      "is recursive");
  expect_fault(
      [](Program& p) {
        FunctionId inner = p.add_function("leaf");
        for (int i = 0; i < 100000; ++i) {
          const FunctionId outer = p.add_function("f");
          p.function(outer).append(OpKind::Call, NoAttrs{}, {}, {}, {inner});
          inner = outer;
        }
      },
      "more than 1000 deep");
}

}  // namespace
}  // namespace rhino::ir
