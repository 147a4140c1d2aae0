// SPDX-License-Identifier: Apache-2.0
#include <rhino/base/file.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <rhino/base/error.hpp>

namespace rhino {
namespace {

namespace fs = std::filesystem;

class File : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::current_path() / testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  int files() const { return static_cast<int>(std::distance(fs::directory_iterator(folder_), {})); }

  fs::path folder_;
};

TEST_F(File, WriteThenReadGivesTheBytes) {
  const std::string content("a\0b\n", 4);
  write_file(folder_ / "x", content);
  EXPECT_EQ(read_file(folder_ / "x"), content);
  write_file(folder_ / "x", "");
  EXPECT_EQ(read_file(folder_ / "x"), "");
  EXPECT_EQ(files(), 1);
}

TEST_F(File, UncommittedFileLeavesTheOldOneAndNothingElse) {
  write_file(folder_ / "x", "old");
  {
    PendingFile pending(folder_ / "x");
    std::ofstream(pending.temporary_path()) << "half";
    EXPECT_EQ(files(), 2);
  }
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(read_file(folder_ / "x"), "old");
}

TEST_F(File, CommitReplaces) {
  write_file(folder_ / "x", "old");
  PendingFile pending(folder_ / "x");
  std::ofstream(pending.temporary_path()) << "new";
  pending.commit();
  EXPECT_EQ(read_file(folder_ / "x"), "new");
  EXPECT_EQ(files(), 1);
}

TEST_F(File, ReadErrorsNameTheFile) {
  try {
    read_file(folder_ / "missing");
    FAIL() << "no exception";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("missing"), std::string::npos);
  }
  EXPECT_THROW(read_file(folder_), InputError);
  write_file(folder_ / "x", "12345");
  EXPECT_THROW(read_file(folder_ / "x", 4), InputError);
  EXPECT_EQ(read_file(folder_ / "x", 5), "12345");
}

TEST_F(File, ReadingAPipeDoesNotHang) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(read_file(folder_ / "pipe"), InputError);
}

TEST_F(File, UnwritableTargetsAreEnvironmentErrors) {
  EXPECT_THROW(write_file(folder_ / "no" / "x", "a"), EnvironmentError);
  EXPECT_THROW(write_file(folder_, "a"), EnvironmentError);
  EXPECT_THROW(write_file("", "a"), EnvironmentError);
  EXPECT_EQ(files(), 0);
}

TEST_F(File, DevicesAndPipesAreNotReplaced) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(write_file(folder_ / "pipe", "a"), EnvironmentError);
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
  fs::create_symlink(folder_ / "pipe", folder_ / "link");
  EXPECT_THROW(write_file(folder_ / "link", "a"), EnvironmentError);
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(files(), 2);
}

TEST_F(File, LinksStayLinks) {
  write_file(folder_ / "target", "old");
  fs::create_symlink("target", folder_ / "link");
  write_file(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "target"), "new");
  EXPECT_EQ(files(), 2);
}

}  // namespace
}  // namespace rhino
