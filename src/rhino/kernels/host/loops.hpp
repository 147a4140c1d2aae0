// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <rhino/ir/attributes.hpp>
#include <rhino/ir/program.hpp>

namespace rhino::kernels::host {

/// Arguments of one inner loop: `count` elements that lie one after the other. An input marked scalar in the loop's mask is
/// one element that stands for all. The output may be equal to an input of the same element width, else it must not overlap.
struct LoopArgs {
  const void* in[3];
  void* out;
  std::int64_t count;
};

using Loop = void (*)(const LoopArgs&);

/// What a loop computes.
struct LoopKey {
  ir::OpKind kind = ir::OpKind::Add;
  ir::DType in = ir::DType::F32;   ///< of the operands (for select: of the two values)
  ir::DType out = ir::DType::F32;  ///< of the result
  ir::Comparison direction = ir::Comparison::Eq;
  unsigned scalars = 0;  ///< bit i: input i is one element
};

/// Vectorised reductions of one row, and of rows into a row.
struct ReduceLoops {
  /// Returns through `out` the reduction of `count` contiguous elements of `in`, and of `*out` itself.
  void (*row)(const void* in, std::int64_t count, void* out) = nullptr;
  /// out[k] = out[k] op in[r * stride + k] for r < rows, k < count.
  void (*rows)(const void* in, std::int64_t rows, std::int64_t stride, std::int64_t count, void* out) = nullptr;
};

/// The loops of one instruction set.
struct LoopSet {
  const char* name = "";
  /// nullptr where there is no loop for the key.
  Loop (*find)(const LoopKey& key) = nullptr;
  /// Empty where the kind does not apply to the type (and for Other, f16, bf16).
  ReduceLoops (*find_reduce)(ir::ReducerKind kind, ir::DType dtype) = nullptr;
  /// out[j * out_stride + i] = in[i * in_stride + j] for i < rows, j < columns; elements of `width` bytes.
  void (*transpose)(int width, const void* in, std::int64_t in_stride, void* out, std::int64_t out_stride, std::int64_t rows,
                    std::int64_t columns) = nullptr;
};

/// The best set for the processor at hand; chosen once.
const LoopSet& loops();

}  // namespace rhino::kernels::host
