// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>
#include <vector>

#include <rhino/ir/program.hpp>
#include <rhino/kernels/reference/interpreter.hpp>

namespace rhino::kernels::reference {

/// What a kernel of the interpreter gets.
struct OpContext {
  const ir::Program& program;
  const ir::Function& function;
  const ir::Op& op;
  std::span<const Tensor* const> operands;
  const RunOptions& options;

  const ir::TensorType& result_type(std::size_t i = 0) const { return function.type(op.results[i]); }
  const Tensor& operand(std::size_t i) const { return *operands[i]; }
  template <class Attrs>
  const Attrs& attrs() const {
    return op.as<Attrs>();
  }
};

inline std::vector<Tensor> one_result(Tensor tensor) {
  std::vector<Tensor> results;
  results.push_back(std::move(tensor));
  return results;
}

/// `dot_general at line 12`, for messages about a running op.
std::string describe(const ir::Op& op);

/// The tensor itself if it has this element type, else a converted copy kept in `storage`.
const Tensor& with_dtype(const Tensor& tensor, ir::DType dtype, Tensor& storage);

/// Integer element `i` of an index tensor of any integer type; unsigned values beyond 63 bits become the largest int64.
std::int64_t index_element(const Tensor& tensor, std::int64_t i);

// One function per op or family; each returns the results of the op.
std::vector<Tensor> run_bitcast_convert(const OpContext& context);
std::vector<Tensor> run_broadcast_in_dim(const OpContext& context);
std::vector<Tensor> run_concatenate(const OpContext& context);
std::vector<Tensor> run_dynamic_slice(const OpContext& context);
std::vector<Tensor> run_dynamic_update_slice(const OpContext& context);
std::vector<Tensor> run_iota(const OpContext& context);
std::vector<Tensor> run_pad(const OpContext& context);
std::vector<Tensor> run_reshape(const OpContext& context);
std::vector<Tensor> run_reverse(const OpContext& context);
std::vector<Tensor> run_slice(const OpContext& context);
std::vector<Tensor> run_transpose(const OpContext& context);

std::vector<Tensor> run_gather(const OpContext& context);
std::vector<Tensor> run_scatter(const OpContext& context);

std::vector<Tensor> run_dot_general(const OpContext& context);
std::vector<Tensor> run_convolution(const OpContext& context);
std::vector<Tensor> run_reduce(const OpContext& context);
std::vector<Tensor> run_reduce_window(const OpContext& context);
std::vector<Tensor> run_select_and_scatter(const OpContext& context);
std::vector<Tensor> run_sort(const OpContext& context);
std::vector<Tensor> run_top_k(const OpContext& context);
std::vector<Tensor> run_rng_bit_generator(const OpContext& context);

std::vector<Tensor> run_control(const OpContext& context);  ///< call, case, while
std::vector<Tensor> run_custom_call(const OpContext& context);

std::vector<Tensor> run_all_gather(const OpContext& context);
std::vector<Tensor> run_all_reduce(const OpContext& context);
std::vector<Tensor> run_all_to_all(const OpContext& context);
std::vector<Tensor> run_collective_broadcast(const OpContext& context);
std::vector<Tensor> run_collective_permute(const OpContext& context);
std::vector<Tensor> run_reduce_scatter(const OpContext& context);
std::vector<Tensor> run_device_id(const OpContext& context);  ///< partition_id, replica_id

}  // namespace rhino::kernels::reference
