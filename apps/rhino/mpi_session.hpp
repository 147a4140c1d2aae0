// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <rhino/base/hash.hpp>

namespace rhino::comm::mpi {
class Environment;
}

namespace rhino::app {

/// MPI from start to end, for the commands that need it: one object in the command's action. Sets the process context. When
/// it ends by an exception MPI stays up, and end_with_error() takes all ranks down.
class MpiSession {
 public:
  /// Throws EnvironmentError if MPI does not start.
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  bool root() const noexcept { return rank_ == 0; }

  /// Every rank's text, on the root; empty elsewhere. Collective.
  std::vector<std::string> gather(const std::string& mine) const;

  /// Throws UsageError on every rank unless all ranks give the same hash. `what` is the subject of the message:
  /// "the decks". Collective.
  void require_equal(const Hash128& mine, std::string_view what) const;

 private:
  int rank_ = 0;
  int size_ = 1;
  std::unique_ptr<comm::mpi::Environment> environment_;
  int exceptions_ = 0;  ///< in flight when the session began
};

/// Prints `rhino: error (rank R): message` and gives `code`; where MPI runs with several ranks it takes the whole job down
/// instead of returning. If several ranks fail for the same reason the lowest one is given time to speak first.
int end_with_error(int code, std::string_view message);

}  // namespace rhino::app
