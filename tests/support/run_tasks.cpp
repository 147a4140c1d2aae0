// SPDX-License-Identifier: Apache-2.0
#include "support/run_tasks.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include <gtest/gtest.h>

#include <rhino/device/arena.hpp>

namespace rhino::test {

using kernels::reference::Tensor;

namespace {

/// Kokkos for all tests of the program.
class DeviceEnvironment final : public testing::Environment {
 public:
  void SetUp() override { environment_ = std::make_unique<device::Environment>(); }
  void TearDown() override { environment_.reset(); }

 private:
  std::unique_ptr<device::Environment> environment_;
};

const testing::Environment* const device_environment = testing::AddGlobalTestEnvironment(new DeviceEnvironment);

}  // namespace

ir::Signature plain_signature(const ir::Function& function) {
  ir::Signature signature;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    signature.params.push_back({"p" + std::to_string(i), ir::ParamRole::Batch, {}, ir::Evidence::User});
  }
  for (std::size_t i = 0; i < function.results.size(); ++i) {
    signature.results.push_back({"r" + std::to_string(i), ir::ResultRole::Metric, 0, ir::Evidence::User});
  }
  return signature;
}

void expect_near(const kernels::reference::Tensor& want, const std::byte* got, const std::string& what) {
  const ir::DType dtype = want.type.dtype;
  Tensor have(want.type);
  std::memcpy(have.bytes.data(), got, have.bytes.size());
  if (!ir::is_float(dtype)) {
    ASSERT_EQ(want.bytes, have.bytes) << what;
    return;
  }
  const ir::Literal a = want.to_literal();
  const ir::Literal b = have.to_literal();
  const double tolerance = dtype == ir::DType::F64 ? 1e-9 : 2e-5;
  double scale = 1e-3;
  for (std::int64_t i = 0; i < want.type.elements(); ++i) scale = std::max(scale, std::abs(a.element_as_double(i)));
  for (std::int64_t i = 0; i < want.type.elements(); ++i) {
    ASSERT_NEAR(a.element_as_double(i), b.element_as_double(i), tolerance * scale) << what << " element " << i;
  }
}

}  // namespace rhino::test
