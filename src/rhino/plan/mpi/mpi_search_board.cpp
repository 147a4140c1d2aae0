// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/mpi/mpi_search_board.hpp>

#include <cstddef>
#include <cstring>
#include <exception>
#include <limits>
#include <numeric>

#include <mpi.h>

#include <rhino/base/error.hpp>

namespace rhino::plan::mpi {

namespace {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  RHINO_FAIL(EnvironmentError, "{} failed: {}", call, text);
}

/// What lies in the window of rank 0.
struct Shared {
  std::int64_t next = 0;
  double incumbent = std::numeric_limits<double>::infinity();
};

class MpiSearchBoard final : public SearchBoard {
 public:
  MpiSearchBoard() {
    check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
    const MPI_Aint bytes = rank_ == 0 ? static_cast<MPI_Aint>(sizeof(Shared)) : 0;
    check(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, comm_, &shared_, &window_), "MPI_Win_allocate");
    check(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
    check(MPI_Win_lock_all(0, window_), "MPI_Win_lock_all");
  }

  ~MpiSearchBoard() override {
    int finalized = 0;
    MPI_Finalized(&finalized);
    // Freeing is collective: when this rank fails, the others are elsewhere and would wait for each other for ever.
    if (finalized != 0 || std::uncaught_exceptions() > exceptions_) return;
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
    MPI_Comm_free(&comm_);
  }

  std::int64_t rank() const override { return rank_; }
  std::int64_t size() const override { return size_; }

  void begin(std::int64_t count) override {
    count_ = count;
    results_.clear();
    check(MPI_Barrier(comm_), "MPI_Barrier");  // nobody draws from the old round any more
    if (rank_ == 0) {
      const Shared fresh;
      check(MPI_Accumulate(&fresh.next, 1, MPI_INT64_T, 0, offsetof(Shared, next), 1, MPI_INT64_T, MPI_REPLACE, window_),
            "MPI_Accumulate");
      check(MPI_Accumulate(&fresh.incumbent, 1, MPI_DOUBLE, 0, offsetof(Shared, incumbent), 1, MPI_DOUBLE, MPI_REPLACE, window_),
            "MPI_Accumulate");
      check(MPI_Win_flush(0, window_), "MPI_Win_flush");
    }
    check(MPI_Barrier(comm_), "MPI_Barrier");
  }

  std::optional<std::int64_t> draw() override {
    const std::int64_t one = 1;
    std::int64_t drawn = 0;
    check(MPI_Fetch_and_op(&one, &drawn, MPI_INT64_T, 0, offsetof(Shared, next), MPI_SUM, window_), "MPI_Fetch_and_op");
    check(MPI_Win_flush(0, window_), "MPI_Win_flush");
    if (drawn >= count_) return std::nullopt;
    return drawn;
  }

  void publish(std::int64_t candidate, std::vector<std::byte> result) override {
    RHINO_ASSERT(candidate >= 0 && candidate < count_, "candidate {} of {}", candidate, count_);
    results_.emplace_back(candidate, std::move(result));
  }

  double incumbent() override {
    double ignored = 0;
    double best = 0;
    check(MPI_Fetch_and_op(&ignored, &best, MPI_DOUBLE, 0, offsetof(Shared, incumbent), MPI_NO_OP, window_), "MPI_Fetch_and_op");
    check(MPI_Win_flush(0, window_), "MPI_Win_flush");
    return best;
  }

  void announce(double cost) override {
    check(MPI_Accumulate(&cost, 1, MPI_DOUBLE, 0, offsetof(Shared, incumbent), 1, MPI_DOUBLE, MPI_MIN, window_),
          "MPI_Accumulate");
    check(MPI_Win_flush(0, window_), "MPI_Win_flush");
  }

  std::vector<std::vector<std::byte>> agree() override {
    // One message per rank: candidate, size, bytes, and so on.
    std::vector<std::byte> mine;
    const auto put = [&](const void* from, std::size_t bytes) {
      const auto* begin = static_cast<const std::byte*>(from);
      mine.insert(mine.end(), begin, begin + bytes);
    };
    for (const auto& [candidate, result] : results_) {
      const std::int64_t header[2] = {candidate, static_cast<std::int64_t>(result.size())};
      put(header, sizeof(header));
      put(result.data(), result.size());
    }
    RHINO_ASSERT(mine.size() < std::size_t{1} << 30, "a rank publishes {} bytes", mine.size());
    const int bytes = static_cast<int>(mine.size());
    std::vector<int> counts(static_cast<std::size_t>(size_));
    check(MPI_Allgather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, comm_), "MPI_Allgather");
    std::vector<int> offsets(counts.size(), 0);
    std::int64_t total = 0;
    for (std::size_t r = 0; r < counts.size(); ++r) {
      offsets[r] = static_cast<int>(total);
      total += counts[r];
    }
    RHINO_ASSERT(total < std::int64_t{1} << 30, "all ranks publish {} bytes", total);
    std::vector<std::byte> all(static_cast<std::size_t>(total));
    check(MPI_Allgatherv(mine.data(), bytes, MPI_BYTE, all.data(), counts.data(), offsets.data(), MPI_BYTE, comm_),
          "MPI_Allgatherv");
    std::vector<std::vector<std::byte>> results(static_cast<std::size_t>(count_));
    for (std::size_t at = 0; at < all.size();) {
      std::int64_t header[2];
      std::memcpy(header, all.data() + at, sizeof(header));
      at += sizeof(header);
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
      results[static_cast<std::size_t>(header[0])].assign(begin, begin + header[1]);
      at += static_cast<std::size_t>(header[1]);
    }
    return results;
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  void* shared_ = nullptr;
  int rank_ = 0;
  int size_ = 1;
  int exceptions_ = std::uncaught_exceptions();  ///< in flight when the board was made
  std::int64_t count_ = 0;
  std::vector<std::pair<std::int64_t, std::vector<std::byte>>> results_;
};

}  // namespace

std::unique_ptr<SearchBoard> make_search_board() { return std::make_unique<MpiSearchBoard>(); }

}  // namespace rhino::plan::mpi
