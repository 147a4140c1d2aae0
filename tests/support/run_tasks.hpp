// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include <rhino/ir/signature.hpp>
#include <rhino/kernels/reference/interpreter.hpp>

namespace rhino::test {

/// Every parameter a batch, every result a metric.
ir::Signature plain_signature(const ir::Function& function);

/// Expects equal elements: exactly for integers and booleans, up to the order of summation for floats.
void expect_near(const kernels::reference::Tensor& want, const std::byte* got, const std::string& what);

}  // namespace rhino::test
