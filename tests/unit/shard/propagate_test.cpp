// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <random>

#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/builder.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/shard/sharding.hpp>

namespace rhino::shard {
namespace {

using ir::DType;
using ir::OpKind;
using ir::ValueId;

class PropagateTest : public ::testing::Test {
 protected:
  PropagateTest() : b(program, program.main = program.add_function("main")) {}

  ValueId param(ir::Dims dims, DType dtype = DType::F32) { return b.param({dtype, std::move(dims)}); }
  ValueId dot(ValueId lhs, ValueId rhs, int lhs_dim, int rhs_dim) {
    return b.add(OpKind::DotGeneral, {lhs, rhs}, ir::DotGeneralAttrs{{}, {}, {lhs_dim}, {rhs_dim}, DType::F32});
  }
  Layout layout(const std::string& text) { return parse_layout(text, mesh); }

  void run(std::vector<std::pair<ValueId, std::string>> seeds, PropagateOptions options = {}) {
    ir::verify(program);
    std::vector<Seed> list;
    for (const auto& [value, text] : seeds)
      list.push_back({value, layout(text)});
    sharding = propagate(program, mesh, list, options);
    check_sharding(program, sharding);
  }
  const FunctionSharding& entry() { return sharding.functions[program.main.index()]; }
  /// Layout in which the producer leaves a value, or in which a parameter arrives.
  std::string of(ValueId value, ir::FunctionId function = {}) {
    if (!function.valid()) function = program.main;
    const ir::Function& f = program.function(function);
    const FunctionSharding& decided = sharding.functions[function.index()];
    const ir::Value& v = f.value(value);
    if (!v.producer.valid()) return to_string(decided.params[v.result_index], mesh);
    const ir::Op& op = f.op(v.producer);
    return to_string(result_layout(factor_map(program, f, op), decided.ops[v.producer.index()],
                                   static_cast<int>(v.result_index), mesh),
                     mesh);
  }
  std::string result(std::size_t i) { return to_string(entry().results[i], mesh); }

