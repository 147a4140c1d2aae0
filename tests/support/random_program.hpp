// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include <rhino/ir/literal.hpp>
#include <rhino/ir/program.hpp>

namespace rhino::test {

using Rng = std::mt19937_64;

struct RandomProgramOptions {
  int min_ops = 5;  ///< ops asked for in the entry function; helper ops (constants, rescaling) come on top
  int max_ops = 40;
  std::int64_t max_elements = 512;                       ///< of any value
  std::vector<std::int64_t> sizes{1, 2, 3, 4, 5, 6, 8};  ///< sizes of new dimensions; a program uses a few of them
  bool control_flow = true;                              ///< while, case, call
  bool random_bits = true;                               ///< rng_bit_generator
};

/// A random, verified program over (nearly) all op kinds with small static shapes: floats are f64 (f32 only where every
/// step is exact), integers of several widths, booleans.
///
/// It is well conditioned: floats stay within about +-1e3 and far from poles, and whatever is discontinuous (compare,
/// floor, sort, top_k, max-pool gradients, indices) acts only on values that do not depend on the order of
/// floating-point sums. So two correct executions with different orders of summation agree to about 1e-12 max(1,
/// largest magnitude of the result), and a comparison at 1e-9 is meaningful. Collectives, device numbers and custom
/// calls do not occur. The entry function has at least one parameter and one result.
ir::Program random_program(Rng& rng, const RandomProgramOptions& options = {});

/// Arguments for the entry function of a random program: floats in +-[0.1, 1], integers small (in and somewhat out of
/// range as indices), random booleans, random bits for ui64.
std::vector<ir::Literal> random_arguments(const ir::Program& program, Rng& rng);

}  // namespace rhino::test
