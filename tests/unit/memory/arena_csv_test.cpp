// SPDX-License-Identifier: Apache-2.0
#include <rhino/memory/arena_csv.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>

namespace rhino::memory {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view text) {
  try {
    parse_arena_csv(text, "a.csv");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ArenaCsv, ReadsColumnsInAnyOrderAndWritesThemBack) {
  const ArenaTable table = parse_arena_csv("\xef\xbb\xbfsize, id,upper,lower,offset\r\n16,a,4,0,\r\n\r\n8,b,9,2,32", "a.csv");
  ASSERT_EQ(table.ids, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(table.problem.blocks[0].lower, 0);
  EXPECT_EQ(table.problem.blocks[0].upper, 4);
  EXPECT_EQ(table.problem.blocks[0].size, 16);
  EXPECT_FALSE(table.problem.blocks[0].offset.has_value());
  EXPECT_EQ(table.problem.blocks[1].offset, 32);
  const std::string written = to_arena_csv(table, {0, 32});
  EXPECT_EQ(written, "id,lower,upper,size,offset\na,0,4,16,0\nb,2,9,8,32\n");
  EXPECT_EQ(to_arena_csv(parse_arena_csv(written, "b.csv"), {0, 32}), written);
}

TEST(ArenaCsv, RefusesWhatItCannotTrust) {
  const std::string head = "id,lower,upper,size\n";
  EXPECT_THAT(error_of(""), HasSubstr("is empty"));
  EXPECT_THAT(error_of(head), HasSubstr("holds no block"));
  EXPECT_THAT(error_of("id,lower,upper\n"), HasSubstr("a.csv:1: column 'size' is missing"));
  EXPECT_THAT(error_of("id,lower,upper,size,size\n"), HasSubstr("occurs twice"));
  EXPECT_THAT(error_of("id,lower,upper,bytes\n"), HasSubstr("unknown column 'bytes'"));
  EXPECT_THAT(error_of(head + "a,0,1,5\na,0,1,5\n"), HasSubstr("a.csv:3: id 'a' is used twice"));
  EXPECT_THAT(error_of(head + "a,0,1\n"), HasSubstr("has 3 values for 4 columns"));
  EXPECT_THAT(error_of(head + "a,0,1,-5\n"), HasSubstr("size is -5, must be from 0"));
  EXPECT_THAT(error_of(head + "a,0,1,99999999999999999999\n"), HasSubstr("is too large"));
  EXPECT_THAT(error_of(head + "a,0,1,1152921504606846976\nb,0,1,1\n"), HasSubstr("sum to more than 2^60"));
  EXPECT_THAT(error_of(head + "a,0,1,5.5\n"), HasSubstr("'5.5' is not a whole number"));
  EXPECT_THAT(error_of(head + "a,3,3,5\n"), HasSubstr("upper must be more than lower"));
  EXPECT_THAT(error_of(head + ",0,1,5\n"), HasSubstr("the id is empty"));
  EXPECT_THAT(error_of(head + std::string("a,0,1,\0", 7) + "\n"), HasSubstr("'?' is not a whole number"));
  EXPECT_EQ(error_of(head + "a,0,1,0\n"), "no error");
}

}  // namespace
}  // namespace rhino::memory
