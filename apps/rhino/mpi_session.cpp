// SPDX-License-Identifier: Apache-2.0
#include "mpi_session.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <mpi.h>

#include <rhino/base/error.hpp>
#include <rhino/base/process_context.hpp>
#include <rhino/comm/mpi/check.hpp>
#include <rhino/comm/mpi/environment.hpp>

namespace rhino::app {
namespace {

// The rank that the launcher gave to this process, for faults before MPI is up; 0 without a launcher.
int launcher_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) return std::max(std::atoi(value), 0);
  }
  return 0;
}

// One line, whatever a message from below contains.
std::string one_line(std::string_view message) {
  std::string line(message);
  std::replace(line.begin(), line.end(), '\n', ' ');
  while (!line.empty() && line.back() == ' ')
    line.pop_back();
  return line;
}

}  // namespace

MpiSession::MpiSession() : exceptions_(std::uncaught_exceptions()) {
  int argc = 0;
  char** argv = nullptr;
  environment_ = std::make_unique<comm::mpi::Environment>(argc, argv);
  rank_ = static_cast<int>(environment_->rank());
  size_ = static_cast<int>(environment_->size());
  set_process_context({rank_, size_});
}

MpiSession::~MpiSession() {
  // With an exception on its way other ranks may be in the middle of a collective: finalizing would hang, so MPI stays
  // up until end_with_error.
  if (std::uncaught_exceptions() != exceptions_) static_cast<void>(environment_.release());
}

std::vector<std::string> MpiSession::gather(const std::string& mine) const {
  const int length = static_cast<int>(mine.size());
  std::vector<int> lengths(static_cast<std::size_t>(size_));
  RHINO_MPI_CHECK(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD));
  std::vector<int> offsets(lengths.size(), 0);
  for (std::size_t i = 1; i < lengths.size(); ++i)
    offsets[i] = offsets[i - 1] + lengths[i - 1];
  std::string all(root() ? static_cast<std::size_t>(offsets.back() + lengths.back()) : 0, ' ');
  RHINO_MPI_CHECK(MPI_Gatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR, 0,
                              MPI_COMM_WORLD));
  std::vector<std::string> texts;
  if (!root()) return texts;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    texts.push_back(all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i])));
  return texts;
}

void MpiSession::require_equal(const Hash128& mine, std::string_view what) const {
  std::vector<std::uint64_t> all(2 * static_cast<std::size_t>(size_));
  const std::uint64_t words[2] = {mine.high, mine.low};
  RHINO_MPI_CHECK(MPI_Allgather(words, 2, MPI_UINT64_T, all.data(), 2, MPI_UINT64_T, MPI_COMM_WORLD));
  for (std::size_t rank = 1; rank < static_cast<std::size_t>(size_); ++rank) {
    RHINO_CHECK_AS(UsageError, all[2 * rank] == all[0] && all[2 * rank + 1] == all[1],
                   "{} of ranks 0 and {} differ; start every rank with the same files and flags", what, rank);
  }
}

int end_with_error(int code, std::string_view message) {
  const bool up = comm::mpi::Environment::is_active();
  const int rank = up ? process_context().rank : launcher_rank();
  if (rank > 0) {
    // A fault that all ranks see at once is reported by the lowest one, whose end takes the job down (by SIGTERM)
    // before this wait is over.
    std::signal(SIGTERM, SIG_DFL);
    const int staggered_ms = std::min(3000 + 50 * rank, 5000);
    std::this_thread::sleep_for(std::chrono::milliseconds(staggered_ms));
  }
  std::fflush(stdout);
  fmt::print(stderr, "rhino: error (rank {}): {}\n", rank, one_line(message));
  std::fflush(stderr);
  if (up && process_context().ranks > 1) comm::mpi::Environment::abort(code);
  return code;
}

}  // namespace rhino::app
