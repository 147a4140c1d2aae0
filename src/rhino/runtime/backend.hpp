// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <rhino/kernels/kernel.hpp>
#include <rhino/lower/lower.hpp>

namespace rhino::runtime {

/// The kernels for the devices of this process: the one place where a backend is picked. `threads` is what the libraries below
/// may use inside a product or convolution.
std::unique_ptr<kernels::Backend> make_backend(int threads = 1);

/// Lowering options that ask `backend` for workspaces and in-place updates. The backend must outlive them.
lower::LowerOptions options_for(const kernels::Backend& backend);

}  // namespace rhino::runtime
