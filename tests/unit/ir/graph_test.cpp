// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/graph.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/kernels/reference/interpreter.hpp>

namespace rhino::ir {
namespace {

using testing::HasSubstr;

struct GraphTest : testing::Test {
  Program program;
  FunctionId main = program.main = program.add_function("main");
  Graph b{program, main};

  /// Elements of `result` on arguments that count up from zero.
  std::vector<double> run(const Tensor& result) {
    b.set_results(std::vector<Tensor>{result});
    verify(program);
    std::vector<kernels::reference::Tensor> arguments;
    for (const TensorType& type : program.entry().param_types()) {
      kernels::reference::Tensor argument(type);
      for (std::int64_t i = 0; i < type.elements(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (type.dtype == DType::F32) argument.as<float>()[at] = static_cast<float>(i);
        if (type.dtype == DType::I32) argument.as<std::int32_t>()[at] = static_cast<std::int32_t>(i);
      }
      arguments.push_back(std::move(argument));
    }
    const Literal value = kernels::reference::run(program, main, std::move(arguments))[0].to_literal();
    std::vector<double> elements;
    for (std::int64_t i = 0; i < value.type().elements(); ++i)
      elements.push_back(value.element_as_double(i));
    return elements;
  }
  std::string failure(const std::function<void()>& build) {
    try {
      build();
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(GraphTest, ReadsLikeTheMathematics) {
  const Tensor x = b.param({DType::F32, {2, 2}}), w = b.param({DType::F32, {2, 3}}), bias = b.param({DType::F32, {3}});
  const Tensor y = b.dot(x, w) + bias;  // x = [0 1; 2 3], w = [0 1 2; 3 4 5], bias = [0 1 2]
  EXPECT_EQ(run(2.0 * y - 1), (std::vector<double>{5, 9, 13, 17, 29, 41}));
}

TEST_F(GraphTest, OperatorsBroadcastAsNumPyDoes) {
  const Tensor column = b.param({DType::F32, {3, 1}}), row = b.param({DType::F32, {2}});
  const Tensor sum = column * 10 + row;
  EXPECT_EQ(sum.dims(), (Dims{3, 2}));
  EXPECT_EQ(run(sum), (std::vector<double>{0, 1, 10, 11, 20, 21}));
}

TEST_F(GraphTest, NumbersTakeEitherSide) {
  const Tensor x = b.param({DType::F32, {3}});
  EXPECT_EQ(run(1.0 - x + 6.0 / (x + 1) - (-x) * 2.0 + 0.5 / b.full({DType::F32, {3}}, 0.25)),
            (std::vector<double>{9, 7, 7}));
}

TEST_F(GraphTest, EinsumContractsAndReorders) {
  const Tensor q = b.param({DType::F32, {1, 2, 2, 2}}), k = b.param({DType::F32, {1, 3, 2, 2}});
  const Tensor scores = b.einsum("bqhd,bkhd->bhkq", q, k);
  ASSERT_EQ(scores.dims(), (Dims{1, 2, 3, 2}));
  std::vector<double> expected;
  for (int h = 0; h < 2; ++h)
    for (int key = 0; key < 3; ++key)
      for (int query = 0; query < 2; ++query) {
        double sum = 0;
        for (int d = 0; d < 2; ++d)
          sum += (query * 4 + h * 2 + d) * (key * 4 + h * 2 + d);
        expected.push_back(sum);
      }
  EXPECT_EQ(run(scores), expected);
}

TEST_F(GraphTest, EinsumRefusesWhatItCannotDo) {
  const Tensor a = b.param({DType::F32, {2, 3}}), c = b.param({DType::F32, {4, 5}});
  EXPECT_THAT(failure([&] { b.einsum("ab,bc->ac", a, c); }), HasSubstr("sizes of 'b' differ"));
  EXPECT_THAT(failure([&] { b.einsum("ab,cd->ac", a, c); }), HasSubstr("missing in the result"));
  EXPECT_THAT(failure([&] { b.einsum("abc,cd->ad", a, c); }), HasSubstr("one letter per dimension"));
  EXPECT_THAT(failure([&] { b.einsum("ab cd", a, c); }), HasSubstr("expected the form"));
  EXPECT_THAT(failure([&] { b.einsum("ab,cd->abcde", a, c); }), HasSubstr("a letter that no operand has"));
  EXPECT_THAT(failure([&] { b.einsum("aa,cd->acd", a, c); }), HasSubstr("occurs twice"));
}

TEST_F(GraphTest, ErrorsNameTheScope) {
  const Tensor x = b.param({DType::F32, {2, 3}}), y = b.param({DType::F32, {2, 4}});
  const Tensor i = b.param({DType::I32, {2, 3}});
  const auto outer = b.scope("block3");
  {
    const auto inner = b.scope("attention");
    EXPECT_THAT(failure([&] { x + y; }), HasSubstr("block3/attention: "));
    EXPECT_THAT(failure([&] { b.dot(x, y); }),
                HasSubstr("block3/attention: dot of tensor<2x3xf32> and tensor<2x4xf32>"));
    EXPECT_THAT(failure([&] { b.add(OpKind::Add, {x, y}); }), HasSubstr("block3/attention: "));
  }
  EXPECT_THAT(failure([&] { x + i; }), HasSubstr("block3: add of tensor<2x3xf32> and tensor<2x3xi32>: convert"));
  EXPECT_THAT(failure([&] { b.reshape(x, {4, -1}); }), HasSubstr("cannot be reshaped"));
  EXPECT_THAT(failure([&] { b.sum(x, {2}); }), HasSubstr("has no dimension 2"));
  EXPECT_THAT(failure([&] { b.split(x, 1, 2); }), HasSubstr("does not split"));
}

TEST_F(GraphTest, OpsAreNamedByScope) {
  const Tensor x = b.param({DType::F32, {2}});
  {
    const auto scope = b.scope("mlp");
    b.exp(x);
  }
  b.log(x);
  EXPECT_EQ(program.entry().ops[0].location.name, "mlp");
  EXPECT_EQ(program.entry().ops[1].location.name, "");
}

TEST_F(GraphTest, ReductionsAndShapes) {
  const Tensor x = b.param({DType::F32, {2, 3}});
  const Tensor centred = x - b.mean(x, {-1}, true);
  EXPECT_EQ(run(b.concatenate({b.sum(centred * centred, {1}), b.max(x, {0}), b.reshape(b.mean(x), {1})}, 0)),
            (std::vector<double>{2, 2, 3, 4, 5, 2.5}));
}

TEST_F(GraphTest, CumulativeSumAndSort) {
  const Tensor x = b.param({DType::I32, {2, 3}});
  const std::vector<Tensor> sorted = b.sort({-x, x}, 1);
  EXPECT_EQ(run(b.concatenate({b.cumulative_sum(x, 1), sorted[1]}, 0)),
            (std::vector<double>{0, 1, 3, 3, 7, 12, 2, 1, 0, 5, 4, 3}));
}

TEST_F(GraphTest, TakesAndPicks) {
  const Tensor table = b.param({DType::F32, {3, 2}});
  const Tensor order = 2.0 - b.iota({DType::I32, {3}}, 0);
  const Tensor rows = b.reshape(b.take(table, order), {6});
  const Tensor picked = b.pick(table, b.minimum(order, 1));
  const Tensor batched = b.take_batched(b.reshape(table, {1, 6}), b.reshape(order, {1, 3}));
  EXPECT_EQ(run(b.concatenate({rows, picked, b.reshape(batched, {3})}, 0)),
            (std::vector<double>{4, 5, 2, 3, 0, 1, 1, 3, 4, 2, 1, 0}));
}

TEST_F(GraphTest, SoftmaxIsStable) {
  const Tensor x = b.param({DType::F32, {2, 2}}) * 1000.0;
  const std::vector<double> values = run(b.concatenate({b.softmax(x), b.log_sum_exp(x, -1, true)}, 1));
  EXPECT_EQ(values, (std::vector<double>{0, 1, 1000, 0, 1, 3000}));
}

TEST_F(GraphTest, LoopCarriesAndCaptures) {
  const Tensor x = b.param({DType::F32, {2}}), step = b.param({DType::F32, {2}});
  const std::vector<Tensor> last = b.loop(4, {x}, [&](const Tensor& counter, std::vector<Tensor> carried) {
    return std::vector<Tensor>{carried[0] + step * b.convert(counter, DType::F32)};  // `step` is of the entry
  });
  EXPECT_EQ(run(last[0]), (std::vector<double>{0, 7}));
}

TEST_F(GraphTest, LoopsNest) {
  const Tensor x = b.param({DType::F32, {2}});
  const std::vector<Tensor> last =
      b.loop(3, {b.full({DType::F32, {2}}, 0)}, [&](const Tensor&, std::vector<Tensor> outer) {
        return b.loop(2, outer,
                      [&](const Tensor&, std::vector<Tensor> inner) { return std::vector<Tensor>{inner[0] + x}; });
      });
  EXPECT_EQ(run(last[0]), (std::vector<double>{0, 6}));
}

TEST_F(GraphTest, LoopChecksItsBody) {
  const Tensor x = b.param({DType::F32, {2}});
  EXPECT_THAT(failure([&] { b.loop(0, {x}, [](auto, auto carried) { return carried; }); }), HasSubstr("0 trips"));
  Program other;
  other.main = other.add_function("main");
  Graph g(other, other.main);
  const Tensor y = g.param({DType::F32, {2}});
  EXPECT_THAT(
      failure([&] { g.loop(2, {y}, [&](auto, auto carried) { return std::vector<Tensor>{g.sum(carried[0])}; }); }),
      HasSubstr("turns tensor<2xf32> into tensor<f32>"));
}

TEST_F(GraphTest, SamePaddingKeepsTheSizeOverTheStride) {
  const Tensor x = b.param({DType::F32, {1, 7, 1}}), kernel = b.param({DType::F32, {3, 1, 1}});
  EXPECT_EQ(b.convolution(x, kernel, WindowSpec::same()).dims(), (Dims{1, 7, 1}));
  EXPECT_EQ(b.convolution(x, kernel, WindowSpec::same(2)).dims(), (Dims{1, 4, 1}));
  EXPECT_EQ(b.convolution(x, kernel, WindowSpec::valid()).dims(), (Dims{1, 5, 1}));
}

TEST_F(GraphTest, ManyOpsCostLinearTime) {
  // Quadratic work on 100,000 ops would not end within the test's time limit.
  Tensor x = b.param({DType::F32, {8}});
  for (int i = 0; i < 50'000; ++i)
    x = b.exp(-x);
  b.set_results(std::vector<Tensor>{x});
  verify(program);
  EXPECT_EQ(program.entry().ops.size(), 100'000u);
}

}  // namespace
}  // namespace rhino::ir
