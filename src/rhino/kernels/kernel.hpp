// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <rhino/ir/fused_expression.hpp>
#include <rhino/ir/program.hpp>

namespace rhino::kernels {

/// One op bound to its types, ready to run any number of times on dense row-major buffers.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Scratch bytes that `run` needs; aligned to 64.
  virtual std::int64_t workspace_bytes() const { return 0; }
  virtual void run(std::span<const void* const> operands, std::span<void* const> results, void* workspace) const = 0;
};

/// The kernels of one kind of device. Implementations: host/ (always), cuda/.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// Kernel of an op that is neither control flow nor a collective; `program` must outlive it (it owns the reducers).
  virtual std::unique_ptr<Kernel> make(const ir::Program& program, const ir::Function& function, const ir::Op& op) const = 0;
  /// Kernel of a fused elementwise group: operands are the expression's inputs, results its outputs.
  virtual std::unique_ptr<Kernel> make_fused(const ir::FusedExpression& expression) const = 0;
  /// Whether `make` can write result 0 over operand 0 (dynamic_update_slice, scatter).
  virtual bool updates_in_place(const ir::Op& op) const = 0;
};

}  // namespace rhino::kernels
