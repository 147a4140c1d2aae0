// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <rhino/ir/program.hpp>

namespace rhino::comm::nccl {

/// What one rank makes and hands to the others so that they find each other.
using UniqueId = std::array<std::byte, 128>;

/// Local; opens a listener on the network interface that NCCL_SOCKET_IFNAME names. Throws EnvironmentError.
UniqueId make_unique_id();

/// A group of ranks, one device each, that reduce device buffers together.
class Group {
 public:
  /// Collective over the group; every rank passes the same id. Throws EnvironmentError.
  Group(const UniqueId& id, int rank, int size);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// Collective. Reduces `count` elements of device memory over all ranks, in place when send == receive, and returns when
  /// the result is there. Throws InputError for a type or reducer that NCCL lacks, else EnvironmentError.
  void all_reduce(const void* send, void* receive, std::int64_t count, ir::DType dtype, ir::ReducerKind reducer);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rhino::comm::nccl
