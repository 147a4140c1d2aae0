// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace rhino::kernels::host {

/// Memory that the fused kernels of one backend use in turn. It is small and always the same, so it stays in the nearest
/// caches. Kernels of one backend must not run at the same time.
class Scratch {
 public:
  static constexpr std::size_t alignment = 64;

  /// Makes room; only while no kernel runs.
  void reserve(std::size_t bytes) {
    if (bytes <= size_) return;
    bytes_.reset(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{alignment})));
    size_ = bytes;
  }
  std::byte* data() const { return bytes_.get(); }

 private:
  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete(bytes, std::align_val_t{alignment}); }
  };
  std::unique_ptr<std::byte, Free> bytes_;
  std::size_t size_ = 0;
};

}  // namespace rhino::kernels::host
