// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rhino/io/model_file.hpp>

namespace rhino::app {

/// What `rhino import MODEL.onnx` says.
struct OnnxRequest {
  std::string path;
  std::int64_t batch = 0;             ///< size of the inputs' first dimensions where those are open; 0: not given
  std::vector<std::string> dims;      ///< NAME=SIZE
  std::string loss;                   ///< "cross_entropy", "mse", "bce"; empty: the forward pass alone
  std::string trained_output;         ///< path of the output that the loss is of; empty: the first
  std::vector<std::string> settings;  ///< key=value of training: optimizer, learning_rate ..
  std::vector<std::string> frozen;    ///< patterns of weights that are not trained
};

/// Reads an ONNX model: its weights become state, its outputs metrics; with a loss, it becomes a training step of our
/// gradients and optimizers. Local. Throws InputError for a file that cannot be read, UsageError for a wrong request.
io::Model import_onnx(const OnnxRequest& request);

}  // namespace rhino::app
