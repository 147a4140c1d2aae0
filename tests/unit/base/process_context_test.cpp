// SPDX-License-Identifier: Apache-2.0
#include <rhino/base/process_context.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <rhino/base/error.hpp>

namespace rhino {
namespace {

TEST(ProcessContext, IsThatOfTheMpiRank) {
  int rank = -1;
  int ranks = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  EXPECT_EQ(process_context().rank, rank);
  EXPECT_EQ(process_context().ranks, ranks);
}

TEST(ProcessContext, IsWriteOnce) {
  EXPECT_NO_THROW(set_process_context(process_context()));
  EXPECT_THROW(set_process_context({0, process_context().ranks + 1}), InternalError);
}

TEST(ProcessContext, ErrorsCarryTheRank) {
  try {
    RHINO_FAIL(InputError, "x");
  } catch (const Error& error) {
    EXPECT_EQ(error.rank(), process_context().rank);
  }
}

}  // namespace
}  // namespace rhino
