// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <rhino/frontend/stablehlo.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/ir/text.hpp>

#include "support/random_program.hpp"

namespace rhino::frontend {
namespace {

/// What reading normalises: unused operands of `case` are not written, so the first print may lose some.
ir::Program normalised(const ir::Program& program) { return parse_stablehlo(ir::print(program)); }

TEST(RandomRoundTrip, PrintAndParseIsTheIdentity) {
  test::Rng rng(17);
  for (int i = 0; i < 300; ++i) {
    const ir::Program program = test::random_program(rng);
    const std::string text = ir::print(program);
    const ir::Program once = normalised(program);
    ir::verify(once);
    bool has_case = false;
    for (const ir::Function& function : program.functions)
      for (const ir::Op& op : function.ops)
        has_case = has_case || op.kind == ir::OpKind::Case;
    if (!has_case) {
      ASSERT_TRUE(ir::equivalent(program, once)) << "program " << i << "\n" << text << ir::print(once);
    }
    const ir::Program twice = normalised(once);
    ASSERT_TRUE(ir::equivalent(once, twice)) << "program " << i << "\n" << text << ir::print(twice);
  }
}

TEST(RandomRoundTrip, WithResources) {
  test::Rng rng(18);
  for (int i = 0; i < 50; ++i) {
    const ir::Program program = normalised(test::random_program(rng));
    ir::PrintOptions options;
    options.resource_threshold = 0;
    options.resource_section = true;
    const std::string text = ir::print(program, options);
    ASSERT_TRUE(ir::equivalent(program, parse_stablehlo(text))) << text;
  }
}

}  // namespace
}  // namespace rhino::frontend
