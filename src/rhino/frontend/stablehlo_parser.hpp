// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <rhino/frontend/scanner.hpp>
#include <rhino/frontend/syntax.hpp>

namespace rhino::frontend {

/// Reads the text of one module into a SyntaxModule. Pretty and generic spellings give the same tree: pretty keywords
/// become attributes of the same or a similar name ("dims", "sizes"), which the readers of the ops know.
class StablehloParser {
 public:
  explicit StablehloParser(const Source& source) : scanner_(source) {}

  SyntaxModule parse();

 private:
  enum class TypeSuffix : bool { No, Allowed };  ///< may `: type` follow an attribute value?

  // stablehlo_module.cpp
  void parse_top_level(SyntaxModule& module, bool nested);
  void parse_module(SyntaxModule& module);
  void parse_function(SyntaxModule& module, std::string_view name);
  void parse_function_results(SyntaxFunction& function);
  void parse_generic_top_level(SyntaxModule& module);
  void add_generic_function(SyntaxModule& module, SyntaxOp op);
  void parse_alias(SyntaxModule& module);
  void check_location_aliases(const SyntaxModule& module) const;
  void parse_resources(SyntaxModule& module);
  std::string symbol_name();
  SyntaxOp parse_op();
  void parse_results(SyntaxOp& op);
  void parse_generic(SyntaxOp& op);
  SyntaxRegion parse_region();
  std::vector<SyntaxParam> parse_params(char close);
  void parse_functional_type(SyntaxOp& op);
  OperandUse parse_operand();
  void parse_optional_location(SyntaxLocation& location);

  // stablehlo_pretty.cpp
  void parse_pretty(SyntaxOp& op);
  void parse_soup(SyntaxOp& op);
  void parse_soup_word(SyntaxOp& op);
  void parse_soup_literal(SyntaxOp& op);
  void parse_soup_type(SyntaxOp& op);
  void spread_listed_types(SyntaxOp& op, std::vector<SyntaxType> types);
  void parse_pretty_reduce(SyntaxOp& op);
  void parse_pretty_while(SyntaxOp& op);
  AttributeValue parse_ranges();

  // stablehlo_types.cpp
  SyntaxType parse_type();
  SyntaxType parse_tensor_type();
  SyntaxType parse_function_type();
  std::vector<SyntaxType> parse_type_list(char close);
  ir::DType parse_element_type();
  void parse_location(SyntaxLocation& location);

  // stablehlo_attributes.cpp
  AttributeValue parse_attribute(TypeSuffix suffix);
  void parse_attribute_body(AttributeValue& value, TypeSuffix suffix);
  void parse_number(AttributeValue& value, TypeSuffix suffix);
  void parse_list(AttributeValue& value, char close);
  void parse_word_attribute(AttributeValue& value);
  void parse_dense_body(AttributeValue& value);
  void parse_dialect_attribute(AttributeValue& value);
  void parse_dictionary(std::vector<Attribute>& attributes);  ///< after `{`, up to and with `}`
  void parse_fields(std::vector<Attribute>& attributes, char close);
  void skip_type_suffix();

  Scanner scanner_;
  int depth_ = 0;            ///< nesting of regions
  int attribute_depth_ = 0;  ///< nesting of attributes, types and locations
  std::unordered_map<std::string_view, std::shared_ptr<const AttributeValue>> attribute_aliases_;
  std::unordered_map<std::string_view, std::shared_ptr<const SyntaxType>> type_aliases_;
  std::unordered_map<std::string_view, std::size_t> used_locations_;  ///< aliases of locations, and where they are used first
};

/// Nesting that readers accept before they call a text hostile.
inline constexpr int max_region_depth = 256;
inline constexpr int max_attribute_depth = 64;

}  // namespace rhino::frontend
