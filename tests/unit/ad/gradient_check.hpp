// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include <rhino/ir/builder.hpp>
#include <rhino/kernels/reference/interpreter.hpp>

namespace rhino::ad::test {

/// Random numbers of one test case.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double real(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  bool coin() { return integer(0, 1) == 1; }
  /// `rank` sizes of [1, largest].
  ir::Dims dims(int rank, std::int64_t largest);
  std::vector<int> permutation(int count);
  /// A constant integer tensor with elements of [low, high].
  ir::ValueId indices(ir::Builder& b, ir::Dims dims, std::int64_t low, std::int64_t high,
                      ir::DType dtype = ir::DType::I32);
  kernels::reference::Tensor tensor(const ir::Dims& dims, double low, double high);

 private:
  std::mt19937_64 engine_;
};

/// Builds outputs from f64 parameters.
using Build = std::function<std::vector<ir::ValueId>(ir::Builder&, const std::vector<ir::ValueId>&)>;

struct CheckOptions {
  double low = -2, high = 2;  ///< range of the inputs
  double step = 1e-6;         ///< of the central difference
  double tolerance = 2e-6;    ///< relative to the largest element of a gradient, at least 1
};

/// Builds a function of f64 inputs of the given shapes at random values, makes the loss a random weighted sum of all
/// elements of the floating outputs, differentiates it, and compares each element of each gradient with a central difference
/// through the reference interpreter. Reports failures to gtest.
void check_gradient(Random& random, const std::vector<ir::Dims>& inputs, const Build& build,
                    const CheckOptions& options = {});

/// The same at given inputs.
void check_gradient_at(Random& random, std::vector<kernels::reference::Tensor> inputs, const Build& build,
                       const CheckOptions& options = {});

/// Gradients of `loss` (built from parameters) at `inputs`.
std::vector<kernels::reference::Tensor> gradients_at(const std::vector<kernels::reference::Tensor>& inputs,
                                                     const std::function<ir::ValueId(ir::Builder&, const std::vector<ir::ValueId>&)>& loss);

/// f64 vector.
kernels::reference::Tensor vector(std::vector<double> values);
std::vector<double> values(const kernels::reference::Tensor& tensor);

}  // namespace rhino::ad::test
