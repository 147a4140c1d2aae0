// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <rhino/kernels/reference/interpreter.hpp>
#include <rhino/shard/partition.hpp>

namespace rhino::runtime {

struct VerifyOptions {
  /// Floating values may differ by this much of the largest finite magnitude in their tensor. Negative: chosen by the
  /// element type (f64 1e-9, f32 1e-4, bf16 and f16 5e-2). Integers must be equal.
  double relative_tolerance = -1;
  /// Smaller magnitudes count as this: values that would vanish but for rounding differ freely (the gradient of a bias in
  /// front of a normalisation).
  double smallest_magnitude = 1e-3;
  /// Whether the first op that differs is looked for when a result differs (a second run that keeps every value).
  bool find_first_op = true;
};

/// How far the local buffers of one value are from the whole value.
struct ValueDifference {
  double largest = 0;   ///< largest |got - want|; infinite where one is not a number or infinite and the other is not
  double relative = 0;  ///< `largest` over the largest finite magnitude in the tensor (at least VerifyOptions::smallest_magnitude)
  bool equal = true;    ///< within the tolerance
  std::string where;    ///< of the largest: "device 3, element 17: got 1, want 2"; empty if there is none
};

/// The first op of the global program whose value differs on some device.
struct OpDifference {
  ir::OpId op;
  std::uint32_t result = 0;
  std::string text;  ///< the op, as a line of the program, with its layout
  ValueDifference difference;
};

struct VerifyReport {
  std::vector<ValueDifference> results;  ///< one per result of the program
  std::optional<OpDifference> first_op;
  bool equal() const;
};

/// Runs `partitioned` on all its devices at once, in this process, on the reference kernels, and compares every result on
/// every device with what `program` gives for the same whole `arguments`. Padding is filled with all-ones bytes first.
/// Throws what the runs throw.
VerifyReport verify_partition(const ir::Program& program, const shard::PartitionedProgram& partitioned,
                              const std::vector<kernels::reference::Tensor>& arguments, const VerifyOptions& options = {});

}  // namespace rhino::runtime
