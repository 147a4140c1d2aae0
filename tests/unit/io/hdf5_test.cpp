// SPDX-License-Identifier: Apache-2.0
#include <rhino/io/hdf5.hpp>
#include <support/message_of.hpp>

#include <csignal>
#include <filesystem>
#include <limits>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "hostile.hpp"

namespace rhino::io {
namespace {

using test::message_of;

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Hdf5, AttributesAndNumbersComeBack) {
  {
    Hdf5File file = Hdf5File::create("a.h5");
    set_format(file, "thing", 3);
    file.root().set_attribute("text", "several words, ä");
    file.root().set_attribute("empty", "");
    file.root().set_attribute("long", std::string(100'000, 'x'));
    file.root().set_attribute("big", std::numeric_limits<std::uint64_t>::max());
    file.root().set_attribute("real", 0.1);
    file.root().write_numbers<double>("deep/down/x", {1.5, -2, 3});
    std::vector<std::int64_t> many(200'000);
    std::iota(many.begin(), many.end(), -100'000);
    file.root().write_numbers("many", many);
    file.root().write_texts("names", {"a", "", "longer name"});
    file.root().write_texts("none", {});
    file.root().write_numbers<std::int64_t>("no_numbers", {});
    file.commit();
  }
  const Hdf5File file = Hdf5File::open("a.h5");
  EXPECT_EQ(check_format(file, "thing", 3, "a thing"), 3);
  const Hdf5Group& root = file.root();
  EXPECT_EQ(root.text_attribute("text"), "several words, ä");
  EXPECT_EQ(root.text_attribute("empty"), "");
  EXPECT_EQ(root.text_attribute("long"), std::string(100'000, 'x'));
  EXPECT_EQ(root.uint_attribute("big"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(root.float_attribute("real"), 0.1);
  EXPECT_THAT(root.read_numbers<double>("deep/down/x"), ElementsAre(1.5, -2, 3));
  const auto many = root.read_numbers<std::int64_t>("many");
  ASSERT_EQ(many.size(), 200'000u);
  EXPECT_EQ(many[7], 7 - 100'000);
  EXPECT_THAT(root.data_set("names").read_texts(), ElementsAre("a", "", "longer name"));
  EXPECT_TRUE(root.data_set("none").read_texts().empty());
  EXPECT_TRUE(root.read_numbers<std::int64_t>("no_numbers").empty());
  EXPECT_THAT(root.data_set_paths(), ElementsAre("deep/down/x", "many", "names", "no_numbers", "none"));
}

TEST(Hdf5, BlocksAreHyperslabs) {
  std::vector<std::int32_t> values(6 * 5);
  std::iota(values.begin(), values.end(), 0);
  {
    Hdf5File file = Hdf5File::create("b.h5");
    Hdf5DataSet set = file.root().create_data_set("m", Hdf5Type::I32, {6, 5});
    const std::vector<std::int64_t> start = {0, 0}, first = {2, 5}, rest_start = {2, 0}, rest = {4, 5};
    set.write_block(start, first, std::as_bytes(std::span(values).first(10)));
    set.write_block(rest_start, rest, std::as_bytes(std::span(values).subspan(10)));
    file.commit();
  }
  const Hdf5File file = Hdf5File::open("b.h5");
  const Hdf5DataSet set = file.root().data_set("m");
  EXPECT_THAT(set.dims(), ElementsAre(6, 5));
  std::vector<std::int32_t> block(4);
  const std::vector<std::int64_t> start = {3, 1}, count = {2, 2};
  set.read_block(start, count, std::as_writable_bytes(std::span(block)));
  EXPECT_THAT(block, ElementsAre(16, 17, 21, 22));
  std::vector<double> wide(4);
  set.read_block(start, count, std::as_writable_bytes(std::span(wide)), Hdf5Type::F64);
  EXPECT_THAT(wide, ElementsAre(16, 17, 21, 22));
}

TEST(Hdf5, EveryTypeIsRecognised) {
  using enum Hdf5Type;
  const std::vector<Hdf5Type> types = {I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, Bool};
  {
    Hdf5File file = Hdf5File::create("types.h5");
    for (const Hdf5Type type : types) file.root().create_data_set(std::string(hdf5_type_name(type)), type, {2});
    file.root().create_null("null", F32);
    file.commit();
  }
  const Hdf5File file = Hdf5File::open("types.h5");
  for (const Hdf5Type type : types) EXPECT_EQ(file.root().data_set(std::string(hdf5_type_name(type))).type(), type);
  EXPECT_TRUE(file.root().data_set("null").is_null());
  EXPECT_EQ(file.root().data_set("null").elements(), 0);
}

TEST(Hdf5, ErrorsSayWhatAndWhere) {
  {
    Hdf5File file = Hdf5File::create("c.h5");
    file.root().write_numbers<double>("weights", {1});
    file.root().create_group("group");
    file.commit();
  }
  test::write_bytes("text.h5", "no HDF5 at all");
  test::write_bytes("empty.h5", "");
  EXPECT_THAT(message_of([] { Hdf5File::open("absent.h5"); }), HasSubstr("no file 'absent.h5'"));
  EXPECT_THAT(message_of([] { Hdf5File::open("text.h5"); }), HasSubstr("'text.h5' cannot be read as an HDF5 file"));
  EXPECT_THROW(Hdf5File::open("empty.h5"), InputError);
  EXPECT_THROW(Hdf5File::open("."), InputError);
  EXPECT_THROW(Hdf5File::create("absent_folder/x.h5"), EnvironmentError);
  const Hdf5File file = Hdf5File::open("c.h5");
  const Hdf5Group& root = file.root();
  EXPECT_THAT(message_of([&] { check_format(file, "rhino-model", 1, "a model file"); }), HasSubstr("not a model file"));
  EXPECT_THAT(message_of([&] { root.data_set("weight"); }), HasSubstr("c.h5:/ has no 'weight' (did you mean 'weights'?)"));
  EXPECT_THAT(message_of([&] { root.data_set("group"); }), HasSubstr("is not a data set"));
  EXPECT_THAT(message_of([&] { root.group("weights"); }), HasSubstr("is not a group"));
  EXPECT_THROW(root.data_set("weights/x"), InputError);
  EXPECT_THROW(root.data_set("a//b"), InputError);
  EXPECT_THROW(root.data_set(".."), InputError);
  EXPECT_THROW(root.text_attribute("absent"), InputError);
  EXPECT_THROW(root.read_numbers<float>("weights"), InputError);
  EXPECT_THROW(root.read_numbers<double>("weights", 0), InputError);
}

TEST(Hdf5, NewerVersionIsRefused) {
  {
    Hdf5File file = Hdf5File::create("v.h5");
    set_format(file, "thing", 7);
    file.commit();
  }
  const Hdf5File file = Hdf5File::open("v.h5");
  EXPECT_THAT(message_of([&] { check_format(file, "thing", 3, "a thing"); }), HasSubstr("format version 7"));
}

TEST(Hdf5, WithoutCommitNothingAppears) {
  {
    Hdf5File file = Hdf5File::create("pending.h5");
    file.root().write_numbers<double>("x", {1});
  }
  EXPECT_FALSE(std::filesystem::exists("pending.h5"));
}

TEST(Hdf5, DamageIsNoticed) {
  std::vector<double> values(3000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0 / static_cast<double>(i + 1);
  {
    Hdf5File file = Hdf5File::create("damaged.h5");
    set_format(file, "thing", 1);
    file.root().write_numbers("large", values, false);
    file.root().write_numbers("deflated", values, true);
    file.root().write_numbers<std::int64_t>("small", {1, 2, 3});
    for (int i = 0; i < 40; ++i) file.root().create_group("g" + std::to_string(i)).set_attribute("i", std::int64_t{i});
    file.commit();
  }
  const std::string good = test::read_bytes("damaged.h5");
  test::damage("damaged.h5", good, 97, [&] {
    const Hdf5File file = Hdf5File::open("damaged.h5");
    check_format(file, "thing", 1, "a thing");
    bool equal = file.root().read_numbers<double>("large") == values &&
                 file.root().read_numbers<double>("deflated") == values &&
                 file.root().read_numbers<std::int64_t>("small") == std::vector<std::int64_t>{1, 2, 3};
    for (int i = 0; i < 40; ++i) equal = equal && file.root().group("g" + std::to_string(i)).int_attribute("i") == i;
    return equal;
  });
}

// The process may write files of at most 64 KiB: as on a full disk, every write beyond fails.
TEST(Hdf5, FullDiskLeavesNothingBehind) {
  std::filesystem::create_directory("full");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{65536, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string message;
  try {
    Hdf5File file = Hdf5File::create("full/x.h5");
    file.root().write_numbers("x", std::vector<double>(1'000'000, 0.5), false);
    file.commit();
  } catch (const EnvironmentError& error) {
    message = error.what();
  }
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_THAT(message, HasSubstr("cannot write 'full/x.h5': File too large"));
  EXPECT_TRUE(std::filesystem::is_empty("full"));
}

}  // namespace
}  // namespace rhino::io
