// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/reference/region.hpp>

#include <algorithm>
#include <cstring>

#include <rhino/base/error.hpp>
#include <rhino/kernels/reference/strided.hpp>

namespace rhino::kernels::reference {
namespace {

constexpr std::int64_t chunk_elements = 256;
constexpr int max_call_depth = 16;

}  // namespace

ScalarRegion::ScalarRegion(const ir::Program& program, ir::FunctionId function, const RunOptions& options)
    : program_(program),
      function_(function),
      options_(options),
      param_types_(program.function(function).param_types()),
      result_types_(program.function(function).result_types()) {
  for (const auto& type : param_types_)
    RHINO_CHECK(type.dims.empty(), "parameters of a region must be scalars, not {}", ir::to_string(type));
  for (const auto& type : result_types_)
    RHINO_CHECK(type.dims.empty(), "results of a region must be scalars, not {}", ir::to_string(type));
  std::vector<int> arguments(param_types_.size());
  for (auto& argument : arguments) argument = slot_count_++;
  compiled_ = compile(function, arguments, result_slots_, 0);
  slot_data_.resize(static_cast<std::size_t>(slot_count_));
  if (compiled_) set_capacity(1);
}

bool ScalarRegion::compile(ir::FunctionId id, const std::vector<int>& arguments, std::vector<int>& results, int depth) {
  if (depth > max_call_depth) return false;
  const ir::Function& function = program_.function(id);
  std::vector<int> slots(function.values.size(), -1);
  for (std::size_t p = 0; p < function.params.size(); ++p) slots[function.params[p].index()] = arguments[p];
  for (const ir::Op& op : function.ops) {
    for (const ir::ValueId result : op.results)
      if (!function.type(result).dims.empty()) return false;
    for (const ir::ValueId operand : op.operands)
      if (!function.type(operand).dims.empty()) return false;
    const auto operand_slot = [&](std::size_t i) { return slots[op.operands[i].index()]; };
    if (const ElementwiseKernel kernel = elementwise_kernel(op.kind)) {
      Instruction instruction{};
      instruction.kernel = kernel;
      instruction.attrs = &op.attrs;
      instruction.dtype = function.type(op.operands[op.kind == ir::OpKind::Select ? 1 : 0]).dtype;
      instruction.result_dtype = function.type(op.results[0]).dtype;
      instruction.operand_count = static_cast<int>(op.operands.size());
      for (std::size_t i = 0; i < op.operands.size(); ++i) instruction.operands[i] = operand_slot(i);
      instruction.result = slot_count_++;
      slots[op.results[0].index()] = instruction.result;
      instructions_.push_back(instruction);
      continue;
    }
    switch (op.kind) {
      case ir::OpKind::Constant:
        constants_.emplace_back(slot_count_, &op.as<ir::ConstantAttrs>().value);
        slots[op.results[0].index()] = slot_count_++;
        break;
      case ir::OpKind::OptimizationBarrier:
        for (std::size_t i = 0; i < op.results.size(); ++i) slots[op.results[i].index()] = operand_slot(i);
        break;
      case ir::OpKind::Reshape:
      case ir::OpKind::BroadcastInDim:
      case ir::OpKind::Transpose:
      case ir::OpKind::Reverse:
        slots[op.results[0].index()] = operand_slot(0);
        break;
      case ir::OpKind::BitcastConvert: {
        Instruction instruction{};
        instruction.kernel = bitcast_kernel;
        instruction.dtype = function.type(op.operands[0]).dtype;
        instruction.result_dtype = function.type(op.results[0]).dtype;
        instruction.operand_count = 1;
        instruction.operands[0] = operand_slot(0);
        instruction.result = slot_count_++;
        slots[op.results[0].index()] = instruction.result;
        instructions_.push_back(instruction);
        break;
      }
      case ir::OpKind::Call: {
        std::vector<int> inner_arguments(op.operands.size()), inner_results;
        for (std::size_t i = 0; i < op.operands.size(); ++i) inner_arguments[i] = operand_slot(i);
        if (!compile(op.regions[0], inner_arguments, inner_results, depth + 1)) return false;
        for (std::size_t i = 0; i < op.results.size(); ++i) slots[op.results[i].index()] = inner_results[i];
        break;
      }
      default: return false;  // anything else is left to the interpreter
    }
  }
  results.clear();
  for (const ir::ValueId result : function.results) results.push_back(slots[result.index()]);
  return true;
}

void ScalarRegion::set_capacity(std::int64_t capacity) {
  capacity_ = capacity;
  slot_bytes_ = static_cast<std::size_t>(capacity) * sizeof(std::uint64_t);
  scratch_.resize(slot_bytes_ * static_cast<std::size_t>(slot_count_));
  for (int i = 0; i < slot_count_; ++i) slot_data_[static_cast<std::size_t>(i)] = slot(i);
  for (const auto& [index, literal] : constants_) {
    const auto element = literal->stored_bytes();
    for (std::int64_t i = 0; i < capacity; ++i)
      std::memcpy(slot(index) + static_cast<std::size_t>(i) * element.size(), element.data(), element.size());
  }
}

void ScalarRegion::apply(std::span<const std::byte* const> arguments, std::span<std::byte* const> results,
                         std::int64_t count) {
  if (!compiled_) return apply_by_interpreter(arguments, results, count);
  const std::int64_t wanted = std::min(count, chunk_elements);
  if (wanted > capacity_) set_capacity(wanted);
  for (std::int64_t begin = 0; begin < count; begin += capacity_)
    apply_chunk(arguments, results, begin, std::min(capacity_, count - begin));
}

void ScalarRegion::apply_chunk(std::span<const std::byte* const> arguments, std::span<std::byte* const> results,
                               std::int64_t begin, std::int64_t count) {
  for (std::size_t p = 0; p < param_types_.size(); ++p)
    slot_data_[p] = arguments[p] + static_cast<std::size_t>(begin) * ir::dtype_bytes(param_types_[p].dtype);
  ElementwiseCall call;
  call.count = count;
  for (const Instruction& instruction : instructions_) {
    call.attrs = instruction.attrs;
    call.dtype = instruction.dtype;
    call.result_dtype = instruction.result_dtype;
    for (int i = 0; i < instruction.operand_count; ++i)
      call.inputs[static_cast<std::size_t>(i)] =
          slot_data_[static_cast<std::size_t>(instruction.operands[static_cast<std::size_t>(i)])];
    call.output = slot(instruction.result);
    instruction.kernel(call);
  }
  // A result that is itself a parameter could be overwritten by an earlier result on the same memory: keep those first.
  const auto result_count = result_slots_.size();
  std::array<std::byte, 8 * 8> kept;
  if (count == 1 && result_count <= 8) {
    for (std::size_t r = 0; r < result_count; ++r)
      std::memcpy(kept.data() + 8 * r, slot_data_[static_cast<std::size_t>(result_slots_[r])],
                  ir::dtype_bytes(result_types_[r].dtype));
    for (std::size_t r = 0; r < result_count; ++r) {
      const std::size_t width = ir::dtype_bytes(result_types_[r].dtype);
      std::memcpy(results[r] + static_cast<std::size_t>(begin) * width, kept.data() + 8 * r, width);
    }
    return;
  }
  std::vector<std::vector<std::byte>> copies(result_count);
  for (std::size_t r = 0; r < result_count; ++r) {
    const auto index = static_cast<std::size_t>(result_slots_[r]);
    if (index >= param_types_.size()) continue;
    const std::size_t bytes = static_cast<std::size_t>(count) * ir::dtype_bytes(result_types_[r].dtype);
    copies[r].assign(slot_data_[index], slot_data_[index] + bytes);
  }
  for (std::size_t r = 0; r < result_count; ++r) {
    const std::size_t width = ir::dtype_bytes(result_types_[r].dtype);
    const std::byte* from =
        copies[r].empty() ? slot_data_[static_cast<std::size_t>(result_slots_[r])] : copies[r].data();
    std::memcpy(results[r] + static_cast<std::size_t>(begin) * width, from, static_cast<std::size_t>(count) * width);
  }
}

void ScalarRegion::apply_by_interpreter(std::span<const std::byte* const> arguments,
                                        std::span<std::byte* const> results, std::int64_t count) {
  RunOptions options;
  options.peers = options_.peers;
  options.on_custom_call = options_.on_custom_call;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<Tensor> tensors;
    tensors.reserve(param_types_.size());
    for (std::size_t p = 0; p < param_types_.size(); ++p) {
      const std::size_t width = ir::dtype_bytes(param_types_[p].dtype);
      Tensor& tensor = tensors.emplace_back(param_types_[p]);
      std::memcpy(tensor.bytes.data(), arguments[p] + static_cast<std::size_t>(i) * width, width);
    }
    const std::vector<Tensor> outputs = run(program_, function_, std::move(tensors), options);
    for (std::size_t r = 0; r < result_types_.size(); ++r) {
      const std::size_t width = ir::dtype_bytes(result_types_[r].dtype);
      std::memcpy(results[r] + static_cast<std::size_t>(i) * width, outputs[r].bytes.data(), width);
    }
  }
}

bool ScalarRegion::test(std::span<const std::byte* const> arguments) {
  std::byte answer{};
  std::byte* const results[] = {&answer};
  apply(arguments, results, 1);
  return answer != std::byte{0};
}

}  // namespace rhino::kernels::reference
