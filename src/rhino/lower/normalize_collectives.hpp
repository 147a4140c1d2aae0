// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rhino/ir/program.hpp>

namespace rhino::lower {

/// Rewrites collectives so that their group dimension is the leading one, as communication libraries move it: all-gather
/// stacks the members' blocks, reduce-scatter and all-to-all hand out leading blocks; transposes bring the data into and out
/// of that form. Collectives over groups of one become reshapes.
void normalize_collectives(ir::Program& program);

}  // namespace rhino::lower
