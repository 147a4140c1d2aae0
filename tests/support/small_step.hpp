// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <rhino/ir/program.hpp>
#include <rhino/ir/signature.hpp>

namespace rhino::test {

/// A training step of a network with one hidden layer: loss = mean((tanh(x w) v)^2), plain gradient descent, by hand.
struct SmallStep {
  ir::Program program;
  ir::Signature signature;
  std::uint32_t batch = 0;         ///< parameter x
  std::uint32_t first_weight = 0;  ///< parameter w
};

SmallStep small_step(std::int64_t batch, std::int64_t width, std::int64_t hidden);

}  // namespace rhino::test
