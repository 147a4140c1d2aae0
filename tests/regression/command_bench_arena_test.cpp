// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/file.hpp>

#include "support/process.hpp"
#include "support/test_data.hpp"

namespace rhino::test {
namespace {

using testing::HasSubstr;

ProcessResult bench(const std::string& arguments) { return run_process(rhino_program() + " bench arena " + arguments); }

TEST(BenchArena, PlacesThePublicInstancesWithinTheirCapacity) {
  RHINO_SKIP_WITHOUT_DATA("minimalloc/A.1048576.csv");
  for (const char* name : {"A", "B", "C", "D", "E", "F"}) {
    const std::string file = data_path(fmt::format("minimalloc/{}.1048576.csv", name)).string();
    const ProcessResult result = bench(fmt::format("{} --capacity 1048576 --work 20000000 -o placed.csv", file));
    EXPECT_EQ(result.exit_code, 0) << name << result.output;
    const ProcessResult check = bench(fmt::format("{} --capacity 1048576 --check placed.csv", file));
    EXPECT_EQ(check.exit_code, 0) << name << check.output;
    EXPECT_THAT(check.output, HasSubstr("valid, height "));
  }
}

TEST(BenchArena, SaysWhenNothingFitsAndWritesNothing) {
  write_file("three.csv", "id,lower,upper,size\na,0,2,4\nb,1,3,4\nc,0,1,1\n");
  std::filesystem::remove("none.csv");
  ProcessResult result = bench("three.csv --capacity 7 -o none.csv");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("no placement fits the capacity: proved"));
  EXPECT_FALSE(std::filesystem::exists("none.csv"));
  result = bench("three.csv");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output, HasSubstr("height 8 load 8 bound 8 fragmentation 0.0000% optimal"));
}

TEST(BenchArena, WrongInputsAreOneLine) {
  write_file("fixed.csv", "id,lower,upper,size,offset\na,0,2,4,0\nb,1,3,4,2\n");
  write_file("placed.csv", "id,lower,upper,size,offset\na,0,2,4,0\n");
  write_file("one.csv", "id,lower,upper,size\na,0,2,4\n");
  for (const auto& [arguments, code, part] : {std::tuple{"missing.csv", 3, "missing.csv"},
                                             std::tuple{"fixed.csv", 3, "overlap"},
                                             std::tuple{"fixed.csv --check placed.csv", 3, "has 1 blocks"},
                                             std::tuple{"one.csv --check one.csv", 3, "has no offset"},
                                             std::tuple{"one.csv --alignment 0", 2, "--alignment"},
                                             std::tuple{"one.csv -o /no/such/folder/x.csv", 4, "/no/such/folder"}}) {
    const ProcessResult result = bench(arguments);
    EXPECT_EQ(result.exit_code, code) << arguments;
    EXPECT_THAT(result.errors, HasSubstr(part));
  }
}

}  // namespace
}  // namespace rhino::test
