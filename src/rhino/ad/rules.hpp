// SPDX-License-Identifier: Apache-2.0
#pragma once

// Internal to ad/: the functions named in rules.def.

#include <cstddef>

#include <rhino/ad/reverse.hpp>

namespace rhino::ad {

#define AD_RULE(Kind, function) void function(Rule& r);
#define AD_ZERO(Kind)
#define AD_REFUSED(Kind)
#include <rhino/ad/rules.def>
#undef AD_RULE
#undef AD_ZERO
#undef AD_REFUSED

/// A dimension as an index.
inline std::size_t at(int dimension) { return static_cast<std::size_t>(dimension); }

}  // namespace rhino::ad