  ir::Program program;
  ir::Builder b;
  MeshShape mesh{{{"x", 2}, {"y", 4}}};
  Sharding sharding;
};

/// Two layers with squared error, their gradients, and momentum.
struct Mlp {
  ValueId x, t, w1, b1, w2, m1, h, y, g1, g2, loss;
};

class MlpTest : public PropagateTest {
 protected:
  Mlp build() {
    Mlp m;
    m.w1 = param({16, 64});
    m.b1 = param({64});
    m.w2 = param({64, 8});
    m.m1 = param({16, 64});
    m.x = param({32, 16});
    m.t = param({32, 8});
    m.h = b(OpKind::Tanh, b(OpKind::Add, dot(m.x, m.w1, 1, 0), b.broadcast(m.b1, {32, 64}, {1})));
    m.y = dot(m.h, m.w2, 1, 0);
    const ValueId d = b(OpKind::Subtract, m.y, m.t);
    m.loss = b.reduce(b(OpKind::Multiply, d, d), ir::ReducerKind::Add, {0, 1});
    m.g2 = dot(m.h, d, 0, 0);
    const ValueId dh = b(OpKind::Multiply, dot(d, m.w2, 1, 1), b(OpKind::Multiply, m.h, m.h));
    m.g1 = dot(m.x, dh, 0, 0);
    const ValueId gb = b.reduce(dh, ir::ReducerKind::Add, {0});
    const ValueId m1 = b(OpKind::Add, b(OpKind::Multiply, m.m1, b.full({DType::F32, {16, 64}}, 0.9)), m.g1);
    b.set_results(
        {b(OpKind::Subtract, m.w1, m1), b(OpKind::Subtract, m.b1, gb), b(OpKind::Subtract, m.w2, m.g2), m1, m.loss});
    return m;
  }
  PropagateOptions tied{{{0, 0}, {1, 1}, {2, 2}, {3, 3}}, false};
};

TEST_F(MlpTest, BatchSplit) {
  const Mlp m = build();
  run({{m.x, "[32:x.y, 16:_]"}, {m.t, "[32:x.y, 8:_]"}}, tied);
  EXPECT_EQ(of(m.h), "[32:x.y, 64:_]");
  EXPECT_EQ(of(m.g1), "[16:_, 64:_] partial(+,x,y)");
  EXPECT_EQ(of(m.loss), "[] partial(+,x,y)");
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_TRUE(entry().params[i].is_replicated());
  EXPECT_EQ(result(4), "[]");
}

TEST_F(MlpTest, SplitOfWeights) {
  const Mlp m = build();
  run({{m.w1, "[16:_, 64:y]"}}, tied);
  EXPECT_EQ(of(m.h), "[32:_, 64:y]");
  EXPECT_EQ(of(m.y), "[32:_, 8:_] partial(+,y)");
  EXPECT_EQ(of(m.g1), "[16:_, 64:y]");
  EXPECT_EQ(of(m.b1), "[64:y]");        // follows what it is added to
  EXPECT_EQ(of(m.w2), "[64:y, 8:_]");   // its users agree
  EXPECT_EQ(of(m.m1), "[16:_, 64:y]");  // optimizer state lies as its parameter
  EXPECT_EQ(of(m.x), "[32:_, 16:_]");
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(entry().params[i], entry().results[i]);
}

TEST_F(MlpTest, BothAtOnce) {
  const Mlp m = build();
  run({{m.x, "[32:x, 16:_]"}, {m.w1, "[16:_, 64:y]"}}, tied);
  EXPECT_EQ(of(m.h), "[32:x, 64:y]");
  EXPECT_EQ(of(m.y), "[32:x, 8:_] partial(+,y)");
  EXPECT_EQ(of(m.g1), "[16:_, 64:y] partial(+,x)");
  EXPECT_EQ(of(m.t), "[32:x, 8:_]");
}

TEST_F(PropagateTest, StridedSplitFollowsHeads) {
  const ValueId x = param({8, 12}), w = param({12, 48});
  const ValueId qkv = b.reshape(dot(x, w, 1, 0), {8, 3, 4, 4});
  const ValueId q = b.reshape(b.slice(qkv, {0, 0, 0, 0}, {8, 1, 4, 4}), {8, 4, 4});
  b.set_results({q});
  run({{w, "[12:_, 3:_*16:y]"}});
  EXPECT_EQ(of(qkv), "[8:_, 3:_, 4:y, 4:_]");
  EXPECT_EQ(of(q), "[8:_, 4:y, 4:_]");
}

TEST_F(PropagateTest, FusedSliceKeepsTheStride) {
  const ValueId x = param({8, 12}), w = param({12, 48});
  const ValueId q = b.slice(dot(x, w, 1, 0), {0, 16}, {8, 32});
  b.set_results({q});
  run({{w, "[12:_, 3:_*16:y]"}});
  EXPECT_EQ(of(q), "[8:_, 16:y]");
}

TEST_F(PropagateTest, CreationFollowsItsUsers) {
  const ValueId x = param({32, 4});
  const ValueId iota = b.iota({DType::F32, {128}}, 0);
  const ValueId spread = b.reshape(iota, {32, 4});
  const ValueId scalar = param({});
  const ValueId filled = b.broadcast_scalar(scalar, {32, 4});
  b.set_results({b(OpKind::Add, b(OpKind::Add, x, spread), filled)});
  run({{x, "[32:y, 4:_]"}});
  EXPECT_EQ(of(spread), "[32:y, 4:_]");
  EXPECT_EQ(of(iota), "[128:y]");
  EXPECT_EQ(of(filled), "[32:y, 4:_]");
  EXPECT_EQ(result(0), "[32:y, 4:_]");
}

TEST_F(PropagateTest, TheLargerTensorWins) {
  const ValueId big = param({32, 64}), w = param({64, 2});
  const ValueId y = dot(big, w, 1, 0);
  b.set_results({y});
  run({{big, "[32:x, 64:_]"}, {w, "[64:x, 2:_]"}});
  EXPECT_EQ(of(y), "[32:x, 2:_]");
  EXPECT_EQ(of(w), "[64:x, 2:_]");  // a seed stays; it is gathered for the dot
}

// The gradient alone would leave the moment whole; the update of the split weight does not.
TEST_F(PropagateTest, MomentsFollowTheirWeight) {
  const ValueId w = param({64, 8}), m = param({64, 8}), g = param({64, 8});
  const ValueId m1 = b(OpKind::Add, b(OpKind::Multiply, m, b.full({DType::F32, {64, 8}}, 0.9)), g);
  b.set_results({b(OpKind::Subtract, w, m1), m1});
  run({{w, "[64:y, 8:_]"}, {g, "[64:_, 8:_]"}}, {{{0, 0}, {1, 1}}, false});
  EXPECT_EQ(of(m), "[64:y, 8:_]");
  EXPECT_EQ(of(m1), "[64:y, 8:_]");
  EXPECT_EQ(of(g), "[64:_, 8:_]");
}

TEST_F(PropagateTest, SeedOfAnInnerValue) {
  const ValueId x = param({32, 4});
  const ValueId y = b(OpKind::Tanh, x);
  const ValueId z = b(OpKind::Negate, y);
  b.set_results({z});
  run({{y, "[32:x, 4:y]"}});
  EXPECT_EQ(of(z), "[32:x, 4:y]");
  EXPECT_EQ(of(x), "[32:x, 4:y]");
}

TEST_F(PropagateTest, PartialsAreCarriedOnRequest) {
  const ValueId x = param({32, 16}), dy = param({32, 8}), w = param({8, 16});
  const ValueId g = b.transpose(dot(x, dy, 0, 0), {1, 0});
  const ValueId scaled = b(OpKind::Multiply, g, b.full({DType::F32, {8, 16}}, 0.5));
  b.set_results({b(OpKind::Subtract, w, scaled)});
  run({{x, "[32:x, 16:_]"}});
  EXPECT_EQ(of(g), "[8:_, 16:_]");
  PropagateOptions carry;
  carry.carry_partials = true;
  run({{x, "[32:x, 16:_]"}}, carry);
  EXPECT_EQ(of(scaled), "[8:_, 16:_] partial(+,x)");
  EXPECT_EQ(result(0), "[8:_, 16:_]");
}

// Each operand of a barrier lies as it comes.
TEST_F(PropagateTest, BarriersKeepTheLayoutOfEveryOperand) {
  const ValueId a = param({32, 4}), w = param({4, 32}), c = param({32});
  const auto passed = b.add_multi(OpKind::OptimizationBarrier, {a, w, c});
  b.set_results(passed);
  run({{a, "[32:x, 4:_]"}, {w, "[4:y, 32:x]"}});
  EXPECT_EQ(result(0), "[32:x, 4:_]");
  EXPECT_EQ(result(1), "[4:y, 32:x]");
  EXPECT_EQ(result(2), "[32:_]");
}

class LoopTest : public PropagateTest {
 protected:
  /// while (i < 3) with the body given; values: i, then `carried`.
  template <class Body>
  std::vector<ValueId> loop(std::vector<ValueId> carried, Body&& make_body) {
    std::vector<ValueId> operands{b.scalar_int(DType::I32, 0)};
    operands.insert(operands.end(), carried.begin(), carried.end());
    std::vector<ir::TensorType> types;
    for (ValueId v : operands)
      types.push_back(b.type(v));
    condition = program.add_function("condition");
    body = program.add_function("body");
    ir::Builder c(program, condition), inner(program, body);
    std::vector<ValueId> arguments;
    for (const auto& type : types) {
      c.param(type);
      arguments.push_back(inner.param(type));
    }
    c.set_results({c.compare(program.function(condition).params[0], c.scalar_int(DType::I32, 3), ir::Comparison::Lt)});
    std::vector<ValueId> results = make_body(inner, std::vector<ValueId>(arguments.begin() + 1, arguments.end()));
    results.insert(results.begin(), inner(OpKind::Add, arguments[0], inner.scalar_int(DType::I32, 1)));
    inner.set_results(results);
    return b.add_multi(OpKind::While, operands, ir::NoAttrs{}, {condition, body});
  }
  std::string carried(std::size_t i) { return to_string(sharding.functions[body.index()].params[i], mesh); }
  ir::FunctionId condition, body;
};

TEST_F(LoopTest, CarriedLayoutsReachAFixedPoint) {
  const ValueId h = param({32, 16}), w = param({3, 16, 16}), acc = param({32, 16});
  const auto results = loop({h, w, acc}, [&](ir::Builder& inner, std::vector<ValueId> in) {
    const ValueId zero = inner.scalar_int(DType::I32, 0);
    const ValueId layer = inner.reshape(inner.dynamic_slice(in[1], {zero, zero, zero}, {1, 16, 16}), {16, 16});
    const ValueId next = inner(
        OpKind::Tanh, inner.add(OpKind::DotGeneral, {in[0], layer}, ir::DotGeneralAttrs{{}, {}, {1}, {0}, DType::F32}));
    return std::vector<ValueId>{next, in[1], inner(OpKind::Add, in[2], next)};
  });
  b.set_results({results[1], results[3]});
  run({{h, "[32:x, 16:_]"}});
  EXPECT_EQ(carried(1), "[32:x, 16:_]");
  EXPECT_EQ(carried(2), "[3:_, 16:_, 16:_]");
  EXPECT_EQ(carried(3), "[32:x, 16:_]");  // grows with what is added to it
  EXPECT_EQ(result(1), "[32:x, 16:_]");
  EXPECT_EQ(of(acc), "[32:x, 16:_]");
}

TEST_F(LoopTest, LayoutsThatTheBodyDoesNotKeepBecomeWhole) {
  const ValueId h = param({16, 16});
  const auto results = loop({h}, [&](ir::Builder& inner, std::vector<ValueId> in) {
    return std::vector<ValueId>{inner.transpose(in[0], {1, 0})};
  });
  b.set_results({results[1]});
  run({{h, "[16:x, 16:_]"}});
  EXPECT_EQ(carried(1), "[16:_, 16:_]");
}

TEST_F(LoopTest, UsersOfTheResultCount) {
  const ValueId x = param({32});
  const auto results = loop({b.iota({DType::F32, {32}}, 0)}, [&](ir::Builder& inner, std::vector<ValueId> in) {
    return std::vector<ValueId>{inner(OpKind::Multiply, in[0], in[0])};
  });
  b.set_results({b(OpKind::Add, x, results[1])});
  run({{x, "[32:y]"}});
  EXPECT_EQ(carried(1), "[32:y]");
}

TEST_F(LoopTest, NestedLoopsThatStayWholeForgetEarlierAttempts) {
  const ValueId h = param({16, 16});
  ir::FunctionId inner_body;
  const auto results = loop({h}, [&](ir::Builder& outer, std::vector<ValueId> in) {
    ir::FunctionId test = program.add_function("inner_condition");
    inner_body = program.add_function("inner_body");
    ir::Builder c(program, test), d(program, inner_body);
    const ir::TensorType counter{DType::I32, {}}, square{DType::F32, {16, 16}};
    const ValueId i = c.param(counter);
    c.param(square);
    c.set_results({c.compare(i, c.scalar_int(DType::I32, 2), ir::Comparison::Lt)});
    const ValueId k = d.param(counter), m = d.param(square);
    d.set_results({d(OpKind::Add, k, d.scalar_int(DType::I32, 1)), d(OpKind::Tanh, m)});
    const auto loop =
        outer.add_multi(OpKind::While, {outer.scalar_int(DType::I32, 0), in[0]}, ir::NoAttrs{}, {test, inner_body});
    return std::vector<ValueId>{outer.transpose(loop[1], {1, 0})};
  });
  b.set_results({results[1]});
  run({{h, "[16:x, 16:_]"}});
  EXPECT_TRUE(sharding.functions[inner_body.index()].params[1].is_replicated());
}

TEST_F(PropagateTest, BranchesAgree) {
  const ValueId index = param({}, DType::I32), x = param({16, 16});
  std::vector<ir::FunctionId> branches;
  for (int i = 0; i < 2; ++i) {
    const ir::FunctionId f = program.add_function("branch" + std::to_string(i));
    ir::Builder branch(program, f);
    const ValueId a = branch.param({DType::F32, {16, 16}});
    branch.set_results({branch(OpKind::Negate, a), i == 0 ? branch(OpKind::Tanh, a) : branch.transpose(a, {1, 0})});
    branches.push_back(f);
  }
  const auto results = b.add_multi(OpKind::Case, {index, x}, ir::NoAttrs{}, branches);
  b.set_results(results);
  run({{x, "[16:x, 16:_]"}});
  EXPECT_EQ(result(0), "[16:x, 16:_]");
  EXPECT_EQ(result(1), "[16:_, 16:_]");
}

TEST_F(PropagateTest, BadSeedsAreErrors) {
  const ValueId x = param({16});
  b.set_results({x});
  EXPECT_THROW(propagate(program, mesh, {{x, layout("[12:x]")}}), InputError);
  EXPECT_THROW(propagate(program, mesh, {{ValueId(99), layout("[16:x]")}}), InputError);
  EXPECT_THROW(propagate(program, mesh, {{x, layout("[16:x] partial(+,y)")}}), InputError);
  EXPECT_THROW(propagate(program, mesh, {}, {{{0, 5}}, false}), InputError);
}

TEST_F(PropagateTest, CheckFindsBrokenShardings) {
  const ValueId x = param({16});
  const ValueId y = b(OpKind::Negate, x);
  b.set_results({y});
  const Sharding good = replicated_sharding(program, mesh);
  check_sharding(program, good);
  Sharding bad = good;
  bad.functions[0].params[0] = layout("[12:x]");
  EXPECT_THROW(check_sharding(program, bad), InputError);
  bad = good;
  bad.functions[0].ops.clear();
  EXPECT_THROW(check_sharding(program, bad), InputError);
  bad = good;
  bad.functions[0].results[0] = layout("[16:_] partial(+,x)");
  EXPECT_THROW(check_sharding(program, bad), InputError);
  bad = good;
  bad.functions.clear();
  EXPECT_THROW(check_sharding(program, bad), InputError);
  bad = good;
  bad.functions[0].ops[0].carried_axes = {0};
  bad.functions[0].ops[0].carried_operands = {true};
  check_sharding(program, bad);  // negation carries a sum
  bad.functions[0].ops[0].carried_kind = PartialKind::Max;
  EXPECT_THROW(check_sharding(program, bad), InputError);
}

// Random programs, meshes and seeds: whatever propagation decides must be valid.
TEST(PropagateProperty, RandomProgramsGiveValidShardings) {
  std::mt19937 random(5);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  int splits = 0;
  for (int test = 0; test < 400; ++test) {
    const MeshShape mesh({{"x", pick(1, 4)}, {"y", pick(1, 3)}});
    ir::Program program;
    program.main = program.add_function("main");
    ir::Builder b(program, program.main);
    std::vector<ValueId> values;
    for (int i = 0; i < 4; ++i) {
      ir::Dims dims;
      for (int d = pick(1, 3); d > 0; --d)
        dims.push_back(std::vector<int>{1, 2, 3, 4, 6, 8, 12}[static_cast<std::size_t>(pick(0, 6))]);
      values.push_back(b.param({DType::F32, dims}));
    }
    for (int i = 0; i < 25; ++i) {
      const ValueId v = values[static_cast<std::size_t>(pick(0, static_cast<int>(values.size()) - 1))];
      const ir::TensorType type = b.type(v);
      const int rank = type.rank();
      switch (pick(0, 7)) {
        case 0:
          values.push_back(b(OpKind::Tanh, v));
          break;
        case 1:
          for (ValueId w : values)
            if (b.type(w) == type && w != v) {
              values.push_back(b(OpKind::Add, v, w));
              break;
            }
          break;
        case 2: {
          std::vector<int> permutation;
          for (int d = 0; d < rank; ++d)
            permutation.push_back(d);
          std::shuffle(permutation.begin(), permutation.end(), random);
          values.push_back(b.transpose(v, permutation));
          break;
        }
        case 3:
          if (rank > 1) values.push_back(b.reduce(v, ir::ReducerKind::Add, {pick(0, rank - 1)}));
          break;
        case 4: {
          const std::int64_t n = type.elements();
          std::vector<std::int64_t> divisors;
          for (std::int64_t k = 1; k <= n; ++k)
            if (n % k == 0) divisors.push_back(k);
          const std::int64_t k = divisors[static_cast<std::size_t>(pick(0, static_cast<int>(divisors.size()) - 1))];
          values.push_back(b.reshape(v, {k, n / k}));
          break;
        }
        case 5:
          for (ValueId w : values)
            if (b.type(w).rank() == 2 && rank == 2 && b.type(w).dims[0] == type.dims[1]) {
              values.push_back(b.add(OpKind::DotGeneral, {v, w}, ir::DotGeneralAttrs{{}, {}, {1}, {0}, DType::F32}));
              break;
            }
          break;
        case 6:
          if (type.elements() < 500) values.push_back(b.concatenate({v, v, v}, pick(0, rank - 1)));
          break;
        default: {
          ir::Dims start(static_cast<std::size_t>(rank), 0), limit = type.dims;
          const auto d = static_cast<std::size_t>(pick(0, rank - 1));
          start[d] = pick(0, static_cast<int>(limit[d]) - 1);
          values.push_back(b.slice(v, start, limit));
        }
      }
    }
    b.set_results({values.end() - 3, values.end()});
    ir::verify(program);
    std::vector<Seed> seeds;
    for (int i = 0; i < 3; ++i) {
      const ValueId v = values[static_cast<std::size_t>(pick(0, static_cast<int>(values.size()) - 1))];
      const ir::Dims& dims = b.type(v).dims;
      seeds.push_back({v, Layout::split(dims, pick(0, static_cast<int>(dims.size()) - 1), {pick(0, 1)})});
    }
    PropagateOptions options;
    options.carry_partials = pick(0, 1) == 0;
    const Sharding sharding = propagate(program, mesh, seeds, options);
    check_sharding(program, sharding);
    for (const Strategy& strategy : sharding.functions[0].ops)
      for (const DimLayout& factor : strategy.factors)
        splits += factor.is_split();
    EXPECT_EQ(sharding, propagate(program, mesh, seeds, options));
  }
  EXPECT_GT(splits, 1000);
}

// A long chain with skips; prints the time, so that a loss of near-linearity is seen.
TEST(PropagateProperty, LongPrograms) {
  for (int blocks : {300, 3000}) {
    ir::Program program;
    program.main = program.add_function("main");
    ir::Builder b(program, program.main);
    ValueId h = b.param({DType::F32, {64, 32}});
    const ValueId x = h;
    for (int i = 0; i < blocks; ++i) {
      const ValueId w = b.param({DType::F32, {32, 32}}), bias = b.param({DType::F32, {32}});
      const ValueId y = b.add(OpKind::DotGeneral, {h, w}, ir::DotGeneralAttrs{{}, {}, {1}, {0}, DType::F32});
      h = b(OpKind::Add, h, b(OpKind::Tanh, b(OpKind::Add, y, b.broadcast(bias, {64, 32}, {1}))));
    }
    b.set_results({h});
    const MeshShape mesh({{"x", 2}, {"y", 4}});
    const auto begin = std::chrono::steady_clock::now();
    const Sharding sharding = propagate(program, mesh, {{x, Layout::split({64, 32}, 0, {0, 1})}});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    RecordProperty("seconds_" + std::to_string(blocks), std::to_string(seconds));
    std::printf("%d ops: %.3f s\n", blocks * 5, seconds);
    EXPECT_EQ(to_string(sharding.functions[0].results[0], mesh), "[64:x.y, 32:_]");
  }
}

}  // namespace
}  // namespace rhino::shard
