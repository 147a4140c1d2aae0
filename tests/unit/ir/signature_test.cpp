// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/signature.hpp>

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/base/error.hpp>

namespace rhino::ir {
namespace {

/// (w, m, batch) -> (loss, w', m')
struct Sample {
  Function function;
  Signature signature;

  Sample() {
    const TensorType w{DType::F32, {2, 2}};
    const ValueId a = function.add_param(w);
    const ValueId b = function.add_param(w);
    const ValueId batch = function.add_param({DType::F32, {}});
    function.name = "step";
    function.results = {batch, a, b};
    signature.params = {{"params/w", ParamRole::State, StateKind::Param},
                        {"opt/w", ParamRole::State, StateKind::Optimizer},
                        {"x", ParamRole::Batch}};
    signature.results = {
        {"loss", ResultRole::Loss}, {"params/w", ResultRole::State, 0}, {"opt/w", ResultRole::State, 1}};
  }
};

TEST(Signature, FindsLossAndUpdates) {
  const Sample sample;
  EXPECT_NO_THROW(verify(sample.signature, sample.function));
  EXPECT_EQ(sample.signature.loss(), 0u);
  const auto updates = sample.signature.updates();
  ASSERT_EQ(updates.size(), 3u);
  EXPECT_EQ(updates[0], 1u);
  EXPECT_EQ(updates[1], 2u);
  EXPECT_FALSE(updates[2]);
  Signature without = sample.signature;
  without.results[0].role = ResultRole::Metric;
  EXPECT_FALSE(without.loss());
}

TEST(Signature, FindsFaults) {
  const auto fault = [](const std::function<void(Sample&)>& damage, const std::string& message) {
    Sample sample;
    damage(sample);
    try {
      verify(sample.signature, sample.function);
      ADD_FAILURE() << "expected: " << message;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(message));
    }
  };
  fault([](Sample& s) { s.signature.params.pop_back(); }, "lists 2 parameters, but @step has 3");
  fault([](Sample& s) { s.signature.results.pop_back(); }, "lists 2 results, but @step has 3");
  fault([](Sample& s) { s.signature.params[1].path = "params/w"; }, "two parameters of the signature have the path");
  fault([](Sample& s) { s.signature.params[1].path.clear(); }, "parameter 1 of the signature has no path");
  fault([](Sample& s) { s.signature.results[2].state_param = 0; }, "replaced by two results");
  fault([](Sample& s) { s.signature.results[2].state_param = 2; }, "updates \"x\", which is not state");
  fault([](Sample& s) { s.signature.results[2].state_param = 9; }, "updates parameter 9, but there are only 3");
  fault([](Sample& s) { s.function.results[1] = s.function.params[2]; }, "is tensor<f32>, but the state \"params/w\"");
  fault([](Sample& s) { s.signature.results[1].role = ResultRole::Loss; }, "two results are marked as the loss");
  fault([](Sample& s) { s.function.values[2].type.dtype = DType::I32; }, "expected a scalar float");
}

}  // namespace
}  // namespace rhino::ir
