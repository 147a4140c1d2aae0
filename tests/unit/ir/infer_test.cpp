// SPDX-License-Identifier: Apache-2.0
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/builder.hpp>
#include <rhino/ir/op_info.hpp>

// Result types and checks of every op: at least one case that holds and one that is refused for each kind.

namespace rhino::ir {
namespace {

using Types = std::vector<TensorType>;
using Regions = std::vector<FunctionId>;

/// Functions that the cases use as regions, by what they take and return.
struct Regional {
  Program program;

  FunctionId function(const Types& params, const Types& results) {
    const FunctionId id = program.add_function("f");
    Builder b(program, id);
    for (const TensorType& type : params)
      b.param(type);
    std::vector<ValueId> values;
    for (const TensorType& type : results)
      values.push_back(b.full(type, 0));
    b.set_results(values);
    return id;
  }
};

Regional& regional() {
  static Regional value;
  return value;
}

FunctionId fn(const Types& params, const Types& results) { return regional().function(params, results); }

constexpr DType f32 = DType::F32, f64 = DType::F64, i32 = DType::I32, i64 = DType::I64, u8 = DType::U8,
                u32 = DType::U32, u64 = DType::U64, i1 = DType::I1, bf16 = DType::BF16, i8 = DType::I8;

struct Case {
  OpKind kind;
  Types operands;
  Attributes attrs;
  Regions regions;
  Types expected;     ///< results of a good case
  std::string error;  ///< part of the message of a bad case
};

Case good(OpKind kind, Types operands, Attributes attrs, Types expected, Regions regions = {}) {
  return {kind, std::move(operands), std::move(attrs), std::move(regions), std::move(expected), ""};
}

Case bad(OpKind kind, Types operands, Attributes attrs, std::string error, Regions regions = {}) {
  return {kind, std::move(operands), std::move(attrs), std::move(regions), {}, std::move(error)};
}

void check(const std::vector<Case>& cases) {
  int number = 0;
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::Message() << op_name(c.kind) << ", case " << number++);
    const auto infer = [&] { return infer_result_types({regional().program, c.kind, c.attrs, c.operands, c.regions}); };
    if (c.error.empty()) {
      try {
        EXPECT_EQ(infer(), c.expected);
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
      continue;
    }
    try {
      infer();
      ADD_FAILURE() << "expected an error: " << c.error;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(c.error));
      EXPECT_THAT(error.what(), testing::StartsWith(qualified_op_name(c.kind) + ": "));
    }
  }
}

const NoAttrs none;

