// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rhino/cluster/mesh.hpp>
#include <rhino/comm/communicator.hpp>
#include <rhino/kernels/kernel.hpp>

namespace rhino::app {

/// Rates of one rank of this job while all ranks work: matrix products, a convolution, memory traffic, transcendental
/// functions, the cost of starting a task; and bandwidth and latency of an all-reduce over all ranks. Medians of several
/// runs. Collective. Memory per device is the machine's share of a rank.
cluster::Cluster measure_cluster(const kernels::Backend& backend, comm::Communicator& communicator);

}  // namespace rhino::app
