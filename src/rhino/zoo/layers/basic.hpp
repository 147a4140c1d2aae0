// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <rhino/zoo/model_builder.hpp>

namespace rhino::zoo {

// Layers declare their weights under the scope `name` and compute in the policy's type; statistics of norms are taken
// in f32. Features are the last dimension throughout.

enum class Activation : std::uint8_t { None, Relu, Gelu, GeluTanh, QuickGelu, Silu, Tanh };
Tensor activate(ModelBuilder& b, const Tensor& x, Activation activation);

/// y [.., dims..] + the parameter `name` [dims..], whose gradient is summed up in f32 whatever the policy.
Tensor add_bias(ModelBuilder& b, const Tensor& y, std::string_view name, const ir::Dims& dims,
                const ir::InitRecipe& recipe = zeros());

/// x [.., in] -> [.., out..]: weight "w" [in, out..], bias "b" [out..].
Tensor dense(ModelBuilder& b, std::string_view name, const Tensor& x, const ir::Dims& out, const ir::InitRecipe& recipe,
             bool bias = true);

/// Rows of a table "table" [count, width] by integer ids [..] -> [.., width].
struct Embedding {
  Tensor table;  ///< in f32
  Tensor rows;   ///< in the policy's type
};
Embedding embed(ModelBuilder& b, std::string_view name, const Tensor& ids, std::int64_t count, std::int64_t width,
                const ir::InitRecipe& recipe);
/// Rows of an f32 table by ids, in the policy's type; the gradient is summed up in f32.
Tensor look_up(ModelBuilder& b, const Tensor& table, const Tensor& ids);
/// Scores of a tied output layer: x [.., width] by table [count, width] -> f32 [.., count].
Tensor tied_scores(ModelBuilder& b, const Tensor& x, const Tensor& table);

enum class Norm : std::uint8_t { Layer, Rms };
/// Layer norm (Ba, Kiros, Hinton 2016) with "scale" and, if `bias`, "bias"; or RMS norm (Zhang, Sennrich 2019) with
/// "scale".
Tensor norm(ModelBuilder& b, std::string_view name, const Tensor& x, Norm kind = Norm::Layer, double epsilon = 1e-5,
            bool bias = true);

/// Batch norm over all dimensions but the last (Ioffe, Szegedy 2015). In training with the statistics of the whole
/// batch, whose running means are kept; else with those.
Tensor batch_norm(ModelBuilder& b, std::string_view name, const Tensor& x, double momentum = 0.1, double epsilon = 1e-5,
                  double first_scale = 1);

/// Group norm (Wu, He 2018) of x [batch, spatial.., features]; `groups` must divide the features.
Tensor group_norm(ModelBuilder& b, std::string_view name, const Tensor& x, std::int64_t groups, double epsilon = 1e-5);

}  // namespace rhino::zoo
