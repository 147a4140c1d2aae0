// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <rhino/kernels/kernel.hpp>

namespace rhino::kernels::reference {

/// Kernels that run the reference interpreter op by op: the oracle of the other backends, and what they fall back on
/// for ops that they have no kernel for.
std::unique_ptr<Backend> make_backend();

}  // namespace rhino::kernels::reference
