// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <rhino/kernels/reference/elementwise.hpp>
#include <rhino/kernels/reference/interpreter.hpp>

namespace rhino::kernels::reference {

/// A function on scalars (reducer, comparator, update computation) made ready to be applied many times.
///
/// A region of elementwise ops runs as a short list of kernels over arrays of scalars, without any tensors; any other
/// region (loops, reductions of its own ..) runs through the interpreter element by element.
class ScalarRegion {
 public:
  /// `program` and `options` must outlive this object. Parameters and results of the function must be scalars.
  ScalarRegion(const ir::Program& program, ir::FunctionId function, const RunOptions& options);

  const std::vector<ir::TensorType>& param_types() const { return param_types_; }
  const std::vector<ir::TensorType>& result_types() const { return result_types_; }

  /// Applies the region to `count` independent sets of scalars. `arguments[p]` points to `count` elements of the type
  /// of parameter p, `results[r]` to room for `count` elements; a result may lie on the same memory as an argument of
  /// equal width.
  void apply(std::span<const std::byte* const> arguments, std::span<std::byte* const> results, std::int64_t count);

  /// For comparators: the i1 result on one set of scalars.
  bool test(std::span<const std::byte* const> arguments);

 private:
  struct Instruction {
    ElementwiseKernel kernel;
    const ir::Attributes* attrs;
    ir::DType dtype;
    ir::DType result_dtype;
    int operand_count;
    std::array<int, 3> operands;  // slots
    int result;                   // slot
  };

  bool compile(ir::FunctionId function, const std::vector<int>& arguments, std::vector<int>& results, int depth);
  void apply_chunk(std::span<const std::byte* const> arguments, std::span<std::byte* const> results, std::int64_t begin,
                   std::int64_t count);
  void apply_by_interpreter(std::span<const std::byte* const> arguments, std::span<std::byte* const> results,
                            std::int64_t count);
  void set_capacity(std::int64_t capacity);
  std::byte* slot(int index) { return scratch_.data() + static_cast<std::size_t>(index) * slot_bytes_; }

  const ir::Program& program_;
  ir::FunctionId function_;
  const RunOptions& options_;
  std::vector<ir::TensorType> param_types_;
  std::vector<ir::TensorType> result_types_;
  bool compiled_ = false;
  int slot_count_ = 0;
  std::vector<Instruction> instructions_;
  std::vector<std::pair<int, const ir::Literal*>> constants_;
  std::vector<int> result_slots_;
  std::vector<std::byte> scratch_;
  std::vector<const std::byte*> slot_data_;  // where each slot's elements are in the current call
  std::size_t slot_bytes_ = 0;
  std::int64_t capacity_ = 0;
};

}  // namespace rhino::kernels::reference
