// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <rhino/frontend/stablehlo.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/ir/text.hpp>

#include <support/test_data.hpp>

#include "parse_helpers.hpp"

namespace rhino::frontend {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> mlir_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".mlir") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

struct Counts {
  int parsed = 0;
  std::vector<std::string> unsupported;
  std::vector<std::string> failed;
};

/// Printing and parsing again gives the same program, for every function as entry.
void check_round_trip(const ir::Program& program, const std::string& name) {
  const std::string printed = ir::print(program);
  ImportOptions options;
  options.source_name = name + " (printed)";
  ir::Program again = parse_stablehlo(printed, options);
  ir::Program original = program;
  RHINO_CHECK(again.entry().name == program.entry().name, "another entry after the round trip");
  for (const ir::Function& function : program.functions) {
    const ir::FunctionId here = original.find(function.name);
    const ir::FunctionId there = again.find(function.name);
    if (!there.valid() || !here.valid()) continue;  // regions have no symbol
    original.main = here;
    again.main = there;
    RHINO_CHECK(ir::equivalent(original, again), "@{} changes when printed and parsed again", function.name);
  }
}

/// Parses, verifies and prints every module of every file.
Counts parse_all(const fs::path& folder) {
  Counts counts;
  for (const fs::path& path : mlir_files(folder)) {
    const std::string text = read_file(path);
    for (const ModuleText& module : split_modules(text)) {
      ImportOptions options;
      options.source_name = path.filename().string();
      options.first_line = module.first_line;
      try {
        const ir::Program program = parse_stablehlo(module.text, options);
        ir::verify(program);
        check_round_trip(program, options.source_name);
        ++counts.parsed;
      } catch (const UnsupportedError& error) {
        counts.unsupported.push_back(error.what());
      } catch (const Error& error) {
        counts.failed.push_back(options.source_name + ": " + error.what());
      }
    }
  }
  std::cout << folder.filename().string() << ": parsed " << counts.parsed << ", unsupported "
            << counts.unsupported.size() << ", failed " << counts.failed.size() << "\n";
  for (const std::string& message : counts.failed)
    std::cout << "failed: " << message << "\n";
  return counts;
}

/// What is out of scope, by the words of the diagnostic.
bool is_out_of_scope(const std::string& message) {
  for (const std::string_view reason : {"complex numbers", "elements of type", "quantised", "tokens", "matrix decomp"})
    if (message.find(reason) != std::string::npos) return true;
  return false;
}

TEST(Corpus, TestdataParses) {
  RHINO_SKIP_WITHOUT_DATA("stablehlo/testdata");
  const Counts counts = parse_all(test::data_path("stablehlo/testdata"));
  EXPECT_TRUE(counts.failed.empty());
  EXPECT_GT(counts.parsed, 900);
  for (const std::string& message : counts.unsupported)
    EXPECT_TRUE(is_out_of_scope(message)) << message;
}

TEST(Corpus, InterpretParses) {
  RHINO_SKIP_WITHOUT_DATA("stablehlo/interpret");
  const Counts counts = parse_all(test::data_path("stablehlo/interpret"));
  EXPECT_TRUE(counts.failed.empty());
  EXPECT_GT(counts.parsed, 150);
  for (const std::string& message : counts.unsupported)
    EXPECT_TRUE(is_out_of_scope(message)) << message;
}

}  // namespace
}  // namespace rhino::frontend
