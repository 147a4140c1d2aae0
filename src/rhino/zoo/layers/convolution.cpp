// SPDX-License-Identifier: Apache-2.0
#include <rhino/zoo/layers/convolution.hpp>

#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <rhino/zoo/layers/basic.hpp>

namespace rhino::zoo {

using ir::Dims;

namespace {

ir::InitRecipe by_fan_in(double gain, std::int64_t fan_in) {
  return gain == 0 ? zeros() : normal(std::sqrt(gain / static_cast<double>(fan_in)));
}

Dims kernel_dims(const Tensor& x, const std::vector<std::int64_t>& sizes) {
  Dims dims;
  for (int d = 0; d < x.rank() - 2; ++d)
    dims.push_back(sizes[sizes.size() == 1 ? 0 : static_cast<std::size_t>(d)]);
  return dims;
}

}  // namespace

Tensor convolution(ModelBuilder& b, std::string_view name, const Tensor& x, const ConvolutionSpec& spec) {
  const auto scope = b.scope(name);
  const int spatial = x.rank() - 2;
  if (spatial < 1 || (spec.kernel.size() != 1 && static_cast<int>(spec.kernel.size()) != spatial))
    b.fail(fmt::format("a kernel of {} sizes for {}", spec.kernel.size(), ir::to_string(x.type())));
  const std::int64_t groups = spec.window.groups;
  if (groups < 1 || x.dim(-1) % groups != 0 || spec.features % groups != 0)
    b.fail(fmt::format("{} groups do not divide {} input and {} output features", groups, x.dim(-1), spec.features));
  Dims dims = kernel_dims(x, spec.kernel);
  dims.push_back(x.dim(-1) / groups);
  const std::int64_t fan_in = std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
  dims.push_back(spec.features);
  const Tensor y = b.convolution(x, b.weight("w", dims, by_fan_in(spec.gain, fan_in)), spec.window);
  return spec.bias ? add_bias(b, y, "b", {spec.features}) : y;
}

Tensor transposed_convolution(ModelBuilder& b, std::string_view name, const Tensor& x, std::int64_t features,
                              std::int64_t factor, bool bias) {
  const auto scope = b.scope(name);
  if (factor < 1) b.fail(fmt::format("a transposed convolution by a factor of {}", factor));
  Dims dims = kernel_dims(x, {factor});
  dims.push_back(x.dim(-1));
  dims.push_back(features);
  ir::WindowSpec window;
  window.base_dilation = {factor};
  window.pad_low = window.pad_high = {factor - 1};
  const Tensor y = b.convolution(x, b.weight("w", dims, by_fan_in(1, x.dim(-1))), window);
  return bias ? add_bias(b, y, "b", {features}) : y;
}

Tensor max_pool(ModelBuilder& b, const Tensor& x, std::int64_t size, const ir::WindowSpec& window) {
  return b.pool(ir::ReducerKind::Maximum, x, {size}, window);
}

Tensor average_pool(ModelBuilder& b, const Tensor& x, std::int64_t size, std::int64_t stride) {
  const double taps = std::pow(static_cast<double>(size), x.rank() - 2);
  return b.pool(ir::ReducerKind::Add, x, {size}, ir::WindowSpec::valid(stride)) / taps;
}

Tensor global_average_pool(ModelBuilder& b, const Tensor& x) {
  std::vector<int> spatial(static_cast<std::size_t>(x.rank() - 2));
  std::iota(spatial.begin(), spatial.end(), 1);
  return b.mean(x, std::move(spatial));
}

Tensor upsample_nearest(ModelBuilder& b, const Tensor& x, std::int64_t factor) {
  Dims apart{x.dim(0)}, spread{x.dim(0)}, merged{x.dim(0)};
  for (int d = 1; d < x.rank() - 1; ++d) {
    apart.insert(apart.end(), {x.dim(d), 1});
    spread.insert(spread.end(), {x.dim(d), factor});
    merged.push_back(x.dim(d) * factor);
  }
  for (Dims* dims : {&apart, &spread, &merged})
    dims->push_back(x.dim(-1));
  return b.reshape(b.broadcast(b.reshape(x, apart), spread), merged);
}

}  // namespace rhino::zoo
