// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include <rhino/frontend/literal_parser.hpp>
#include <rhino/frontend/stablehlo_parser.hpp>

namespace rhino::frontend {

using Kind = AttributeValue::Kind;

const AttributeValue& AttributeValue::resolved() const {
  const AttributeValue* value = this;
  while (value->kind == Kind::Alias)
    value = value->target.get();
  return *value;
}

const AttributeValue* find_attribute(const std::vector<Attribute>& attributes, std::string_view key) {
  for (const Attribute& attribute : attributes)
    if (attribute.key == key) return &attribute.value.resolved();
  return nullptr;
}

AttributeValue StablehloParser::parse_attribute(TypeSuffix suffix) {
  const DepthGuard guard(attribute_depth_, max_attribute_depth, scanner_, "attributes");
  AttributeValue value;
  value.position = scanner_.next();
  parse_attribute_body(value, suffix);
  value.written = scanner_.text_between(value.position, scanner_.position());
  return value;
}

void StablehloParser::skip_type_suffix() {
  if (scanner_.accept(':')) parse_type();
}

void StablehloParser::parse_attribute_body(AttributeValue& value, TypeSuffix suffix) {
  switch (scanner_.peek()) {
    case '"':
      value.kind = Kind::String;
      value.string = scanner_.string("a string");
      if (suffix == TypeSuffix::Allowed) skip_type_suffix();
      return;
    case '@':
      value.kind = Kind::Symbol;
      value.string = symbol_name();
      return;
    case '[':
      scanner_.advance();
      return parse_list(value, ']');
    case '{':
      scanner_.advance();
      value.kind = Kind::Dict;
      return parse_dictionary(value.fields);
    case '<':
      value.kind = Kind::Word;
      value.text = scanner_.balanced();
      return;
    case '#':
      return parse_dialect_attribute(value);
    case '!':
    case '(':
      value.kind = Kind::Type;
      value.type = std::make_shared<const SyntaxType>(parse_type());
      return;
    default:
      break;
  }
  if (scanner_.at_number()) return parse_number(value, suffix);
  return parse_word_attribute(value);
}

void StablehloParser::parse_number(AttributeValue& value, TypeSuffix suffix) {
  const std::size_t begin = scanner_.next();
  std::string_view spelling = scanner_.number("a number");
  const bool negative = spelling.front() == '-';
  std::string_view digits = spelling;
  if (negative || digits.front() == '+') digits.remove_prefix(1);
  value.text = spelling;
  if (digits.find_first_of(".eE") != std::string_view::npos && !digits.starts_with("0x")) {
    value.kind = Kind::Float;
    std::from_chars(digits.data(), digits.data() + digits.size(), value.number);
    if (negative) value.number = -value.number;
  } else {
    value.kind = Kind::Integer;
    std::uint64_t magnitude = 0;
    const bool hexadecimal = digits.starts_with("0x");
    if (hexadecimal) digits.remove_prefix(2);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, hexadecimal ? 16 : 10);
    if (error != std::errc() || end != digits.data() + digits.size())
      scanner_.fail_at(begin, fmt::format("{} does not fit into 64 bits", in_quotes(spelling)));
    value.integer = static_cast<std::int64_t>(negative ? ~magnitude + 1 : magnitude);
    value.number = negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
  }
  if (suffix == TypeSuffix::Allowed) skip_type_suffix();
}

void StablehloParser::parse_list(AttributeValue& value, char close) {
  value.kind = Kind::Integers;
  if (scanner_.accept(close)) return;
  do {
    if (value.kind == Kind::Integers && scanner_.at_number()) {
      AttributeValue item = parse_attribute(TypeSuffix::Allowed);
      if (item.kind == Kind::Integer) {
        value.integers.push_back(item.integer);
        continue;
      }
      value.items.push_back(std::move(item));
    }
    if (value.kind == Kind::Integers) {  // not only integers after all
      value.kind = Kind::List;
      std::vector<AttributeValue> items;
      for (const std::int64_t integer : value.integers) {
        AttributeValue item;
        item.kind = Kind::Integer;
        item.position = value.position;
        item.integer = integer;
        item.number = static_cast<double>(integer);
        items.push_back(std::move(item));
      }
      const bool have_item = !value.items.empty();
      for (AttributeValue& item : value.items)
        items.push_back(std::move(item));
      value.items = std::move(items);
      value.integers.clear();
      if (have_item) continue;
    }
    value.items.push_back(parse_attribute(TypeSuffix::Allowed));
  } while (scanner_.accept(','));
  scanner_.expect(close, "a list");
}

void StablehloParser::parse_dense_body(AttributeValue& value) {
  const std::size_t open = scanner_.next();
  std::string_view body = scanner_.balanced();
  if (!body.starts_with('<')) scanner_.fail_at(open, "expected '<' after 'dense'");
  body = body.substr(1, body.size() - 2);
  scanner_.expect(':', "a dense literal");
  const SyntaxType type = parse_type();
  if (type.kind != SyntaxType::Kind::Tensor) scanner_.fail_at(value.position, "a dense literal needs a tensor type");
  value.type = std::make_shared<const SyntaxType>(type);
  const std::string_view trimmed = body.substr(std::min(body.find_first_not_of(' '), body.size()));
  if (trimmed == "..." || trimmed == "__elided__") {
    value.kind = Kind::Resource;
    value.text = "__elided__";
    return;
  }
  value.kind = Kind::Literal;
  value.literal = parse_dense(body, type.tensor, {scanner_.source(), scanner_.subject(), value.position});
}

