// SPDX-License-Identifier: Apache-2.0
// Ranks share the cores of a machine: a backend that leaves a library at its default of all cores is hundreds of times slower
// on two ranks than on one.
#include <cblas.h>
#include <omp.h>

#include <gtest/gtest.h>

#include <rhino/kernels/host/host_backend.hpp>

namespace rhino::kernels::host {
namespace {

TEST(Threads, EveryLibraryUsesWhatTheBackendWasMadeFor) {
  omp_set_num_threads(7);
  openblas_set_num_threads(2);
  const auto single = make_backend();
  EXPECT_EQ(omp_get_max_threads(), 1);
  EXPECT_EQ(openblas_get_num_threads(), 1);
  const auto pair = make_backend(2);
  EXPECT_EQ(omp_get_max_threads(), 2);
  EXPECT_EQ(openblas_get_num_threads(), 2);
}

}  // namespace
}  // namespace rhino::kernels::host
