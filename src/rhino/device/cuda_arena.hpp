// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <rhino/device/arena.hpp>

namespace rhino::device {

/// Number of CUDA devices that this process can use; 0 also where there is no driver.
int cuda_device_count() noexcept;

/// An arena in the memory of the current CUDA device, aligned to 256 bytes; data() is a device address. Throws
/// EnvironmentError naming the size if it cannot be had.
std::unique_ptr<Arena> make_cuda_arena(std::int64_t bytes);

/// Copies between host and arena memory; returns when done. Throws EnvironmentError.
void copy_to_device(void* device, const void* host, std::int64_t bytes);
void copy_to_host(void* host, const void* device, std::int64_t bytes);

}  // namespace rhino::device
