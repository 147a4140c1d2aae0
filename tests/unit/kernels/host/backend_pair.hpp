// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include <rhino/ir/builder.hpp>
#include <rhino/kernels/kernel.hpp>
#include <rhino/kernels/reference/interpreter.hpp>

namespace rhino::kernels::host::test {

using reference::Tensor;

/// How far results may be apart: |got - want| <= absolute + relative * scale, where scale is |want|, and equal for integers.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

/// Random numbers and tensors of a test; the seed is part of every failure message.
class Randomness {
 public:
  explicit Randomness(std::uint64_t seed) : generator_(seed) {}
  std::int64_t integer(std::int64_t low, std::int64_t high) {  // both included
    return std::uniform_int_distribution<std::int64_t>(low, high)(generator_);
  }
  bool chance(double p) { return std::bernoulli_distribution(p)(generator_); }
  double real(double low, double high) { return std::uniform_real_distribution<double>(low, high)(generator_); }
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(integer(0, static_cast<std::int64_t>(list.size()) - 1))];
  }
  /// Floats in [-low, high], small integers (few repeat), booleans.
  Tensor tensor(ir::TensorType type, double low = -4, double high = 4);

 private:
  std::mt19937_64 generator_;
};

/// Runs a kernel with a workspace of its size (guarded: writing past its end fails the test).
void run_kernel(const Kernel& kernel, const std::vector<const void*>& operands, const std::vector<void*>& results);

/// "" if `got` is as near to `want` as the tolerance allows (NaN equals NaN), else what differs first.
std::string difference(const Tensor& got, const Tensor& want, Tolerance tolerance);

/// Tolerance of one rounding step of a few units in the last place of the type.
Tolerance few_units(ir::DType dtype, double units = 4);

/// Every op of the entry function of `program` on the host backend against the reference backend, fed with the reference's
/// values; "" or a description of the first difference.
std::string compare_ops(const ir::Program& program, const std::vector<Tensor>& arguments, Tolerance tolerance);

/// The host kernel of the last op of the entry function was not the fallback (it must not be slow by oversight).
bool has_own_kernel(const ir::Program& program);

}  // namespace rhino::kernels::host::test
