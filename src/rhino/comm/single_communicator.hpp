// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <rhino/comm/communicator.hpp>

namespace rhino::comm {

/// Communicator of one rank without MPI: collectives copy at once.
std::unique_ptr<Communicator> make_single_communicator();

}  // namespace rhino::comm
