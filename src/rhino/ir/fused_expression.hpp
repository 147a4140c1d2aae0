// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <rhino/ir/program.hpp>

namespace rhino::ir {

/// One input of a fused group, read through strides over the group's iteration shape.
struct FusedInput {
  DType dtype = DType::F32;
  Dims strides;             ///< in elements, one per iteration dimension; 0 repeats (a broadcast)
  std::int64_t offset = 0;  ///< element that iteration index 0 reads
  bool operator==(const FusedInput&) const = default;
};

/// One step of a fused group. Registers 0 .. inputs-1 are the inputs; step i writes register inputs + i.
struct FusedStep {
  OpKind kind = OpKind::Add;           ///< an elementwise kind, or Constant (a splat), or Iota
  Attributes attrs;                    ///< of the op; Iota: the dimension is one of the iteration shape
  std::vector<std::uint32_t> args;     ///< registers
  DType dtype = DType::F32;            ///< element type of the register written
  bool operator==(const FusedStep&) const = default;
};

/// Elementwise ops that run as one pass over memory: for every index of `shape`, read the inputs, run the steps, write the
/// outputs. An output may be written over an input that is read densely at the same index.
struct FusedExpression {
  Dims shape;
  std::vector<FusedInput> inputs;
  std::vector<FusedStep> steps;
  std::vector<std::uint32_t> outputs;  ///< registers stored, dense row-major over `shape`
  bool operator==(const FusedExpression&) const = default;

  DType register_dtype(std::uint32_t reg) const {
    return reg < inputs.size() ? inputs[reg].dtype : steps[reg - inputs.size()].dtype;
  }
};

}  // namespace rhino::ir
