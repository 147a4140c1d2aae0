// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <rhino/kernels/kernel.hpp>

namespace rhino::kernels::host {

/// Kernels for the processor: own vectorised loops (instruction set chosen at run time), OpenBLAS and oneDNN; ops without a
/// kernel of their own run on the reference interpreter. `threads` is what one process may use inside a kernel of the
/// libraries (process-wide for OpenBLAS).
std::unique_ptr<Backend> make_backend(int threads = 1);

}  // namespace rhino::kernels::host
