// SPDX-License-Identifier: Apache-2.0
#include <rhino/io/state_import.hpp>

#include <cstring>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zip.h>

#include <rhino/base/error.hpp>
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
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string npy(const std::string& header, const std::string& data) {
  std::string padded = header;
  while ((10 + padded.size() + 1) % 64 != 0) padded += ' ';
  padded += '\n';
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(padded.size() & 0xff);
  text += static_cast<char>(padded.size() >> 8);
  return text + padded + data;
}

void write_zip(const std::string& path, const std::vector<std::pair<std::string, std::string>>& entries, bool deflate) {
  std::remove(path.c_str());
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  ASSERT_NE(archive, nullptr);
  for (const auto& [name, content] : entries) {
    zip_source_t* source = zip_source_buffer(archive, content.data(), content.size(), 0);
    const zip_int64_t index = zip_file_add(archive, name.c_str(), source, ZIP_FL_OVERWRITE);
    ASSERT_GE(index, 0);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
  }
  ASSERT_EQ(zip_close(archive), 0);
}

std::string safetensors(const std::string& header, const std::string& data) {
  std::string text(8, '\0');
  for (int i = 0; i < 8; ++i) text[static_cast<std::size_t>(i)] = static_cast<char>(header.size() >> (8 * i) & 0xff);
  return text + header + data;
}

std::vector<double> doubles(const ir::Literal& literal) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < literal.type().elements(); ++i) values.push_back(literal.element_as_double(i));
  return values;
}

const std::vector<float> six = {0, 1, 2, 3, 4, 5};

TEST(Npz, StoredAndDeflatedAnyOrderAnyEndianness) {
  for (const bool deflate : {false, true}) {
    std::string big;
    for (const float value : six) {
      char bytes[4];
      std::memcpy(bytes, &value, 4);
      big += {bytes[3], bytes[2], bytes[1], bytes[0]};
    }
    write_zip("a.npz",
              {{"c/order.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", raw(six))},
               {"f.npy", npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", raw(six))},
               {"big.npy", npy("{'shape': (6,), 'fortran_order': False, 'descr': '>f4'}", big)},
               {"scalar.npy", npy("{'descr': '<i4', 'fortran_order': False, 'shape': (), }", raw<std::int32_t>({-7}))},
               {"bool.npy", npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", std::string("\x01\x00", 2))},
               {"bf16.npy", npy("{'descr': '<V2', 'fortran_order': False, 'shape': (1,), }", raw<std::uint16_t>({0x3f80}))},
               {"none.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4), }", "")}},
              deflate);
    const auto archive = open_tensor_archive("a.npz");
    EXPECT_THAT(archive->names(), ElementsAre("bf16", "big", "bool", "c/order", "f", "none", "scalar"));
    EXPECT_THAT(doubles(archive->read("c/order", {DType::F32, {2, 3}})), ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_THAT(doubles(archive->read("f", {DType::F32, {2, 3}})), ElementsAre(0, 2, 4, 1, 3, 5));
    EXPECT_THAT(doubles(archive->read("big", {DType::F32, {6}})), ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_THAT(doubles(archive->read("big", {DType::BF16, {6}})), ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_EQ(archive->read("scalar", {DType::I32, {}}).element_as_int(0), -7);
    EXPECT_THAT(doubles(archive->read("bool", {DType::I1, {2}})), ElementsAre(1, 0));
    EXPECT_EQ(archive->read("bf16", {DType::BF16, {1}}).element_as_double(0), 1);
    EXPECT_EQ(archive->read("none", {DType::F64, {0, 4}}).type().elements(), 0);
    EXPECT_THAT(message_of<InputError>([&] { archive->read("c/order", {DType::F32, {3, 2}}); }), HasSubstr("'c/order': has shape"));
    EXPECT_THAT(message_of<InputError>([&] { archive->read("scalar", {DType::I64, {}}); }), HasSubstr("'scalar': is i32"));
    EXPECT_THAT(message_of<InputError>([&] { archive->read("scala", {DType::I64, {}}); }), HasSubstr("did you mean 'scalar'"));
  }
}

TEST(Npz, DamagedHeadersAreErrors) {
  const std::string data = raw(six);
  for (const std::string header :
       {"", "{", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3}",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (6,)}", "{'descr': '<f4', 'fortran_order': False, 'shape': (-6,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,)}", "{'descr': '<c8', 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '|O', 'fortran_order': False, 'shape': (6,)}", "{'x': '<f4', 'fortran_order': False, 'shape': (6,)}"}) {
    write_zip("bad.npz", {{"x.npy", npy(header, data)}}, false);
    EXPECT_THROW(open_npz("bad.npz")->read("x", {DType::F32, {6}}), InputError) << header;
  }
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)}";
  for (const std::string& content : {npy(good, data + "x"), npy(good, data.substr(1)), std::string("hello"), std::string()}) {
    write_zip("bad.npz", {{"x.npy", content}}, false);
    EXPECT_THROW(open_npz("bad.npz")->read("x", {DType::F32, {6}}), InputError);
  }
  // A program of absurd size does not make the reader allocate.
  write_zip("bad.npz", {{"x.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}", data)}}, false);
  EXPECT_THROW(open_npz("bad.npz")->read("x", {DType::F32, {1'000'000'000'000}}), InputError);
}

