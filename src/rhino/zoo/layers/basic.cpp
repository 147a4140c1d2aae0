// SPDX-License-Identifier: Apache-2.0
#include <rhino/zoo/layers/basic.hpp>

#include <cmath>
#include <numbers>
#include <numeric>

#include <fmt/format.h>

namespace rhino::zoo {

using ir::Dims;
using ir::DType;

Tensor activate(ModelBuilder& b, const Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::None:
      return x;
    case Activation::Relu:
      return b.maximum(x, 0);
    case Activation::Gelu:
      return 0.5 * x * (1.0 + b.erf(x * std::numbers::sqrt2 * 0.5));
    case Activation::GeluTanh: {
      const Tensor inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
      return 0.5 * x * (1.0 + b.tanh(inner));
    }
    case Activation::QuickGelu:
      return x * b.logistic(1.702 * x);
    case Activation::Silu:
      return x * b.logistic(x);
    case Activation::Tanh:
      return b.tanh(x);
  }
  return x;
}

Tensor add_bias(ModelBuilder& b, const Tensor& y, std::string_view name, const Dims& dims,
                const ir::InitRecipe& recipe) {
  // Spread in f32 and then converted: so the reduction of the gradient is one in f32.
  return y + b.convert(b.broadcast(b.parameter(name, dims, recipe), y.dims()), y.dtype());
}

Tensor dense(ModelBuilder& b, std::string_view name, const Tensor& x, const Dims& out, const ir::InitRecipe& recipe,
             bool bias) {
  const auto scope = b.scope(name);
  Dims dims{x.dim(-1)};
  dims.insert(dims.end(), out.begin(), out.end());
  const Tensor y = b.dot(x, b.weight("w", dims, recipe));
  return bias ? add_bias(b, y, "b", out) : y;
}

Embedding embed(ModelBuilder& b, std::string_view name, const Tensor& ids, std::int64_t count, std::int64_t width,
                const ir::InitRecipe& recipe) {
  const auto scope = b.scope(name);
  const Tensor table = b.parameter("table", {count, width}, recipe);
  return {table, look_up(b, table, ids)};
}

Tensor look_up(ModelBuilder& b, const Tensor& table, const Tensor& ids) {
  return b.convert(b.take(table, ids), b.compute());
}

Tensor tied_scores(ModelBuilder& b, const Tensor& x, const Tensor& table) {
  ir::DotGeneralAttrs attrs{{}, {}, {x.rank() - 1}, {1}, x.dtype()};
  return b.convert(b.add(ir::OpKind::DotGeneral, {x, b.convert(table, x.dtype())}, std::move(attrs)), DType::F32);
}

Tensor norm(ModelBuilder& b, std::string_view name, const Tensor& x, Norm kind, double epsilon, bool bias) {
  const auto scope = b.scope(name);
  const Dims features{x.dim(-1)};
  Tensor y = b.convert(x, DType::F32);
  if (kind == Norm::Layer) y = y - b.mean(y, {-1}, true);
  y = y * b.rsqrt(b.mean(y * y, {-1}, true) + epsilon);
  y = y * b.parameter("scale", features, constant(1));
  if (kind == Norm::Layer && bias) y = y + b.parameter("bias", features, zeros());
  return b.convert(y, x.dtype());
}

Tensor batch_norm(ModelBuilder& b, std::string_view name, const Tensor& x, double momentum, double epsilon,
                  double first_scale) {
  const auto scope = b.scope(name);
  const Dims features{x.dim(-1)};
  std::vector<int> others(static_cast<std::size_t>(x.rank() - 1));
  std::iota(others.begin(), others.end(), 0);
  const Tensor input = b.convert(x, DType::F32);
  const Tensor running_mean = b.statistics("mean", features, zeros());
  const Tensor running_variance = b.statistics("variance", features, constant(1));
  Tensor mean = running_mean, variance = running_variance;
  if (b.policy().training) {
    mean = b.mean(input, others);
    const Tensor centred = input - mean;
    variance = b.mean(centred * centred, others);
    const auto examples = static_cast<double>(x.type().elements() / x.dim(-1));
    const double unbiased = examples > 1 ? examples / (examples - 1) : 1;
    b.set_next(running_mean, running_mean * (1 - momentum) + mean * momentum);
    b.set_next(running_variance, running_variance * (1 - momentum) + variance * (momentum * unbiased));
  }
  const Tensor scale = b.parameter("scale", features, constant(first_scale)) * b.rsqrt(variance + epsilon);
  const Tensor shift = b.parameter("bias", features, zeros()) - mean * scale;
  return b.convert(input * scale + shift, x.dtype());
}

Tensor group_norm(ModelBuilder& b, std::string_view name, const Tensor& x, std::int64_t groups, double epsilon) {
  const auto scope = b.scope(name);
  const std::int64_t features = x.dim(-1);
  if (groups < 1 || features % groups != 0)
    b.fail(fmt::format("{} groups do not divide {} features", groups, features));
  const std::int64_t places = x.type().elements() / (x.dim(0) * features);
  Tensor y = b.reshape(b.convert(x, DType::F32), {x.dim(0), places, groups, features / groups});
  y = y - b.mean(y, {1, 3}, true);
  y = y * b.rsqrt(b.mean(y * y, {1, 3}, true) + epsilon);
  y = b.reshape(y, x.dims());
  y = y * b.parameter("scale", {features}, constant(1)) + b.parameter("bias", {features}, zeros());
  return b.convert(y, x.dtype());
}

}  // namespace rhino::zoo
