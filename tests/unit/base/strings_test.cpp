// SPDX-License-Identifier: Apache-2.0
#include <rhino/base/strings.hpp>

#include <gtest/gtest.h>

namespace rhino {
namespace {

using Names = std::vector<std::string>;

TEST(Strings, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
  EXPECT_EQ(split(",", ','), (std::vector<std::string_view>{"", ""}));
}

TEST(Strings, Trim) {
  EXPECT_EQ(trim("  a b\t\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
}

TEST(Strings, EditDistance) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("steps", "setps"), 1u);
}

TEST(Strings, NearestName) {
  const Names names = {"steps", "seed", "log_every"};
  EXPECT_EQ(nearest_name("stpes", names), "steps");
  EXPECT_EQ(nearest_name("log_evry", names), "log_every");
  EXPECT_EQ(nearest_name("zzzzzz", names), std::nullopt);
  EXPECT_EQ(nearest_name("x", Names{}), std::nullopt);
  EXPECT_EQ(did_you_mean("sed", names), " (did you mean 'seed'?)");
  EXPECT_EQ(did_you_mean("zzzzzz", names), "");
}

TEST(Strings, HumanReadable) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1536), "1.50 KiB");
  EXPECT_EQ(human_bytes(std::int64_t{3} << 40), "3.00 TiB");
  EXPECT_EQ(human_count(1.5e9), "1.50 G");
  EXPECT_EQ(human_count(12), "12 ");
  EXPECT_EQ(human_seconds(0.0012), "1.20 ms");
}

}  // namespace
}  // namespace rhino
