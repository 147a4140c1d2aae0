// SPDX-License-Identifier: Apache-2.0
// Counted loops against central differences, built by ir::Graph.
#include <gtest/gtest.h>

#include <rhino/ad/gradient.hpp>
#include <rhino/base/error.hpp>
#include <rhino/ir/graph.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/ir/passes.hpp>

#include "gradient_check.hpp"

namespace rhino::ad::test {
namespace {

using ir::DType;
using ir::Graph;
using ir::Tensor;
using ir::ValueId;

using BuildTensors = std::function<std::vector<Tensor>(Graph&, const std::vector<Tensor>&)>;

void check(const std::vector<ir::Dims>& inputs, const BuildTensors& build) {
  Random random(inputs.size());
  check_gradient(random, inputs, [&](ir::Builder& b, const std::vector<ValueId>& params) {
    const auto number = static_cast<std::size_t>(&b.function() - b.program().functions.data());
    Graph graph(b.program(), ir::FunctionId(number));
    std::vector<Tensor> tensors;
    for (const ValueId param : params)
      tensors.push_back(graph.wrap(param));
    std::vector<ValueId> outputs;
    for (const Tensor& output : build(graph, tensors))
      outputs.push_back(output.id());
    return outputs;
  });
}

TEST(LoopRule, PowersOfAMatrix) {
  check({{2, 3}, {3, 3}}, [](Graph& g, const auto& x) {
    return g.loop(4, {x[0]}, [&](const Tensor&, std::vector<Tensor> carried) {
      return std::vector<Tensor>{g.tanh(g.dot(carried[0], x[1]))};  // the matrix is captured
    });
  });
}

TEST(LoopRule, StackedWeightsByCounter) {
  check({{2, 3}, {4, 3, 3}, {4, 3}}, [](Graph& g, const auto& x) {
    return g.loop(4, {x[0]}, [&](const Tensor& counter, std::vector<Tensor> carried) {
      return std::vector<Tensor>{g.tanh(g.dot(carried[0], g.element(x[1], counter)) + g.element(x[2], counter))};
    });
  });
}

TEST(LoopRule, SeveralCarriedValuesOfWhichSomeAreNotUsed) {
  check({{3}, {3}, {3}}, [](Graph& g, const auto& x) {
    const auto last =
        g.loop(3, {x[0], x[1], g.full({DType::F64, {}}, 1)}, [&](const Tensor& counter, std::vector<Tensor> c) {
          const Tensor a = g.sin(c[0]) * c[1] + x[2] * g.convert(counter, DType::F64);
          return std::vector<Tensor>{a, c[0] * c[2], c[2] * 1.5};
        });
    return std::vector<Tensor>{last[0], last[1]};
  });
}

TEST(LoopRule, NestedLoops) {
  check({{2, 2}, {3, 2, 2}}, [](Graph& g, const auto& x) {
    return g.loop(3, {x[0]}, [&](const Tensor& counter, std::vector<Tensor> outer) {
      const Tensor w = g.element(x[1], counter);
      return g.loop(2, outer, [&](const Tensor&, std::vector<Tensor> inner) {
        return std::vector<Tensor>{g.tanh(g.dot(inner[0], w)) + inner[0] * 0.5};
      });
    });
  });
}

TEST(LoopRule, OneTrip) {
  check({{2}}, [](Graph& g, const auto& x) {
    return g.loop(1, {x[0]}, [&](const Tensor&, std::vector<Tensor> c) { return std::vector<Tensor>{g.exp(c[0])}; });
  });
}

TEST(LoopRule, WeightsAreSlicedAgainAndNotStacked) {
  ir::Program program;
  program.main = program.add_function("main");
  Graph g(program, program.main);
  const Tensor x = g.param({DType::F32, {2, 8}}), w = g.param({DType::F32, {5, 8, 8}});
  const Tensor y = g.loop(5, {x}, [&](const Tensor& counter, std::vector<Tensor> c) {
    return std::vector<Tensor>{g.tanh(g.dot(c[0], g.element(w, counter)))};
  })[0];
  gradient(program, program.main, g.sum(y).id(), std::vector{w.id()});
  ir::eliminate_dead_code(program);
  ir::verify(program);
  for (const ir::Op& op : program.entry().ops) {
    if (op.kind != ir::OpKind::While) continue;
    for (const ValueId result : op.results) EXPECT_LE(program.entry().type(result).elements(), 5 * 8 * 8);
  }
}

TEST(LoopRule, RefusesLoopsThatDoNotCount) {
  ir::Program program;
  program.main = program.add_function("main");
  Graph g(program, program.main);
  const Tensor x = g.param({DType::F64, {}}), limit = g.param({DType::I32, {}});
  const ir::FunctionId body = program.add_function("b"), condition = program.add_function("c");
  ir::Builder in_body(program, body), in_condition(program, condition);
  for (ir::Builder* b : {&in_body, &in_condition})
    for (const DType type : {DType::I32, DType::F64, DType::I32})
      b->param({type, {}});
  const auto param = [](ir::Builder& b, std::size_t i) { return b.function().params[i]; };
  in_body.set_results({in_body(ir::OpKind::Add, param(in_body, 0), in_body.scalar_int(DType::I32, 1)),
                       in_body(ir::OpKind::Sine, param(in_body, 1)), param(in_body, 2)});
  in_condition.set_results({in_condition.compare(param(in_condition, 0), param(in_condition, 2), ir::Comparison::Lt)});
  const auto last =
      g.add_multi(ir::OpKind::While, {g.scalar_int(DType::I32, 0), x, limit}, ir::NoAttrs{}, {condition, body});
  EXPECT_THROW(gradient(program, program.main, last[1].id(), std::vector{x.id()}), InputError);
}

}  // namespace
}  // namespace rhino::ad::test
