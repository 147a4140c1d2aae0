// SPDX-License-Identifier: Apache-2.0
#include <rhino/frontend/stablehlo.hpp>

#include <rhino/frontend/assembler.hpp>
#include <rhino/frontend/stablehlo_parser.hpp>

namespace rhino::frontend {

ir::Program parse_stablehlo(std::string_view text, const ImportOptions& options) {
  const Source source(options.source_name, text, options.first_line);
  SyntaxModule module = StablehloParser(source).parse();
  return Assembler(source, options, std::move(module)).run();
}

}  // namespace rhino::frontend
