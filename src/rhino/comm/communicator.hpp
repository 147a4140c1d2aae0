// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <rhino/ir/program.hpp>

namespace rhino::comm {

/// A set of ranks that communicate together; made once before the first step.
using GroupHandle = std::uint32_t;
/// A collective in flight.
using RequestHandle = std::uint64_t;

/// Moves dense buffers between ranks. Two implementations: mpi/ (host memory) and nccl/ (device memory). All calls are made
/// by every member of the group in the same order. Failures throw EnvironmentError with decoded text.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual std::int64_t rank() const = 0;
  virtual std::int64_t size() const = 0;

  /// Collective over all ranks: every rank passes the group it belongs to (ascending or not; order = member order); ranks
  /// in no group pass an empty list. Equal lists on a second call return the same handle.
  virtual GroupHandle make_group(const std::vector<std::int64_t>& members) = 0;

  // Starts; none blocks. Buffers must stay untouched until wait().
  /// In place when send == receive.
  virtual RequestHandle all_reduce(GroupHandle group, const void* send, void* receive, std::int64_t count, ir::DType dtype,
                                   ir::ReducerKind reducer) = 0;
  /// `receive` gets the members' `bytes` one after the other, in member order.
  virtual RequestHandle all_gather(GroupHandle group, const void* send, void* receive, std::int64_t bytes) = 0;
  /// `send` holds one block of `count` elements per member; the reduced block of this member arrives in `receive`.
  virtual RequestHandle reduce_scatter(GroupHandle group, const void* send, void* receive, std::int64_t count,
                                       ir::DType dtype, ir::ReducerKind reducer) = 0;
  /// Block i (of `bytes`) goes to member i; block i of `receive` comes from member i.
  virtual RequestHandle all_to_all(GroupHandle group, const void* send, void* receive, std::int64_t bytes) = 0;
  virtual RequestHandle broadcast(GroupHandle group, void* buffer, std::int64_t bytes, std::int64_t root_member) = 0;
  /// Point to point over all ranks; -1: nothing to send (receive). A rank without a source gets zeros.
  virtual RequestHandle permute(std::int64_t target, std::int64_t source, const void* send, void* receive,
                                std::int64_t bytes) = 0;

  /// Waits for a request; throws EnvironmentError naming `what` when the watchdog time runs out.
  virtual void wait(RequestHandle request, std::string_view what) = 0;
  /// Moves requests in flight forward; cheap; called between tasks.
  virtual void progress() = 0;
  virtual void barrier() = 0;
};

}  // namespace rhino::comm
