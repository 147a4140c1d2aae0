// SPDX-License-Identifier: Apache-2.0
#include <rhino/io/data_set.hpp>

#include <algorithm>
#include <numeric>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/io/elements.hpp>
#include <rhino/io/hdf5.hpp>
#include <support/message_of.hpp>

#include "hostile.hpp"
#include "support/test_data.hpp"

namespace rhino::io {
namespace {

using test::message_of;

using ir::DType;
using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
std::vector<T> as(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// Data set "x" of u8 [examples, 3] with x[e, i] = 10 e + i, and "y" of i32 [examples] with y[e] = -e.
void make_file(const std::string& path, std::int64_t examples) {
  Hdf5File file = Hdf5File::create(path);
  std::vector<std::uint8_t> x;
  std::vector<std::int32_t> y;
  for (std::int64_t e = 0; e < examples; ++e) {
    for (int i = 0; i < 3; ++i) x.push_back(static_cast<std::uint8_t>(10 * e + i));
    y.push_back(static_cast<std::int32_t>(-e));
  }
  file.root().create_data_set("x", Hdf5Type::U8, {examples, 3}).write(std::as_bytes(std::span(x)));
  file.root().create_data_set("y", Hdf5Type::I32, {examples}).write(std::as_bytes(std::span(y)));
  file.root().create_data_set("in/deep", Hdf5Type::F32, {examples, 2});
  file.commit();
}

DataField field_x(std::int64_t batch, DType dtype = DType::I32) { return {"x", {dtype, {batch, 3}}}; }
DataField field_y(std::int64_t batch) { return {"y", {DType::I32, {batch}}}; }

TEST(Permutation, IsABijectionOfAnySize) {
  for (const std::int64_t size : {1, 2, 3, 4, 5, 16, 17, 100, 1000, 4097}) {
    for (const std::uint64_t epoch : {0, 1, 77}) {
      const Permutation permutation(size, 9, epoch);
      std::vector<bool> seen(static_cast<std::size_t>(size), false);
      for (std::int64_t i = 0; i < size; ++i) {
        const std::int64_t to = permutation(i);
        ASSERT_GE(to, 0);
        ASSERT_LT(to, size);
        ASSERT_FALSE(seen[static_cast<std::size_t>(to)]);
        seen[static_cast<std::size_t>(to)] = true;
      }
    }
  }
}

TEST(Permutation, DependsOnSeedAndEpochAndLooksRandom) {
  const std::int64_t size = 10'000;
  const Permutation a(size, 1, 0), b(size, 2, 0), c(size, 1, 1);
  int equal_seed = 0, equal_epoch = 0, fixed = 0;
  double lag = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    equal_seed += a(i) == b(i) ? 1 : 0;
    equal_epoch += a(i) == c(i) ? 1 : 0;
    fixed += a(i) == i ? 1 : 0;
    if (i > 0) lag += std::abs(static_cast<double>(a(i) - a(i - 1))) / static_cast<double>(size);
  }
  // Of two independent permutations one place agrees on average; neighbours are a third of the range apart.
  EXPECT_LT(equal_seed, 10);
  EXPECT_LT(equal_epoch, 10);
  EXPECT_LT(fixed, 10);
  EXPECT_NEAR(lag / static_cast<double>(size - 1), 1.0 / 3.0, 0.02);
}

TEST(Permutation, LargeSizesNeedNoTable) {
  const std::int64_t size = std::int64_t{1} << 52;
  const Permutation permutation(size + 12345, 1, 0);
  std::set<std::int64_t> seen;
  for (std::int64_t i = 0; i < 1000; ++i) seen.insert(permutation(size - i));
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_LT(*seen.rbegin(), size + 12345);
}

TEST(DataSet, FileOrderWithoutShuffle) {
  make_file("plain.h5", 10);
  const DataSet data("plain.h5", {field_x(4), field_y(4)}, {.shuffle = false});
  EXPECT_EQ(data.examples(), 10);
  EXPECT_EQ(data.batch_size(), 4);
  EXPECT_EQ(data.batches_per_epoch(), 2);
  EXPECT_THAT(data.batch_examples(data.position_of_step(1)), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(data.batch_examples(data.position_of_step(2)), ElementsAre(0, 1, 2, 3));
  std::vector<std::byte> out(2 * 3 * 4);
  data.read(0, {{4, 5}, {0, 1, 2}}, out);
  EXPECT_THAT(as<std::int32_t>(out), ElementsAre(40, 41, 42, 50, 51, 52));
  data.read(0, {{7, 2}, {2, -1, 0}}, out);
  EXPECT_THAT(as<std::int32_t>(out), ElementsAre(72, 0, 70, 22, 0, 20));
}

TEST(DataSet, ShortLastBatchIsDroppedOrWrapped) {
  make_file("short.h5", 10);
  const DataSet drop("short.h5", {field_y(4)}, {.shuffle = false, .short_batch = ShortBatch::Drop});
  EXPECT_EQ(drop.position_of_step(2), 10);
  EXPECT_EQ(drop.batch_start(8), 10);
  EXPECT_EQ(drop.batch_start(4), 4);
  const DataSet wrap("short.h5", {field_y(4)}, {.shuffle = false, .short_batch = ShortBatch::Wrap});
  EXPECT_EQ(wrap.position_of_step(2), 8);
  EXPECT_EQ(wrap.batch_start(8), 8);
  EXPECT_THAT(wrap.batch_examples(8), ElementsAre(8, 9, 0, 1));
  // Positions by step and by going on from batch to batch are the same.
  for (const DataSet* data : {&drop, &wrap}) {
    std::int64_t position = 0;
    for (std::int64_t step = 0; step < 20; ++step) {
      const std::int64_t start = data->batch_start(position);
      EXPECT_EQ(start, data->position_of_step(step));
      position = start + data->batch_size();
    }
  }
}

TEST(DataSet, AnEpochHasEveryExampleOnce) {
  make_file("epoch.h5", 12);
  const DataSet data("epoch.h5", {field_y(4)}, {.shuffle = true, .seed = 5});
  std::vector<std::vector<std::int64_t>> epochs(2);
  for (std::int64_t step = 0; step < 6; ++step)
    for (const std::int64_t example : data.batch_examples(data.position_of_step(step)))
      epochs[static_cast<std::size_t>(step / 3)].push_back(example);
  EXPECT_NE(epochs[0], epochs[1]);
  for (auto& epoch : epochs) {
    EXPECT_FALSE(std::is_sorted(epoch.begin(), epoch.end()));
    std::sort(epoch.begin(), epoch.end());
    std::vector<std::int64_t> all(12);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(epoch, all);
  }
}

TEST(DataSet, EachDeviceReadsItsPartOfTheSameBatch) {
  make_file("layout.h5", 23);
  const DataSet data("layout.h5", {field_x(10)}, {.shuffle = true, .seed = 3});
  const std::int64_t start = data.position_of_step(1);
  const std::vector<std::int64_t> examples = data.batch_examples(start);
  for (const std::int64_t devices : {1, 2, 3, 4, 6}) {
    const shard::MeshShape mesh({{"x", devices}});
    for (int dim = 0; dim < 2; ++dim) {
      const shard::Layout layout = shard::Layout::split({10, 3}, dim, {0});
      const ir::Dims local = shard::local_dims(layout, mesh);
      std::int64_t valid = 0;
      for (std::int64_t device = 0; device < devices; ++device) {
        std::vector<std::byte> out(static_cast<std::size_t>(local[0] * local[1]) * 4);
        data.read_batch(0, start, layout, mesh, device, out);
        const auto values = as<std::int32_t>(out);
        for (std::int64_t r = 0; r < local[0]; ++r)
          for (std::int64_t c = 0; c < local[1]; ++c) {
            const std::int64_t row = shard::global_index(layout.dims[0], mesh, device, r);
            const std::int64_t column = shard::global_index(layout.dims[1], mesh, device, c);
            const std::int32_t got = values[static_cast<std::size_t>(r * local[1] + c)];
            if (row < 0 || column < 0) {
              EXPECT_EQ(got, 0);
              continue;
            }
            ++valid;
            EXPECT_EQ(got, (10 * examples[static_cast<std::size_t>(row)] + column) % 256);
          }
      }
      EXPECT_EQ(valid, 30);
    }
  }
}

TEST(DataSet, OnlyWideningIsDoneWithoutAWord) {
  make_file("types.h5", 5);
  EXPECT_NO_THROW(DataSet("types.h5", {field_x(2, DType::I32)}));
  EXPECT_NO_THROW(DataSet("types.h5", {field_x(2, DType::U8)}));
  EXPECT_THAT(message_of<InputError>([] { DataSet("types.h5", {field_x(2, DType::I8)}); }), HasSubstr("does not convert"));
  EXPECT_THAT(message_of<InputError>([] { DataSet("types.h5", {field_x(2, DType::F32)}); }), HasSubstr("does not convert"));
  EXPECT_THAT(message_of<InputError>([] { DataSet("types.h5", {{"y", {DType::I8, {2}}}}); }), HasSubstr("holds i32"));
  EXPECT_NO_THROW(DataSet("types.h5", {{"y", {DType::I64, {2}}}}));
  EXPECT_THROW(DataSet("types.h5", {{"y", {DType::U64, {2}}}}), InputError);
  EXPECT_NO_THROW(DataSet("types.h5", {{"in/deep", {DType::F64, {2, 2}}}}));
  EXPECT_NO_THROW(DataSet("types.h5", {{"in/deep", {DType::BF16, {2, 2}}}}));
}

TEST(DataSet, ErrorsSayWhatIsWrong) {
  make_file("errors.h5", 5);
  make_file("empty.h5", 0);
  {
    Hdf5File file = Hdf5File::create("uneven.h5");
    file.root().create_data_set("x", Hdf5Type::U8, {5, 3});
    file.root().create_data_set("y", Hdf5Type::I32, {4});
    file.commit();
  }
  const auto message = [](const std::string& path, std::vector<DataField> fields) {
    return message_of<InputError>([&] { DataSet(path, std::move(fields)); });
  };
  EXPECT_THAT(message("absent.h5", {field_x(2)}), HasSubstr("no file 'absent.h5'"));
  EXPECT_THAT(message("errors.h5", {{"xx", {DType::I32, {2}}}}), HasSubstr("(did you mean 'x'?)"));
  EXPECT_THAT(message("errors.h5", {}), HasSubstr("no batch parameter"));
  EXPECT_THAT(message("errors.h5", {field_x(6)}), HasSubstr("one batch has 6 examples, but 'errors.h5' has only 5"));
  EXPECT_THAT(message("empty.h5", {field_x(2)}), HasSubstr("has no examples"));
  EXPECT_THAT(message("uneven.h5", {field_x(2), field_y(2)}), HasSubstr("has 4 examples, but"));
  EXPECT_THAT(message("errors.h5", {field_x(2), field_y(3)}), HasSubstr("differ in their first dimension"));
  EXPECT_THAT(message("errors.h5", {{"x", {DType::I32, {2, 4}}}}), HasSubstr("shape [5, 3]"));
  EXPECT_THAT(message("errors.h5", {{"x", {DType::I32, {}}}}), HasSubstr("scalar"));
}

TEST(DataSet, DamagedFilesAreRefusedOrReadEqual) {
  make_file("damaged.h5", 9);
  const auto contents = [] {
    const DataSet data("damaged.h5", {field_x(9), field_y(9)}, {.shuffle = false});
    std::vector<std::byte> out(9 * 3 * 4), labels(9 * 4);
    const auto all = data.batch_examples(0);
    data.read(0, {all, {0, 1, 2}}, out);
    data.read(1, {all}, labels);
    out.insert(out.end(), labels.begin(), labels.end());
    return out;
  };
  const auto expected = contents();
  test::damage("damaged.h5", test::read_bytes("damaged.h5"), 31, [&] { return contents() == expected; });
}

// Files of h5py have no checksums in their metadata: a flipped bit may turn numbers into others, but the library must not
// crash, hang or allocate what the file claims.
TEST(DataSet, DamagedFilesOfOtherProgramsDoNotCrash) {
  const std::string good = test::read_bytes(test::source_path("inputs/mlp_digits/data.h5"));
  ASSERT_FALSE(good.empty());
  const auto attempt = [](const std::string& bytes) {
    test::write_bytes("foreign.h5", bytes);
    try {
      const DataSet data("foreign.h5", {{"image", {DType::F32, {20, 64}}}, {"label", {DType::I32, {20}}}}, {.shuffle = true});
      std::vector<std::int64_t> columns(64);
      std::iota(columns.begin(), columns.end(), 0);
      std::vector<std::byte> image(20 * 64 * 4), label(20 * 4);
      for (std::int64_t step = 0; step < 10; ++step) {
        const auto examples = data.batch_examples(data.position_of_step(step));
        data.read(0, {examples, columns}, image);
        data.read(1, {examples}, label);
      }
      return true;
    } catch (const InputError&) {
      return false;
    }
  };
  EXPECT_TRUE(attempt(good));
  for (std::size_t size = 0; size < good.size(); size += 1024) EXPECT_FALSE(attempt(good.substr(0, size))) << size;
  // Metadata lies at the start; behind it are compressed numbers.
  for (std::size_t position = 0; position < good.size(); position += position < 6000 ? 17 : 1997) {
    std::string bytes = good;
    bytes[position] = static_cast<char>(bytes[position] ^ (1 << position % 8));
    attempt(bytes);
  }
}

}  // namespace
}  // namespace rhino::io
