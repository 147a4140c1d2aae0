// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <rhino/ir/literal.hpp>
#include <rhino/ir/types.hpp>

namespace rhino::frontend {

// The text of a module as a tree: what was written, in one form for pretty and generic spelling, before names are
// resolved and meaning is given. Views point into the text.

/// A type as written: a tensor, or a tuple or function type of several.
struct SyntaxType {
  enum class Kind : std::uint8_t { Tensor, Tuple, Function, Scalar };
  Kind kind = Kind::Tensor;
  ir::TensorType tensor;            ///< Tensor; for Scalar its element type where we have that type
  std::vector<SyntaxType> inputs;   ///< Function
  std::vector<SyntaxType> results;  ///< Function results, Tuple elements
  std::size_t leaves = 1;           ///< tensors in it, counted through all levels
};

/// Tensors that one type may hold; aliases of aliases could otherwise double it at every level.
inline constexpr std::size_t max_type_leaves = 1 << 16;

struct Attribute;

/// An attribute value as written.
struct AttributeValue {
  enum class Kind : std::uint8_t {
    Unit,      ///< a key without value
    Bool,      ///< integer 0 or 1
    Integer,   ///< integer
    Float,     ///< number
    String,    ///< string
    Symbol,    ///< string, without `@`
    Word,      ///< text: an enumerator such as LT, or a spelling we do not look into
    Integers,  ///< integers: `[1, 2]`, `array<i64: 1, 2>`
    List,      ///< items
    Dict,      ///< fields; also the parameters of `#stablehlo.name<..>`, whose name is in `text`
    Literal,   ///< literal: dense<..>
    Resource,  ///< text is the name, `type` its type: dense_resource<..>, resolved at the end of the module
    Type,      ///< type
    Alias,     ///< target
  };
  Kind kind = Kind::Unit;
  std::size_t position = 0;
  std::string_view written;  ///< the whole value as in the text
  std::string_view text;
  std::int64_t integer = 0;
  double number = 0;
  std::string string;
  std::vector<std::int64_t> integers;
  std::vector<AttributeValue> items;
  std::vector<Attribute> fields;
  ir::Literal literal;
  std::shared_ptr<const SyntaxType> type;
  std::shared_ptr<const AttributeValue> target;

  /// The value itself, or what an alias stands for.
  const AttributeValue& resolved() const;
};

struct Attribute {
  std::string_view key;
  AttributeValue value;
};

/// What a `loc(..)` says that is of use: a name, or an alias that stands for one.
struct SyntaxLocation {
  std::string name;
  std::string_view alias;  ///< of `#loc7`; without `#`
};

/// A use of a value: `%name` or `%name#number`.
struct OperandUse {
  std::string_view name;
  std::uint32_t number = 0;
  std::size_t position = 0;
};

/// `%name` or `%name:count` at the left of `=`.
struct ResultName {
  std::string_view name;
  std::uint32_t count = 1;
  std::size_t position = 0;
};

struct SyntaxRegion;

struct SyntaxOp {
  std::string_view name;  ///< "stablehlo.add", without quotes; `mhlo.` is read as `stablehlo.`
  std::size_t position = 0;
  std::uint32_t line = 0;
  std::vector<ResultName> results;
  std::vector<OperandUse> operands;
  std::vector<Attribute> attributes;
  std::vector<SyntaxRegion> regions;
  std::vector<SyntaxType> operand_types;  ///< empty where the text does not give them
  std::vector<SyntaxType> result_types;
  SyntaxLocation location;
  // HLO text only:
  std::string_view opcode;                     ///< as spelled there ("dot" where `name` is "stablehlo.dot_general")
  std::vector<std::string_view> computations;  ///< functions of the module in the place of regions
  bool tuple_result = false;                   ///< the results, one per result type, are one value: a tuple

  /// The op as messages name it.
  std::string shown() const;
};

/// A parameter of a block or a function.
struct SyntaxParam {
  std::string_view name;
  std::size_t position = 0;
  SyntaxType type;
  std::vector<Attribute> attributes;
  SyntaxLocation location;
};

struct SyntaxRegion {
  std::vector<SyntaxParam> params;
  std::vector<SyntaxOp> ops;
  std::size_t position = 0;
};

struct SyntaxFunction {
  std::string name;
  bool is_public = true;
  bool has_body = false;
  std::size_t position = 0;
  SyntaxRegion body;  ///< its params are the function's
  std::vector<SyntaxType> result_types;
  std::vector<std::vector<Attribute>> result_attributes;  ///< one per result, or none at all
};

struct SyntaxModule {
  std::string name;
  std::string entry;  ///< name of the entry function, if the text says it
  std::vector<SyntaxFunction> functions;
  std::unordered_map<std::string_view, SyntaxLocation> location_aliases;  ///< "loc7" -> what it says
  std::unordered_map<std::string_view, std::vector<std::byte>> resources;
  std::unordered_set<std::string> strings;  ///< storage of names that the text does not spell
};

/// An attribute by any of its spellings; nullptr if absent.
const AttributeValue* find_attribute(const std::vector<Attribute>& attributes, std::string_view key);

}  // namespace rhino::frontend
