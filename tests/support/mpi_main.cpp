// SPDX-License-Identifier: Apache-2.0
// GoogleTest main under MPI: fails if any rank fails; rank 0 prints its progress, the other ranks print
// only what failed, tagged with their rank. Exit code 77 (ctest: skipped) if every test was skipped.
#include <cstdio>

#include <gtest/gtest.h>
#include <mpi.h>

#include <rhino/base/process_context.hpp>

namespace {

class FailurePrinter : public testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(int rank) : rank_(rank) {}

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::fprintf(stderr, "[rank %d] %s.%s %s:%d: %s\n", rank_, test ? test->test_suite_name() : "",
                 test ? test->name() : "", result.file_name() ? result.file_name() : "?", result.line_number(),
                 result.message());
  }

 private:
  int rank_;
};

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  rhino::set_process_context({rank, ranks});
  testing::InitGoogleTest(&argc, argv);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(rank));
  }
  const auto& all = *testing::UnitTest::GetInstance();
  int mine[2] = {RUN_ALL_TESTS() != 0 ? 1 : 0, 0};
  mine[1] = all.successful_test_count() > 0 || all.skipped_test_count() == 0 ? 1 : 0;
  int any[2] = {0, 0};
  MPI_Allreduce(mine, any, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0 && any[0] != 0 && mine[0] == 0) std::fprintf(stderr, "[rank 0] another rank failed\n");
  MPI_Finalize();
  if (any[0] != 0) return 1;
  return any[1] != 0 ? 0 : 77;
}
