// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "certificate.hpp"
#include "dual.hpp"
#include "reduction.hpp"
#include "tables.hpp"

namespace rhino::plan::labelling {

/// The dual's best bound as whole numbers that check_bound accepts (a little lower, by rounding).
Certificate make_certificate(const Reduction& reduction, const Tables& tables, const Dual& dual);

}  // namespace rhino::plan::labelling
