// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "certificate.hpp"
#include "problem.hpp"

namespace rhino::plan::labelling {

/// The bound that a certificate proves: no feasible assignment costs less. Knows nothing of the solver: replays each step on
/// the problem itself, in exact whole numbers of 128 bits, and checks it. Throws InputError at the first step that does not
/// hold, names what is not in the problem or needs more than 128 bits, and if less is proved than the certificate claims.
Wide check_bound(const Problem& problem, const Certificate& certificate);

/// Whether the certificate's steps alone show that no assignment is possible: they leave some node without strategies.
/// Throws InputError as check_bound.
bool check_infeasible(const Problem& problem, const Certificate& certificate);

}  // namespace rhino::plan::labelling
