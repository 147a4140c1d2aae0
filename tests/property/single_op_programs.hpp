// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <rhino/ir/program.hpp>

#include "random.hpp"

namespace rhino::test {

/// Kinds that single_op_program makes: all but collectives, calls and custom calls.
std::vector<ir::OpKind> single_op_kinds();

/// A program around one op of `kind` (a few more where the op needs them), with shapes, element types and attributes
/// drawn at random. Its operands are parameters, its results the program's.
ir::Program single_op_program(ir::OpKind kind, Random& random);

}  // namespace rhino::test
