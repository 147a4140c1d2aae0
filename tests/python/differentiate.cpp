// SPDX-License-Identifier: Apache-2.0
// differentiate FILE: prints the modules of a StableHLO file (split by `// -----`), each with the gradients of its first
// result, which must be a scalar, by all its floating parameters as further results.
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <rhino/ad/gradient.hpp>
#include <rhino/base/error.hpp>
#include <rhino/base/file.hpp>
#include <rhino/frontend/import.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/ir/text.hpp>

namespace {

std::string differentiated(std::string_view text) {
  rhino::ir::Program program = rhino::frontend::import_text(text);
  rhino::ir::Function& main = program.entry();
  std::vector<rhino::ir::ValueId> wrt, results{main.results.at(0)};
  for (const rhino::ir::ValueId param : main.params)
    if (rhino::ir::is_float(main.type(param).dtype)) wrt.push_back(param);
  const auto gradients = rhino::ad::gradient(program, program.main, results[0], wrt);
  results.insert(results.end(), gradients.begin(), gradients.end());
  program.entry().results = std::move(results);
  program.entry().result_notes.clear();
  rhino::ir::eliminate_dead_code(program);
  return rhino::ir::print(program);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    RHINO_CHECK_AS(rhino::UsageError, argc == 2, "usage: differentiate FILE");
    const std::string text = rhino::read_file(argv[1]);
    for (const rhino::frontend::ModuleText& module : rhino::frontend::split_modules(text))
      fmt::print("{}// -----\n", differentiated(module.text));
  } catch (const std::exception& error) {
    fmt::print(stderr, "differentiate: {}\n", error.what());
    return 1;
  }
  return 0;
}
