// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <rhino/comm/communicator.hpp>

namespace rhino::comm::mpi {

/// Owner of MPI_Init and MPI_Finalize for the process. Error handlers are set so that failures return codes, which every
/// call checks. At most one may exist at a time.
class Environment {
 public:
  /// Collective over the ranks of the job. Throws EnvironmentError if MPI cannot start.
  Environment(int& argc, char**& argv);
  /// Collective. Must not run while other ranks wait for this one: after a failure call abort().
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  std::int64_t rank() const { return rank_; }
  std::int64_t size() const { return size_; }

  /// Ends the whole job at once with this exit code.
  [[noreturn]] static void abort(int exit_code) noexcept;
  /// Whether MPI runs in this process.
  static bool is_active() noexcept;

 private:
  std::int64_t rank_ = 0;
  std::int64_t size_ = 1;
};

/// Communicator over all ranks of the job, on host memory. Collective. A wait that takes longer than `watchdog_seconds`
/// throws; 0 means no limit.
std::unique_ptr<Communicator> make_communicator(double watchdog_seconds);

}  // namespace rhino::comm::mpi
