// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <rhino/base/error.hpp>

#include "parse_helpers.hpp"

namespace rhino::frontend {
namespace {

/// Reads a damaged text: either it still is a program, which then must be a valid one, or a clean InputError says why
/// not. Returns whether it was read.
bool survives(const std::string& text) {
  try {
    ImportOptions options;
    options.elided_constants_as_inputs = true;
    ir::verify(import_text(text, options));
    return true;
  } catch (const InputError& error) {
    EXPECT_STRNE(error.what(), "");
    return false;
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what() << "\nfor the text\n" << text.substr(0, 2000);
    return false;
  }
}

void cut_everywhere(const std::string& text, std::size_t step) {
  int read = 0;
  for (std::size_t size = 0; size < text.size(); size += step)
    read += survives(text.substr(0, size));
  // Only what is left out after the last bracket may be missing.
  EXPECT_LT(read, 64);
}

void damage(const std::string& text, int rounds, unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  const std::string interesting = "[]{}()<>\"%@#!:,=-0123456789xe.\\ \n";
  for (int round = 0; round < rounds; ++round) {
    std::string broken = text;
    const int faults = 1 + static_cast<int>(pick(3));
    for (int fault = 0; fault < faults; ++fault) {
      const std::size_t at = pick(broken.size());
      switch (pick(5)) {
        case 0:
          broken[at] = static_cast<char>(broken[at] ^ (1 << pick(8)));
          break;
        case 1:
          broken[at] = interesting[pick(interesting.size())];
          break;
        case 2:
          broken.erase(at, 1 + pick(8));
          break;
        case 3:
          broken.insert(at, broken.substr(pick(broken.size()), 1 + pick(20)));
          break;
        case 4:
          broken.insert(at, std::string(1 + pick(3), interesting[pick(interesting.size())]));
          break;
      }
    }
    survives(broken);
  }
}

const std::string small_text = R"(#loc1 = loc("x"("f.py":1:2))
module @m attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32> {tf.aliasing_output = 0 : i32} loc("state['x']"), %arg1: tensor<i32>) -> (tensor<4xf32> {jax.result_info = "[0]"}) {
    %cst = stablehlo.constant dense<[1.0, 0x7F800000, -2.5e-3]> : tensor<3xf32>
    %c:2 = call @f(%arg1) : (tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %0 = stablehlo.broadcast_in_dim %cst, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32> loc(#loc1)
    %1 = stablehlo.constant dense<"0x0000803F"> : tensor<f32>
    %2 = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %3:2 = stablehlo.while(%i = %c#0, %v = %2) : tensor<i32>, tensor<4xf32>
     cond {
      %4 = stablehlo.compare  LT, %i, %c#1,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %4 = stablehlo.slice %arg0 [0:4, 1:2] : (tensor<4x3xf32>) -> tensor<4x1xf32>
      %5 = stablehlo.reshape %4 : (tensor<4x1xf32>) -> tensor<4xf32>
      %6 = stablehlo.add %v, %5 : tensor<4xf32>
      %7 = stablehlo.add %i, %i : tensor<i32>
      stablehlo.return %7, %6 : tensor<i32>, tensor<4xf32>
    }
    %8 = "stablehlo.gather"(%3#1, %c#0) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<4xf32>, tensor<i32>) -> tensor<f32>
    %9 = stablehlo.convolution(%0, %0) dim_numbers = [b, f]x[o, i]->[b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x4xf32>
    return %3#1 : tensor<4xf32>
  }
  func.func private @f(%arg0: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    return %arg0, %arg0 : tensor<i32>, tensor<i32>
  }
}
)";

TEST(Fuzz, SmallTextIsAProgram) { EXPECT_TRUE(survives(small_text)); }
TEST(Fuzz, SmallTextCutAtEveryByte) { cut_everywhere(small_text, 1); }
TEST(Fuzz, SmallTextDamaged) { damage(small_text, 6000, 1); }
TEST(Fuzz, StablehloCut) { cut_everywhere(data_file("step.mlir"), 97); }
TEST(Fuzz, StablehloDamaged) { damage(data_file("step.mlir"), 400, 2); }
TEST(Fuzz, GenericDamaged) { damage(data_file("step.generic.mlir"), 400, 3); }
TEST(Fuzz, HloCut) { cut_everywhere(data_file("step.hlo"), 61); }
TEST(Fuzz, HloDamaged) { damage(data_file("step.hlo"), 600, 4); }
TEST(Fuzz, HloDumpDamaged) { damage(data_file("step.dump.txt"), 300, 5); }

TEST(Fuzz, Noise) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::string noise(random() % 200, ' ');
    for (char& c : noise)
      c = static_cast<char>(random());
    survives(noise);
    survives("module {" + noise);
    survives("HloModule m\n" + noise);
  }
}

}  // namespace
}  // namespace rhino::frontend
