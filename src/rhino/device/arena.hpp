// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace rhino::device {

/// Owner of Kokkos in this process: initialises it on construction and finalises it on destruction.
class Environment {
 public:
  Environment();
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
};

/// The one allocation of a rank, managed by Kokkos, in host or device memory. Zeroed.
class Arena {
 public:
  virtual ~Arena() = default;
  virtual std::byte* data() = 0;
  virtual std::int64_t bytes() const = 0;
};

/// An arena in host memory, aligned to 64 bytes. Throws EnvironmentError naming the size if it cannot be had.
std::unique_ptr<Arena> make_host_arena(std::int64_t bytes);

}  // namespace rhino::device
