// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <rhino/base/error.hpp>
#include <rhino/frontend/roles.hpp>
#include <rhino/frontend/stablehlo.hpp>
#include <rhino/io/model_file.hpp>
#include <support/message_of.hpp>

namespace rhino::test {

inline constexpr const char* step_text = R"(
module @jit_step {
  func.func public @main(%w: tensor<4x3xf32> loc("s['params']['w']"), %h: tensor<3xbf16> loc("s['params']['h']"),
                         %m: tensor<2xi1> loc("s['mask']"), %n: tensor<i32> loc("s['step']"),
                         %x: tensor<8x4xf32> loc("x"))
      -> (tensor<4x3xf32> {jax.result_info = "result[0]['params']['w']"},
          tensor<3xbf16> {jax.result_info = "result[0]['params']['h']"},
          tensor<2xi1> {jax.result_info = "result[0]['mask']"},
          tensor<i32> {jax.result_info = "result[0]['step']"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %next = stablehlo.add %n, %one : tensor<i32>
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
    %loss = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x3xf32>, tensor<f32>) -> tensor<f32>
    return %w, %h, %m, %next, %loss : tensor<4x3xf32>, tensor<3xbf16>, tensor<2xi1>, tensor<i32>, tensor<f32>
  }
})";

inline ir::Literal numbers(ir::DType dtype, ir::Dims dims, unsigned seed = 3) {
  const ir::TensorType type{dtype, std::move(dims)};
  std::vector<std::byte> bytes(static_cast<std::size_t>(type.bytes()));
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(dtype == ir::DType::I1 ? i % 2 : (i * seed + 1) % 60);
  return ir::Literal(type, bytes);
}

inline io::Model small_model() {
  io::Model model;
  model.program = frontend::parse_stablehlo(step_text);
  model.signature = frontend::infer_roles(model.program).signature;
  model.state["params/w"] = numbers(ir::DType::F32, {4, 3});
  model.state["params/h"] = numbers(ir::DType::BF16, {3});
  model.state["mask"] = numbers(ir::DType::I1, {2});
  model.state["step"] = io::InitRecipe{io::InitRecipe::Kind::Constant, 7, 0, 0};
  model.meta = {{"source", "step.mlir"}, {"note", "two\nlines"}, {"empty", ""}};
  return model;
}

}  // namespace rhino::test
