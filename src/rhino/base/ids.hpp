// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace rhino {

/// A strong index: `using OpId = Id<struct OpIdTag>;`. Ids of different tags do not mix. A
/// default-constructed id is invalid and compares greater than every valid one.
template <class Tag>
class Id {
 public:
  constexpr Id() noexcept = default;
  constexpr explicit Id(std::size_t index) noexcept : value_(static_cast<std::uint32_t>(index)) {}

  /// Position in the container that the id refers to.
  constexpr std::size_t index() const noexcept { return value_; }
  constexpr bool valid() const noexcept { return value_ != kInvalid; }

  friend constexpr bool operator==(Id, Id) noexcept = default;
  friend constexpr std::strong_ordering operator<=>(Id, Id) noexcept = default;

 private:
  static constexpr std::uint32_t kInvalid = 0xffffffffu;
  std::uint32_t value_ = kInvalid;
};

}  // namespace rhino

template <class Tag>
struct std::hash<rhino::Id<Tag>> {
  std::size_t operator()(rhino::Id<Tag> id) const noexcept {
    // Fibonacci hashing: consecutive ids spread over all buckets.
    return static_cast<std::size_t>(id.index() * 0x9e3779b97f4a7c15ull);
  }
};
