// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gtest/gtest.h>

#include <rhino/ir/op_info.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/ir/text.hpp>
#include <rhino/kernels/reference/evaluate.hpp>
#include <rhino/kernels/reference/interpreter.hpp>

#include "support/random_program.hpp"

// Passes keep the results of random programs, bit by bit, as the reference interpreter computes them.

namespace rhino::test {
namespace {

using kernels::reference::Tensor;

std::vector<Tensor> run(const ir::Program& program, const std::vector<ir::Literal>& arguments) {
  std::vector<Tensor> tensors;
  for (const ir::Literal& literal : arguments)
    tensors.emplace_back(literal);
  return kernels::reference::run(program, program.main, std::move(tensors));
}

void expect_same_results(const char* what, const std::function<void(ir::Program&)>& pass, int seed) {
  Rng rng(static_cast<std::uint64_t>(seed));
  for (int i = 0; i < 150; ++i) {
    const ir::Program program = random_program(rng);
    const auto arguments = random_arguments(program, rng);
    ir::Program changed = program;
    pass(changed);
    ASSERT_NO_THROW(ir::verify(changed)) << what << "\n" << ir::print(program);
    const auto expected = run(program, arguments);
    const auto got = run(changed, arguments);
    ASSERT_EQ(expected.size(), got.size());
    for (std::size_t r = 0; r < expected.size(); ++r) {
      ASSERT_EQ(expected[r].type, got[r].type);
      ASSERT_EQ(expected[r].bytes, got[r].bytes) << what << ", result " << r << " of program " << i << "\n"
                                                 << ir::print(program) << ir::print(changed);
    }
  }
}

TEST(PassesValues, InlineCalls) { expect_same_results("inline_calls", ir::inline_calls, 1); }
TEST(PassesValues, DeadCode) { expect_same_results("eliminate_dead_code", ir::eliminate_dead_code, 2); }
TEST(PassesValues, CommonSubexpressions) {
  expect_same_results("eliminate_common_subexpressions", ir::eliminate_common_subexpressions, 3);
}
TEST(PassesValues, Identities) { expect_same_results("simplify_identities", ir::simplify_identities, 4); }
TEST(PassesValues, FoldConstants) {
  expect_same_results(
      "fold_constants", [](ir::Program& p) { ir::fold_constants(p, kernels::reference::evaluate); }, 5);
}

TEST(PassesValues, AllTogetherShrinkThePrograms) {
  Rng rng(6);
  std::size_t before = 0;
  std::size_t after = 0;
  expect_same_results(
      "all passes",
      [&](ir::Program& program) {
        before += program.entry().ops.size();
        ir::inline_calls(program);
        ir::simplify_identities(program);
        ir::fold_constants(program, kernels::reference::evaluate);
        ir::simplify_identities(program);
        ir::eliminate_common_subexpressions(program);
        ir::eliminate_dead_code(program);
        after += program.entry().ops.size();
      },
      7);
  EXPECT_LT(after, before);
}

TEST(PassesValues, PromotionKeepsIntegersAndWidensFloats) {
  Rng rng(8);
  for (int i = 0; i < 100; ++i) {
    ir::Program program = random_program(rng);
    const auto types = program.entry().result_types();
    const auto arguments = random_arguments(program, rng);
    const auto expected = run(program, arguments);
    ir::promote_floats_to_f64(program);
    ir::verify(program);
    std::vector<Tensor> promoted;
    for (const ir::Literal& literal : arguments) {
      ASSERT_NE(literal.type().dtype, ir::DType::F16);
      if (literal.type().dtype != ir::DType::F32) {
        promoted.emplace_back(literal);
        continue;
      }
      Tensor wide(ir::TensorType{ir::DType::F64, literal.type().dims});
      for (std::int64_t k = 0; k < literal.type().elements(); ++k)
        wide.as<double>()[static_cast<std::size_t>(k)] = literal.element_as_double(k);
      promoted.push_back(std::move(wide));
    }
    const auto got = kernels::reference::run(program, program.main, std::move(promoted));
    for (std::size_t r = 0; r < got.size(); ++r) {
      EXPECT_EQ(got[r].type.dtype, ir::is_float(types[r].dtype) ? ir::DType::F64 : types[r].dtype);
      EXPECT_EQ(got[r].type.dims, types[r].dims);
    }
  }
}

}  // namespace
}  // namespace rhino::test
