// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include <rhino/zoo/model_builder.hpp>

namespace rhino::zoo {

struct ConvolutionSpec {
  std::int64_t features = 1;            ///< of the output
  std::vector<std::int64_t> kernel{3};  ///< one size for all spatial dimensions, or one for each
  ir::WindowSpec window = ir::WindowSpec::same();
  bool bias = true;
  double gain = 2;  ///< weights: normal with variance gain / fan-in (He et al. 2015); 0: zeros
};

/// x [batch, spatial.., in] (1 to 3 spatial dimensions) -> [batch, spatial.., features]; weight "w"
/// [kernel.., in / groups, features], bias "b".
Tensor convolution(ModelBuilder& b, std::string_view name, const Tensor& x, const ConvolutionSpec& spec);

/// Transposed convolution that multiplies every spatial size by `factor`, with a kernel of that size (no overlap).
Tensor transposed_convolution(ModelBuilder& b, std::string_view name, const Tensor& x, std::int64_t features,
                              std::int64_t factor = 2, bool bias = true);

Tensor max_pool(ModelBuilder& b, const Tensor& x, std::int64_t size, const ir::WindowSpec& window);
/// Windows without padding.
Tensor average_pool(ModelBuilder& b, const Tensor& x, std::int64_t size, std::int64_t stride);
/// Mean over all spatial dimensions: [batch, spatial.., features] -> [batch, features].
Tensor global_average_pool(ModelBuilder& b, const Tensor& x);
/// Every spatial element repeated `factor` times along each spatial dimension.
Tensor upsample_nearest(ModelBuilder& b, const Tensor& x, std::int64_t factor = 2);

}  // namespace rhino::zoo
