// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/builder.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::ir {
namespace {

struct BuilderTest : testing::Test {
  Program program;
  FunctionId main = program.add_function("main");
  Builder b{program, main};
  void finish(ValueId result) {
    program.main = main;
    b.set_results({result});
    verify(program);
  }
};

TEST_F(BuilderTest, ShortFormsInferTheirTypes) {
  const ValueId x = b.param({DType::F32, {2, 3}});
  EXPECT_EQ(b.type(b.broadcast(x, {4, 2, 3}, {1, 2})).dims, (Dims{4, 2, 3}));
  EXPECT_EQ(b.type(b.broadcast_scalar(b.scalar(DType::I8, 3), {5})), (TensorType{DType::I8, {5}}));
  EXPECT_EQ(b.type(b.slice(x, {0, 1}, {2, 3})).dims, (Dims{2, 2}));
  EXPECT_EQ(b.type(b.pad(x, b.scalar(DType::F32, 0), {1, 0}, {0, 1})).dims, (Dims{3, 4}));
  EXPECT_EQ(b.type(b.concatenate({x, x}, 0)).dims, (Dims{4, 3}));
  EXPECT_EQ(b.type(b.compare(x, x, Comparison::Lt)).dtype, DType::I1);
  EXPECT_EQ(b.type(b.convert(x, DType::U8)).dtype, DType::U8);
  EXPECT_EQ(b.type(b.transpose(x, {1, 0})).dims, (Dims{3, 2}));
  EXPECT_EQ(b.type(b.iota({DType::I64, {7}}, 0)).dims, Dims{7});
  const ValueId index = b.scalar_int(DType::I32, 0);
  EXPECT_EQ(b.type(b.dynamic_slice(x, {index, index}, {1, 3})).dims, (Dims{1, 3}));
  EXPECT_EQ(b.type(b.full({DType::F64, {9}}, 2)).bytes(), 72);
  const ValueId sum = b.reduce(x, ReducerKind::Add, {0, 1});
  EXPECT_EQ(b.type(sum).rank(), 0);
  finish(sum);
}

TEST_F(BuilderTest, ErrorsNameTheScope) {
  const ValueId x = b.param({DType::F32, {2, 3}});
  b.set_location({42, "encoder/dense"});
  try {
    b.reshape(x, {7});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "line 42: encoder/dense: stablehlo.reshape: the result tensor<7xf32> has 7 elements, but the operand "
                 "tensor<2x3xf32> has 6");
  }
  EXPECT_TRUE(program.function(main).ops.empty()) << "a refused op leaves nothing behind";
}

TEST_F(BuilderTest, GivesLocationsAndManyResults) {
  b.set_location({5, "a"});
  const ValueId x = b.param({DType::F32, {4}});
  const auto results = b.add_multi(OpKind::TopK, {x}, TopKAttrs{2, true});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(program.function(main).ops[0].location, (Location{5, "a"}));
  EXPECT_THROW(b.add(OpKind::TopK, {x}, TopKAttrs{2, true}), InternalError) << "add is for one result";
  EXPECT_THROW(b(OpKind::Abs, ValueId(1000)), InternalError);
}

}  // namespace
}  // namespace rhino::ir
