// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <rhino/frontend/stablehlo_parser.hpp>

namespace rhino::frontend {
namespace {

bool is_return(std::string_view name) {
  return name == "return" || name == "func.return" || name == "stablehlo.return" || name == "mhlo.return" ||
         name == "sdy.return";
}

bool is_convolution(std::string_view name) { return name.ends_with(".convolution") || name.ends_with(".dynamic_conv"); }

std::string_view without_dialect(std::string_view name) {
  const std::size_t dot = name.find('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

Attribute word_attribute(std::string_view key, std::string_view word, std::size_t position) {
  Attribute attribute;
  attribute.key = key;
  attribute.value.kind = AttributeValue::Kind::Word;
  attribute.value.position = position;
  attribute.value.text = word;
  attribute.value.written = word;
  return attribute;
}

}  // namespace

void StablehloParser::parse_pretty(SyntaxOp& op) {
  const std::string_view name = without_dialect(op.name);
  const bool hlo = op.name.starts_with("stablehlo.") || op.name.starts_with("mhlo.");
  if (hlo && name == "while") return parse_pretty_while(op);
  if (hlo && name == "reduce" && scanner_.peek() == '(') return parse_pretty_reduce(op);
  if (op.name == "sdy.manual_computation")
    scanner_.unsupported_at(op.position, "manual computations (shard_map) are not supported",
                            "export the program before it is partitioned by hand: Rhino finds the partition");
  parse_soup(op);
}

/// Everything between the name of an op and the end of its type: operands, `key = value`, enumerators, symbols,
/// strings, ranges and dictionaries in whatever order this op has them.
void StablehloParser::parse_soup(SyntaxOp& op) {
  int open = 0;
  bool after_comma = true;
  while (true) {
    const std::size_t position = scanner_.next();
    const bool may_have_word = after_comma && !is_return(op.name);
    after_comma = false;
    switch (scanner_.peek()) {
      case ',':
        scanner_.advance();
        after_comma = true;
        continue;
      case '%':
        op.operands.push_back(parse_operand());
        continue;
      case '(':
        scanner_.advance();
        ++open;
        after_comma = true;
        continue;
      case ')':
        if (open == 0) scanner_.fail("')' closes nothing");
        --open;
        scanner_.advance();
        continue;
      case '@':
      case '"': {
        Attribute attribute;
        attribute.key = scanner_.peek() == '@' ? "callee" : "name";
        attribute.value = parse_attribute(TypeSuffix::No);
        op.attributes.push_back(std::move(attribute));
        continue;
      }
      case '[': {
        Attribute attribute;
        attribute.key = "ranges";
        attribute.value = parse_ranges();
        op.attributes.push_back(std::move(attribute));
        continue;
      }
      case '{':
        scanner_.advance();
        parse_dictionary(op.attributes);
        continue;
      case '<':
        if (scanner_.accept("<{")) {
          parse_dictionary(op.attributes);
          scanner_.expect('>', "the properties of an op");
        } else {
          op.attributes.push_back(word_attribute("sharding", scanner_.balanced(), position));
        }
        continue;
      case ':':
        if (open != 0) scanner_.fail_expected("')'");
        scanner_.advance();
        return parse_soup_type(op);
      default:
        break;
    }
    const std::string_view word = scanner_.peek_word();
    if (!word.empty() && word != "loc") {
      // A word begins an item only after a comma or bracket; or it is the key of one that follows without comma.
      if (may_have_word || (!is_return(op.name) && open == 0 && is_convolution(op.name))) {
        if (word == "dense" || word == "dense_resource") return parse_soup_literal(op);
        parse_soup_word(op);
        continue;
      }
    }
    if (open != 0) scanner_.fail_expected("')'");
    if (is_return(op.name) || word == "loc" || op.name.ends_with("optimization_barrier")) return;
    scanner_.fail_expected("':' and the type of the op");
  }
}

/// A literal ends its op: its type is the type of the op.
void StablehloParser::parse_soup_literal(SyntaxOp& op) {
  Attribute attribute;
  attribute.key = "value";
  attribute.value = parse_attribute(TypeSuffix::Allowed);
  if (attribute.value.type) op.result_types.push_back(*attribute.value.type);
  op.attributes.push_back(std::move(attribute));
  if (scanner_.accept('{')) parse_dictionary(op.attributes);  // check ops have it after the type
}

void StablehloParser::parse_soup_word(SyntaxOp& op) {
  const std::size_t position = scanner_.next();
  const std::string_view word = scanner_.accept_any_word();
  if (!scanner_.accept('=')) {
    const bool second = find_attribute(op.attributes, "comparison_direction") != nullptr;
    op.attributes.push_back(word_attribute(second ? "compare_type" : "comparison_direction", word, position));
    return;
  }
  Attribute attribute;
  attribute.key = word;
  if (is_convolution(op.name) && word == "dim_numbers") {
    attribute.key = "dimension_numbers";
    attribute.value.kind = AttributeValue::Kind::Dict;
    attribute.value.position = position;
    for (const std::string_view key : {"input", "kernel", "output"}) {
      attribute.value.fields.push_back({key, parse_attribute(TypeSuffix::No)});
      if (key == "input") scanner_.expect_exact_word("x", "the input dimensions");
      if (key == "kernel") scanner_.expect("->", "the kernel dimensions");
    }
  } else {
    attribute.value = parse_attribute(TypeSuffix::No);
    if (scanner_.accept_word("x")) {  // lhs x rhs of a dot
      AttributeValue pair;
      pair.kind = AttributeValue::Kind::List;
      pair.position = position;
      pair.items.push_back(std::move(attribute.value));
      pair.items.push_back(parse_attribute(TypeSuffix::No));
      attribute.value = std::move(pair);
    }
  }
  op.attributes.push_back(std::move(attribute));
}

/// `[0:4:2, 1:3]` of a slice, `[0]` of get_tuple_element: a list of Integers.
AttributeValue StablehloParser::parse_ranges() {
  AttributeValue value;
  value.kind = AttributeValue::Kind::List;
  value.position = scanner_.next();
  scanner_.expect('[', "nothing");
  if (scanner_.accept(']')) return value;
  do {
    AttributeValue range;
    range.kind = AttributeValue::Kind::Integers;
    range.position = scanner_.next();
    do
      range.integers.push_back(scanner_.integer("an index"));
    while (scanner_.accept(':'));
    value.items.push_back(std::move(range));
  } while (scanner_.accept(','));
  scanner_.expect(']', "an index");
  return value;
}

void StablehloParser::parse_soup_type(SyntaxOp& op) {
  if (scanner_.peek() == '(') {
    parse_functional_type(op);
  } else {
    std::vector<SyntaxType> types;
    do
      types.push_back(parse_type());
    while (scanner_.accept(','));
    if (scanner_.accept("->")) {
      op.operand_types = std::move(types);
      if (scanner_.accept('('))
        op.result_types = parse_type_list(')');
      else
        op.result_types.push_back(parse_type());
      if (op.operand_types.size() != op.operands.size())
        scanner_.fail_at(op.position, fmt::format("this op has {} operands, but its type lists {}", op.operands.size(),
                                                  op.operand_types.size()));
    } else {
      spread_listed_types(op, std::move(types));
    }
  }
  if (scanner_.accept('{')) parse_dictionary(op.attributes);  // check ops have it after the type
}

/// A type list without arrow says less than it could: which operands and results it means depends on the op.
void StablehloParser::spread_listed_types(SyntaxOp& op, std::vector<SyntaxType> types) {
  const std::string_view name = without_dialect(op.name);
  if (name == "tuple" || op.operands.empty()) {
    op.result_types = std::move(types);
  } else if (name == "select" && types.size() == 2) {
    op.operand_types = {types[0], types[1], types[1]};
    op.result_types = {std::move(types[1])};
  } else if (is_return(op.name) || op.name.starts_with("check.")) {
    if (types.size() == op.operands.size()) op.operand_types = std::move(types);
  } else if (types.size() == 1) {
    op.operand_types.assign(op.operands.size(), types[0]);
    op.result_types = std::move(types);
  } else if (types.size() == op.operands.size()) {
    op.operand_types = types;
    op.result_types = std::move(types);
  } else {
    scanner_.fail_at(op.position,
                     fmt::format("this op has {} operands, but lists {} types", op.operands.size(), types.size()));
  }
}

/// `reduce(%x init: %c), (%y init: %d) [applies op] across dimensions = [0] [{..}] : type [reducer(..) (..) {..}]`
void StablehloParser::parse_pretty_reduce(SyntaxOp& op) {
  std::vector<OperandUse> inits;
  do {
    scanner_.expect('(', "'reduce'");
    op.operands.push_back(parse_operand());
    scanner_.expect_exact_word("init", "the input of a reduce");
    scanner_.expect(':', "'init'");
    inits.push_back(parse_operand());
    scanner_.expect(')', "the initial value of a reduce");
  } while (scanner_.accept(','));
  const std::size_t inputs = op.operands.size();
  op.operands.insert(op.operands.end(), inits.begin(), inits.end());
  if (scanner_.accept_word("applies")) {
    const std::size_t position = scanner_.next();
    op.attributes.push_back(word_attribute("applies", scanner_.expect_word("an op after 'applies'"), position));
  }
  scanner_.expect_exact_word("across", "the operands of a reduce");
  scanner_.expect_exact_word("dimensions", "'across'");
  scanner_.expect('=', "'dimensions'");
  op.attributes.push_back({"dimensions", parse_attribute(TypeSuffix::No)});
  if (scanner_.accept('{')) parse_dictionary(op.attributes);
  scanner_.expect(':', "the attributes of a reduce");
  parse_functional_type(op);
  if (!scanner_.accept_word("reducer")) return;
  std::vector<SyntaxParam> firsts, seconds;
  for (std::size_t i = 0; i < inputs; ++i) {
    const std::size_t position = scanner_.next();
    scanner_.expect('(', "'reducer'");
    auto pair = parse_params(')');
    if (pair.size() != 2) scanner_.fail_at(position, "a reducer has two parameters per input");
    firsts.push_back(std::move(pair[0]));
    seconds.push_back(std::move(pair[1]));
  }
  SyntaxLocation location;
  parse_optional_location(location);
  SyntaxRegion region = parse_region();
  if (!region.params.empty()) scanner_.fail_at(region.position, "this reducer names its parameters twice");
  region.params = std::move(firsts);
  for (SyntaxParam& param : seconds)
    region.params.push_back(std::move(param));
  op.regions.push_back(std::move(region));
}

/// `while(%iterArg = %c, ..) : T, .. [attributes {..}] cond {..} do {..}`
void StablehloParser::parse_pretty_while(SyntaxOp& op) {
  std::vector<SyntaxParam> params;
  scanner_.expect('(', "'while'");
  if (!scanner_.accept(')')) {
    do {
      SyntaxParam param;
      param.position = scanner_.next();
      scanner_.expect('%', "'('");
      param.name = scanner_.suffix_name("a name after '%'");
      scanner_.expect('=', "the name of a loop value");
      op.operands.push_back(parse_operand());
      params.push_back(std::move(param));
    } while (scanner_.accept(','));
    scanner_.expect(')', "a loop value");
  }
  if (scanner_.accept(':')) {
    do
      op.operand_types.push_back(parse_type());
    while (scanner_.accept(','));
  }
  if (op.operand_types.size() != params.size())
    scanner_.fail_at(op.position, fmt::format("this loop has {} values, but lists {} types", params.size(),
                                              op.operand_types.size()));
  op.result_types = op.operand_types;
  for (std::size_t i = 0; i < params.size(); ++i)
    params[i].type = op.operand_types[i];
  if (scanner_.accept_word("attributes")) {
    scanner_.expect('{', "'attributes'");
    parse_dictionary(op.attributes);
  }
  for (const std::string_view keyword : {"cond", "do"}) {
    scanner_.expect_exact_word(keyword, "a loop");
    SyntaxRegion region = parse_region();
    scanner_.set_subject(op.name);
    if (!region.params.empty()) scanner_.fail_at(region.position, "this loop names its values twice");
    region.params = params;
    op.regions.push_back(std::move(region));
  }
}

}  // namespace rhino::frontend
