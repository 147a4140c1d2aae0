// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>

#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/frontend/stablehlo.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/kernels/reference/check_program.hpp>
#include <rhino/kernels/reference/evaluate.hpp>

#include "support/test_data.hpp"

// The expectations of StableHLO's own test data hold after each pass as they hold before.

namespace rhino::ir {
namespace {

namespace fs = std::filesystem;

struct Pass {
  const char* name;
  std::function<void(Program&)> run;
};

void fold(Program& program) { fold_constants(program, kernels::reference::evaluate, 4096); }

const std::vector<Pass>& passes() {
  static const std::vector<Pass> list{
      {"inline_calls", inline_calls},
      {"eliminate_dead_code", eliminate_dead_code},
      {"eliminate_common_subexpressions", eliminate_common_subexpressions},
      {"simplify_identities", simplify_identities},
      {"fold_constants", fold},
      {"all",
       [](Program& program) {
         inline_calls(program);
         simplify_identities(program);
         fold(program);
         simplify_identities(program);
         eliminate_common_subexpressions(program);
         eliminate_dead_code(program);
       }},
  };
  return list;
}

TEST(PassesCorpus, ExpectationsStillHold) {
  RHINO_SKIP_WITHOUT_DATA("stablehlo/testdata");
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(test::data_path("stablehlo/testdata")))
    if (entry.path().extension() == ".mlir") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  int checked = 0;
  int skipped = 0;
  for (const fs::path& path : files) {
    std::ifstream stream(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    if (text.size() > 200'000 || text.find("RUN-DISABLED") != std::string::npos) {
      ++skipped;
      continue;
    }
    Program program;
    try {
      program = frontend::parse_stablehlo(text);
    } catch (const Error&) {  // types and ops that Rhino does not have; the frontend's tests count them
      ++skipped;
      continue;
    }
    const auto before = kernels::reference::run_checks(program, {program.main});
    for (const Pass& pass : passes()) {
      Program changed = program;
      pass.run(changed);
      ASSERT_NO_THROW(verify(changed)) << path.filename() << " after " << pass.name;
      const auto after = kernels::reference::run_checks(changed, {changed.main});
      EXPECT_EQ(before.checks, after.checks) << path.filename() << " after " << pass.name;
      EXPECT_EQ(before.failures.size(), after.failures.size())
          << path.filename() << " after " << pass.name << ": "
          << (after.failures.empty() ? "" : after.failures.front().detail);
    }
    ++checked;
  }
  std::cout << checked << " files checked, " << skipped << " skipped\n";
  EXPECT_GT(checked, 500);
}

}  // namespace
}  // namespace rhino::ir
