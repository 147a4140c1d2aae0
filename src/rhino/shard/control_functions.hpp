// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <rhino/ir/op_info.hpp>
#include <rhino/ir/program.hpp>
#include <rhino/shard/sharding.hpp>

namespace rhino::shard {

/// while, case, call: ops whose regions have decisions of their own.
bool is_control(ir::OpKind kind);

/// How often each function is used as the entry, a loop condition or body, a branch, or a callee; 0 for reducers and
/// comparators, which have no sharding.
std::vector<int> control_uses(const ir::Program& program);

/// Everything in one function replicated.
FunctionSharding replicated_function(const ir::Program& program, const ir::Function& function);

}  // namespace rhino::shard
