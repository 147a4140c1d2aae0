// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <rhino/frontend/literal_parser.hpp>
#include <rhino/frontend/stablehlo_parser.hpp>

namespace rhino::frontend {
namespace {

bool starts_function(std::string_view word) { return word == "func.func" || word == "func"; }

/// Takes the attribute `key` out of a list; a Unit if there is none.
AttributeValue take(std::vector<Attribute>& attributes, std::string_view key) {
  for (auto at = attributes.begin(); at != attributes.end(); ++at) {
    if (at->key != key) continue;
    AttributeValue value = std::move(at->value);
    attributes.erase(at);
    return value;
  }
  return {};
}

/// The dictionaries of `arg_attrs` or `res_attrs`, one per argument.
std::vector<std::vector<Attribute>> dictionaries(AttributeValue value, std::size_t count) {
  std::vector<std::vector<Attribute>> result(count);
  for (std::size_t i = 0; i < std::min(count, value.items.size()); ++i)
    result[i] = std::move(value.items[i].fields);
  return result;
}

}  // namespace

SyntaxModule StablehloParser::parse() {
  SyntaxModule module;
  parse_top_level(module, false);
  check_location_aliases(module);
  return module;
}

/// Locations are defined at the end of the text, so that one without a definition tells of a text that was cut off there.
void StablehloParser::check_location_aliases(const SyntaxModule& module) const {
  const std::pair<const std::string_view, std::size_t>* first = nullptr;
  for (const auto& use : used_locations_)
    if (!module.location_aliases.contains(use.first) && (first == nullptr || use.second < first->second)) first = &use;
  if (first != nullptr)
    scanner_.fail_at(first->second, fmt::format("the location #{} is not defined; is the text complete?", first->first));
}

void StablehloParser::parse_top_level(SyntaxModule& module, bool nested) {
  while (!scanner_.at_end()) {
    const char c = scanner_.peek();
    scanner_.set_subject({});
    if (nested && c == '}') return;
    if (c == '#' || c == '!') {
      parse_alias(module);
    } else if (c == '"') {
      parse_generic_top_level(module);
    } else if (scanner_.accept("{-#")) {
      parse_resources(module);
    } else {
      const std::string_view word = scanner_.peek_word();
      if (word == "module" || word == "builtin.module") {
        scanner_.accept_any_word();
        parse_module(module);
      } else if (starts_function(word)) {
        scanner_.accept_any_word();
        parse_function(module, word);
      } else if (word == "sdy.mesh") {
        scanner_.accept_any_word();
        scanner_.expect('@', "'sdy.mesh'");
        scanner_.suffix_name("the name of a mesh");
        scanner_.expect('=', "the name of a mesh");
        scanner_.balanced();
        SyntaxLocation location;
        parse_optional_location(location);
      } else {
        scanner_.fail_expected("'module' or 'func.func'");
      }
    }
  }
}

void StablehloParser::parse_module(SyntaxModule& module) {
  const DepthGuard guard(depth_, max_region_depth, scanner_, "modules");
  std::string name;
  if (scanner_.peek() == '@') name = symbol_name();
  if (module.name.empty()) module.name = std::move(name);
  if (scanner_.accept_word("attributes")) {
    scanner_.expect('{', "'attributes'");
    std::vector<Attribute> attributes;
    parse_dictionary(attributes);
  }
  scanner_.expect('{', "the name of a module");
  parse_top_level(module, true);
  scanner_.expect('}', "a module");
  SyntaxLocation location;
  parse_optional_location(location);
}

std::string StablehloParser::symbol_name() {
  scanner_.expect('@', "nothing");
  std::string name =
      scanner_.here() == '"' ? scanner_.string("a name") : std::string(scanner_.suffix_name("a name after '@'"));
  if (scanner_.accept("::")) return symbol_name();  // @module::@function: functions share one name space here
  return name;
}

void StablehloParser::parse_alias(SyntaxModule& module) {
  const bool is_type = scanner_.peek() == '!';
  scanner_.advance();
  const std::string_view name = scanner_.suffix_name("the name of an alias");
  scanner_.expect('=', "the name of an alias");
  if (is_type) {
    type_aliases_[name] = std::make_shared<const SyntaxType>(parse_type());
  } else if (scanner_.peek_word() == "loc") {
    parse_optional_location(module.location_aliases[name]);
  } else {
    attribute_aliases_[name] = std::make_shared<const AttributeValue>(parse_attribute(TypeSuffix::Allowed));
  }
}

void StablehloParser::parse_optional_location(SyntaxLocation& location) {
  if (!scanner_.accept_word("loc")) return;
  scanner_.expect('(', "'loc'");
  parse_location(location);
  scanner_.expect(')', "a location");
}

/// `{-# dialect_resources: { builtin: { name: "0x04000000.." } }, external_resources: {..} #-}`
void StablehloParser::parse_resources(SyntaxModule& module) {
  int open = 0;
  while (!scanner_.accept("#-}")) {
    if (scanner_.at_end()) scanner_.fail_expected("'#-}' after resources");
    if (scanner_.accept('{')) {
      if (++open > max_attribute_depth) scanner_.fail("resources are nested too deeply");
      continue;
    }
    if (scanner_.accept('}')) {
      if (--open < 0) scanner_.fail("'}' closes nothing");
      continue;
    }
    if (scanner_.accept(',')) continue;
    const std::string_view key =
        scanner_.at_string() ? scanner_.raw_string("a name") : scanner_.suffix_name("the name of a resource");
    scanner_.expect(':', "the name of a resource");
    if (scanner_.peek() == '{') continue;
    const std::size_t position = scanner_.next();
    if (!scanner_.at_string()) {
      if (scanner_.accept_any_word().empty()) scanner_.number("the value of a resource");
      continue;
    }
    const std::string_view value = scanner_.raw_string("the value of a resource");
    if (!value.starts_with("0x")) continue;
    std::vector<std::byte> bytes = decode_hex(value, {scanner_.source(), "resource", position});
    constexpr std::size_t alignment_header = 4;  // the blob begins with its alignment as a 32-bit number
    if (bytes.size() < alignment_header) scanner_.fail_at(position, "this resource is too short");
    bytes.erase(bytes.begin(), bytes.begin() + alignment_header);
    module.resources[key] = std::move(bytes);
  }
}

std::vector<SyntaxParam> StablehloParser::parse_params(char close) {
  std::vector<SyntaxParam> params;
  if (scanner_.accept(close)) return params;
  do {
    SyntaxParam param;
    param.position = scanner_.next();
    if (scanner_.accept('%')) {
      param.name = scanner_.suffix_name("a name after '%'");
      scanner_.expect(':', "the name of a parameter");
    }
    param.type = parse_type();
    if (scanner_.accept('{')) parse_dictionary(param.attributes);
    parse_optional_location(param.location);
    params.push_back(std::move(param));
  } while (scanner_.accept(','));
  scanner_.expect(close, "a parameter");
  return params;
}

void StablehloParser::parse_function(SyntaxModule& module, std::string_view name) {
  SyntaxFunction function;
  scanner_.set_subject(name);
  if (scanner_.accept_word("private") || scanner_.accept_word("nested"))
    function.is_public = false;
  else
    scanner_.accept_word("public");
  function.position = scanner_.next();
  if (scanner_.peek() != '@') scanner_.fail_expected("the name of a function");
  function.name = symbol_name();
  scanner_.expect('(', "the name of a function");
  std::vector<SyntaxParam> params = parse_params(')');
  if (scanner_.accept("->")) parse_function_results(function);
  if (scanner_.accept_word("attributes")) {
    scanner_.expect('{', "'attributes'");
    std::vector<Attribute> attributes;
    parse_dictionary(attributes);
  }
  if (scanner_.peek() == '{') {
    function.has_body = true;
    function.body = parse_region();
    if (!function.body.params.empty())
      scanner_.fail_at(function.body.position, "the body of a function has its own parameters");
  }
  SyntaxLocation location;
  parse_optional_location(location);
  function.body.params = std::move(params);
  module.functions.push_back(std::move(function));
}

void StablehloParser::parse_function_results(SyntaxFunction& function) {
  if (!scanner_.accept('(')) {
    function.result_types.push_back(parse_type());
    return;
  }
  if (scanner_.accept(')')) return;
  do {
    function.result_types.push_back(parse_type());
    function.result_attributes.emplace_back();
    if (scanner_.accept('{')) parse_dictionary(function.result_attributes.back());
    SyntaxLocation location;
    parse_optional_location(location);
  } while (scanner_.accept(','));
  scanner_.expect(')', "the results of a function");
}

void StablehloParser::parse_generic_top_level(SyntaxModule& module) {
  SyntaxOp op = parse_op();
  if (op.name == "func.func" || op.name == "func") return add_generic_function(module, std::move(op));
  if (op.name != "builtin.module") {
    if (op.name == "sdy.mesh") return;
    scanner_.set_subject(op.name);
    scanner_.fail_at(op.position, "expected a module or a function here");
  }
  if (module.name.empty()) module.name = take(op.attributes, "sym_name").string;
  for (SyntaxRegion& region : op.regions) {
    for (SyntaxOp& inner : region.ops) {
      if (inner.name == "sdy.mesh") continue;
      scanner_.set_subject(inner.name);
      if (inner.name != "func.func" && inner.name != "func")
        scanner_.fail_at(inner.position, "expected a function here");
      add_generic_function(module, std::move(inner));
    }
  }
}

void StablehloParser::add_generic_function(SyntaxModule& module, SyntaxOp op) {
  scanner_.set_subject("func.func");
  SyntaxFunction function;
  function.position = op.position;
  function.name = take(op.attributes, "sym_name").string;
  const std::string visibility = take(op.attributes, "sym_visibility").string;
  function.is_public = visibility.empty() || visibility == "public";
  AttributeValue type = take(op.attributes, "function_type");
  if (!type.type) type = take(op.attributes, "type");
  if (!type.type || type.type->kind != SyntaxType::Kind::Function || function.name.empty())
    scanner_.fail_at(op.position, "a function needs the attributes sym_name and function_type");
  function.result_types = type.type->results;
  function.result_attributes = dictionaries(take(op.attributes, "res_attrs"), function.result_types.size());
  if (op.regions.size() != 1) scanner_.fail_at(op.position, "a function needs one region");
  function.body = std::move(op.regions[0]);
  function.has_body = !function.body.ops.empty();
  auto arguments = dictionaries(take(op.attributes, "arg_attrs"), function.body.params.size());
  if (function.has_body && function.body.params.size() != type.type->inputs.size())
    scanner_.fail_at(op.position, "the parameters of this function do not match its function_type");
  for (std::size_t i = 0; i < arguments.size(); ++i)
    function.body.params[i].attributes = std::move(arguments[i]);
  module.functions.push_back(std::move(function));
}

SyntaxRegion StablehloParser::parse_region() {
  const DepthGuard guard(depth_, max_region_depth, scanner_, "regions");
  SyntaxRegion region;
  region.position = scanner_.next();
  const std::string_view subject = scanner_.subject();
  scanner_.expect('{', "an op with regions");
  if (scanner_.accept('^')) {
    scanner_.suffix_name("the name of a block");
    if (scanner_.accept('(')) region.params = parse_params(')');
    scanner_.expect(':', "the head of a block");
  }
  while (!scanner_.accept('}')) {
    if (scanner_.peek() == '^') {
      scanner_.set_subject(subject);
      scanner_.unsupported_at(scanner_.next(), "regions of several blocks are not supported",
                              "export StableHLO, whose regions have one block each");
    }
    const std::size_t line_position = scanner_.next();
    if (starts_function(scanner_.peek_word())) scanner_.fail_at(line_position, "a function inside a function");
    region.ops.push_back(parse_op());
    scanner_.set_subject(subject);
  }
  return region;
}

SyntaxOp StablehloParser::parse_op() {
  SyntaxOp op;
  op.line = scanner_.source().line(scanner_.next());
  if (scanner_.peek() == '%') parse_results(op);
  op.position = scanner_.next();
  const bool generic = scanner_.at_string();
  op.name = generic ? scanner_.raw_string("the name of an op") : scanner_.expect_word("an op");
  scanner_.set_subject(op.name);
  if (generic)
    parse_generic(op);
  else
    parse_pretty(op);
  parse_optional_location(op.location);
  return op;
}

void StablehloParser::parse_results(SyntaxOp& op) {
  do {
    ResultName result;
    result.position = scanner_.next();
    scanner_.expect('%', "','");
    result.name = scanner_.suffix_name("a name after '%'");
    if (scanner_.accept(':'))
      result.count = static_cast<std::uint32_t>(scanner_.natural("a number of results", 1 << 20));
    op.results.push_back(result);
  } while (scanner_.accept(','));
  scanner_.expect('=', "the names of results");
}

OperandUse StablehloParser::parse_operand() {
  OperandUse use;
  use.position = scanner_.next();
  if (!scanner_.accept('%')) scanner_.fail_expected("an operand");
  use.name = scanner_.suffix_name("a name after '%'");
  if (scanner_.here() == '#') {
    scanner_.advance();
    use.number = static_cast<std::uint32_t>(scanner_.natural("the number of a result", 1 << 20));
  }
  return use;
}

void StablehloParser::parse_functional_type(SyntaxOp& op) {
  SyntaxType type = parse_function_type();
  op.operand_types = std::move(type.inputs);
  op.result_types = std::move(type.results);
  if (op.operand_types.size() != op.operands.size())
    scanner_.fail_at(op.position, fmt::format("this op has {} operands, but its type lists {}", op.operands.size(),
                                              op.operand_types.size()));
}

void StablehloParser::parse_generic(SyntaxOp& op) {
  scanner_.expect('(', "the name of an op");
  if (!scanner_.accept(')')) {
    do
      op.operands.push_back(parse_operand());
    while (scanner_.accept(','));
    scanner_.expect(')', "an operand");
  }
  if (scanner_.peek() == '[')
    scanner_.unsupported_at(scanner_.next(), "branches between blocks are not supported",
                            "export StableHLO, whose regions have one block each");
  if (scanner_.accept("<{")) {
    parse_dictionary(op.attributes);
    scanner_.expect('>', "the properties of an op");
  }
  if (scanner_.accept('(')) {
    do {
      op.regions.push_back(parse_region());
      scanner_.set_subject(op.name);
    } while (scanner_.accept(','));
    scanner_.expect(')', "a region");
  }
  if (scanner_.accept('{')) parse_dictionary(op.attributes);
  scanner_.expect(':', "the operands and attributes of an op");
  parse_functional_type(op);
}

}  // namespace rhino::frontend
