// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/ir/text.hpp>

#include "support/random_program.hpp"

// Damaged programs are refused with an InputError, or still make sense; nothing else happens.

namespace rhino::ir {
namespace {

using test::Rng;

/// Changes one number of some attributes. Overloads reach the structs that hold lists; the template leaves the rest.
struct Damage {
  Rng& rng;

  std::int64_t odd_number() {
    static const std::vector<std::int64_t> numbers{-1,
                                                   0,
                                                   1,
                                                   2,
                                                   3,
                                                   7,
                                                   100,
                                                   -100,
                                                   1 << 20,
                                                   std::int64_t{1} << 40,
                                                   std::numeric_limits<std::int64_t>::max(),
                                                   std::numeric_limits<std::int64_t>::min()};
    return numbers[rng() % numbers.size()];
  }
  void hit(std::int64_t& number) { number = odd_number(); }
  void hit(int& number) { number = static_cast<int>(odd_number()); }
  template <class T>
  void hit(std::vector<T>& list) {
    switch (rng() % 4) {
      case 0:
        list.push_back(static_cast<T>(odd_number()));
        break;
      case 1:
        if (!list.empty()) list.pop_back();
        break;
      default:
        if (!list.empty()) hit(list[rng() % list.size()]);
        break;
    }
  }
  void hit(std::vector<WindowDim>& window) {
    if (window.empty() || rng() % 8 == 0) return window.push_back({});
    WindowDim& w = window[rng() % window.size()];
    std::int64_t* const members[] = {&w.size, &w.stride, &w.pad_low, &w.pad_high, &w.base_dilation, &w.window_dilation};
    hit(*members[rng() % 6]);
  }
  template <class... Members>
  void hit_one(Members&... members) {
    std::size_t ticket = rng() % sizeof...(Members);
    ((ticket-- == 0 ? hit(members) : void()), ...);
  }

  template <class Attrs>
  void operator()(Attrs&) {}
  void operator()(ReducePrecisionAttrs& a) { hit_one(a.exponent_bits, a.mantissa_bits); }
  void operator()(IotaAttrs& a) { hit_one(a.dimension, a.type.dims); }
  void operator()(BroadcastInDimAttrs& a) { hit_one(a.result_dims, a.dimensions); }
  void operator()(ReshapeAttrs& a) { hit(a.result_dims); }
  void operator()(DimensionsAttrs& a) { hit(a.dimensions); }
  void operator()(DimensionAttrs& a) { hit(a.dimension); }
  void operator()(SliceAttrs& a) { hit_one(a.start, a.limit, a.stride); }
  void operator()(PadAttrs& a) { hit_one(a.low, a.high, a.interior); }
  void operator()(DotGeneralAttrs& a) { hit_one(a.lhs_batch, a.rhs_batch, a.lhs_contracting, a.rhs_contracting); }
  void operator()(ConvolutionAttrs& a) {
    hit_one(a.window, a.input_batch, a.input_feature, a.input_spatial, a.kernel_input_feature, a.kernel_output_feature,
            a.kernel_spatial, a.output_batch, a.output_feature, a.output_spatial, a.feature_group_count,
            a.batch_group_count);
  }
  void operator()(ReduceAttrs& a) { hit(a.dimensions); }
  void operator()(ReduceWindowAttrs& a) { hit(a.window); }
  void operator()(SelectAndScatterAttrs& a) { hit(a.window); }
  void operator()(GatherAttrs& a) {
    hit_one(a.offset_dims, a.collapsed_slice_dims, a.operand_batching_dims, a.start_indices_batching_dims,
            a.start_index_map, a.index_vector_dim, a.slice_sizes);
  }
  void operator()(ScatterAttrs& a) {
    hit_one(a.update_window_dims, a.inserted_window_dims, a.input_batching_dims, a.scatter_indices_batching_dims,
            a.scatter_dims_to_operand_dims, a.index_vector_dim);
  }
  void operator()(DynamicSliceAttrs& a) { hit(a.slice_sizes); }
  void operator()(SortAttrs& a) { hit(a.dimension); }
  void operator()(TopKAttrs& a) { hit(a.k); }
  void operator()(RngBitGeneratorAttrs& a) { hit(a.type.dims); }
};

void damage(Program& program, Rng& rng) {
  Function& function = program.functions[rng() % program.functions.size()];
  if (function.ops.empty()) return;
  Op& op = function.ops[rng() % function.ops.size()];
  const auto some_value = [&] { return ValueId(rng() % (function.values.size() + 2)); };
  switch (rng() % 8) {
    case 0:
      if (!op.operands.empty()) op.operands[rng() % op.operands.size()] = some_value();
      break;
    case 1:
      if (!op.operands.empty()) op.operands.pop_back();
      break;
    case 2:
      if (!op.regions.empty())
        op.regions[rng() % op.regions.size()] = FunctionId(rng() % (program.functions.size() + 1));
      break;
    case 3:
      function.values[rng() % function.values.size()].type.dims.push_back(static_cast<std::int64_t>(rng() % 3));
      break;
    default:
      std::visit(Damage{rng}, op.attrs);
      break;
  }
}

TEST(VerifyFuzz, DamagedProgramsAreRefusedOrSound) {
  Rng rng(23);
  int refused = 0;
  int sound = 0;
  for (int i = 0; i < 4000; ++i) {
    test::RandomProgramOptions options;
    options.max_ops = 15;
    Program program = test::random_program(rng, options);
    for (int hits = 1 + static_cast<int>(rng() % 2); hits > 0; --hits)
      damage(program, rng);
    try {
      verify(program);
    } catch (const InputError& error) {
      EXPECT_GT(std::string(error.what()).size(), 20u);
      ++refused;
      continue;
    }
    // What the verifier lets through, everything behind it must be able to handle.
    ++sound;
    ASSERT_FALSE(print(program).empty());
    inline_calls(program);
    simplify_identities(program);
    eliminate_common_subexpressions(program);
    eliminate_dead_code(program);
    ASSERT_NO_THROW(verify(program)) << print(program);
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(sound, 200);
}

}  // namespace
}  // namespace rhino::ir