std::vector<Case> elementwise_cases() {
  std::vector<Case> cases;
  const TensorType x{f32, {2, 3}};
  const TensorType n{i32, {2, 3}};
  const TensorType p{i1, {2, 3}};
  using enum OpKind;
  for (const OpKind kind : {Abs, Sign}) {
    cases.push_back(good(kind, {x}, none, {x}));
    cases.push_back(good(kind, {n}, none, {n}));
    cases.push_back(bad(kind, {{u32, {}}}, none, "expected elements of a signed integer or floating-point type"));
  }
  for (const OpKind kind : {Cbrt,
                            Ceil,
                            Cosine,
                            Exponential,
                            ExponentialMinusOne,
                            Floor,
                            Log,
                            LogPlusOne,
                            Logistic,
                            Rsqrt,
                            Sine,
                            Sqrt,
                            Tan,
                            Tanh,
                            Acos,
                            Acosh,
                            Asin,
                            Asinh,
                            Atan,
                            Atanh,
                            Cosh,
                            Sinh,
                            Erf,
                            Erfc,
                            ErfInv,
                            Lgamma,
                            Digamma,
                            BesselI1e,
                            RoundNearestAfz,
                            RoundNearestEven}) {
    cases.push_back(good(kind, {x}, none, {x}));
    cases.push_back(bad(kind, {n}, none, "operand 0 is tensor<2x3xi32>, expected elements of a floating-point type"));
    cases.push_back(bad(kind, {x, x}, none, "expected 1 operand, got 2"));
  }
  for (const OpKind kind : {CountLeadingZeros, PopulationCount}) {
    cases.push_back(good(kind, {n}, none, {n}));
    cases.push_back(bad(kind, {x}, none, "expected elements of an integer type"));
    cases.push_back(bad(kind, {p}, none, "expected elements of an integer type"));
  }
  cases.push_back(good(Negate, {{u8, {}}}, none, {{u8, {}}}));
  cases.push_back(bad(Negate, {p}, none, "integer or floating-point"));
  cases.push_back(good(Not, {p}, none, {p}));
  cases.push_back(bad(Not, {x}, none, "boolean or integer"));
  cases.push_back(good(IsFinite, {x}, none, {p}));
  cases.push_back(bad(IsFinite, {n}, none, "floating-point"));
  cases.push_back(good(Convert, {p}, ConvertAttrs{bf16}, {{bf16, {2, 3}}}));
  cases.push_back(bad(Convert, {}, ConvertAttrs{bf16}, "expected 1 operand, got 0"));
  cases.push_back(good(ReducePrecision, {x}, ReducePrecisionAttrs{8, 0}, {x}));
  cases.push_back(bad(ReducePrecision, {x}, ReducePrecisionAttrs{0, 7}, "exponent_bits is 0"));
  cases.push_back(bad(ReducePrecision, {x}, ReducePrecisionAttrs{5, -1}, "mantissa_bits is -1"));
  cases.push_back(good(BitcastConvert, {x}, ConvertAttrs{u32}, {{u32, {2, 3}}}));
  cases.push_back(good(BitcastConvert, {x}, ConvertAttrs{u8}, {{u8, {2, 3, 4}}}));
  cases.push_back(good(BitcastConvert, {{u8, {3, 8}}}, ConvertAttrs{f64}, {{f64, {3}}}));
  cases.push_back(bad(BitcastConvert, {{u8, {3, 4}}}, ConvertAttrs{f64}, "expected a last dimension of 8"));
  cases.push_back(bad(BitcastConvert, {{u8, {}}}, ConvertAttrs{f64}, "expected a last dimension of 8"));
  cases.push_back(bad(BitcastConvert, {p}, ConvertAttrs{u8}, "cannot be seen as"));

  for (const OpKind kind : {Add, Multiply, Maximum, Minimum}) {
    cases.push_back(good(kind, {p, p}, none, {p}));
    cases.push_back(
        bad(kind, {x, {f32, {3, 2}}}, none, "operand 1 (rhs) is tensor<3x2xf32>, expected tensor<2x3xf32>"));
    cases.push_back(bad(kind, {x}, none, "expected 2 operands, got 1"));
  }
  for (const OpKind kind : {Subtract, Divide, Power, Remainder}) {
    cases.push_back(good(kind, {n, n}, none, {n}));
    cases.push_back(bad(kind, {p, p}, none, "integer or floating-point"));
    cases.push_back(bad(kind, {n, x}, none, "operand 1 (rhs) is tensor<2x3xf32>"));
  }
  for (const OpKind kind : {And, Or, Xor}) {
    cases.push_back(good(kind, {p, p}, none, {p}));
    cases.push_back(bad(kind, {x, x}, none, "boolean or integer"));
  }
  for (const OpKind kind : {Atan2, NextAfter, Polygamma, Zeta}) {
    cases.push_back(good(kind, {x, x}, none, {x}));
    cases.push_back(bad(kind, {n, n}, none, "floating-point"));
  }
  for (const OpKind kind : {ShiftLeft, ShiftRightArithmetic, ShiftRightLogical}) {
    cases.push_back(good(kind, {n, n}, none, {n}));
    cases.push_back(bad(kind, {p, p}, none, "integer type"));
  }
  cases.push_back(good(Compare, {x, x}, CompareAttrs{Comparison::Lt, ComparisonType::TotalOrder}, {p}));
  cases.push_back(good(Compare, {p, p}, CompareAttrs{Comparison::Eq, ComparisonType::Unsigned}, {p}));
  cases.push_back(bad(Compare, {n, n}, CompareAttrs{Comparison::Eq, ComparisonType::Float}, "comparison type"));
  cases.push_back(bad(Compare, {x, n}, CompareAttrs{}, "operand 1 (rhs)"));
  cases.push_back(good(Clamp, {{f32, {}}, x, x}, none, {x}));
  cases.push_back(bad(Clamp, {{f32, {3}}, x, x}, none, "operand 0 (min)"));
  cases.push_back(bad(Clamp, {x, x, {f64, {}}}, none, "operand 2 (max)"));
  cases.push_back(good(Select, {{i1, {}}, n, n}, none, {n}));
  cases.push_back(good(Select, {p, n, n}, none, {n}));
  cases.push_back(bad(Select, {{i1, {3}}, n, n}, none, "operand 0 (pred)"));
  cases.push_back(bad(Select, {n, n, n}, none, "operand 0 (pred)"));
  cases.push_back(bad(Select, {p, n, x}, none, "operand 2 (on_false)"));
  return cases;
}

