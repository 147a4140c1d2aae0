// SPDX-License-Identifier: Apache-2.0
#include <exception>

#include <Kokkos_Core.hpp>

#include <rhino/base/error.hpp>
#include <rhino/device/arena.hpp>

namespace rhino::device {

Environment::Environment() { Kokkos::initialize(); }
Environment::~Environment() { Kokkos::finalize(); }

namespace {

class HostArena final : public Arena {
 public:
  explicit HostArena(std::int64_t bytes) : bytes_(bytes) {
    constexpr std::size_t alignment = 64;
    try {
      memory_ = Memory("rhino arena", static_cast<std::size_t>(bytes) + alignment);
    } catch (const std::exception& error) {
      RHINO_FAIL(EnvironmentError, "cannot allocate the arena of {} bytes: {}", bytes, error.what());
    }
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    data_ = reinterpret_cast<std::byte*>(memory_.data()) + (alignment - address % alignment) % alignment;
  }
  std::byte* data() override { return data_; }
  std::int64_t bytes() const override { return bytes_; }

 private:
  using Memory = Kokkos::View<unsigned char*, Kokkos::HostSpace>;
  std::int64_t bytes_;
  Memory memory_;
  std::byte* data_ = nullptr;
};

}  // namespace

std::unique_ptr<Arena> make_host_arena(std::int64_t bytes) { return std::make_unique<HostArena>(bytes); }

}  // namespace rhino::device
