// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/passes.hpp>

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/builder.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/ir/text.hpp>

namespace rhino::ir {
namespace {

/// A program whose entry is written by `body`, which gets the parameters and returns the results.
Program make(std::vector<TensorType> params,
             const std::function<std::vector<ValueId>(Builder&, std::vector<ValueId>)>& body) {
  Program program;
  program.main = program.add_function("main");
  Builder b(program, program.main);
  std::vector<ValueId> values;
  for (TensorType& type : params)
    values.push_back(b.param(std::move(type)));
  b.set_results(body(b, values));
  verify(program);
  return program;
}

FunctionId helper(Program& program, std::vector<TensorType> params,
                  const std::function<std::vector<ValueId>(Builder&, std::vector<ValueId>)>& body) {
  const FunctionId id = program.add_function("helper");
  Builder b(program, id);
  std::vector<ValueId> values;
  for (TensorType& type : params)
    values.push_back(b.param(std::move(type)));
  b.set_results(body(b, values));
  return id;
}

std::vector<OpKind> kinds(const Function& function) {
  std::vector<OpKind> result;
  for (const Op& op : function.ops)
    result.push_back(op.kind);
  return result;
}

const TensorType scalar{DType::F32, {}};
const TensorType matrix{DType::F32, {2, 3}};
using Kinds = std::vector<OpKind>;
using Values = std::vector<ValueId>;

TEST(InlineCalls, ReplacesNestedCallsAndDropsTheCallees) {
  Program program = make({scalar}, [](Builder& b, Values x) -> Values {
    const FunctionId inner = helper(b.program(), {scalar}, [](Builder& c, Values y) -> Values {
      return {c(OpKind::Exponential, y[0]), y[0]};
    });
    const FunctionId outer = helper(b.program(), {scalar}, [&](Builder& c, Values y) -> Values {
      const auto r = c.add_multi(OpKind::Call, {c(OpKind::Negate, y[0])}, NoAttrs{}, {inner});
      return {c(OpKind::Add, r[0], r[1])};
    });
    b.set_location({12, "here"});
    const ValueId once = b.add(OpKind::Call, {x[0]}, NoAttrs{}, {outer});
    return {b.add(OpKind::Call, {once}, NoAttrs{}, {outer})};
  });
  inline_calls(program);
  verify(program);
  EXPECT_EQ(kinds(program.entry()), (Kinds{OpKind::Negate, OpKind::Exponential, OpKind::Add, OpKind::Negate,
                                           OpKind::Exponential, OpKind::Add}));
  EXPECT_EQ(program.functions.size(), 1u);
  EXPECT_EQ(program.entry().ops[0].location, (Location{12, "here"}));
}

TEST(InlineCalls, ReachesIntoRegions) {
  Program program = make({{DType::F32, {4}}}, [](Builder& b, Values x) -> Values {
    const FunctionId add = helper(b.program(), {scalar, scalar},
                                  [](Builder& c, Values y) -> Values { return {c(OpKind::Add, y[0], y[1])}; });
    const FunctionId reducer = helper(b.program(), {scalar, scalar}, [&](Builder& c, Values y) -> Values {
      return {c.add(OpKind::Call, {y[0], y[1]}, NoAttrs{}, {add})};
    });
    return {b.add(OpKind::Reduce, {x[0], b.scalar(DType::F32, 0)}, ReduceAttrs{{0}}, {reducer})};
  });
  EXPECT_EQ(classify_reducer(program.function(program.entry().ops.back().regions[0])), ReducerKind::Other);
  inline_calls(program);
  verify(program);
  EXPECT_EQ(classify_reducer(program.function(program.entry().ops.back().regions[0])), ReducerKind::Add);
}

TEST(InlineCalls, RefusesRecursionAndExplosion) {
  Program recursive = make({scalar}, [](Builder& b, Values x) -> Values {
    const FunctionId f = helper(b.program(), {scalar}, [](Builder&, Values y) -> Values { return {y[0]}; });
    return {b.add(OpKind::Call, {x[0]}, NoAttrs{}, {f})};
  });
  Function& callee = recursive.functions[1];
  const OpId call = callee.append(OpKind::Call, NoAttrs{}, {callee.params[0]}, {scalar}, {FunctionId(1)});
  callee.results = {callee.op(call).results[0]};
  EXPECT_THROW(inline_calls(recursive), InputError);

  Program doubling;
  FunctionId previous =
      helper(doubling, {scalar}, [](Builder& b, Values y) -> Values { return {b(OpKind::Abs, y[0])}; });
  for (int i = 0; i < 80; ++i)
    previous = helper(doubling, {scalar}, [&](Builder& b, Values y) -> Values {
      return {b.add(OpKind::Call, {b.add(OpKind::Call, {y[0]}, NoAttrs{}, {previous})}, NoAttrs{}, {previous})};
    });
  doubling.main = previous;
  verify(doubling);
  EXPECT_THROW(inline_calls(doubling), InputError);
}

TEST(DeadCode, KeepsResultsAndEffectsOnly) {
  Program program = make({scalar}, [](Builder& b, Values x) -> Values {
    const ValueId dead = b(OpKind::Exponential, x[0]);
    b(OpKind::Negate, dead);
    const ValueId live = b(OpKind::Tanh, x[0]);
    const ValueId checked = b(OpKind::Abs, x[0]);
    b.add_multi(OpKind::CustomCall, {checked}, CustomCallAttrs{"check", "", true, {}});
    b.add_multi(OpKind::CustomCall, {live}, CustomCallAttrs{"pure", "", false, {scalar}});
    b.program().add_function("unused");
    return {live};
  });
  eliminate_dead_code(program);
  verify(program);
  EXPECT_EQ(kinds(program.entry()), (Kinds{OpKind::Tanh, OpKind::Abs, OpKind::CustomCall}));
  EXPECT_EQ(program.functions.size(), 1u);
}

TEST(DeadCode, KeepsControlFlowWithEffects) {
  Program program = make({{DType::I32, {}}}, [](Builder& b, Values x) -> Values {
    const auto noisy = [&](bool effect) {
      return helper(b.program(), {}, [&](Builder& c, Values) -> Values {
        c.add_multi(OpKind::CustomCall, {}, CustomCallAttrs{"print", "", effect, {}});
        return {c.scalar(DType::F32, 1)};
      });
    };
    b.add(OpKind::Case, {x[0]}, NoAttrs{}, {noisy(true)});
    b.add(OpKind::Case, {x[0]}, NoAttrs{}, {noisy(false)});
    return {x[0]};
  });
  eliminate_dead_code(program);
  verify(program);
  EXPECT_EQ(kinds(program.entry()), Kinds{OpKind::Case});
  EXPECT_EQ(program.functions.size(), 2u);
}

/// while (i < 3) { i += 1; x = x * 2; y = y + x; z = z + z } with the results that `used` names.
Program loop(const std::vector<std::size_t>& used) {
  const TensorType counter{DType::I32, {}};
  return make({scalar, scalar, scalar}, [&](Builder& b, Values p) -> Values {
    const std::vector<TensorType> types{counter, scalar, scalar, scalar};
    const FunctionId condition = helper(b.program(), types, [](Builder& c, Values v) -> Values {
      return {c.compare(v[0], c.scalar_int(DType::I32, 3), Comparison::Lt)};
    });
    const FunctionId body = helper(b.program(), types, [](Builder& c, Values v) -> Values {
      const ValueId next = c(OpKind::Add, v[0], c.scalar_int(DType::I32, 1));
      return {next, c(OpKind::Multiply, v[1], c.scalar(DType::F32, 2)), c(OpKind::Add, v[2], v[1]),
              c(OpKind::Add, v[3], v[3])};
    });
    const auto results = b.add_multi(
        OpKind::While, {b.scalar_int(DType::I32, 0), b(OpKind::Negate, p[0]), p[1], b(OpKind::Exponential, p[2])},
        NoAttrs{}, {condition, body});
    Values chosen;
    for (const std::size_t i : used)
      chosen.push_back(results[i]);
    return chosen;
  });
}

TEST(DeadCode, NarrowsLoopsToWhatIsNeeded) {
  Program one = loop({1});  // needs i and x
  eliminate_dead_code(one);
  verify(one);
  EXPECT_EQ(kinds(one.entry()), (Kinds{OpKind::Constant, OpKind::Negate, OpKind::While}));
  EXPECT_EQ(one.entry().ops.back().operands.size(), 2u);
  EXPECT_EQ(one.functions.size(), 3u);
  EXPECT_EQ(kinds(one.function(one.entry().ops.back().regions[1])),
            (Kinds{OpKind::Constant, OpKind::Add, OpKind::Constant, OpKind::Multiply}));

  Program two = loop({2});  // y needs x, which needs i
  eliminate_dead_code(two);
  verify(two);
  EXPECT_EQ(two.entry().ops.back().operands.size(), 3u);

  Program all = loop({0, 1, 2, 3});
  const Program before = all;
  eliminate_dead_code(all);
  EXPECT_TRUE(equivalent(before, all));

  Program none = loop({});
  eliminate_dead_code(none);
  EXPECT_TRUE(none.entry().ops.empty());
}

TEST(CommonSubexpressions, MergesEqualOpsOnly) {
  Program program = make({matrix, matrix}, [](Builder& b, Values x) -> Values {
    const ValueId s1 = b(OpKind::Add, x[0], x[1]);
    const ValueId s2 = b(OpKind::Add, x[0], x[1]);
    const ValueId other = b(OpKind::Add, x[1], x[0]);
    const ValueId t1 = b.slice(s1, {0, 0}, {1, 3});
    const ValueId t2 = b.slice(s2, {0, 0}, {1, 3});
    const ValueId t3 = b.slice(s2, {1, 0}, {2, 3});
    return {s1, s2, other, t1, t2, t3};
  });
  eliminate_common_subexpressions(program);
  verify(program);
  const Function& main = program.entry();
  EXPECT_EQ(kinds(main), (Kinds{OpKind::Add, OpKind::Add, OpKind::Slice, OpKind::Slice}));
  EXPECT_EQ(main.results[0], main.results[1]);
  EXPECT_NE(main.results[0], main.results[2]);
  EXPECT_EQ(main.results[3], main.results[4]);
  EXPECT_NE(main.results[3], main.results[5]);
}

TEST(CommonSubexpressions, ComparesConstantsAndRegionsByContent) {
  Program program = make({matrix}, [](Builder& b, Values x) -> Values {
    const ValueId full = b.constant(Literal({DType::I8, {2}}, std::vector<std::byte>(2, std::byte{3})));
    const ValueId splat = b.constant(Literal::splat_int({DType::I8, {2}}, 3));
    return {b.reduce(x[0], ReducerKind::Add, {1}), b.reduce(x[0], ReducerKind::Add, {1}),
            b.reduce(x[0], ReducerKind::Maximum, {1}), full, splat};
  });
  eliminate_common_subexpressions(program);
  verify(program);
  const Function& main = program.entry();
  EXPECT_EQ(main.results[0], main.results[1]);
  EXPECT_NE(main.results[0], main.results[2]);
  EXPECT_EQ(main.results[3], main.results[4]);
}

TEST(CommonSubexpressions, LeavesBarriersAndEffectsAlone) {
  Program program = make({matrix}, [](Builder& b, Values x) -> Values {
    for (int i = 0; i < 2; ++i)
      b.add_multi(OpKind::CustomCall, {x[0]}, CustomCallAttrs{"print", "", true, {}});
    return {b.add(OpKind::OptimizationBarrier, {x[0]}), b.add(OpKind::OptimizationBarrier, {x[0]})};
  });
  const Program before = program;
  eliminate_common_subexpressions(program);
  EXPECT_TRUE(equivalent(before, program));
}

/// The kinds left of a one-parameter function after simplification and removal of dead code.
Kinds simplified(TensorType param, const std::function<ValueId(Builder&, ValueId)>& body) {
  Program program = make({std::move(param)}, [&](Builder& b, Values x) -> Values { return {body(b, x[0])}; });
  simplify_identities(program);
  verify(program);
  eliminate_dead_code(program);
  return kinds(program.entry());
}

TEST(Identities, Movement) {
  EXPECT_EQ(simplified(matrix, [](Builder& b, ValueId x) { return b.reshape(b.reshape(x, {6}), {2, 3}); }), Kinds{});
  EXPECT_EQ(simplified(matrix,
                       [](Builder& b, ValueId x) {
                         return b.reshape(b.reshape(x, {6}), {3, 2});
                       }),
            Kinds{OpKind::Reshape});
  EXPECT_EQ(simplified(matrix,
                       [](Builder& b, ValueId x) {
                         return b.transpose(b.transpose(x, {1, 0}), {1, 0});
                       }),
            Kinds{});
  EXPECT_EQ(simplified({DType::F32, {2, 3, 4}},
                       [](Builder& b, ValueId x) {
                         return b.transpose(b.transpose(x, {1, 2, 0}), {1, 2, 0});
                       }),
            Kinds{OpKind::Transpose});
  EXPECT_EQ(simplified(scalar,
                       [](Builder& b, ValueId x) {
                         return b.transpose(b.broadcast(b.broadcast(x, {3}, {}), {2, 3}, {1}), {1, 0});
                       }),
            Kinds{OpKind::BroadcastInDim});
  EXPECT_EQ(simplified(matrix, [](Builder& b, ValueId x) { return b.broadcast(x, {2, 3}, {0, 1}); }), Kinds{});
  EXPECT_EQ(simplified({DType::F32, {2, 2}},
                       [](Builder& b, ValueId x) {
                         return b.broadcast(x, {2, 2}, {1, 0});
                       }),
            Kinds{OpKind::BroadcastInDim});
  EXPECT_EQ(simplified(matrix, [](Builder& b, ValueId x) { return b.slice(x, {0, 0}, {2, 3}); }), Kinds{});
  EXPECT_EQ(simplified(matrix, [](Builder& b, ValueId x) { return b.concatenate({x}, 0); }), Kinds{});
  EXPECT_EQ(simplified(matrix,
                       [](Builder& b, ValueId x) {
                         return b.pad(x, b.scalar(DType::F32, 1), {0, 0}, {0, 0});
                       }),
            Kinds{});
  EXPECT_EQ(simplified(matrix,
                       [](Builder& b, ValueId x) {
                         return b.add(OpKind::Reverse, {b.add(OpKind::Reverse, {x}, DimensionsAttrs{{0, 1}})},
                                      DimensionsAttrs{{1, 0}});
                       }),
            Kinds{});
  EXPECT_EQ(simplified(matrix,
                       [](Builder& b, ValueId x) {
                         const ValueId y = b.concatenate({b(OpKind::Abs, x), x, x}, 1);
                         return b.slice(y, {0, 3}, {2, 6});
                       }),
            Kinds{});
}

TEST(Identities, SliceOfSlice) {
  Program program = make({{DType::F32, {20}}}, [](Builder& b, Values x) -> Values {
    return {b.slice(b.slice(x[0], {1}, {19}, {3}), {1}, {6}, {2})};  // 1 4 7 10 13 16 -> 4 10 16
  });
  simplify_identities(program);
  verify(program);
  const Function& main = program.entry();
  const auto& attrs = main.producer(main.results[0])->as<SliceAttrs>();
  EXPECT_EQ(main.producer(main.results[0])->operands[0], main.params[0]);
  EXPECT_EQ(attrs.start, Dims{4});
  EXPECT_EQ(attrs.limit, Dims{17});
  EXPECT_EQ(attrs.stride, Dims{6});
}

TEST(Identities, DynamicSliceAtConstantsIsClampedAsAtRunTime) {
  Program program = make({{DType::F32, {10, 4}}}, [](Builder& b, Values x) -> Values {
    return {b.dynamic_slice(x[0], {b.scalar_int(DType::I32, 8), b.scalar_int(DType::I32, -3)}, {5, 2})};
  });
  simplify_identities(program);
  verify(program);
  const Function& main = program.entry();
  const auto& attrs = main.producer(main.results[0])->as<SliceAttrs>();
  EXPECT_EQ(attrs.start, (Dims{5, 0}));
  EXPECT_EQ(attrs.limit, (Dims{10, 2}));
}

TEST(Identities, ConvertsOnlyWhereExact) {
  EXPECT_EQ(simplified(scalar, [](Builder& b, ValueId x) { return b.convert(x, DType::F32); }), Kinds{});
  EXPECT_EQ(simplified({DType::BF16, {}},
                       [](Builder& b, ValueId x) { return b.convert(b.convert(x, DType::F32), DType::BF16); }),
            Kinds{});
  EXPECT_EQ(simplified(scalar, [](Builder& b, ValueId x) { return b.convert(b.convert(x, DType::BF16), DType::F32); }),
            (Kinds{OpKind::Convert, OpKind::Convert}));
  EXPECT_EQ(simplified({DType::I32, {}},
                       [](Builder& b, ValueId x) {
                         return b.convert(b.convert(x, DType::F32), DType::I32);  // 2^24 + 1 does not survive
                       }),
            (Kinds{OpKind::Convert, OpKind::Convert}));
  EXPECT_EQ(simplified({DType::I32, {}},
                       [](Builder& b, ValueId x) { return b.convert(b.convert(x, DType::F64), DType::I32); }),
            Kinds{});
  EXPECT_EQ(
      simplified({DType::I8, {}}, [](Builder& b, ValueId x) { return b.convert(b.convert(x, DType::U32), DType::I8); }),
      (Kinds{OpKind::Convert, OpKind::Convert}));
}

TEST(Identities, ArithmeticOnlyWhereExact) {
  const auto with = [](TensorType type, OpKind kind, double number, bool left = false) {
    return simplified(type,
                      [&](Builder& b, ValueId x) {
                        const ValueId c = b.full(type, number);
                        return left ? b(kind, c, x) : b(kind, x, c);
                      })
        .empty();
  };
  const TensorType integers{DType::I32, {3}};
  EXPECT_TRUE(with(matrix, OpKind::Multiply, 1));
  EXPECT_TRUE(with(matrix, OpKind::Multiply, 1, true));
  EXPECT_TRUE(with(matrix, OpKind::Divide, 1));
  EXPECT_FALSE(with(matrix, OpKind::Divide, 1, true));
  EXPECT_FALSE(with(matrix, OpKind::Add, 0.0)) << "-0 + 0 is +0";
  EXPECT_TRUE(with(matrix, OpKind::Add, -0.0));
  EXPECT_TRUE(with(matrix, OpKind::Subtract, 0.0));
  EXPECT_FALSE(with(matrix, OpKind::Subtract, 0.0, true));
  EXPECT_TRUE(with(integers, OpKind::Add, 0));
  EXPECT_FALSE(with(matrix, OpKind::Multiply, 0)) << "NaN * 0 is NaN";
  EXPECT_TRUE(with(integers, OpKind::Or, 0));
  EXPECT_TRUE(with(integers, OpKind::And, -1, true));
  EXPECT_TRUE(with(integers, OpKind::Xor, 0));
  EXPECT_FALSE(with(integers, OpKind::Xor, -1));
  EXPECT_EQ(simplified(integers,
                       [](Builder& b, ValueId x) {
                         return b(OpKind::And, x, b.full({DType::I32, {3}}, 0));
                       }),
            Kinds{OpKind::Constant});
  EXPECT_EQ(simplified(matrix, [](Builder& b, ValueId x) { return b(OpKind::Negate, b(OpKind::Negate, x)); }), Kinds{});
  EXPECT_EQ(simplified(matrix, [](Builder& b, ValueId x) { return b(OpKind::Maximum, x, x); }), Kinds{});
}

TEST(Identities, SelectsAndBranchesOnConstants) {
  EXPECT_EQ(simplified(matrix, [](Builder& b,
                                  ValueId x) { return b.select(b.scalar_int(DType::I1, 1), x, b(OpKind::Negate, x)); }),
            Kinds{});
  EXPECT_EQ(simplified(matrix,
                       [](Builder& b, ValueId x) {
                         return b.select(b.full({DType::I1, {2, 3}}, 0), x, b(OpKind::Negate, x));
                       }),
            Kinds{OpKind::Negate});
  for (const auto& [index, kind] : {std::pair{0, OpKind::Exponential}, std::pair{1, OpKind::Log},
                                    std::pair{-1, OpKind::Log}, std::pair{7, OpKind::Log}}) {
    EXPECT_EQ(simplified(scalar,
                         [&, index = index](Builder& b, ValueId x) {
                           std::vector<FunctionId> branches;
                           for (const OpKind branch : {OpKind::Exponential, OpKind::Log})
                             branches.push_back(helper(b.program(), {scalar}, [&](Builder& c, Values v) -> Values {
                               return {c(branch, v[0])};
                             }));
                           return b.add(OpKind::Case, {b.scalar_int(DType::I32, index), x}, NoAttrs{}, branches);
                         }),
              Kinds{kind});
  }
}

TEST(Identities, SplatsStaySplats) {
  Program program = make({}, [](Builder& b, Values) -> Values {
    const ValueId one = b.scalar(DType::F32, 1.5);
    const ValueId wide = b.broadcast(one, {100, 100}, {});
    return {b.slice(b.transpose(b.reshape(wide, {50, 200}), {1, 0}), {3, 3}, {9, 9})};
  });
  simplify_identities(program);
  verify(program);
  eliminate_dead_code(program);
  ASSERT_EQ(kinds(program.entry()), Kinds{OpKind::Constant});
  EXPECT_EQ(program.entry().ops[0].as<ConstantAttrs>().value, Literal::splat({DType::F32, {6, 6}}, 1.5));
  EXPECT_TRUE(program.entry().ops[0].as<ConstantAttrs>().value.is_splat());
}

TEST(FoldConstants, EvaluatesSmallOpsOnConstants) {
  int calls = 0;
  const OpEvaluator evaluate = [&](const Program&, const Op& op, const std::vector<Literal>& operands) {
    ++calls;
    EXPECT_EQ(op.kind, OpKind::Add);
    return std::vector<Literal>{
        Literal::splat_int(operands[0].type(), operands[0].element_as_int(0) + operands[1].element_as_int(0))};
  };
  Program program = make({{DType::I32, {}}}, [](Builder& b, Values x) -> Values {
    const ValueId two = b.scalar_int(DType::I32, 2);
    const ValueId four = b(OpKind::Add, two, two);
    const ValueId six = b(OpKind::Add, four, two);
    const ValueId large = b.full({DType::I32, {5000}}, 1);
    b.iota({DType::I32, {4}}, 0);
    return {b(OpKind::Add, x[0], six), b(OpKind::Add, large, large)};
  });
  fold_constants(program, evaluate);
  verify(program);
  EXPECT_EQ(calls, 2);
  const Function& main = program.entry();
  const Op& sum = *main.producer(main.results[0]);
  ASSERT_EQ(main.producer(sum.operands[1])->kind, OpKind::Constant);
  EXPECT_EQ(main.producer(sum.operands[1])->as<ConstantAttrs>().value.element_as_int(0), 6);
  EXPECT_EQ(main.producer(main.results[1])->kind, OpKind::Add);
}

TEST(FoldConstants, LeavesWhatWouldBeRounded) {
  // 0.1 + 0.2 in f32, widened to f64 afterwards, is not 0.1 + 0.2 in f64.
  std::vector<OpKind> evaluated;
  const OpEvaluator evaluate = [&](const Program&, const Op& op, const std::vector<Literal>& operands) {
    evaluated.push_back(op.kind);
    return std::vector<Literal>{Literal::splat(operands[0].type(), -operands[0].element_as_double(0))};
  };
  Program program = make({scalar}, [](Builder& b, Values) -> Values {
    const ValueId sum = b(OpKind::Add, b.scalar(DType::F32, 0.1), b.scalar(DType::F32, 0.2));
    return {sum, b(OpKind::Negate, b.scalar(DType::F32, 0.3))};
  });
  fold_constants(program, evaluate);
  EXPECT_EQ(evaluated, (std::vector<OpKind>{OpKind::Negate}));
  EXPECT_EQ(program.entry().producer(program.entry().results[0])->kind, OpKind::Add);
}

TEST(Promote, WidensTypesConstantsAndConverts) {
  Program program = make({matrix, {DType::BF16, {3}}, {DType::I32, {3}}}, [](Builder& b, Values x) -> Values {
    const ValueId y = b.convert(x[1], DType::F32);
    const ValueId z = b.convert(x[2], DType::F16);
    const ValueId dot = b.add(OpKind::DotGeneral, {x[0], y}, DotGeneralAttrs{{}, {}, {1}, {0}, DType::F32});
    const ValueId sum = b.reduce(x[0], ReducerKind::Add, {0});
    return {dot, sum, z, x[2]};
  });
  promote_floats_to_f64(program);
  verify(program);
  for (const Function& function : program.functions)
    for (const Value& value : function.values)
      EXPECT_TRUE(value.type.dtype == DType::F64 || value.type.dtype == DType::I32);
  EXPECT_EQ(program.entry().result_types()[3].dtype, DType::I32);
}

TEST(Promote, RestoresDecimalConstants) {
  const auto promoted = [](double value) {
    Program program = make({}, [&](Builder& b, Values) -> Values { return {b.scalar(DType::F32, value)}; });
    promote_floats_to_f64(program);
    return program.entry().ops[0].as<ConstantAttrs>().value.element_as_double(0);
  };
  EXPECT_EQ(promoted(0.001), 0.001);
  EXPECT_EQ(promoted(0.999), 0.999);
  EXPECT_EQ(promoted(1e-8), 1e-8);
  EXPECT_EQ(promoted(0.5), 0.5);
  EXPECT_EQ(promoted(1.0 / 3), static_cast<double>(1.0f / 3));
  EXPECT_EQ(promoted(-INFINITY), -INFINITY);
  EXPECT_TRUE(std::isnan(promoted(NAN)));
}

TEST(Promote, BitcastsSeeTheOriginalBits) {
  Program program = make({{DType::F32, {2}}, {DType::U32, {2}}, {DType::F32, {2}}}, [](Builder& b, Values x) -> Values {
    return {b.add(OpKind::BitcastConvert, {x[0]}, ConvertAttrs{DType::U32}),
            b.add(OpKind::BitcastConvert, {x[1]}, ConvertAttrs{DType::F32}),
            b.add(OpKind::BitcastConvert, {x[2]}, ConvertAttrs{DType::BF16})};
  });
  promote_floats_to_f64(program);
  verify(program);
  EXPECT_EQ(program.entry().result_types(),
            (std::vector<TensorType>{{DType::U32, {2}}, {DType::F64, {2}}, {DType::F64, {2, 2}}}));
  EXPECT_EQ(kinds(program.entry()), (Kinds{OpKind::Convert, OpKind::BitcastConvert, OpKind::BitcastConvert,
                                           OpKind::Convert, OpKind::Convert, OpKind::BitcastConvert, OpKind::Convert}));
}

TEST(Passes, LargeProgramsDoNotRecurse) {
  // A chain of 200,000 ops and 900 nested calls.
  Program program;
  FunctionId previous = helper(program, {scalar}, [](Builder& b, Values x) -> Values {
    ValueId value = x[0];
    Function& function = b.function();
    for (int i = 0; i < 200000; ++i) {
      const OpId op = function.append(i % 2 == 0 ? OpKind::Sine : OpKind::Negate, NoAttrs{}, {value}, {scalar});
      value = function.op(op).results[0];
    }
    return {value};
  });
  for (int i = 0; i < 900; ++i)
    previous = helper(program, {scalar}, [&](Builder& b, Values x) -> Values {
      return {b.add(OpKind::Call, {x[0]}, NoAttrs{}, {previous})};
    });
  program.main = previous;
  verify(program);
  Program shallow;
  shallow.functions.push_back(program.functions[0]);
  shallow.main = FunctionId(0);
  simplify_identities(shallow);
  eliminate_common_subexpressions(shallow);
  eliminate_dead_code(shallow);
  EXPECT_EQ(shallow.entry().ops.size(), 200000u);
  EXPECT_GT(print(shallow).size(), 200000u);
  EXPECT_TRUE(equivalent(shallow, shallow));
}

}  // namespace
}  // namespace rhino::ir