std::vector<Case> movement_cases() {
  std::vector<Case> cases;
  const TensorType x{f32, {2, 3}};
  const TensorType s{i32, {}};
  using enum OpKind;
  cases.push_back(good(BroadcastInDim, {{f32, {1, 3}}}, BroadcastInDimAttrs{{4, 3, 2}, {2, 1}}, {{f32, {4, 3, 2}}}));
  cases.push_back(bad(BroadcastInDim, {x}, BroadcastInDimAttrs{{4, 3}, {0, 1}}, "has size 2, expected 1 or 4"));
  cases.push_back(bad(BroadcastInDim, {x}, BroadcastInDimAttrs{{2, 3}, {0}}, "has 1 entries, expected 2"));
  cases.push_back(bad(BroadcastInDim, {x}, BroadcastInDimAttrs{{2, 3}, {0, 2}}, "dimension 2, expected one in [0, 2)"));
  cases.push_back(bad(BroadcastInDim, {{f32, {2, 2}}}, BroadcastInDimAttrs{{2, 3}, {0, 0}}, "names dimension 0 twice"));
  cases.push_back(bad(BroadcastInDim, {{f32, {}}}, BroadcastInDimAttrs{{-1}, {}}, "negative dimension"));
  cases.push_back(bad(BroadcastInDim, {{f32, {}}}, BroadcastInDimAttrs{{1ll << 40, 1ll << 40}, {}}, "more bytes"));
  cases.push_back(good(Concatenate, {x, {f32, {2, 5}}, x}, DimensionAttrs{1}, {{f32, {2, 11}}}));
  cases.push_back(bad(Concatenate, {x, {f32, {3, 3}}}, DimensionAttrs{1}, "operand 1 is tensor<3x3xf32>"));
  cases.push_back(bad(Concatenate, {x, {f64, {2, 3}}}, DimensionAttrs{1}, "operand 1"));
  cases.push_back(bad(Concatenate, {x}, DimensionAttrs{2}, "expected one in [0, 2)"));
  cases.push_back(bad(Concatenate, {}, DimensionAttrs{0}, "at least 1 operand"));
  cases.push_back(good(Constant, {}, ConstantAttrs{Literal::splat(x, 1)}, {x}));
  cases.push_back(bad(Constant, {x}, ConstantAttrs{Literal::splat(x, 1)}, "expected 0 operands"));
  cases.push_back(good(DynamicSlice, {x, s, s}, DynamicSliceAttrs{{1, 3}}, {{f32, {1, 3}}}));
  cases.push_back(bad(DynamicSlice, {x, s}, DynamicSliceAttrs{{1, 3}}, "expected 3 operands, got 2"));
  cases.push_back(bad(DynamicSlice, {x, s, {i64, {}}}, DynamicSliceAttrs{{1, 3}}, "like the other start indices"));
  cases.push_back(bad(DynamicSlice, {x, s, {i32, {1}}}, DynamicSliceAttrs{{1, 3}}, "expected a scalar integer"));
  cases.push_back(bad(DynamicSlice, {x, s, s}, DynamicSliceAttrs{{1, 4}}, "slice size 4 of dimension 1"));
  cases.push_back(good(DynamicUpdateSlice, {x, {f32, {1, 3}}, s, s}, none, {x}));
  cases.push_back(bad(DynamicUpdateSlice, {x, {f32, {3, 3}}, s, s}, none, "larger than the operand"));
  cases.push_back(bad(DynamicUpdateSlice, {x, {f32, {3}}, s, s}, none, "expected rank 2"));
  cases.push_back(good(Iota, {}, IotaAttrs{x, 1}, {x}));
  cases.push_back(bad(Iota, {}, IotaAttrs{x, 2}, "iota_dimension"));
  cases.push_back(bad(Iota, {}, IotaAttrs{{i1, {2}}, 0}, "integers or floats"));
  cases.push_back(good(OptimizationBarrier, {x, s}, none, {x, s}));
  cases.push_back(bad(OptimizationBarrier, {x}, none, "expected 0 regions, got 1", {fn({}, {})}));
  cases.push_back(good(Pad, {x, {f32, {}}}, PadAttrs{{1, -1}, {0, 2}, {3, 0}}, {{f32, {6, 4}}}));
  cases.push_back(bad(Pad, {x, {f32, {}}}, PadAttrs{{0, -2}, {0, -2}, {0, 0}}, "would have size -1"));
  cases.push_back(bad(Pad, {x, {f64, {}}}, PadAttrs{{0, 0}, {0, 0}, {0, 0}}, "operand 1 (padding value)"));
  cases.push_back(bad(Pad, {x, {f32, {}}}, PadAttrs{{0, 0}, {0, 0}, {0, -1}}, "is negative"));
  cases.push_back(bad(Pad, {x, {f32, {}}}, PadAttrs{{0}, {0, 0}, {0, 0}}, "edge_padding_low has 1 entries"));
  cases.push_back(good(Reshape, {x}, ReshapeAttrs{{3, 1, 2}}, {{f32, {3, 1, 2}}}));
  cases.push_back(bad(Reshape, {x}, ReshapeAttrs{{4}}, "has 4 elements, but the operand tensor<2x3xf32> has 6"));
  cases.push_back(bad(Reshape, {x}, ReshapeAttrs{{-2, -3}}, "negative dimension"));
  cases.push_back(good(Reverse, {x}, DimensionsAttrs{{1}}, {x}));
  cases.push_back(bad(Reverse, {x}, DimensionsAttrs{{1, 1}}, "twice"));
  cases.push_back(good(Slice, {x}, SliceAttrs{{0, 0}, {2, 3}, {1, 2}}, {{f32, {2, 2}}}));
  cases.push_back(good(Slice, {x}, SliceAttrs{{1, 3}, {1, 3}, {1, 1}}, {{f32, {0, 0}}}));
  cases.push_back(bad(Slice, {x}, SliceAttrs{{0, 2}, {2, 1}, {1, 1}}, "slice 2:1 of dimension 1"));
  cases.push_back(bad(Slice, {x}, SliceAttrs{{0, 0}, {2, 4}, {1, 1}}, "not within [0, 3]"));
  cases.push_back(bad(Slice, {x}, SliceAttrs{{0, 0}, {2, 3}, {1, 0}}, "stride 0"));
  cases.push_back(good(Transpose, {{f32, {2, 3, 4}}}, DimensionsAttrs{{2, 0, 1}}, {{f32, {4, 2, 3}}}));
  cases.push_back(bad(Transpose, {x}, DimensionsAttrs{{0}}, "permutation has 1 entries"));
  cases.push_back(bad(Transpose, {x}, DimensionsAttrs{{0, 0}}, "twice"));

  GatherAttrs gather;  // rows of x by number, batched over dimension 0 of both
  gather.offset_dims = {2};
  gather.operand_batching_dims = {0};
  gather.start_indices_batching_dims = {1};
  gather.collapsed_slice_dims = {1};
  gather.start_index_map = {1};
  gather.index_vector_dim = 2;
  gather.slice_sizes = {1, 1, 4};
  const TensorType table{f32, {5, 10, 4}};
  const TensorType indices{i32, {7, 5, 1}};
  cases.push_back(good(Gather, {table, indices}, gather, {{f32, {7, 5, 4}}}));
  const auto gather_fault = [&](auto change, const std::string& message) {
    GatherAttrs broken = gather;
    change(broken);
    cases.push_back(bad(Gather, {table, indices}, broken, message));
  };
  gather_fault([](GatherAttrs& a) { a.offset_dims = {3}; }, "offset_dims has dimension 3");
  gather_fault([](GatherAttrs& a) { a.slice_sizes = {1, 1, 5}; }, "slice size 5 of dimension 2");
  gather_fault([](GatherAttrs& a) { a.slice_sizes = {1, 2, 4}; }, "expected at most 1");
  gather_fault([](GatherAttrs& a) { a.slice_sizes = {1, 1}; }, "slice_sizes has 2 entries");
  gather_fault([](GatherAttrs& a) { a.index_vector_dim = 4; }, "index_vector_dim is 4");
  gather_fault([](GatherAttrs& a) { a.start_index_map = {1, 2}; }, "start_index_map has 2 entries, expected 1");
  gather_fault([](GatherAttrs& a) { a.start_index_map = {0}; }, "in both start_index_map and operand_batching_dims");
  gather_fault([](GatherAttrs& a) { a.collapsed_slice_dims = {0}; }, "in both collapsed_slice_dims and");
  gather_fault([](GatherAttrs& a) { a.start_indices_batching_dims = {0}; }, "differ in size");
  gather_fault([](GatherAttrs& a) { a.start_indices_batching_dims = {2}; }, "index_vector_dim 2 is also in");
  gather_fault([](GatherAttrs& a) { a.collapsed_slice_dims = {}; }, "have 2 entries together, expected 3");
  gather_fault([](GatherAttrs& a) { a.start_indices_batching_dims = {}; }, "has 0 entries, expected 1");
  cases.push_back(bad(Gather, {table, {f32, {7, 5, 1}}}, gather, "expected integers"));

  ScatterAttrs scatter;
  scatter.update_window_dims = {2};
  scatter.input_batching_dims = {0};
  scatter.scatter_indices_batching_dims = {1};
  scatter.inserted_window_dims = {1};
  scatter.scatter_dims_to_operand_dims = {1};
  scatter.index_vector_dim = 2;
  const TensorType updates{f32, {7, 5, 4}};
  const FunctionId add = fn({{f32, {}}, {f32, {}}}, {{f32, {}}});
  cases.push_back(good(Scatter, {table, indices, updates}, scatter, {table}, {add}));
  const FunctionId two = fn({{f32, {}}, {i32, {}}, {f32, {}}, {i32, {}}}, {{f32, {}}, {i32, {}}});
  cases.push_back(good(Scatter, {table, {i32, table.dims}, indices, updates, {i32, updates.dims}}, scatter,
                       {table, {i32, table.dims}}, {two}));
  const auto scatter_fault = [&](Types operands, auto change, const std::string& message, FunctionId region) {
    ScatterAttrs broken = scatter;
    change(broken);
    cases.push_back(bad(Scatter, std::move(operands), broken, message, {region}));
  };
  const auto unchanged = [](ScatterAttrs&) {};
  scatter_fault({table, indices, updates}, unchanged, "update computation takes", two);
  scatter_fault(
      {table, indices, updates}, [](ScatterAttrs& a) { a.update_window_dims = {1}; },
      "dimension 1 of the updates tensor<7x5x4xf32> is larger than 4", add);
  scatter_fault({table, indices, {f32, {7, 5}}}, unchanged, "update_window_dims has dimension 2", add);
  scatter_fault({table, indices, {f32, {7, 5, 5}}}, unchanged, "larger than 4", add);
  scatter_fault({table, indices, {f32, {6, 5, 4}}}, unchanged, "is not 7", add);
  scatter_fault({table, indices, {f64, {7, 5, 4}}}, unchanged, "operand 2 (update 0)", add);
  scatter_fault({table, table, indices, updates}, unchanged, "expected inputs, indices and as many updates", add);
  scatter_fault(
      {table, indices, updates}, [](ScatterAttrs& a) { a.inserted_window_dims = {}; }, "together", add);
  return cases;
}

