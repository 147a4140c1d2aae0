// SPDX-License-Identifier: Apache-2.0
#include <rhino/comm/mpi/environment.hpp>

#include <cstdlib>

#include <rhino/comm/mpi/check.hpp>

namespace rhino::comm::mpi {

std::string error_text(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) return "MPI error " + std::to_string(code);
  return std::string(text, static_cast<std::size_t>(length));
}

Environment::Environment(int& argc, char**& argv) {
  RHINO_ASSERT(!is_active(), "MPI runs already");
  int provided = 0;
  RHINO_MPI_CHECK(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
  // Without this a failing call would end the process before its return code could be looked at.
  RHINO_MPI_CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  RHINO_MPI_CHECK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  int rank = 0;
  int size = 1;
  RHINO_MPI_CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  RHINO_MPI_CHECK(MPI_Comm_size(MPI_COMM_WORLD, &size));
  rank_ = rank;
  size_ = size;
}

Environment::~Environment() {
  if (is_active()) MPI_Finalize();
}

void Environment::abort(int exit_code) noexcept {
  if (is_active()) MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

bool Environment::is_active() noexcept {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

}  // namespace rhino::comm::mpi
