// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <rhino/io/hdf5.hpp>
#include <rhino/io/model_file.hpp>

// The parts of the model file's format that reader and writer share.
namespace rhino::io::detail {

inline constexpr std::string_view model_format = "rhino-model";
inline constexpr std::int64_t model_version = 1;

/// Throws InputError unless the parts of a model fit each other: signature, paths, a value for each state, types.
void check_model(const Model& model);

/// Everything but the state, checked.
Model read_model_head(const Hdf5File& file, const std::string& path);

/// Throws InputError unless the state group holds exactly what the signature needs, in shape and type.
void check_state(const Hdf5Group& state, const ir::Signature& signature, const ir::Function& function);

InitRecipe read_recipe(const Hdf5DataSet& set);

}  // namespace rhino::io::detail
