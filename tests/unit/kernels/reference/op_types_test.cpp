// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/kernels/reference/elementwise.hpp>

#include "op_runner.hpp"

// Every elementwise op on every element type that its inference allows: there is a kernel, and it does not refuse.

namespace rhino::kernels::reference::test {
namespace {

using ir::DType;
using ir::OpKind;

constexpr DType all_dtypes[] = {DType::I1,  DType::I8,  DType::I16, DType::I32,  DType::I64, DType::U8, DType::U16,
                                DType::U32, DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64};

Tensor small_values(DType dtype) {
  Tensor tensor({dtype, {3}});
  dispatch_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    const int values[] = {0, 1, 3};
    for (std::size_t i = 0; i < 3; ++i)
      tensor.as<T>()[i] = convert_element<T, std::int32_t>(values[i]);
  });
  return tensor;
}

/// Runs the op on `count` operands of a type; nullopt where inference does not allow it.
std::optional<Tensor> try_run(OpKind kind, DType dtype, std::size_t count, ir::Attributes attrs) {
  std::vector<Tensor> operands(count, small_values(dtype));
  if (kind == OpKind::Select) operands[0] = small_values(DType::I1);
  try {
    return run(kind, std::move(operands), std::move(attrs));
  } catch (const InputError&) {
    return std::nullopt;
  }
}

ir::Attributes attributes_of(OpKind kind) {
  if (kind == OpKind::Compare) return ir::CompareAttrs{};
  if (kind == OpKind::ReducePrecision) return ir::ReducePrecisionAttrs{5, 2};
  return ir::NoAttrs{};
}

TEST(OpTypes, EveryElementwiseOpHasAKernelForItsTypes) {
  int kinds = 0, combinations = 0;
  for (int k = 0; k < ir::op_kind_count; ++k) {
    const auto kind = static_cast<OpKind>(k);
    if (elementwise_kernel(kind) == nullptr || kind == OpKind::Convert) continue;
    int allowed = 0;
    for (const DType dtype : all_dtypes)
      for (std::size_t count = 1; count <= 3; ++count)
        if (const auto result = try_run(kind, dtype, count, attributes_of(kind))) {
          EXPECT_EQ(result->type.elements(), 3) << ir::op_name(kind);
          ++allowed;
        }
    EXPECT_GT(allowed, 0) << ir::op_name(kind) << " accepts no type at all";
    ++kinds;
    combinations += allowed;
  }
  EXPECT_GE(kinds, 59);
  EXPECT_GT(combinations, 350);
}

TEST(OpTypes, SmallIntegersConvertExactlyBetweenAllTypes) {
  for (const DType from : all_dtypes)
    for (const DType to : all_dtypes) {
      const Tensor result = run(OpKind::Convert, {small_values(from)}, ir::ConvertAttrs{to});
      const double largest = from == DType::I1 || to == DType::I1 ? 1 : 3;
      const ir::Literal literal = result.to_literal();
      EXPECT_EQ(literal.element_as_double(0), 0) << ir::dtype_name(from) << " to " << ir::dtype_name(to);
      EXPECT_EQ(literal.element_as_double(1), 1) << ir::dtype_name(from) << " to " << ir::dtype_name(to);
      EXPECT_EQ(literal.element_as_double(2), largest) << ir::dtype_name(from) << " to " << ir::dtype_name(to);
    }
}

TEST(OpTypes, ReducersWorkOnEveryTypeTheyExistFor) {
  using ir::ReducerKind;
  for (const auto kind : {ReducerKind::Add, ReducerKind::Multiply, ReducerKind::Maximum, ReducerKind::Minimum,
                          ReducerKind::And, ReducerKind::Or, ReducerKind::Xor})
    for (const DType dtype : all_dtypes) {
      const bool bitwise = kind == ReducerKind::And || kind == ReducerKind::Or || kind == ReducerKind::Xor;
      if (bitwise && ir::is_float(dtype)) continue;
      OpRunner runner;
      const auto reducer = ir::make_reducer(runner.program, kind, dtype);
      Tensor init(ir::reducer_identity(kind, dtype));
      const Tensor all = runner.run(OpKind::Reduce, {small_values(dtype), init}, ir::ReduceAttrs{{0}}, {reducer});
      // The same through the region runner, by a reducer that is not recognised: (a, b) -> identity op (a op b).
      const auto long_way = runner.region({scalar_type(dtype), scalar_type(dtype)}, [&](ir::Builder& b, const auto& p) {
        const OpKind op = runner.program.function(reducer).ops[0].kind;
        return std::vector<ir::ValueId>{b(op, b.constant(ir::reducer_identity(kind, dtype)), b(op, p[0], p[1]))};
      });
      const Tensor again = runner.run(OpKind::Reduce, {small_values(dtype), init}, ir::ReduceAttrs{{0}}, {long_way});
      EXPECT_EQ(all.bytes, again.bytes) << static_cast<int>(kind) << " of " << ir::dtype_name(dtype);
    }
}

}  // namespace
}  // namespace rhino::kernels::reference::test
