// SPDX-License-Identifier: Apache-2.0
// call, case, sort and scatter against central differences.
#include <gtest/gtest.h>

#include <rhino/ad/gradient.hpp>
#include <rhino/base/error.hpp>

#include "gradient_check.hpp"

namespace rhino::ad::test {
namespace {

using ir::Builder;
using ir::Dims;
using ir::DType;
using ir::FunctionId;
using ir::OpKind;
using ir::ReducerKind;
using ir::ValueId;

const ir::TensorType kRow{DType::F64, {3}};

/// (x, y) -> (op(x) * y, x)
FunctionId branch(ir::Program& program, OpKind op) {
  const FunctionId id = program.add_function("branch");
  Builder b(program, id);
  const ValueId x = b.param(kRow), y = b.param(kRow);
  b.set_results({b(OpKind::Multiply, b(op, x), y), x});
  return id;
}

TEST(RegionRule, Call) {
  Random random(1);
  check_gradient(random, {{3}, {3}}, [](Builder& b, const auto& p) {
    return b.add_multi(OpKind::Call, {p[0], p[1]}, ir::NoAttrs{}, {branch(b.program(), OpKind::Sine)});
  });
}

TEST(RegionRule, CaseTakesTheReverseOfItsBranch) {
  for (const std::int64_t index : {0, 1, 7}) {
    Random random(2);
    check_gradient(random, {{3}, {3}}, [&](Builder& b, const auto& p) {
      const std::vector<FunctionId> branches{branch(b.program(), OpKind::Sine),
                                             branch(b.program(), OpKind::Exponential)};
      return b.add_multi(OpKind::Case, {b.scalar_int(DType::I32, index), p[0], p[1]}, ir::NoAttrs{}, branches);
    });
  }
}

FunctionId comparator(ir::Program& program, std::size_t operands) {
  const FunctionId id = program.add_function("less");
  Builder b(program, id);
  for (std::size_t i = 0; i < 2 * operands; ++i)
    b.param({DType::F64, {}});
  b.set_results({b.compare(b.function().params[0], b.function().params[1], ir::Comparison::Lt)});
  return id;
}

TEST(RegionRule, SortAlongAnyDimension) {
  for (const int dimension : {0, 1})
    for (const std::size_t operands : {1u, 2u}) {
      Random random(3);
      check_gradient(random, std::vector<Dims>(operands, Dims{4, 5}), [&](Builder& b, const auto& p) {
        return b.add_multi(OpKind::Sort, p, ir::SortAttrs{dimension, true}, {comparator(b.program(), operands)});
      });
    }
}

/// Windows [2] or single elements at indices of which some lie outside.
ir::ScatterAttrs scatter_attrs(bool windows) {
  ir::ScatterAttrs attrs;
  if (windows) {
    attrs.update_window_dims = {1};
  } else {
    attrs.inserted_window_dims = {0};
  }
  attrs.scatter_dims_to_operand_dims = {0};
  attrs.index_vector_dim = 1;
  return attrs;
}

TEST(ScatterRule, SumsAlsoOfWindowsThatLieOutside) {
  for (const bool windows : {false, true})
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      Random random(seed);
      const Dims updates = windows ? Dims{5, 2} : Dims{5};
      check_gradient(random, {{6}, updates}, [&](Builder& b, const auto& p) {
        const ValueId indices = random.indices(b, {5, 1}, -2, 7);
        const FunctionId add = ir::make_reducer(b.program(), ReducerKind::Add, DType::F64);
        return std::vector{b.add(OpKind::Scatter, {p[0], indices, p[1]}, scatter_attrs(windows), {add})};
      });
    }
}

/// The second of the two.
FunctionId replacing(ir::Program& program) {
  const FunctionId second = program.add_function("second");
  Builder region(program, second);
  region.param({DType::F64, {}});
  region.set_results({region.param({DType::F64, {}})});
  return second;
}

TEST(ScatterRule, ReplacesAtUniqueIndices) {
  Random random(5);  // the last of the indices 0 2 4 6 lies outside
  check_gradient(random, {{6}, {4}}, [](Builder& b, const auto& p) {
    ir::ScatterAttrs attrs = scatter_attrs(false);
    attrs.unique_indices = true;
    const ValueId two = b.constant(ir::Literal::splat_int({DType::I32, {4}}, 2));
    const ValueId indices = b.reshape(b(OpKind::Multiply, b.iota({DType::I32, {4}}, 0), two), {4, 1});
    return std::vector{b.add(OpKind::Scatter, {p[0], indices, p[1]}, attrs, {replacing(b.program())})};
  });
}

/// Where indices repeat, and windows overlap, the update that stays gets the gradient.
TEST(ScatterRule, ReplacesAlsoWhereUpdatesMeet) {
  for (const bool windows : {false, true})
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      Random random(seed);
      check_gradient(random, {{6}, windows ? Dims{5, 2} : Dims{5}}, [&](Builder& b, const auto& p) {
        const ValueId indices = random.indices(b, {5, 1}, -2, 7);
        return std::vector{
            b.add(OpKind::Scatter, {p[0], indices, p[1]}, scatter_attrs(windows), {replacing(b.program())})};
      });
    }
}

TEST(ScatterRule, RefusesProducts) {
  ir::Program program;
  program.main = program.add_function("main");
  Builder b(program, program.main);
  const std::vector<ValueId> p{b.param({DType::F64, {6}}), b.param({DType::F64, {4}})};
  const ValueId indices = b.iota({DType::I32, {4, 1}}, 0);
  const FunctionId times = ir::make_reducer(program, ReducerKind::Multiply, DType::F64);
  const ValueId scattered = b.add(OpKind::Scatter, {p[0], indices, p[1]}, scatter_attrs(false), {times});
  EXPECT_THROW(gradient(program, program.main, b.reduce(scattered, ReducerKind::Add, {0}), p), InputError);
}

}  // namespace
}  // namespace rhino::ad::test
