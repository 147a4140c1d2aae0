// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <rhino/kernels/kernel.hpp>

namespace rhino::kernels::host {

/// Kernels for the processor: own vectorised loops (instruction set chosen at run time), OpenBLAS and oneDNN; ops without a
/// kernel of their own run on the reference interpreter. `threads` is what a kernel of the libraries may use, whatever the
/// environment says: process-wide for OpenBLAS, for calls from this thread for oneDNN.
std::unique_ptr<Backend> make_backend(int threads = 1);

}  // namespace rhino::kernels::host
