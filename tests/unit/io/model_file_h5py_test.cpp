// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/io/model_file.hpp>

#include "python.hpp"
#include "small_model.hpp"

namespace rhino::io {
namespace {

using test::message_of;
using test::small_model;
using testing::HasSubstr;

bool run_python(const std::string& script) { return test::run_python("h5py", "import h5py, numpy as np\n" + script); }

TEST(ModelFileH5py, H5pyReadsTheModel) {
  write_model(small_model(), "h5py.h5");
  if (!run_python(R"(
f = h5py.File('h5py.h5', 'r')
assert f.attrs['format'].decode() == 'rhino-model' and f.attrs['format_version'] == 1
assert b'stablehlo.dot_general' in bytes(f['program'][...])
assert [p.decode() for p in f['signature/params/path']] == ['params/w', 'params/h', 'mask', 'step', 'x']
assert [p.decode() for p in f['signature/params/role']] == ['state'] * 4 + ['batch']
assert f['state/params/w'].shape == (4, 3) and f['state/params/w'].dtype == np.float32
assert f['state/params/h'].dtype == np.uint16 and f['state/params/h'].attrs['dtype'] == b'bf16'
assert f['state/step'].attrs['init'] == b'constant' and f['state/step'].attrs['value'] == 7
assert f['meta'].attrs['source'] == b'step.mlir'
)"))
    GTEST_SKIP() << "no Python with h5py (tools/setup_python makes one)";
}

TEST(ModelFileH5py, H5pyReplacesState) {
  write_model(small_model(), "replace.h5");
  if (!run_python(R"(
f = h5py.File('replace.h5', 'r+')
f['state/params/w'][...] = np.arange(12).reshape(4, 3)
del f['state/step']
f['state/step'] = np.int32(41)
del f['state/mask']
f['state/mask'] = np.array([True, True])
del f['state/params/h']
f['state/params/h'] = np.array([1, 2, 0.5], np.float32)
f.close()
)"))
    GTEST_SKIP() << "no Python with h5py (tools/setup_python makes one)";
  const Model model = read_model("replace.h5");
  EXPECT_EQ(std::get<ir::Literal>(model.state.at("params/w")).element_as_double(7), 7);
  EXPECT_EQ(std::get<ir::Literal>(model.state.at("step")).element_as_int(0), 41);
  EXPECT_EQ(std::get<ir::Literal>(model.state.at("mask")).element_as_int(0), 1);
  EXPECT_EQ(std::get<ir::Literal>(model.state.at("params/h")).element_as_double(2), 0.5);

  write_model(small_model(), "wrong.h5");
  ASSERT_TRUE(run_python("f = h5py.File('wrong.h5', 'r+')\ndel f['state/step']\nf['state/step'] = np.int64(41)\n"));
  EXPECT_THAT(message_of([] { read_model("wrong.h5"); }), HasSubstr("holds i64, but the program needs i32"));
  write_model(small_model(), "wrong.h5");
  ASSERT_TRUE(run_python("f = h5py.File('wrong.h5', 'r+')\nf['state/params/v'] = np.zeros(3)\n"));
  EXPECT_THAT(message_of([] { read_model("wrong.h5"); }), HasSubstr("'params/v', which is no state"));
  write_model(small_model(), "wrong.h5");
  ASSERT_TRUE(run_python("f = h5py.File('wrong.h5', 'r+')\np = f['program']\nt = p[...]\nt[5] += 1\np[...] = t\n"));
  EXPECT_THAT(message_of([] { read_model("wrong.h5"); }), HasSubstr("was edited"));
  write_model(small_model(), "wrong.h5");
  ASSERT_TRUE(run_python("f = h5py.File('wrong.h5', 'r+')\ndel f['state/params/w']\n"));
  EXPECT_THAT(message_of([] { read_model("wrong.h5"); }), HasSubstr("no value for 'params/w'"));
}

}  // namespace
}  // namespace rhino::io
