// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <rhino/frontend/import.hpp>
#include <rhino/frontend/stablehlo.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/ir/text.hpp>

#include <support/test_data.hpp>

namespace rhino::frontend {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.good()) << path;
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

inline std::string data_file(const std::string& name) {
  return read_file(test::source_path("tests/unit/frontend/data/" + name));
}

/// The program of a text, verified.
inline ir::Program parse(std::string_view text) {
  ImportOptions options;
  options.source_name = "t.mlir";
  ir::Program program = import_text(text, options);
  ir::verify(program);
  return program;
}

/// A program with one function of some ops.
inline ir::Program parse_body(const std::string& params, const std::string& body) {
  return parse("func.func @main(" + params + ") {\n" + body + "\n  return\n}\n");
}

/// Both texts give the same program.
inline void expect_same(const std::string& params, const std::string& a, const std::string& b) {
  const ir::Program first = parse_body(params, a);
  const ir::Program second = parse_body(params, b);
  EXPECT_TRUE(ir::equivalent(first, second)) << ir::print(first) << "\n is not\n" << ir::print(second);
}

/// The message of the error that a text gives; empty if it gives none, or one that is no ErrorType.
template <class ErrorType>
std::string message_of(std::string_view text, const ImportOptions& base = {}) {
  ImportOptions options = base;
  options.source_name = "t.mlir";
  try {
    import_text(text, options);
  } catch (const ImportError& error) {
    if (dynamic_cast<const ErrorType*>(&error) != nullptr) return error.what();
  }
  return {};
}

}  // namespace rhino::frontend
