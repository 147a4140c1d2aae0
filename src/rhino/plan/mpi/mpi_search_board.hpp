// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <rhino/plan/search_board.hpp>

namespace rhino::plan::mpi {

/// The board that all ranks of an MPI job share: candidates are drawn from a counter in one-sided memory of rank 0, the best
/// announced cost lies beside it, and results are gathered when a round ends. Construction and destruction are collective.
std::unique_ptr<SearchBoard> make_search_board();

}  // namespace rhino::plan::mpi
