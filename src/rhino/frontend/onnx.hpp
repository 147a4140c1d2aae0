// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <rhino/ir/graph.hpp>
#include <rhino/ir/literal.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/ir/signature.hpp>

namespace rhino::frontend {

/// A weight of an ONNX model: an initializer of floats with at least one dimension. Other initializers are constants.
struct OnnxWeight {
  std::string name;  ///< of the file
  std::string path;  ///< made of it, unique: parts between slashes, e.g. "layer1/0/conv1/weight"
  ir::StateKind kind = ir::StateKind::Param;  ///< Statistics for what a batch norm keeps
  ir::Literal value;
};

/// What the graph of an ONNX model is built into.
class OnnxTarget {
 public:
  virtual ~OnnxTarget() = default;
  virtual ir::Graph& graph() = 0;
  /// Gives the weight in the type that its value has.
  virtual ir::Tensor weight(const OnnxWeight& weight) = 0;
  /// `path` is made of the input's name as a weight's is.
  virtual ir::Tensor input(const std::string& path, const ir::TensorType& type) = 0;

  /// Whether the graph becomes a part of a training step.
  virtual bool training() const { return false; }
  /// In training: whether these statistics are kept up. If not, their batch norm uses them as they are; else it uses
  /// those of the batch.
  virtual bool learns(const OnnxWeight&) const { return true; }
  /// Next value of a weight that is Statistics and learns; asked for in training only.
  virtual void set_next(const OnnxWeight&, const ir::Tensor& /*next*/) {}
  /// A Dropout node; asked for in training only.
  virtual ir::Tensor dropout(const ir::Tensor& x, double /*rate*/) { return x; }
};

struct OnnxOptions {
  std::string file = "<model>";  ///< begins every message
  std::filesystem::path folder;  ///< where external data lies; nothing outside of it is read
  /// Sizes of dimensions that the file leaves open, by their names; inputs' first dimensions without a size are also
  /// named "batch".
  std::map<std::string, std::int64_t> dimensions;
  ir::OpEvaluator evaluate;  ///< for shapes that are computed within the graph
};

struct OnnxResult {
  std::vector<std::pair<std::string, ir::Tensor>> outputs;  ///< by path
  std::string producer;  ///< program and version that wrote the file, if it says so
};

/// Whether these are the first bytes of an ONNX file.
bool looks_like_onnx(std::string_view bytes);

/// Builds the graph of an ONNX model (opset 7 to 23, static shapes): inputs and weights as the target gives them.
/// Throws UnsupportedError with one list of all ops that Rhino does not have, ImportError for a malformed file; local.
OnnxResult build_onnx(std::string_view bytes, const OnnxOptions& options, OnnxTarget& target);

}  // namespace rhino::frontend
