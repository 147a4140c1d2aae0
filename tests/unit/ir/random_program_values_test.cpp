// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include <rhino/ir/op_info.hpp>
#include <rhino/ir/text.hpp>
#include <rhino/kernels/reference/interpreter.hpp>

#include "support/random_program.hpp"

namespace rhino::test {
namespace {

using kernels::reference::Tensor;

std::vector<Tensor> tensors(const std::vector<ir::Literal>& literals) {
  std::vector<Tensor> result;
  for (const ir::Literal& literal : literals)
    result.emplace_back(literal);
  return result;
}

double largest(const Tensor& tensor) {
  double result = 0;
  for (const double x : tensor.as<double>())
    result = std::max(result, std::abs(x));
  return result;
}

/// Results of floating-point sums and of functions that libraries round differently; `result` is that of a variadic op.
bool may_differ_in_last_bits(const ir::Program& program, const ir::Op& op, std::size_t result) {
  switch (op.kind) {
    case ir::OpKind::DotGeneral:
    case ir::OpKind::Convolution:
    case ir::OpKind::SelectAndScatter:
      return true;
    case ir::OpKind::Reduce:
    case ir::OpKind::ReduceWindow:
    case ir::OpKind::Scatter: {
      const ir::ReducerKind kind = ir::classify_reducer(program.function(op.regions[0]));
      // The only other reducers on floats are argmax, replace (one input), and sum_and_max.
      if (kind == ir::ReducerKind::Other)
        return result == 0 && op.results.size() == 2 && program.function(op.regions[0]).ops[0].kind == ir::OpKind::Add;
      return kind == ir::ReducerKind::Add || kind == ir::ReducerKind::Multiply;
    }
    case ir::OpKind::Tanh:
    case ir::OpKind::Logistic:
    case ir::OpKind::Erf:
    case ir::OpKind::Exponential:
    case ir::OpKind::Log:
    case ir::OpKind::Sine:
    case ir::OpKind::Power:
    case ir::OpKind::Rsqrt:
      return true;
    default:
      return false;
  }
}

/// The program with the last bits of such results disturbed in the entry function.
ir::Program disturbed(const ir::Program& program, Rng& rng) {
  ir::Program copy = program;
  const ir::Function& from = program.entry();
  ir::Function& to = copy.entry();
  to = {};
  to.name = from.name;
  std::vector<ir::ValueId> image(from.values.size());
  for (const ir::ValueId param : from.params)
    image[param.index()] = to.add_param(from.type(param));
  for (const ir::Op& op : from.ops) {
    std::vector<ir::ValueId> operands;
    for (const ir::ValueId operand : op.operands)
      operands.push_back(image[operand.index()]);
    std::vector<ir::TensorType> types;
    for (const ir::ValueId result : op.results)
      types.push_back(from.type(result));
    const std::vector<ir::ValueId> results = to.op(to.append(op.kind, op.attrs, operands, types, op.regions)).results;
    for (std::size_t i = 0; i < results.size(); ++i) {
      image[op.results[i].index()] = results[i];
      if (types[i].dtype != ir::DType::F64 || !may_differ_in_last_bits(program, op, i)) continue;
      std::vector<std::byte> bytes(static_cast<std::size_t>(types[i].bytes()));
      for (std::int64_t k = 0; k < types[i].elements(); ++k) {
        const double factor = 1 + 0x1p-52 * static_cast<double>(rng() % 5) - 0x1p-51;
        std::memcpy(bytes.data() + 8 * k, &factor, 8);
      }
      const ir::OpId noise =
          to.append(ir::OpKind::Constant, ir::ConstantAttrs{ir::Literal(types[i], std::move(bytes))}, {}, {types[i]});
      image[op.results[i].index()] =
          to.op(to.append(ir::OpKind::Multiply, ir::NoAttrs{}, {results[i], to.op(noise).results[0]}, {types[i]}))
              .results[0];
    }
  }
  for (const ir::ValueId result : from.results)
    to.results.push_back(image[result.index()]);
  ir::verify(copy);
  return copy;
}

TEST(RandomProgramValues, AreFiniteAndWellConditioned) {
  Rng rng(5);
  int compared = 0;
  for (int i = 0; i < 400; ++i) {
    const ir::Program program = random_program(rng);
    const ir::Program other = disturbed(program, rng);
    const auto arguments = random_arguments(program, rng);
    const auto one = kernels::reference::run(program, program.main, tensors(arguments));
    const auto two = kernels::reference::run(other, other.main, tensors(arguments));
    ASSERT_EQ(one.size(), two.size());
    for (std::size_t r = 0; r < one.size(); ++r) {
      if (one[r].type.dtype != ir::DType::F64) {
        ASSERT_EQ(one[r].bytes, two[r].bytes) << "program " << i << " result " << r << "\n" << ir::print(program);
        continue;
      }
      const double scale = std::max(largest(one[r]), 1.0);
      ASSERT_TRUE(std::isfinite(scale)) << "program " << i << " result " << r << "\n" << ir::print(program);
      for (std::size_t k = 0; k < one[r].as<double>().size(); ++k)
        ASSERT_NEAR(one[r].as<double>()[k] / scale, two[r].as<double>()[k] / scale, 1e-11)
            << "program " << i << " result " << r << " element " << k << "\n"
            << ir::print(program);
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000);
}

}  // namespace
}  // namespace rhino::test
