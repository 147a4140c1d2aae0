// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <rhino/kernels/kernel.hpp>

namespace rhino::runtime {

/// The kernels for the devices of this process: the one place where a backend is picked.
std::unique_ptr<kernels::Backend> make_backend();

}  // namespace rhino::runtime
