// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rhino/base/error.hpp>
#include <rhino/ir/program.hpp>

namespace rhino::frontend {

/// A text that cannot be read. The message begins with "source:line:column:" and names the op.
class ImportError : public InputError {
 public:
  using InputError::InputError;
};

/// A well-formed text that uses something Rhino does not have (complex numbers, dynamic shapes, foreign custom
/// calls ..). The message says what, where, and what to do instead. Its own type, so that test drivers can count
/// such programs apart from wrong ones.
class UnsupportedError : public ImportError {
 public:
  using ImportError::ImportError;
};

/// How a text is read.
struct ImportOptions {
  std::string source_name = "<text>";  ///< begins every message, usually the file name
  std::uint32_t first_line = 1;        ///< line number of the first line, for parts of a file
  /// Elided constants (`{...}` in HLO text, `dense_resource<__elided__>`) become extra parameters of the entry
  /// function, named after the instruction, instead of an error.
  bool elided_constants_as_inputs = false;
  /// Bytes of `dense_resource<name>` that the text itself does not hold; nullopt for an unknown name.
  std::function<std::optional<std::vector<std::byte>>(std::string_view name)> resource;
};

/// One module of a file of several.
struct ModuleText {
  std::string_view text;
  std::uint32_t first_line = 1;
};

/// Splits a file at lines `// -----`. Parts that hold only comments and blank space are left out.
std::vector<ModuleText> split_modules(std::string_view text);

/// What a text looks like from its first bytes.
enum class TextFormat : std::uint8_t { StableHlo, HloText, MlirBytecode, Gzip, Hdf5, Onnx, Protobuf, Unknown };
TextFormat detect_format(std::string_view text);

/// Reads one module in whichever text format it is. Throws ImportError; for binary formats the message says how to
/// get a text instead.
ir::Program import_text(std::string_view text, const ImportOptions& options = {});

}  // namespace rhino::frontend
