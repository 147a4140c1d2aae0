// SPDX-License-Identifier: Apache-2.0
#include <rhino/frontend/hlo_parser.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <rhino/frontend/assembler.hpp>
#include <rhino/frontend/hlo_text.hpp>
#include <rhino/frontend/hlo_values.hpp>

namespace rhino::frontend {
namespace {

constexpr int max_shape_depth = 64;
constexpr std::int64_t max_elements = std::int64_t{1} << 56;

/// The integers of a value; none for a malformed one.
std::vector<std::int64_t> integers_in(std::string_view text) {
  return parse_hlo_integers(text).value_or(std::vector<std::int64_t>());
}

Attribute note(std::string_view key, std::string text) {
  Attribute attribute;
  attribute.key = key;
  attribute.value.kind = AttributeValue::Kind::String;
  attribute.value.string = std::move(text);
  return attribute;
}

}  // namespace

std::string hlo_op_name(const HloInstruction& instruction) {
  const HloAttribute* metadata = instruction.find("metadata");
  if (metadata == nullptr) return {};
  constexpr std::string_view key = "op_name=\"";
  const std::size_t begin = metadata->value.find(key);
  if (begin == std::string_view::npos) return {};
  std::string name;
  for (std::size_t i = begin + key.size(); i < metadata->value.size() && metadata->value[i] != '"'; ++i) {
    if (metadata->value[i] == '\\' && i + 1 < metadata->value.size()) ++i;
    name += metadata->value[i];
  }
  return name;
}

const HloAttribute* HloInstruction::find(std::string_view key) const {
  for (const HloAttribute& attribute : attributes)
    if (attribute.key == key) return &attribute;
  return nullptr;
}

SyntaxModule HloParser::parse() {
  SyntaxModule module;
  if (scanner_.accept_word("HloModule")) parse_header();
  while (!scanner_.at_end()) {
    scanner_.set_subject({});
    const std::string_view word = scanner_.peek_word();
    if (word == "FileNames" || word == "FunctionNames" || word == "FileLocations" || word == "StackFrames") {
      scanner_.skip_line();
      while (scanner_.at_number())
        scanner_.skip_line();
      continue;
    }
    parse_computation(module);
  }
  if (module.functions.empty()) scanner_.fail("this HLO module has no computation");
  module.name = std::string(module_name_);
  if (module.entry.empty()) {  // without ENTRY the last computation is the entry
    module.entry = module.functions.back().name;
    note_aliases(module.functions.back());
  }
  return module;
}

void HloParser::parse_header() {
  module_name_ = parse_name("the name of the module");
  for (const HloAttribute& attribute : parse_attributes()) {
    if (attribute.key == "is_scheduled" && attribute.value == "true")
      scanner_.unsupported_at(attribute.position, "this HLO is optimised and scheduled for one backend",
                              kOptimisedRemedy);
    if (attribute.key == "input_output_alias") alias_text_ = attribute.value;
    if (attribute.key == "buffer_donor") donor_text_ = attribute.value;
  }
}

std::string_view HloParser::parse_name(std::string_view what) {
  scanner_.accept('%');
  if (scanner_.at_end()) scanner_.fail_expected(what);
  return scanner_.suffix_name(what);
}

/// A shape begins with a type word directly followed by `[`, or with a parenthesis.
bool HloParser::at_shape() {
  if (scanner_.peek() == '(') return true;
  const std::string_view word = scanner_.peek_word();
  if (word.empty()) return false;
  const std::size_t after = scanner_.position() + word.size();
  const std::string_view text = scanner_.source().text();
  return after < text.size() && text[after] == '[';
}

ir::DType HloParser::parse_element_type() {
  const std::size_t begin = scanner_.next();
  const std::string_view word = scanner_.expect_word("an element type");
  constexpr std::array<std::pair<std::string_view, ir::DType>, 13> types = {{{"pred", ir::DType::I1},
                                                                             {"s8", ir::DType::I8},
                                                                             {"s16", ir::DType::I16},
                                                                             {"s32", ir::DType::I32},
                                                                             {"s64", ir::DType::I64},
                                                                             {"u8", ir::DType::U8},
                                                                             {"u16", ir::DType::U16},
                                                                             {"u32", ir::DType::U32},
                                                                             {"u64", ir::DType::U64},
                                                                             {"f16", ir::DType::F16},
                                                                             {"bf16", ir::DType::BF16},
                                                                             {"f32", ir::DType::F32},
                                                                             {"f64", ir::DType::F64}}};
  for (const auto& [name, dtype] : types)
    if (word == name) return dtype;
  if (word == "c64" || word == "c128")
    scanner_.unsupported_at(begin, "complex numbers are not supported",
                            "write the program with separate real and imaginary parts");
  if (word == "token" || word == "opaque")
    scanner_.unsupported_at(begin, "tokens (ordered side effects, infeed, send, host callbacks) are not supported",
                            "remove prints, callbacks and ordered effects from the step");
  if (word[0] == 's' || word[0] == 'u' || word[0] == 'f')
    scanner_.unsupported_at(begin, fmt::format("elements of type {} are not supported", in_quotes(word)),
                            "Rhino knows pred, s8 to s64, u8 to u64, f16, bf16, f32 and f64");
  scanner_.fail_at(begin, fmt::format("{} is not an element type", in_quotes(word)));
}

SyntaxType HloParser::parse_shape() {
  const DepthGuard guard(depth_, max_shape_depth, scanner_, "shapes");
  SyntaxType type;
  if (scanner_.accept('(')) {
    type.kind = SyntaxType::Kind::Tuple;
    if (scanner_.accept(')')) return type;
    do
      type.results.push_back(parse_shape());
    while (scanner_.accept(','));
    scanner_.expect(')', "a tuple shape");
    return type;
  }
  const std::size_t begin = scanner_.next();
  type.tensor.dtype = parse_element_type();
  scanner_.expect('[', "an element type");
  std::int64_t elements = 1;
  if (!scanner_.accept(']')) {
    do {
      if (scanner_.accept("<=") || scanner_.accept('?'))
        scanner_.unsupported_at(begin, "dynamic shapes are not supported",
                                "export the program with concrete sizes for every dimension");
      const std::int64_t size = scanner_.natural("a dimension", max_elements);
      if (size > 0 && elements > max_elements / size) scanner_.fail_at(begin, "this array has too many elements");
      elements *= std::max<std::int64_t>(size, 1);
      type.tensor.dims.push_back(size);
      if (type.tensor.dims.size() > 64) scanner_.fail_at(begin, "this array has too many dimensions");
    } while (scanner_.accept(','));
    scanner_.expect(']', "the dimensions of a shape");
  }
  parse_layout();
  return type;
}

/// `{1,0}`, `{1,0:T(8,128)}`. A brace after a shape is a layout only if an integer or a colon follows: `-> f32[] {` is
/// the start of a computation. Layouts say how memory is laid out, nothing about values.
void HloParser::parse_layout() {
  if (scanner_.here() != '{') return;
  const std::size_t open = scanner_.position();
  scanner_.advance();
  const char c = scanner_.peek();
  const bool layout = (c >= '0' && c <= '9') || c == ':' || c == '}';
  scanner_.seek(open);
  if (layout) scanner_.balanced(Scanner::Angles::AreNot);
}

std::vector<HloAttribute> HloParser::parse_attributes() {
  std::vector<HloAttribute> attributes;
  while (scanner_.accept(',')) {
    HloAttribute attribute;
    attribute.position = scanner_.next();
    if (scanner_.at_end()) scanner_.fail_expected("an attribute after ','");
    attribute.key = scanner_.suffix_name("the name of an attribute");
    scanner_.expect('=', "the name of an attribute");
    attribute.value = parse_value();
    attributes.push_back(attribute);
  }
  return attributes;
}

/// Up to the next comma or blank outside of brackets and strings.
std::string_view HloParser::parse_value() {
  const std::size_t begin = scanner_.next();
  while (true) {
    const char c = scanner_.here();
    if (c == '"') {
      scanner_.raw_string("a string");
    } else if (c == '{' || c == '(' || c == '[') {
      scanner_.balanced(Scanner::Angles::AreNot);
    } else if (c == '\0' || c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '}' || c == ')') {
      break;
    } else {
      scanner_.advance();
    }
  }
  if (scanner_.position() == begin) scanner_.fail_expected("the value of an attribute");
  return scanner_.text_between(begin, scanner_.position());
}

void HloParser::skip_signature() {
  if (scanner_.peek() != '(') return;
  scanner_.balanced(Scanner::Angles::AreNot);
  scanner_.expect("->", "the parameters of a computation");
  parse_shape();
}

void HloParser::parse_computation(SyntaxModule& module) {
  Computation computation;
  computation.is_entry = scanner_.accept_word("ENTRY");
  computation.position = scanner_.next();
  computation.name = parse_name("the name of a computation");
  skip_signature();
  scanner_.expect('{', "the head of a computation");
  while (!scanner_.accept('}'))
    computation.instructions.push_back(parse_instruction());
  parse_attributes();  // execution_thread
  scanner_.set_subject({});
  if (computation.instructions.empty()) scanner_.fail_at(computation.position, "this computation is empty");
  const bool is_entry = computation.is_entry;
  module.functions.push_back(make_function(module, std::move(computation)));
  if (!is_entry) return;
  if (!module.entry.empty()) scanner_.fail_at(module.functions.back().position, "there are two ENTRY computations");
  module.entry = module.functions.back().name;
  note_aliases(module.functions.back());
}

HloInstruction HloParser::parse_instruction() {
  HloInstruction instruction;
  instruction.is_root = scanner_.accept_word("ROOT");
  instruction.position = scanner_.next();
  instruction.line = scanner_.source().line(instruction.position);
  instruction.name = parse_name("an instruction");
  scanner_.set_subject(instruction.name);
  scanner_.expect('=', "the name of an instruction");
  if (at_shape()) {
    instruction.shape = parse_shape();
    instruction.has_shape = true;
  }
  instruction.opcode = parse_name("an opcode");
  scanner_.set_subject(instruction.opcode);
  if (instruction.opcode == "constant" || instruction.opcode == "parameter") {
    if (scanner_.peek() != '(') scanner_.fail_expected("'(' after an opcode");
    const std::string_view payload = scanner_.balanced(Scanner::Angles::AreNot);
    instruction.payload = payload.substr(1, payload.size() - 2);
  } else {
    parse_operands(instruction);
  }
  instruction.attributes = parse_attributes();
  return instruction;
}

void HloParser::parse_operands(HloInstruction& instruction) {
  scanner_.expect('(', "an opcode");
  if (scanner_.accept(')')) return;
  do {
    if (at_shape()) parse_shape();  // old texts repeat the shape of each operand
    OperandUse use;
    use.position = scanner_.next();
    use.name = parse_name("an operand");
    if (scanner_.peek() == '(')
      scanner_.unsupported_at(use.position, "instructions inside operands are not supported", "give each its own line");
    instruction.operands.push_back(use);
  } while (scanner_.accept(','));
  scanner_.expect(')', "an operand");
}

SyntaxParam HloParser::make_param(const HloInstruction& instruction) {
  SyntaxParam param;
  param.name = instruction.name;
  param.position = instruction.position;
  if (!instruction.has_shape) scanner_.fail_at(instruction.position, "a parameter needs a shape");
  param.type = instruction.shape;
  param.location.name = hlo_op_name(instruction);
  if (param.location.name.empty()) param.location.name = std::string(instruction.name);
  if (const HloAttribute* sharding = instruction.find("sharding"))
    param.attributes.push_back(note("mhlo.sharding", std::string(sharding->value)));
  return param;
}

SyntaxFunction HloParser::make_function(SyntaxModule& module, Computation computation) {
  SyntaxFunction function;
  function.name = std::string(computation.name);
  function.position = computation.position;
  function.is_public = computation.is_entry;
  function.has_body = true;
  function.body.position = computation.position;
  const HloInstruction* root = &computation.instructions.back();
  std::vector<const HloInstruction*> params;
  for (const HloInstruction& instruction : computation.instructions) {
    scanner_.set_subject(instruction.opcode);
    if (instruction.is_root) root = &instruction;
    if (instruction.opcode != "parameter") {
      function.body.ops.push_back(convert_instruction(instruction, scanner_.source(), module.strings));
      continue;
    }
    const auto numbers = integers_in(instruction.payload);
    if (numbers.size() != 1 || numbers[0] < 0 ||
        numbers[0] >= static_cast<std::int64_t>(computation.instructions.size()))
      scanner_.fail_at(instruction.position, "a parameter needs its number");
    const auto number = static_cast<std::size_t>(numbers[0]);
    if (params.size() <= number) params.resize(number + 1, nullptr);
    if (params[number] != nullptr) scanner_.fail_at(instruction.position, "there are two parameters of this number");
    params[number] = &instruction;
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (params[i] == nullptr) scanner_.fail_at(computation.position, fmt::format("parameter {} is missing", i));
    function.body.params.push_back(make_param(*params[i]));
  }
  SyntaxOp result;
  result.name = "func.return";
  result.opcode = "ROOT";
  result.position = root->position;
  result.line = root->line;
  result.operands.push_back({root->name, 0, root->position});
  if (!root->has_shape) scanner_.fail_at(root->position, "the root of a computation needs a shape");
  function.result_types.push_back(root->shape);
  function.body.ops.push_back(std::move(result));
  return function;
}

/// `{ {0}: (3, {}, may-alias), .. }` and `{ (4, {}), .. }`: notes of the parameters. Entries that reach into a tuple
/// parameter are left out, since they name no parameter of ours.
void HloParser::note_aliases(SyntaxFunction& function) const {
  auto& params = function.body.params;
  for (std::size_t at = alias_text_.find("}: ("); at != std::string_view::npos; at = alias_text_.find("}: (", at + 1)) {
    const std::size_t open = alias_text_.rfind('{', at);
    const std::size_t close = alias_text_.find(')', at);
    if (open == std::string_view::npos || close == std::string_view::npos) break;
    const auto output = integers_in(alias_text_.substr(open, at - open));
    const auto param = integers_in(alias_text_.substr(at, close - at));
    if (output.size() > 1 || param.size() != 1 || param[0] < 0 || static_cast<std::size_t>(param[0]) >= params.size())
      continue;
    const std::int64_t result = output.empty() ? 0 : output[0];
    params[static_cast<std::size_t>(param[0])].attributes.push_back(note("tf.aliasing_output", std::to_string(result)));
  }
  for (std::size_t at = donor_text_.find('('); at != std::string_view::npos; at = donor_text_.find('(', at + 1)) {
    const std::size_t close = std::min(donor_text_.find(')', at), donor_text_.size());
    const auto param = integers_in(donor_text_.substr(at, close - at));
    if (param.size() == 1 && param[0] >= 0 && static_cast<std::size_t>(param[0]) < params.size())
      params[static_cast<std::size_t>(param[0])].attributes.push_back(note("jax.buffer_donor", "true"));
  }
}

ir::Program parse_hlo_text(std::string_view text, const ImportOptions& options) {
  const Source source(options.source_name, text, options.first_line);
  SyntaxModule module = HloParser(source).parse();
  for (SyntaxFunction& function : module.functions)
    if (function.name == module.entry && module.entry != "main") {
      for (const SyntaxFunction& other : module.functions)
        if (other.name == "main") return Assembler(source, options, std::move(module)).run();
      function.name = module.entry = "main";
      break;
    }
  return Assembler(source, options, std::move(module)).run();
}

}  // namespace rhino::frontend