std::vector<Case> contraction_cases() {
  std::vector<Case> cases;
  using enum OpKind;
  const TensorType a{f32, {5, 2, 3}};
  const TensorType b{f32, {3, 5, 4}};
  cases.push_back(good(DotGeneral, {a, b}, DotGeneralAttrs{{0}, {1}, {2}, {0}, f32}, {{f32, {5, 2, 4}}}));
  cases.push_back(good(DotGeneral, {{i8, {3}}, {i8, {3}}}, DotGeneralAttrs{{}, {}, {0}, {0}, i32}, {{i32, {}}}));
  cases.push_back(bad(DotGeneral, {a, b}, DotGeneralAttrs{{0}, {0}, {2}, {0}, f32}, "names dimension 0 twice"));
  cases.push_back(bad(DotGeneral, {a, b}, DotGeneralAttrs{{0}, {1}, {1}, {0}, f32}, "contracting dimension 1 of lhs"));
  cases.push_back(bad(DotGeneral, {a, b}, DotGeneralAttrs{{1}, {1}, {2}, {0}, f32}, "batching dimension 1 of lhs"));
  cases.push_back(bad(DotGeneral, {a, b}, DotGeneralAttrs{{0}, {}, {2}, {0}, f32}, "rhs_batching_dimensions"));
  cases.push_back(bad(DotGeneral, {a, b}, DotGeneralAttrs{{0}, {1}, {3}, {0}, f32}, "has dimension 3"));
  cases.push_back(bad(DotGeneral, {a, {i32, {3, 5, 4}}}, DotGeneralAttrs{{0}, {1}, {2}, {0}, f32}, "one kind"));
  cases.push_back(bad(DotGeneral, {a, b}, DotGeneralAttrs{{0}, {1}, {2}, {0}, i32}, "cannot be accumulated as i32"));

  ConvolutionAttrs conv;
  conv.window = {{3, 2, 1, 1}, {3, 1, 0, 0, 2, 1}};
  conv.input_batch = 0, conv.input_feature = 3, conv.input_spatial = {1, 2};
  conv.kernel_input_feature = 2, conv.kernel_output_feature = 3, conv.kernel_spatial = {0, 1};
  conv.output_batch = 3, conv.output_feature = 0, conv.output_spatial = {1, 2};
  conv.result_dtype = f32;
  const TensorType image{f32, {4, 8, 9, 6}};
  const TensorType kernel{f32, {3, 3, 6, 10}};
  cases.push_back(good(Convolution, {image, kernel}, conv, {{f32, {10, 4, 15, 4}}}));
  ConvolutionAttrs grouped = conv;
  grouped.feature_group_count = 2;
  cases.push_back(good(Convolution, {image, {f32, {3, 3, 3, 10}}}, grouped, {{f32, {10, 4, 15, 4}}}));
  ConvolutionAttrs batch_grouped = conv;
  batch_grouped.batch_group_count = 2;
  cases.push_back(good(Convolution, {image, kernel}, batch_grouped, {{f32, {10, 4, 15, 2}}}));
  const auto fault = [&](auto change, const std::string& message) {
    ConvolutionAttrs broken = conv;
    change(broken);
    cases.push_back(bad(Convolution, {image, kernel}, broken, message));
  };
  fault([](ConvolutionAttrs& c) { c.window.pop_back(); }, "expected rank 3 for 1 spatial");
  fault([](ConvolutionAttrs& c) { c.input_spatial = {1, 1}; }, "input dimension numbers");
  fault([](ConvolutionAttrs& c) { c.kernel_spatial = {0, 3}; }, "kernel dimension numbers");
  fault([](ConvolutionAttrs& c) { c.output_batch = 4; }, "output dimension numbers");
  fault([](ConvolutionAttrs& c) { c.window[0].size = 2; }, "window dimension 0 has size 2, but the kernel");
  fault([](ConvolutionAttrs& c) { c.window[0].stride = 0; }, "stride 0");
  fault([](ConvolutionAttrs& c) { c.window[1].base_dilation = 0; }, "base dilation 0");
  fault([](ConvolutionAttrs& c) { c.window[1].window_dilation = -1; }, "window dilation -1");
  fault([](ConvolutionAttrs& c) { c.feature_group_count = 4; }, "not a multiple of feature_group_count 4");
  fault([](ConvolutionAttrs& c) { c.feature_group_count = 2; }, "has 6 input features, expected 3");
  fault([](ConvolutionAttrs& c) { c.batch_group_count = 3; }, "not a multiple of batch_group_count 3");
  fault([](ConvolutionAttrs& c) { c.batch_group_count = 4; }, "10 output features");
  fault([](ConvolutionAttrs& c) { c.batch_group_count = c.feature_group_count = 2; }, "both above 1");
  fault([](ConvolutionAttrs& c) { c.feature_group_count = 0; }, "feature_group_count is 0");

  const TensorType x{f32, {2, 3, 4}};
  const TensorType s{f32, {}};
  const FunctionId add = fn({s, s}, {s});
  const FunctionId pair = fn({s, {i32, {}}, s, {i32, {}}}, {s, {i32, {}}});
  cases.push_back(good(Reduce, {x, s}, ReduceAttrs{{2, 0}}, {{f32, {3}}}, {add}));
  cases.push_back(
      good(Reduce, {x, {i32, x.dims}, s, {i32, {}}}, ReduceAttrs{{1}}, {{f32, {2, 4}}, {i32, {2, 4}}}, {pair}));
  cases.push_back(bad(Reduce, {x, s}, ReduceAttrs{{3}}, "dimensions has dimension 3", {add}));
  cases.push_back(bad(Reduce, {x, s}, ReduceAttrs{{1, 1}}, "twice", {add}));
  cases.push_back(bad(Reduce, {x, {f64, {}}}, ReduceAttrs{{1}}, "operand 1 (init value 0)", {add}));
  cases.push_back(bad(Reduce, {x, s, s}, ReduceAttrs{{1}}, "as many init values as inputs", {add}));
  cases.push_back(bad(Reduce, {x, {f32, {3}}, s, s}, ReduceAttrs{{1}}, "operand 1 (input 1)", {add}));
  cases.push_back(bad(Reduce, {x, s}, ReduceAttrs{{1}}, "the reducer takes", {pair}));
  cases.push_back(bad(Reduce, {x, s}, ReduceAttrs{{1}}, "the reducer returns", {fn({s, s}, {s, s})}));
  cases.push_back(bad(Reduce, {x, s}, ReduceAttrs{{1}}, "expected 1 region, got 0"));

  const std::vector<WindowDim> window{{1}, {2, 1, 1, 0}, {2, 2, 0, 0, 1, 2}};
  cases.push_back(good(ReduceWindow, {x, s}, ReduceWindowAttrs{window}, {{f32, {2, 3, 1}}}, {add}));
  cases.push_back(good(ReduceWindow, {x, s}, ReduceWindowAttrs{{{1}, {5}, {1}}}, {{f32, {2, 0, 4}}}, {add}));
  cases.push_back(bad(ReduceWindow, {x, s}, ReduceWindowAttrs{{{1}, {1}}}, "window has 2 entries", {add}));
  cases.push_back(bad(ReduceWindow, {x, s}, ReduceWindowAttrs{{{1}, {0}, {1}}}, "size 0", {add}));
  cases.push_back(
      bad(ReduceWindow, {x, s}, ReduceWindowAttrs{{{1}, {1, 1, 0, 0, 1, 1, true}, {1}}}, "reversed", {add}));

  const FunctionId ge = fn({s, s}, {{i1, {}}});
  const std::vector<WindowDim> pool{{1}, {3, 1, 1, 1}, {2, 2}};
  cases.push_back(good(SelectAndScatter, {x, {f32, {2, 3, 2}}, s}, SelectAndScatterAttrs{pool}, {x}, {ge, add}));
  cases.push_back(bad(SelectAndScatter, {x, x, s}, SelectAndScatterAttrs{pool}, "operand 1 (source)", {ge, add}));
  cases.push_back(bad(SelectAndScatter, {x, {f32, {2, 3, 2}}, {f32, {1}}}, SelectAndScatterAttrs{pool},
                      "operand 2 (init value)", {ge, add}));
  cases.push_back(
      bad(SelectAndScatter, {x, {f32, {2, 3, 2}}, s}, SelectAndScatterAttrs{pool}, "the select function", {add, add}));
  cases.push_back(bad(SelectAndScatter, {x, {f32, {2, 3, 2}}, s}, SelectAndScatterAttrs{{{1}, {1}, {1, 1, 0, 0, 2}}},
                      "is dilated", {ge, add}));

  const FunctionId keyed = fn({s, s, {i32, {}}, {i32, {}}}, {{i1, {}}});
  cases.push_back(good(Sort, {x, {i32, x.dims}}, SortAttrs{2, true}, {x, {i32, x.dims}}, {keyed}));
  cases.push_back(bad(Sort, {x}, SortAttrs{3, true}, "dimension has dimension 3", {ge}));
  cases.push_back(bad(Sort, {x, {i32, {2}}}, SortAttrs{0, true}, "expected the shape [2, 3, 4]", {keyed}));
  cases.push_back(bad(Sort, {x}, SortAttrs{0, true}, "the comparator takes", {keyed}));
  cases.push_back(good(TopK, {x}, TopKAttrs{3, true}, {{f32, {2, 3, 3}}, {i32, {2, 3, 3}}}));
  cases.push_back(bad(TopK, {x}, TopKAttrs{5, true}, "k = 5 is not in [0, 4]"));
  cases.push_back(bad(TopK, {s}, TopKAttrs{1, true}, "at least rank 1"));
  return cases;
}

