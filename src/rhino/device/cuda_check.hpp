// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <rhino/base/error.hpp>

/// Runs a call of the CUDA runtime and throws EnvironmentError with the decoded text if it fails.
#define RHINO_CUDA_CHECK(call)                                                                                       \
  do {                                                                                                               \
    const cudaError_t rhino_cuda_code = (call);                                                                      \
    RHINO_CHECK_AS(::rhino::EnvironmentError, rhino_cuda_code == cudaSuccess, "{} failed: {} ({})", #call,           \
                   cudaGetErrorString(rhino_cuda_code), cudaGetErrorName(rhino_cuda_code));                          \
  } while (false)
