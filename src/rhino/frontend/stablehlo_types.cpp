// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <rhino/frontend/stablehlo_parser.hpp>

namespace rhino::frontend {
namespace {

constexpr std::string_view type_remedy =
    "Rhino knows i1, i8 to i64, ui8 to ui64, f16, bf16, f32 and f64; convert the program to these before the export";
constexpr std::string_view dynamic_remedy =
    "Rhino plans for fixed shapes; export the program with concrete sizes for every dimension";

/// Elements of a tensor stay far below 2^63 bytes, so that sizes can be computed without overflow.
constexpr std::int64_t max_elements = std::int64_t{1} << 56;

}  // namespace

ir::DType StablehloParser::parse_element_type() {
  const std::size_t begin = scanner_.next();
  if (scanner_.peek() == '!') {
    scanner_.advance();
    const std::string_view name = scanner_.suffix_name("a type name after '!'");
    if (name.starts_with("quant."))
      scanner_.unsupported_at(begin, "quantised types are not supported", "export the program before quantisation");
    scanner_.unsupported_at(begin, fmt::format("elements of type {} are not supported", in_quotes(name)), type_remedy);
  }
  const std::string_view word = scanner_.expect_word("an element type");
  if (const auto dtype = ir::dtype_from_name(word)) return *dtype;
  if (word == "complex")
    scanner_.unsupported_at(begin, "complex numbers are not supported",
                            "write the program with separate real and imaginary parts");
  const bool looks_like_type =
      word.size() >= 2 && (word[0] == 'i' || word[0] == 'f' || word.starts_with("ui") || word.starts_with("si"));
  if (looks_like_type)
    scanner_.unsupported_at(begin, fmt::format("elements of type {} are not supported", in_quotes(word)), type_remedy);
  scanner_.fail_at(begin, fmt::format("{} is not an element type", in_quotes(word)));
}

SyntaxType StablehloParser::parse_tensor_type() {
  SyntaxType type;
  const std::size_t begin = scanner_.position();
  scanner_.expect('<', "'tensor'");
  std::int64_t elements = 1;
  bool empty = false;
  while (true) {
    const char c = scanner_.peek();
    if (c == '?' || c == '*') scanner_.unsupported_at(begin, "dynamic shapes are not supported", dynamic_remedy);
    if (c < '0' || c > '9') break;
    std::int64_t size = 0;
    while (scanner_.here() >= '0' && scanner_.here() <= '9') {
      const int digit = scanner_.here() - '0';
      if (size > (max_elements - digit) / 10) scanner_.fail_at(begin, "a dimension of this tensor is too large");
      size = size * 10 + digit;
      scanner_.advance();
    }
    if (scanner_.here() != 'x') scanner_.fail_expected("'x' after a dimension");
    scanner_.advance();
    if (size == 0)
      empty = true;
    else if (elements > max_elements / size)
      scanner_.fail_at(begin, "this tensor has too many elements");
    else
      elements *= size;
    type.tensor.dims.push_back(size);
    if (type.tensor.dims.size() > 64) scanner_.fail_at(begin, "this tensor has too many dimensions");
  }
  if (empty) elements = 0;
  type.tensor.dtype = parse_element_type();
  if (scanner_.accept(',')) {
    const std::size_t encoding = scanner_.next();
    const AttributeValue value = parse_attribute(TypeSuffix::No);
    if (value.written.find("bounds") != std::string_view::npos)
      scanner_.unsupported_at(encoding, "dynamic shapes are not supported", dynamic_remedy);
    scanner_.unsupported_at(encoding, "tensors with an encoding are not supported", "export plain dense tensors");
  }
  scanner_.expect('>', "a tensor type");
  return type;
}

std::vector<SyntaxType> StablehloParser::parse_type_list(char close) {
  std::vector<SyntaxType> types;
  if (scanner_.accept(close)) return types;
  std::size_t leaves = 0;
  do {
    types.push_back(parse_type());
    leaves += types.back().leaves;
    if (leaves > max_type_leaves) scanner_.fail("this type holds too many tensors");
  } while (scanner_.accept(','));
  scanner_.expect(close, "a list of types");
  return types;
}

SyntaxType StablehloParser::parse_function_type() {
  SyntaxType type;
  type.kind = SyntaxType::Kind::Function;
  scanner_.expect('(', "the start of a function type");
  type.inputs = parse_type_list(')');
  scanner_.expect("->", "the inputs of a function type");
  if (scanner_.accept('('))
    type.results = parse_type_list(')');
  else
    type.results.push_back(parse_type());
  return type;
}

SyntaxType StablehloParser::parse_type() {
  const DepthGuard guard(attribute_depth_, max_attribute_depth, scanner_, "types");
  const std::size_t begin = scanner_.next();
  if (scanner_.peek() == '(') return parse_function_type();
  if (scanner_.peek() == '!') {
    scanner_.advance();
    const std::string_view name = scanner_.suffix_name("a type name after '!'");
    if (const auto alias = type_aliases_.find(name); alias != type_aliases_.end()) return *alias->second;
    if (name.ends_with(".token"))
      scanner_.unsupported_at(begin, "tokens (ordered side effects, infeed, send, host callbacks) are not supported",
                              "remove prints, callbacks and ordered effects from the step");
    if (name.starts_with("quant."))
      scanner_.unsupported_at(begin, "quantised types are not supported", "export the program before quantisation");
    scanner_.unsupported_at(begin, fmt::format("values of type {} are not supported", in_quotes(name)), type_remedy);
  }
  const std::string_view word = scanner_.peek_word();
  if (word == "tensor") {
    scanner_.accept_any_word();
    return parse_tensor_type();
  }
  SyntaxType type;
  if (word == "tuple") {
    scanner_.accept_any_word();
    scanner_.expect('<', "'tuple'");
    type.kind = SyntaxType::Kind::Tuple;
    type.results = parse_type_list('>');
    for (const SyntaxType& element : type.results)
      type.leaves += element.leaves;
    return type;
  }
  type.kind = SyntaxType::Kind::Scalar;
  if (word == "index" || word == "none") {
    scanner_.accept_any_word();
    type.tensor.dtype = ir::DType::I64;
    return type;
  }
  if (word == "memref" || word == "vector") {
    scanner_.unsupported_at(begin, fmt::format("values of type {} are not supported", in_quotes(word)),
                            "export StableHLO, not a lowered dialect");
  }
  type.tensor.dtype = parse_element_type();
  return type;
}

void StablehloParser::parse_location(SyntaxLocation& location) {
  const DepthGuard guard(attribute_depth_, max_attribute_depth, scanner_, "locations");
  const char c = scanner_.peek();
  if (c == '#') {
    scanner_.advance();
    const std::size_t position = scanner_.position();
    const std::string_view alias = scanner_.suffix_name("a name after '#'");
    used_locations_.try_emplace(alias, position);
    if (location.name.empty() && location.alias.empty()) location.alias = alias;
    return;
  }
  if (c == '"') {
    std::string name = scanner_.string("a location");
    if (scanner_.accept(':')) {  // a position in a file: "file":line:column [to [line] :column]
      scanner_.integer("a line number");
      if (scanner_.accept(':')) scanner_.integer("a column number");
      if (scanner_.accept_word("to")) {
        if (scanner_.at_number()) scanner_.integer("a line number");
        scanner_.expect(':', "'to' in a location");
        scanner_.integer("a column number");
      }
      return;
    }
    if (location.name.empty() && location.alias.empty()) location.name = std::move(name);
    if (scanner_.peek() == '(') scanner_.balanced();
    return;
  }
  const std::string_view word = scanner_.expect_word("a location");
  if (word == "unknown") return;
  if (word == "callsite") {
    scanner_.expect('(', "'callsite'");
    parse_location(location);
    scanner_.expect_exact_word("at", "the callee of a callsite");
    SyntaxLocation caller;
    parse_location(caller);
    scanner_.expect(')', "a callsite");
    return;
  }
  if (word == "fused") {
    if (scanner_.peek() == '<') scanner_.balanced();
    scanner_.expect('[', "'fused'");
    do
      parse_location(location);
    while (scanner_.accept(','));
    scanner_.expect(']', "fused locations");
    return;
  }
  scanner_.fail(fmt::format("{} is not a location", in_quotes(word)));
}

}  // namespace rhino::frontend
