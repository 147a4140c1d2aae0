// SPDX-License-Identifier: Apache-2.0
// Files as NumPy, ml_dtypes and safetensors themselves write them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/io/state_import.hpp>

#include "python.hpp"

namespace rhino::io {
namespace {

using ir::DType;

constexpr std::pair<const char*, DType> numpy_types[] = {
    {"bool", DType::I1},    {"int8", DType::I8},     {"int16", DType::I16},   {"int32", DType::I32},
    {"int64", DType::I64},  {"uint8", DType::U8},    {"uint16", DType::U16},  {"uint32", DType::U32},
    {"uint64", DType::U64}, {"float16", DType::F16}, {"float32", DType::F32}, {"float64", DType::F64}};

/// Every array is 0 1 0 1 .. so that it has the same numbers in every type.
void expect_alternating(const ir::Literal& literal) {
  for (std::int64_t i = 0; i < literal.type().elements(); ++i) EXPECT_EQ(literal.element_as_double(i), i % 2);
}

TEST(StateImportNumpy, NpzOfEveryType) {
  if (!test::run_python("numpy", R"(
import numpy as np
a = np.arange(15).reshape(3, 5) % 2
types = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
arrays = {f"p/{t}": a.astype(t) for t in types}
arrays["fortran"] = np.asfortranarray(a.astype("float32"))
arrays["big"] = a.astype(">f8")
arrays["strided"] = np.repeat(a, 2, axis=1)[:, ::2].astype("int32")
np.savez("stored.npz", **arrays)
np.savez_compressed("deflated.npz", **arrays)
)"))
    GTEST_SKIP() << "no Python with NumPy (tools/setup_python makes one)";
  for (const char* file : {"stored.npz", "deflated.npz"}) {
    const auto archive = open_tensor_archive(file);
    for (const auto& [name, dtype] : numpy_types)
      expect_alternating(archive->read(std::string("p/") + name, {dtype, {3, 5}}));
    expect_alternating(archive->read("fortran", {DType::F32, {3, 5}}));
    expect_alternating(archive->read("big", {DType::F64, {3, 5}}));
    expect_alternating(archive->read("strided", {DType::I32, {3, 5}}));
  }
}

TEST(StateImportNumpy, Bfloat16OfMlDtypes) {
  if (!test::run_python("ml_dtypes", R"(
import numpy as np, ml_dtypes
np.savez("bf16.npz", x=(np.arange(15).reshape(3, 5) % 2).astype(ml_dtypes.bfloat16))
)"))
    GTEST_SKIP() << "no Python with ml_dtypes (tools/setup_python makes one)";
  expect_alternating(open_tensor_archive("bf16.npz")->read("x", {DType::BF16, {3, 5}}));
}

TEST(StateImportNumpy, SafeTensorsOfEveryType) {
  if (!test::run_python("safetensors.numpy", R"(
import numpy as np
from safetensors.numpy import save_file
a = np.arange(15).reshape(3, 5) % 2
types = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
save_file({f"p.{t}": a.astype(t) for t in types}, "a.safetensors", metadata={"who": "me"})
)"))
    GTEST_SKIP() << "no Python with safetensors (tools/setup_python makes one)";
  const auto archive = open_tensor_archive("a.safetensors");
  for (const auto& [name, dtype] : numpy_types)
    expect_alternating(archive->read(std::string("p.") + name, {dtype, {3, 5}}));
}

}  // namespace
}  // namespace rhino::io
