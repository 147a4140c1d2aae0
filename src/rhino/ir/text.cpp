// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/text.hpp>

#include <array>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/print.hpp>

namespace rhino::ir {
namespace {

/// Attribute values are kept as MLIR text where the importer met them; other notes are plain strings.
bool is_attribute_text(std::string_view value) {
  static constexpr std::array<std::string_view, 5> words{"true", "false", "unit", "dense<", "array<"};
  if (value.empty()) return false;
  if (std::string_view("\"[{#@-0123456789").find(value[0]) != std::string_view::npos) return true;
  for (const std::string_view word : words)
    if (value.starts_with(word)) return true;
  return false;
}

bool is_bare_identifier(std::string_view name) {
  if (name.empty() || !(std::isalpha(static_cast<unsigned char>(name[0])) || name[0] == '_')) return false;
  for (const char c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.' && c != '$') return false;
  return true;
}

}  // namespace

const std::string& Printer::symbol_of(FunctionId id) {
  const auto [entry, is_new] = symbols_.try_emplace(static_cast<std::uint32_t>(id.index()));
  if (is_new) {
    std::string name = program_.function(id).name;
    if (name.empty()) name = "function";
    const int seen = used_symbols_[name]++;
    if (seen != 0) {
      // Two functions of one name: number the later ones until the name is free.
      int number = seen - 1;
      std::string candidate;
      do {
        candidate = fmt::format("{}_{}", name, number++);
      } while (used_symbols_.count(candidate) != 0);
      used_symbols_[candidate] = 1;
      name = std::move(candidate);
    }
    entry->second = std::move(name);
    queue_.push_back(id);
  }
  return entry->second;
}

void Printer::name_results(const Op& op, ValueNames& names) {
  if (op.results.empty()) return;
  const std::string name = fresh_value();
  if (op.results.size() == 1) {
    names.set(op.results[0], name);
    return;
  }
  for (std::size_t i = 0; i < op.results.size(); ++i)
    names.set(op.results[i], fmt::format("{}#{}", name, i));
}

void Printer::print_ops(const Function& function, ValueNames& names, int indent) {
  for (const Op& op : function.ops) {
    indent_line(indent);
    name_results(op, names);
    if (!op.results.empty()) {
      const std::string first = names[op.results[0]];
      if (op.results.size() == 1) {
        out_ += first;
      } else {
        out_.append(first, 0, first.find('#'));
        out_ += fmt::format(":{}", op.results.size());
      }
      out_ += " = ";
    }
    print_body(function, op, names, indent);
    if (options_.locations && !op.location.name.empty()) {
      out_ += " loc(";
      print_quoted(out_, op.location.name);
      out_ += ')';
    }
    out_ += '\n';
  }
}

void Printer::print_return(std::string_view keyword, const Function& function, const ValueNames& names, int indent) {
  indent_line(indent);
  out_ += keyword;
  std::string types;
  for (std::size_t i = 0; i < function.results.size(); ++i) {
    const ValueId id = function.results[i];
    out_ += i == 0 ? " " : ", ";
    out_ += names[id];
    if (i != 0) types += ", ";
    types += to_string(function.type(id));
  }
  if (!types.empty()) {
    out_ += " : ";
    out_ += types;
  }
  out_ += '\n';
}

void Printer::print_notes(const Notes& notes) {
  std::string_view separator = " {";
  std::string_view location;
  for (const auto& [key, value] : notes) {
    if (key == "loc") {
      location = value;
      continue;
    }
    out_ += separator;
    separator = ", ";
    if (is_bare_identifier(key)) {
      out_ += key;
    } else {
      print_quoted(out_, key);
    }
    if (value.empty()) continue;
    out_ += " = ";
    if (is_attribute_text(value)) {
      out_ += value;
    } else {
      print_quoted(out_, value);
    }
  }
  if (separator == ", ") out_ += '}';
  if (options_.locations && !location.empty()) {
    out_ += " loc(";
    print_quoted(out_, location);
    out_ += ')';
  }
}

void Printer::print_function(FunctionId id) {
  const Function& function = program_.function(id);
  next_value_ = 0;
  next_argument_ = 0;
  ValueNames names(function);
  out_ += id == program_.main ? "  func.func public " : "  func.func private ";
  print_symbol(out_, symbol_of(id));
  out_ += '(';
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const ValueId param = function.params[i];
    names.set(param, fmt::format("%arg{}", next_argument_++));
    out_ += fmt::format("{}{}: {}", i == 0 ? "" : ", ", names[param], to_string(function.type(param)));
    if (!function.param_notes.empty()) print_notes(function.param_notes[i]);
  }
  out_ += ')';
  if (!function.results.empty()) {
    out_ += " -> (";
    for (std::size_t i = 0; i < function.results.size(); ++i) {
      if (i != 0) out_ += ", ";
      out_ += to_string(function.type(function.results[i]));
      if (!function.result_notes.empty()) print_notes(function.result_notes[i]);
    }
    out_ += ')';
  }
  out_ += " {\n";
  print_ops(function, names, 4);
  print_return("return", function, names, 4);
  out_ += "  }\n";
}

void Printer::print_resource_section() {
  out_ += "\n{-#\n  dialect_resources: {\n    builtin: {\n";
  for (std::size_t i = 0; i < resources_.size(); ++i) {
    const Literal& value = resources_[i].value;
    // A blob starts with the alignment of its elements, a little-endian 32-bit number.
    out_ += fmt::format("      {}: ", resources_[i].name);
    print_blob(out_, value.stored_bytes(), fmt::format("{:02X}000000", dtype_bytes(value.type().dtype)));
    out_ += i + 1 == resources_.size() ? "\n" : ",\n";
  }
  out_ += "    }\n  }\n#-}\n";
}

void Printer::print_module() {
  RHINO_ASSERT(program_.main.valid(), "a program without an entry function cannot be printed");
  out_ += "module";
  if (!program_.name.empty()) {
    out_ += ' ';
    print_symbol(out_, program_.name);
  }
  out_ += " {\n";
  symbol_of(program_.main);
  for (std::size_t next = 0; next < queue_.size(); ++next)
    print_function(queue_[next]);
  out_ += "}\n";
  if (options_.resource_section && !resources_.empty()) print_resource_section();
}

void Printer::print_single(const Function& function, const Op& op, const ValueNames& names) {
  single_line_ = true;
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    out_ += i == 0 ? "" : ", ";
    out_ += names[op.results[i]];
  }
  if (!op.results.empty()) out_ += " = ";
  print_body(function, op, names, 0);
}

std::string print(const Program& program, const PrintOptions& options, std::vector<NamedLiteral>* resources) {
  Printer printer(program, options);
  printer.print_module();
  if (resources != nullptr) *resources = printer.take_resources();
  return printer.take_text();
}

std::string print_op(const Program& program, const Function& function, const Op& op) {
  Printer printer(program, {});
  printer.print_single(function, op, ValueNames::by_number(function));
  return printer.take_text();
}

}  // namespace rhino::ir
