// SPDX-License-Identifier: Apache-2.0
#include <rhino/frontend/import.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <rhino/frontend/hlo_text.hpp>
#include <rhino/frontend/onnx.hpp>
#include <rhino/frontend/source.hpp>
#include <rhino/frontend/stablehlo.hpp>
#include <rhino/base/strings.hpp>

namespace rhino::frontend {
namespace {

/// Next line of a text, without its end; moves `at` behind it.
std::string_view next_line(std::string_view text, std::size_t& at) {
  const std::size_t end = std::min(text.find('\n', at), text.size());
  const std::string_view line = text.substr(at, end - at);
  at = end == text.size() ? end : end + 1;
  return line;
}

/// First line that is neither blank nor a comment.
std::string_view first_content(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view line = trim(next_line(text, at));
    if (!line.empty() && !line.starts_with("//")) return line;
  }
  return {};
}

}  // namespace

std::vector<ModuleText> split_modules(std::string_view text) {
  std::vector<ModuleText> modules;
  std::size_t begin = 0;
  std::uint32_t first_line = 1, line_number = 1;
  const auto add = [&](std::size_t end) {
    const std::string_view part = text.substr(begin, end - begin);
    if (!first_content(part).empty()) modules.push_back({part, first_line});
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t line_begin = at;
    const std::string_view line = trim(next_line(text, at));
    ++line_number;
    if (!line.starts_with("// -----")) continue;
    add(line_begin);
    begin = at;
    first_line = line_number;
  }
  add(text.size());
  return modules;
}

TextFormat detect_format(std::string_view text) {
  if (text.starts_with("ML\xEFR")) return TextFormat::MlirBytecode;
  if (text.starts_with("\x1f\x8b")) return TextFormat::Gzip;
  if (text.starts_with("\x89HDF")) return TextFormat::Hdf5;
  const std::string_view head = text.substr(0, 4096);
  const bool binary = std::any_of(head.begin(), head.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r' && c != '\f';
  });
  if (binary) return looks_like_onnx(text) ? TextFormat::Onnx : TextFormat::Protobuf;
  const std::string_view line = first_content(text);
  if (line.starts_with("HloModule") || line.starts_with("ENTRY")) return TextFormat::HloText;
  for (const std::string_view start : {"module", "builtin.module", "func", "\"", "#", "!", "{-#", "sdy."})
    if (line.starts_with(start)) return TextFormat::StableHlo;
  // HLO text without header: a computation comes first.
  if (!line.empty() && line.ends_with("{")) return TextFormat::HloText;
  return TextFormat::Unknown;
}

ir::Program import_text(std::string_view text, const ImportOptions& options) {
  const Source source(options.source_name, text, options.first_line);
  constexpr std::string_view artifact_remedy =
      "turn it into text first: python -c \"import jax.export as e, sys; "
      "print(e.deserialize(bytearray(open(sys.argv[1], 'rb').read())).mlir_module())\" FILE";
  switch (detect_format(text)) {
    case TextFormat::StableHlo:
      return parse_stablehlo(text, options);
    case TextFormat::HloText:
      return parse_hlo_text(text, options);
    case TextFormat::MlirBytecode:
      source.unsupported(0, {}, "this is MLIR bytecode, not text", artifact_remedy);
    case TextFormat::Gzip:
      source.unsupported(0, {}, "this file is compressed", "unpack it with gunzip first");
    case TextFormat::Hdf5:
      source.unsupported(0, {}, "this is an HDF5 file", "a model.h5 needs no import");
    case TextFormat::Onnx:
      source.unsupported(0, {}, "this is an ONNX model, not text", "make a model file of it with `rhino import`");
    case TextFormat::Protobuf:
      source.unsupported(0, {}, "this is a binary file (a serialised HloModuleProto or jax.export artifact?), not text",
                         artifact_remedy);
    case TextFormat::Unknown:
      break;
  }
  if (first_content(text).empty()) source.fail(0, {}, "this text is empty");
  source.fail(0, {}, "this is neither StableHLO text (module, func.func) nor HLO text (HloModule)");
}

}  // namespace rhino::frontend
