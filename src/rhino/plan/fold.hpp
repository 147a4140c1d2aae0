// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <rhino/ir/program.hpp>
#include <rhino/ir/signature.hpp>
#include <rhino/shard/sharding.hpp>

namespace rhino::plan {

/// A program with its repeated blocks left out but for the first, the last, and one in between that stands for the others. It
/// is a whole program of its own (a network of fewer layers), to be planned in place of the large one.
struct FoldedProgram {
  ir::Program program;
  ir::Signature signature;
  std::vector<double> op_weight;     ///< per op of its entry: how many ops of the whole it stands for
  std::vector<double> param_weight;  ///< per parameter likewise
  std::vector<std::uint32_t> op_of;      ///< per op of the whole's entry: its op here
  std::vector<std::uint32_t> param_of;   ///< per parameter of the whole
  std::vector<std::uint32_t> result_of;  ///< per result of the whole
};

/// Finds runs of ops that repeat with one period (forward blocks, their backward blocks, their updates), checks that they
/// hang together in the same way from block to block, and leaves out what one block can stand for. Nothing if no more than a
/// half would be saved. The result depends on the program only.
std::optional<FoldedProgram> fold_repeats(const ir::Program& program, const ir::Signature& signature);

/// Decisions for the whole program from those for the folded one: every op is done as the one that stands for it.
shard::Sharding unfold(const FoldedProgram& folded, const ir::Program& program, const shard::Sharding& sharding);

}  // namespace rhino::plan
