// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <rhino/ir/program.hpp>

namespace rhino::ir {

// Every pass keeps the meaning of the program. None recurses with a depth that grows with the program.

/// Replaces every `call` by the body of its callee, everywhere; unused functions are dropped.
void inline_calls(Program& program);

/// Removes ops without uses and effects, and functions that nothing reaches.
void eliminate_dead_code(Program& program);

/// Merges ops of equal kind, attributes and operands within a function.
void eliminate_common_subexpressions(Program& program);

/// Reshape of reshape, transpose of transpose, broadcast of broadcast, convert to the same type, x*1, x+0 (integers and
/// where exact), slice of everything, select with a constant predicate ..
void simplify_identities(Program& program);

/// Evaluates one op on literals; injected so that ir does not depend on the kernels.
using OpEvaluator =
    std::function<std::vector<Literal>(const Program&, const Op&, const std::vector<Literal>& operands)>;

/// Evaluates ops whose operands are all constants, if the result has at most `max_elements` elements. Floating arithmetic
/// stays: its rounded result would remain rounded under promote_floats_to_f64.
void fold_constants(Program& program, const OpEvaluator& evaluate, std::int64_t max_elements = 1024);

/// Widens all floating types of the program to f64 (`--promote f64`): types, constants, converts. Integers and the bits
/// drawn by random number ops stay what they are; a bitcast between floats and integers is widened by converting through
/// the original float type so that the value is that of the original program.
void promote_floats_to_f64(Program& program);

}  // namespace rhino::ir
