// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <rhino/plan/labelling/problem.hpp>

namespace rhino::plan::labelling::test {

/// A small problem of a seed: forbidden strategies and pairs, ties between nodes, parallel edges, empty intervals, with or
/// without a limit that may bind or be impossible.
Problem random_problem(std::uint64_t seed, int most_nodes = 7, int most_strategies = 4);

/// The least cost of a feasible assignment, by trying all.
std::optional<Wide> exhaustive(const Problem& problem);

}  // namespace rhino::plan::labelling::test
