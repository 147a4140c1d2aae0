// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/program.hpp>

#include <cmath>

#include <gtest/gtest.h>

#include <rhino/ir/builder.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::ir {
namespace {

const TensorType vector_f32{DType::F32, {4}};

Program sum_of_squares(bool swap = false) {
  Program program;
  program.main = program.add_function("main");
  Builder b(program, program.main);
  const ValueId x = b.param(vector_f32);
  const ValueId y = b.param(vector_f32);
  const ValueId product = swap ? b.add(OpKind::Multiply, {y, x}) : b.add(OpKind::Multiply, {x, y});
  b.set_results({b.reduce(product, ReducerKind::Add, {0})});
  return program;
}

TEST(Program, KnowsProducersAndUses) {
  const Program program = sum_of_squares();
  const Function& main = program.entry();
  EXPECT_EQ(main.producer(main.params[0]), nullptr);
  EXPECT_EQ(main.producer(main.results[0])->kind, OpKind::Reduce);
  const auto uses = value_uses(main);
  ASSERT_EQ(uses[main.params[1].index()].size(), 1u);
  EXPECT_EQ(uses[main.params[1].index()][0].second, 1u);
  EXPECT_TRUE(uses[main.results[0].index()].empty());
  EXPECT_EQ(main.result_types(), (std::vector<TensorType>{{DType::F32, {}}}));
  EXPECT_TRUE(program.find("main").valid());
  EXPECT_FALSE(program.find("nobody").valid());
}

TEST(Program, EquivalenceSeesOperandsTypesAndAttributes) {
  EXPECT_TRUE(equivalent(sum_of_squares(), sum_of_squares()));
  EXPECT_FALSE(equivalent(sum_of_squares(), sum_of_squares(true)));
  Program other = sum_of_squares();
  other.functions[1].ops[0].kind = OpKind::Multiply;
  EXPECT_FALSE(equivalent(sum_of_squares(), other));
  Program typed = sum_of_squares();
  typed.entry().values[0].type.dtype = DType::F64;
  EXPECT_FALSE(equivalent(sum_of_squares(), typed));
  Program results = sum_of_squares();
  results.entry().results.push_back(results.entry().results[0]);
  EXPECT_FALSE(equivalent(sum_of_squares(), results));
}

TEST(Program, EquivalenceIgnoresNamesNotesAndUnusedFunctions) {
  Program other = sum_of_squares();
  other.name = "other";
  other.functions[1].name = "plus";
  other.entry().ops[0].location = {7, "there"};
  other.entry().ops[0].notes.emplace_back("a", "b");
  other.add_function("unused");
  EXPECT_TRUE(equivalent(sum_of_squares(), other));
}

TEST(Program, EquivalenceIgnoresHowOftenARegionIsShared) {
  const auto make = [](bool shared) {
    Program program;
    program.main = program.add_function("main");
    Builder b(program, program.main);
    const ValueId x = b.param(vector_f32);
    const ValueId zero = b.scalar(DType::F32, 0);
    const FunctionId first = make_reducer(program, ReducerKind::Add, DType::F32);
    const FunctionId second = shared ? first : make_reducer(program, ReducerKind::Add, DType::F32);
    const ValueId one = b.add(OpKind::Reduce, {x, zero}, ReduceAttrs{{0}}, {first});
    const ValueId two = b.add(OpKind::Reduce, {x, zero}, ReduceAttrs{{0}}, {second});
    b.set_results({one, two});
    return program;
  };
  EXPECT_TRUE(equivalent(make(true), make(false)));
  EXPECT_TRUE(equivalent(make(false), make(true)));
}

TEST(Program, ClassifiesTheReducersItMakes) {
  Program program;
  for (const ReducerKind kind : {ReducerKind::Add, ReducerKind::Multiply, ReducerKind::Maximum, ReducerKind::Minimum,
                                 ReducerKind::And, ReducerKind::Or, ReducerKind::Xor}) {
    const FunctionId id = make_reducer(program, kind, DType::I32);
    EXPECT_EQ(classify_reducer(program.function(id)), kind);
  }
}

TEST(Program, OtherReducersAreOther) {
  Program program;
  const TensorType scalar{DType::F32, {}};
  const auto classify = [&](auto&& body) {
    const FunctionId id = program.add_function("r");
    Builder b(program, id);
    const ValueId x = b.param(scalar);
    const ValueId y = b.param(scalar);
    b.set_results({body(b, x, y)});
    return classify_reducer(program.function(id));
  };
  EXPECT_EQ(classify([](Builder& b, ValueId x, ValueId y) { return b(OpKind::Subtract, x, y); }), ReducerKind::Other);
  EXPECT_EQ(classify([](Builder& b, ValueId x, ValueId) { return b(OpKind::Add, x, x); }), ReducerKind::Other);
  EXPECT_EQ(classify([](Builder&, ValueId, ValueId y) { return y; }), ReducerKind::Other);
  EXPECT_EQ(classify([](Builder& b, ValueId x, ValueId y) { return b(OpKind::Add, y, x); }), ReducerKind::Add);
  EXPECT_EQ(classify([](Builder& b, ValueId x, ValueId y) {
              b(OpKind::Add, x, y);
              return x;
            }),
            ReducerKind::Other);
}

TEST(Program, IdentitiesAreNeutral) {
  EXPECT_EQ(reducer_identity(ReducerKind::Add, DType::F32).element_as_double(0), 0.0);
  EXPECT_EQ(reducer_identity(ReducerKind::Multiply, DType::BF16).element_as_double(0), 1.0);
  EXPECT_EQ(reducer_identity(ReducerKind::Maximum, DType::F16).element_as_double(0), -INFINITY);
  EXPECT_EQ(reducer_identity(ReducerKind::Minimum, DType::F64).element_as_double(0), INFINITY);
  EXPECT_EQ(reducer_identity(ReducerKind::Maximum, DType::I8).element_as_int(0), -128);
  EXPECT_EQ(reducer_identity(ReducerKind::Minimum, DType::I16).element_as_int(0), 32767);
  EXPECT_EQ(reducer_identity(ReducerKind::Maximum, DType::I64).element_as_int(0), INT64_MIN);
  EXPECT_EQ(reducer_identity(ReducerKind::Maximum, DType::U32).element_as_int(0), 0);
  EXPECT_EQ(reducer_identity(ReducerKind::Minimum, DType::U32).element_as_int(0), 0xffffffffll);
  EXPECT_EQ(reducer_identity(ReducerKind::Minimum, DType::U64).element_as_int(0), -1);
  EXPECT_EQ(reducer_identity(ReducerKind::And, DType::U8).element_as_int(0), 255);
  EXPECT_EQ(reducer_identity(ReducerKind::And, DType::I1).element_as_int(0), 1);
  EXPECT_EQ(reducer_identity(ReducerKind::Minimum, DType::I1).element_as_int(0), 1);
  EXPECT_EQ(reducer_identity(ReducerKind::Maximum, DType::I1).element_as_int(0), 0);
  EXPECT_EQ(reducer_identity(ReducerKind::Xor, DType::I64).element_as_int(0), 0);
}

TEST(Program, OpNamesReadBack) {
  for (int i = 0; i < op_kind_count; ++i) {
    const auto kind = static_cast<OpKind>(i);
    EXPECT_EQ(op_kind_from_name(op_name(kind)), kind);
  }
  EXPECT_FALSE(op_kind_from_name("fft"));
  EXPECT_EQ(qualified_op_name(OpKind::Add), "stablehlo.add");
  EXPECT_EQ(qualified_op_name(OpKind::Erf), "chlo.erf");
  EXPECT_TRUE(is_elementwise(OpKind::Select));
  EXPECT_FALSE(is_elementwise(OpKind::BitcastConvert));
  EXPECT_FALSE(is_elementwise(OpKind::Reshape));
  EXPECT_TRUE(is_collective(OpKind::ReduceScatter));
  EXPECT_FALSE(is_collective(OpKind::PartitionId));
  EXPECT_TRUE(has_regions(OpKind::Sort));
  EXPECT_FALSE(has_regions(OpKind::Add));
}

}  // namespace
}  // namespace rhino::ir
