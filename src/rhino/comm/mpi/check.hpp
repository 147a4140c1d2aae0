// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <mpi.h>

#include <rhino/base/error.hpp>

namespace rhino::comm::mpi {

/// Text of an MPI return code.
std::string error_text(int code);

}  // namespace rhino::comm::mpi

/// Runs an MPI call and throws EnvironmentError with the decoded text if it fails.
#define RHINO_MPI_CHECK(call)                                                                                  \
  do {                                                                                                         \
    const int rhino_mpi_code = (call);                                                                         \
    RHINO_CHECK_AS(EnvironmentError, rhino_mpi_code == MPI_SUCCESS, "{} failed: {}", #call,                   \
                   ::rhino::comm::mpi::error_text(rhino_mpi_code));                                            \
  } while (false)
