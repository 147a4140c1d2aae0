// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <rhino/ir/program.hpp>

namespace rhino::plan {

/// Per op of the entry function a number: equal for ops of equal kind, attributes, types and regions, whatever their operands
/// are called.
std::vector<std::uint32_t> classify_ops(const ir::Program& program);

}  // namespace rhino::plan