std::vector<Case> control_cases() {
  std::vector<Case> cases;
  using enum OpKind;
  const TensorType x{f32, {4, 6}};
  const TensorType s{f32, {}};
  const TensorType n{i32, {}};
  const TensorType p{i1, {}};
  const TensorType key{u64, {2}};
  const TensorType bits{u32, {5}};
  cases.push_back(good(RngBitGenerator, {key}, RngBitGeneratorAttrs{RngAlgorithm::ThreeFry, bits}, {key, bits}));
  cases.push_back(
      good(RngBitGenerator, {{u64, {3}}}, RngBitGeneratorAttrs{RngAlgorithm::Philox, bits}, {{u64, {3}}, bits}));
  cases.push_back(
      bad(RngBitGenerator, {{u64, {3}}}, RngBitGeneratorAttrs{RngAlgorithm::ThreeFry, bits}, "expected 2 words"));
  cases.push_back(
      bad(RngBitGenerator, {{u32, {4}}}, RngBitGeneratorAttrs{RngAlgorithm::Default, bits}, "vector of ui64"));
  cases.push_back(
      bad(RngBitGenerator, {key}, RngBitGeneratorAttrs{RngAlgorithm::Default, {i1, {}}}, "integers or floats"));

  cases.push_back(good(Call, {x, n}, none, {n, x}, {fn({x, n}, {n, x})}));
  cases.push_back(bad(Call, {x}, none, "the callee takes", {fn({x, n}, {n, x})}));
  cases.push_back(good(OpKind::Case, {n, x}, none, {s}, {fn({x}, {s}), fn({x}, {s})}));
  cases.push_back(bad(OpKind::Case, {n, x}, none, "branch 1 returns", {fn({x}, {s}), fn({x}, {n})}));
  cases.push_back(bad(OpKind::Case, {n, x}, none, "branch 1 takes", {fn({x}, {s}), fn({}, {s})}));
  cases.push_back(bad(OpKind::Case, {{i64, {}}}, none, "operand 0 (index)", {fn({}, {s})}));
  cases.push_back(bad(OpKind::Case, {n}, none, "at least one region"));
  const Types carried{n, x};
  cases.push_back(good(While, carried, none, carried, {fn(carried, {p}), fn(carried, carried)}));
  cases.push_back(bad(While, carried, none, "the loop condition returns", {fn(carried, {n}), fn(carried, carried)}));
  cases.push_back(bad(While, carried, none, "the loop body returns", {fn(carried, {p}), fn(carried, {n})}));
  cases.push_back(bad(While, carried, none, "expected 2 regions, got 1", {fn(carried, {p})}));

  CollectiveAttrs groups;
  groups.groups = std::make_shared<const ReplicaGroups>(ReplicaGroups{{0, 1}, {2, 3}});
  groups.group_size = 2;
  const auto with = [&](auto change) {
    CollectiveAttrs changed = groups;
    change(changed);
    return changed;
  };
  const auto with_groups = [&](ReplicaGroups list) {
    return with([&](CollectiveAttrs& a) { a.groups = std::make_shared<const ReplicaGroups>(std::move(list)); });
  };
  const FunctionId add = fn({s, s}, {s});
  cases.push_back(good(AllGather, {x}, with([](CollectiveAttrs& a) { a.dimension = 1; }), {{f32, {4, 12}}}));
  cases.push_back(bad(AllGather, {x}, with([](CollectiveAttrs& a) { a.dimension = 2; }), "all_gather_dim"));
  cases.push_back(bad(AllGather, {x}, with([](CollectiveAttrs& a) { a.group_size = 3; }), "has 2 members, expected 3"));
  cases.push_back(bad(AllGather, {x}, with_groups({{0, 1}, {1, 2}}), "device number 1 is in two"));
  cases.push_back(bad(AllGather, {x}, with_groups({{-1, 0}}), "device number -1 is negative"));
  cases.push_back(bad(AllGather, {x}, with([](CollectiveAttrs& a) { a.groups = nullptr; }), "without replica groups"));
  cases.push_back(good(AllReduce, {x, {f32, {}}}, groups, {x, {f32, {}}}, {add}));
  cases.push_back(bad(AllReduce, {n}, groups, "the reducer takes", {add}));
  cases.push_back(good(ReduceScatter, {x}, groups, {{f32, {2, 6}}}, {add}));
  cases.push_back(bad(ReduceScatter, {{f32, {5}}}, groups, "not a multiple of the group size 2", {add}));
  cases.push_back(good(AllToAll, {x}, with([](CollectiveAttrs& a) { a.concat_dimension = 1; }), {{f32, {2, 12}}}));
  cases.push_back(bad(AllToAll, {{f32, {3, 3}}}, groups, "not a multiple of 2"));
  cases.push_back(good(CollectiveBroadcast, {x}, groups, {x}));
  cases.push_back(bad(CollectiveBroadcast, {x, x}, groups, "expected 1 operand"));
  cases.push_back(good(CollectivePermute, {x}, with_groups({{0, 1}, {1, 0}}), {x}));
  cases.push_back(bad(CollectivePermute, {x}, with_groups({{0, 1, 2}}), "expected pairs"));
  for (const OpKind kind : {PartitionId, ReplicaId}) {
    cases.push_back(good(kind, {}, none, {{u32, {}}}));
    cases.push_back(bad(kind, {x}, none, "expected 0 operands"));
  }
  cases.push_back(good(CustomCall, {x}, CustomCallAttrs{"f", "", false, {n, x}}, {n, x}));
  cases.push_back(bad(CustomCall, {x}, CustomCallAttrs{"", "", false, {}}, "no name"));
  cases.push_back(bad(CustomCall, {x}, CustomCallAttrs{"f", "", false, {{f32, {-1}}}}, "negative dimension"));
  return cases;
}

