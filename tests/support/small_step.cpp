// SPDX-License-Identifier: Apache-2.0
#include "support/small_step.hpp"

#include <rhino/ir/builder.hpp>

namespace rhino::test {

using ir::DType;
using ir::OpKind;
using ir::ValueId;

SmallStep small_step(std::int64_t batch, std::int64_t width, std::int64_t hidden) {
  SmallStep step;
  step.program.main = step.program.add_function("step");
  ir::Builder b(step.program, step.program.main);
  const ValueId w = b.param({DType::F32, {width, hidden}});
  const ValueId v = b.param({DType::F32, {hidden, width}});
  const ValueId x = b.param({DType::F32, {batch, width}});
  const auto dot = [&](ValueId lhs, ValueId rhs, int lhs_dim, int rhs_dim) {
    return b.add(OpKind::DotGeneral, {lhs, rhs}, ir::DotGeneralAttrs{{}, {}, {lhs_dim}, {rhs_dim}, DType::F32});
  };
  const auto scaled = [&](ValueId value, double factor) {
    return b.add(OpKind::Multiply, {value, b.full(b.type(value), factor)});
  };
  const ValueId h = b.add(OpKind::Tanh, {dot(x, w, 1, 0)});
  const ValueId y = dot(h, v, 1, 0);
  const double count = static_cast<double>(batch * width);
  const ValueId loss = scaled(b.reduce(b.add(OpKind::Multiply, {y, y}), ir::ReducerKind::Add, {0, 1}), 1 / count);
  const ValueId dy = scaled(y, 2 / count);
  const ValueId dv = dot(h, dy, 0, 0);
  const ValueId dh = dot(dy, v, 1, 1);
  const ValueId slope = b.add(OpKind::Subtract, {b.full(b.type(h), 1), b.add(OpKind::Multiply, {h, h})});
  const ValueId dw = dot(x, b.add(OpKind::Multiply, {dh, slope}), 0, 0);
  b.set_results({b.add(OpKind::Subtract, {w, scaled(dw, 0.1)}), b.add(OpKind::Subtract, {v, scaled(dv, 0.1)}), loss});
  const auto state = [](const char* path) {
    return ir::ParamInfo{path, ir::ParamRole::State, ir::StateKind::Param, ir::Evidence::User};
  };
  step.signature.params = {state("w"), state("v"), {"x", ir::ParamRole::Batch, {}, ir::Evidence::User}};
  step.signature.results = {{"w", ir::ResultRole::State, 0, ir::Evidence::User},
                            {"v", ir::ResultRole::State, 1, ir::Evidence::User},
                            {"loss", ir::ResultRole::Loss, 0, ir::Evidence::User}};
  step.batch = 2;
  step.first_weight = 0;
  return step;
}

}  // namespace rhino::test