void StablehloParser::parse_word_attribute(AttributeValue& value) {
  const std::string_view word = scanner_.peek_word();
  if (word.empty()) scanner_.fail_expected("an attribute value");
  if (word == "tensor" || word == "tuple" || word == "memref" || word == "vector") {
    value.kind = Kind::Type;
    value.type = std::make_shared<const SyntaxType>(parse_type());
    return;
  }
  scanner_.accept_any_word();
  if (word == "true" || word == "false") {
    value.kind = Kind::Bool;
    value.integer = word == "true";
  } else if (word == "unit") {
    value.kind = Kind::Unit;
  } else if (word == "dense") {
    parse_dense_body(value);
  } else if (word == "dense_resource") {
    scanner_.expect('<', "'dense_resource'");
    value.kind = Kind::Resource;
    value.text = scanner_.at_string() ? scanner_.raw_string("a name") : scanner_.suffix_name("the name of a resource");
    scanner_.expect('>', "the name of a resource");
    scanner_.expect(':', "a resource");
    value.type = std::make_shared<const SyntaxType>(parse_type());
  } else if (word == "array") {
    scanner_.expect('<', "'array'");
    scanner_.expect_word("the element type of an array");
    value.kind = Kind::Integers;
    if (scanner_.accept('>')) return;
    scanner_.expect(':', "the element type of an array");
    do {
      if (scanner_.accept_word("true"))
        value.integers.push_back(1);
      else if (scanner_.accept_word("false"))
        value.integers.push_back(0);
      else
        value.integers.push_back(scanner_.integer("an element of this array"));
    } while (scanner_.accept(','));
    scanner_.expect('>', "the elements of an array");
  } else if (word == "loc") {
    scanner_.expect('(', "'loc'");
    SyntaxLocation location;
    parse_location(location);
    scanner_.expect(')', "a location");
    value.kind = Kind::String;
    value.string = std::move(location.name);
  } else {
    value.kind = Kind::Word;
    value.text = word;
    if (scanner_.here() == '<') scanner_.balanced();  // affine_map<..>, opaque<..>: nothing we look into
  }
}

void StablehloParser::parse_dialect_attribute(AttributeValue& value) {
  scanner_.advance();
  const std::string_view name = scanner_.suffix_name("a name after '#'");
  if (scanner_.here() != '<') {
    if (const auto alias = attribute_aliases_.find(name); alias != attribute_aliases_.end()) {
      value.kind = Kind::Alias;
      value.target = alias->second;
    } else {
      value.kind = Kind::Word;
      value.text = name;
    }
    return;
  }
  const bool ours = name.starts_with("stablehlo") || name.starts_with("mhlo") || name.starts_with("chlo");
  if (!ours) {
    scanner_.balanced();
    value.kind = Kind::Word;
    value.text = name;
    return;
  }
  scanner_.advance();
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) {  // #stablehlo<comparison_direction LT>
    scanner_.expect_word("the name of an enumeration");
    value.kind = Kind::Word;
    value.text = scanner_.expect_word("an enumerator");
    scanner_.expect('>', "an enumerator");
    return;
  }
  value.kind = Kind::Dict;
  value.text = name.substr(dot + 1);
  if (value.text == "conv" && scanner_.peek() == '[') {
    for (const std::string_view key : {"input", "kernel", "output"}) {
      value.fields.push_back({key, parse_attribute(TypeSuffix::No)});
      if (key == "input") scanner_.expect_exact_word("x", "the input dimensions");
      if (key == "kernel") scanner_.expect("->", "the kernel dimensions");
    }
    scanner_.expect('>', "convolution dimensions");
    return;
  }
  if (value.text == "conv") scanner_.accept_word("raw");
  if (!scanner_.peek_word().empty() || scanner_.peek() == '>') return parse_fields(value.fields, '>');
  // One that is a list of anything else: keep the spelling only.
  scanner_.seek(value.position + 1 + name.size());
  value.kind = Kind::Word;
  value.text = scanner_.balanced();
}

void StablehloParser::parse_dictionary(std::vector<Attribute>& attributes) { parse_fields(attributes, '}'); }

void StablehloParser::parse_fields(std::vector<Attribute>& attributes, char close) {
  if (scanner_.accept(close)) return;
  do {
    Attribute attribute;
    attribute.key = scanner_.at_string() ? scanner_.raw_string("the name of an attribute")
                                         : scanner_.expect_word("the name of an attribute");
    attribute.value.position = scanner_.position();
    if (scanner_.accept('=')) attribute.value = parse_attribute(TypeSuffix::Allowed);
    attributes.push_back(std::move(attribute));
  } while (scanner_.accept(','));
  scanner_.expect(close, "an attribute");
}

}  // namespace rhino::frontend