TEST(Infer, Elementwise) { check(elementwise_cases()); }
TEST(Infer, Movement) { check(movement_cases()); }
TEST(Infer, ContractionsAndReductions) { check(contraction_cases()); }
TEST(Infer, ControlAndCollectives) { check(control_cases()); }

TEST(Infer, EveryKindHasAGoodAndABadCase) {
  std::set<OpKind> accepted;
  std::set<OpKind> refused;
  for (const auto& cases : {elementwise_cases(), movement_cases(), contraction_cases(), control_cases()})
    for (const Case& c : cases)
      (c.error.empty() ? accepted : refused).insert(c.kind);
  for (int i = 0; i < op_kind_count; ++i) {
    const auto kind = static_cast<OpKind>(i);
    EXPECT_EQ(accepted.count(kind), 1u) << op_name(kind);
    EXPECT_EQ(refused.count(kind), 1u) << op_name(kind);
  }
}

TEST(Infer, OverflowIsAnInputError) {
  const TensorType x{f32, {2}};
  const Types operands{x, {f32, {}}};
  EXPECT_THROW(
      infer_result_types(
          {regional().program, OpKind::Pad, Attributes(PadAttrs{{INT64_MAX}, {INT64_MAX}, {0}}), operands, {}}),
      InputError);
  EXPECT_THROW(
      infer_result_types({regional().program, OpKind::Pad, Attributes(PadAttrs{{0}, {0}, {INT64_MAX}}), operands, {}}),
      InputError);
}

TEST(Infer, ForeignAttributesAreOurFault) {
  const Types operands{{f32, {2}}};
  EXPECT_THROW(infer_result_types({regional().program, OpKind::Reshape, Attributes(NoAttrs{}), operands, {}}),
               InternalError);
}

}  // namespace
}  // namespace rhino::ir
