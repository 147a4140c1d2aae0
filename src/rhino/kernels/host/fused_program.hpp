// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <rhino/ir/fused_expression.hpp>
#include <rhino/kernels/host/loops.hpp>
#include <rhino/kernels/reference/elementwise.hpp>

namespace rhino::kernels::host {

/// How often a register is computed: once per run, once per row of the iteration space, once per block.
enum class Rate : std::uint8_t { Run, Row, Block };

/// A value inside a block: a vector with one element per index of the block, or one element that stands for all.
struct FusedRegister {
  enum class Place : std::uint8_t { Constant, Input, Temp, Output };
  ir::DType dtype = ir::DType::F32;
  bool vector = false;
  Rate rate = Rate::Block;
  Place place = Place::Temp;
  std::int64_t where = 0;  ///< Constant: byte in the pool; Input: number; Temp: byte in the workspace; Output: number
};

/// One loop over a block.
struct FusedTask {
  enum class Form : std::uint8_t { Loop, Reference, Copy, Splat, Load };
  Form form = Form::Loop;
  Rate rate = Rate::Block;
  Loop loop = nullptr;
  ir::OpKind kind = ir::OpKind::Add;
  ir::Attributes attrs;
  reference::ElementwiseKernel reference = nullptr;
  std::vector<int> args;  ///< registers
  int result = 0;         ///< register
  int source = -1;        ///< Load: which source
};

/// Where elements come from through strides: an input, or the index itself (iota).
struct FusedSource {
  int input = -1;        ///< -1: the element is its own address (iota)
  ir::Dims strides;      ///< per collapsed dimension
  std::int64_t offset = 0;
};

/// A FusedExpression bound to loops. The iteration space is `rows` rows of `row` elements (the collapsed innermost
/// dimension). Long rows are cut into pieces of `block` elements, short ones are taken several at a time (`block` is a
/// multiple of `row` then).
struct FusedProgram {
  ir::Dims shape;  ///< collapsed
  std::int64_t elements = 1;
  std::int64_t row = 1;
  bool whole_rows = false;  ///< a block is a number of whole rows
  std::int64_t block = 1;

  std::vector<FusedSource> sources;
  std::vector<FusedRegister> registers;
  std::vector<FusedTask> tasks;      ///< in order; sorted by rate
  std::size_t row_tasks = 0;         ///< first task of rate Row
  std::size_t block_tasks = 0;       ///< first task of rate Block
  std::vector<std::byte> constants;  ///< pool, elements aligned to 16

  struct Output {
    int reg = 0;
    std::size_t task = 0;      ///< that produces it
    std::int64_t spill = 0;    ///< byte in the workspace, used where writing directly would overwrite what is still read
    std::int64_t width = 4;
  };
  std::vector<Output> outputs;
  struct Input {
    int reg = 0;
    int source = 0;
    std::size_t last_task = 0;  ///< last task that reads it
    std::int64_t width = 4;
  };
  std::vector<Input> in_place;       ///< what tasks read where it lies
  std::int64_t workspace = 0;        ///< bytes
};

/// Chooses loops, blocks and places. The result does not depend on anything but the expression.
FusedProgram compile_fused(const ir::FusedExpression& expression);

}  // namespace rhino::kernels::host
