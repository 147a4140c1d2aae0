// SPDX-License-Identifier: Apache-2.0
#include <rhino/base/process_context.hpp>

#include <atomic>
#include <cstdint>

#include <rhino/base/error.hpp>

namespace rhino {
namespace {

constexpr std::uint64_t kUnset = 0;  // ranks == 0 never occurs in a packed value

std::atomic<std::uint64_t>& packed_context() noexcept {
  static std::atomic<std::uint64_t> packed{kUnset};
  return packed;
}

}  // namespace

ProcessContext process_context() noexcept {
  const std::uint64_t packed = packed_context().load(std::memory_order_acquire);
  if (packed == kUnset) return {};
  return {static_cast<int>(packed >> 32), static_cast<int>(packed & 0xffffffffu)};
}

void set_process_context(ProcessContext context) {
  RHINO_ASSERT(context.rank >= 0 && context.rank < context.ranks, "rank {} of {}", context.rank, context.ranks);
  const std::uint64_t wanted =
      static_cast<std::uint64_t>(context.rank) << 32 | static_cast<std::uint64_t>(context.ranks);
  std::uint64_t before = kUnset;
  const bool stored = packed_context().compare_exchange_strong(before, wanted);
  RHINO_ASSERT(stored || before == wanted, "the process context is set twice");
}

}  // namespace rhino
