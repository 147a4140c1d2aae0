// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <rhino/frontend/scanner.hpp>
#include <rhino/frontend/syntax.hpp>

namespace rhino::frontend {

/// `key=value` after an instruction or a module; the value as written.
struct HloAttribute {
  std::string_view key;
  std::string_view value;
  std::size_t position = 0;
};

/// One line of a computation.
struct HloInstruction {
  bool is_root = false;
  std::string_view name;
  std::string_view opcode;
  std::size_t position = 0;
  std::uint32_t line = 0;
  bool has_shape = false;
  SyntaxType shape;
  std::vector<OperandUse> operands;
  std::string_view payload;  ///< what `constant(..)` and `parameter(..)` hold instead of operands
  std::vector<HloAttribute> attributes;

  const HloAttribute* find(std::string_view key) const;
};

/// Reads HLO text into the tree that StableHLO text gives too: computations as functions, instructions as ops with
/// StableHLO's names and attributes.
class HloParser {
 public:
  explicit HloParser(const Source& source) : scanner_(source) {}

  SyntaxModule parse();

 private:
  struct Computation {
    bool is_entry = false;
    std::string_view name;
    std::size_t position = 0;
    std::vector<HloInstruction> instructions;
  };

  void parse_header();
  void parse_computation(SyntaxModule& module);
  void skip_signature();
  HloInstruction parse_instruction();
  void parse_operands(HloInstruction& instruction);
  std::vector<HloAttribute> parse_attributes();
  std::string_view parse_value();
  std::string_view parse_name(std::string_view what);
  bool at_shape();
  SyntaxType parse_shape();
  void parse_layout();
  ir::DType parse_element_type();
  SyntaxFunction make_function(SyntaxModule& module, Computation computation);
  SyntaxParam make_param(const HloInstruction& instruction);
  void note_aliases(SyntaxFunction& function) const;

  Scanner scanner_;
  int depth_ = 0;
  std::string_view module_name_;
  std::string_view alias_text_;  ///< of input_output_alias
  std::string_view donor_text_;  ///< of buffer_donor
};

/// The path that the metadata of an instruction give it; empty if there is none.
std::string hlo_op_name(const HloInstruction& instruction);

/// The instruction as an op of StableHLO. `storage` keeps names that the text does not spell.
SyntaxOp convert_instruction(const HloInstruction& instruction, const Source& source,
                             std::unordered_set<std::string>& storage);

}  // namespace rhino::frontend
