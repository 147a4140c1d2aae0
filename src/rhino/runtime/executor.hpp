// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <rhino/comm/communicator.hpp>
#include <rhino/device/arena.hpp>
#include <rhino/kernels/kernel.hpp>
#include <rhino/lower/rank_program.hpp>

namespace rhino::runtime {

/// Runs a RankProgram step by step in one arena. It decides nothing: order, places and groups are all in the program.
class Executor {
 public:
  /// Collective over the communicator (it makes the groups). Program, backend and communicator must outlive the executor.
  Executor(const lower::RankProgram& program, const kernels::Backend& backend, comm::Communicator& communicator,
           std::unique_ptr<device::Arena> arena);
  ~Executor();

  /// Bytes of a buffer at the moment: state buffers change places between steps.
  std::byte* address(lower::BufferId buffer) { return address_[buffer.index()]; }
  const lower::RankProgram& program() const { return program_; }

  /// One step: batch buffers must be filled; results can be read afterwards, until the next step. Collective.
  /// After the step, `StateSlot::current` names the new state.
  void run_step();
  /// Makes the new state current. Results stay readable. Local.
  void advance();

  /// Seconds spent waiting for collectives since construction.
  double seconds_waiting() const { return seconds_waiting_; }

 private:
  struct Prepared;
  struct Swap {
    std::vector<std::size_t> current, next;  ///< buffers in the two blocks
    std::ptrdiff_t distance = 0;
  };

  std::vector<Prepared> prepare(const std::vector<lower::Task>& tasks);
  void run(const std::vector<Prepared>& tasks);
  void run_one(const Prepared& task);
  void start(const lower::CollectiveTask& task);

  const lower::RankProgram& program_;
  const kernels::Backend& backend_;
  comm::Communicator& communicator_;
  std::unique_ptr<device::Arena> arena_;
  std::vector<std::byte*> address_;
  std::vector<comm::GroupHandle> groups_;
  std::vector<comm::RequestHandle> requests_;
  std::vector<Swap> swaps_;
  std::vector<Prepared> tasks_;
  double seconds_waiting_ = 0;
};

}  // namespace rhino::runtime