TEST(Npz, DamageIsNoticed) {
  std::vector<float> values(500);
  std::iota(values.begin(), values.end(), 0.5f);
  const ir::TensorType type{DType::F32, {500}};
  for (const bool deflate : {false, true}) {
    const std::string content = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (500,)}", raw(values));
    write_zip("damaged.npz", {{"x.npy", content}, {"y.npy", content}}, deflate);
    const std::string good = test::read_bytes("damaged.npz");
    test::damage("damaged.npz", good, 13, [&] {
      const auto archive = open_tensor_archive("damaged.npz");
      return archive->names() == std::vector<std::string>{"x", "y"} &&
             std::memcmp(archive->read("x", type).stored_bytes().data(), values.data(), 2000) == 0 &&
             std::memcmp(archive->read("y", type).stored_bytes().data(), values.data(), 2000) == 0;
    });
  }
}

TEST(SafeTensors, ReadsTensorsWithinBounds) {
  const std::string header =
      R"({"__metadata__":{"format":"np"},"a.w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
      R"("b":{"dtype":"BOOL","shape":[2],"data_offsets":[24,26]},"h":{"dtype":"BF16","shape":[],"data_offsets":[26,28]}})";
  const std::string data = raw(six) + std::string("\x01\x00", 2) + raw<std::uint16_t>({0x4000});
  test::write_bytes("a.safetensors", safetensors(header, data));
  const auto archive = open_tensor_archive("a.safetensors");
  EXPECT_THAT(archive->names(), ElementsAre("a.w", "b", "h"));
  EXPECT_THAT(doubles(archive->read("a.w", {DType::F32, {2, 3}})), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(doubles(archive->read("b", {DType::I1, {2}})), ElementsAre(1, 0));
  EXPECT_EQ(archive->read("h", {DType::BF16, {}}).element_as_double(0), 2);
  EXPECT_THAT(message_of<InputError>([&] { archive->read("a.w", {DType::F64, {2, 3}}); }), HasSubstr("'a.w': is f32"));
  EXPECT_THAT(message_of<InputError>([&] { archive->read("a.w", {DType::F32, {6}}); }), HasSubstr("'a.w': has shape"));
}

TEST(SafeTensors, DamagedFilesAreErrors) {
  const std::string data = raw(six);
  const std::string good = R"({"x":{"dtype":"F32","shape":[6],"data_offsets":[0,24]}})";
  const ir::TensorType type{DType::F32, {6}};
  const auto attempt = [&](const std::string& bytes) {
    test::write_bytes("bad.safetensors", bytes);
    return message_of<InputError>([&] { open_tensor_archive("bad.safetensors")->read("x", type); });
  };
  EXPECT_EQ(attempt(safetensors(good, data)), "no error");
  const std::string whole = safetensors(good, data);
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_NE(attempt(whole.substr(0, size)), "no error") << size;
  for (const std::string header :
       {"[]", "{\"x\":3}", R"({"x":{"dtype":"F32","shape":[6],"data_offsets":[0,25]}})",
        R"({"x":{"dtype":"F32","shape":[6],"data_offsets":[24,0]}})", R"({"x":{"dtype":"F32","shape":[-6],"data_offsets":[0,24]}})",
        R"({"x":{"dtype":"F32","shape":[6],"data_offsets":[0,18446744073709551615]}})",
        R"({"x":{"dtype":"F8","shape":[6],"data_offsets":[0,24]}})", R"({"x":{"dtype":"F32","shape":6,"data_offsets":[0,24]}})",
        R"({"x":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})"})
    EXPECT_NE(attempt(safetensors(header, data)), "no error") << header;
  EXPECT_NE(attempt(std::string(8, '\xff') + data), "no error");
  EXPECT_NE(attempt("plain text, nothing else"), "no error");
  EXPECT_NE(attempt(safetensors(std::string(200'000, '['), data)), "no error");
}

TEST(StateImport, NamesMustMatch) {
  ir::Program program;
  program.main = program.add_function("main");
  program.entry().add_param({DType::F32, {6}});
  program.entry().add_param({DType::I32, {}});
  ir::Signature signature;
  signature.params = {{"params/weight", ir::ParamRole::State}, {"x", ir::ParamRole::Batch}};
  const auto attempt = [&](const std::string& name) {
    write_zip("s.npz", {{name + ".npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (6,)}", raw(six))}}, true);
    return message_of<InputError>([&] { import_state("s.npz", signature, program.entry()); });
  };
  EXPECT_EQ(attempt("params/weight"), "no error");
  EXPECT_EQ(attempt("params.weight"), "no error");
  EXPECT_THAT(attempt("params/weigth"), HasSubstr("no value for the state 'params/weight' (did you mean 'params/weigth'?)"));
  write_zip("s.npz",
            {{"params/weight.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (6,)}", raw(six))},
             {"other.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (6,)}", raw(six))}},
            true);
  EXPECT_THAT(message_of<InputError>([&] { import_state("s.npz", signature, program.entry()); }), HasSubstr("'other', which is no state"));
  EXPECT_THAT(message_of<InputError>([&] { import_state("absent.npz", signature, program.entry()); }), HasSubstr("no file"));
  test::write_bytes("empty.npz", "");
  EXPECT_THAT(message_of<InputError>([&] { import_state("empty.npz", signature, program.entry()); }), HasSubstr("is empty"));
}

}  // namespace
}  // namespace rhino::io
