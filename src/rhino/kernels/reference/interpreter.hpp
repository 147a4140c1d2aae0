// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rhino/ir/program.hpp>

namespace rhino::kernels::reference {

/// A tensor on the host, owned, row-major. The value type of the reference interpreter.
struct Tensor {
  ir::TensorType type;
  std::vector<std::byte> bytes;  ///< type.bytes() of them

  Tensor() = default;
  explicit Tensor(ir::TensorType type);         ///< zeros
  explicit Tensor(const ir::Literal& literal);  ///< written out
  ir::Literal to_literal() const;

  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

/// What the members of a group gave to each other in a collective.
struct Exchanged {
  std::vector<std::shared_ptr<const Tensor>> parts;  ///< one per member, in group order; empty if in no group
  std::size_t position = 0;                          ///< of this process in its group
};

/// What a process sees of its peers while a program runs: its number and the exchange with the other members of a
/// group. One implementation runs all virtual ranks in one process (virtual_ranks.hpp).
class Peers {
 public:
  virtual ~Peers() = default;
  virtual std::int64_t partition_id() const = 0;
  virtual std::int64_t replica_id() const = 0;
  /// Gives `mine` to the others of the group that this process belongs to under the CollectiveAttrs of `op` and returns
  /// what each member gave. Blocks until all members of the group have come.
  virtual Exchanged exchange(const ir::Op& op, const Tensor& mine) = 0;
  /// Point to point: sends `mine` to the targets of this process under the pairs of `op`, returns what its source sent,
  /// or nullptr if it has none.
  virtual std::shared_ptr<const Tensor> permute(const ir::Op& op, const Tensor& mine) = 0;
};

struct RunOptions {
  Peers* peers = nullptr;  ///< nullptr: one process; collectives then act on a group of one
  /// Called for every op of the entry function with its results, right after it ran; used to compare runs op by op.
  std::function<void(ir::OpId, std::span<const Tensor>)> on_op;
  /// Called for custom calls (test checks); throws if absent and a custom call is met.
  std::function<std::vector<Tensor>(const ir::Op&, std::span<const Tensor* const>)> on_custom_call;
};

/// Runs `function` of `program` on `arguments` (types must match its parameters) with plain loops. Values are freed
/// after their last use. Throws InputError for what the program does wrong at run time.
std::vector<Tensor> run(const ir::Program& program, ir::FunctionId function, std::vector<Tensor> arguments,
                        const RunOptions& options = {});

/// Runs one op of `function`; the building block of `run`.
std::vector<Tensor> run_op(const ir::Program& program, const ir::Function& function, const ir::Op& op,
                           std::span<const Tensor* const> operands, const RunOptions& options = {});

}  // namespace rhino::kernels::reference
