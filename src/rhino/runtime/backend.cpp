// SPDX-License-Identifier: Apache-2.0
#include <rhino/runtime/backend.hpp>

#include <rhino/kernels/host/host_backend.hpp>

namespace rhino::runtime {

std::unique_ptr<kernels::Backend> make_backend() { return kernels::host::make_backend(); }

}  // namespace rhino::runtime
