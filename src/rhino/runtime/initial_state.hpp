// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rhino/io/model_file.hpp>
#include <rhino/runtime/executor.hpp>

namespace rhino::runtime {

/// Global indices, per dimension, of the elements of a tensor's local buffer on `device`; -1 marks padding.
std::vector<std::vector<std::int64_t>> local_indices(const shard::Layout& layout, const shard::MeshShape& mesh,
                                                     std::int64_t device);

/// Fills the state buffers of `executor` with this rank's part of the model's first values, converted to the buffers' types.
/// Local. Throws InputError if a value is missing or does not fit.
void load_initial_state(Executor& executor, const ir::Signature& signature, const io::ModelReader& values);

}  // namespace rhino::runtime
