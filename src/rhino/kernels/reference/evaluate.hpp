// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <rhino/ir/program.hpp>

namespace rhino::kernels::reference {

/// Value of one op on constant operands: the evaluator that ir::fold_constants takes. `program` owns the op's regions.
std::vector<ir::Literal> evaluate(const ir::Program& program, const ir::Op& op,
                                  const std::vector<ir::Literal>& operands);

}  // namespace rhino::kernels::reference
