// SPDX-License-Identifier: Apache-2.0
#pragma once

// Internal to frontend/: what an ONNX file says, in our own types.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <rhino/ir/literal.hpp>

namespace rhino::frontend::onnx {

/// Attribute of a node; what its type does not use stays empty.
struct Attribute {
  enum class Kind : std::uint8_t { Float, Int, String, Tensor, Floats, Ints, Other };
  Kind kind = Kind::Other;
  double number = 0;
  std::int64_t integer = 0;
  std::string text;
  ir::Literal tensor;
  std::vector<double> numbers;
  std::vector<std::int64_t> integers;
};

struct Node {
  std::string op;    ///< with its domain in front where that is not the standard one: "com.microsoft.Gelu"
  std::string name;  ///< for messages; made up where the file has none
  std::vector<std::string> inputs;  ///< names; empty for an optional input that is left out
  std::vector<std::string> outputs;
  std::map<std::string, Attribute, std::less<>> attributes;
};

/// A size, or the name of one that the exporter left open (may be empty).
using Dimension = std::variant<std::int64_t, std::string>;

struct Input {
  std::string name;
  ir::DType dtype = ir::DType::F32;
  std::vector<Dimension> dims;
};

struct Model {
  std::int64_t opset = 0;
  std::string producer;
  std::vector<Node> nodes;
  std::vector<Input> inputs;  ///< without those that initializers give a value
  std::vector<std::string> outputs;
  std::vector<std::pair<std::string, ir::Literal>> initializers;  ///< in the order of the file
};

/// Reads a serialised ModelProto. `file` begins messages; files of external data are looked for in `folder` and must
/// not leave it. Throws ImportError (UnsupportedError for what Rhino does not have).
Model read_model(std::string_view bytes, const std::string& file, const std::filesystem::path& folder);

/// Element type by ONNX's number; nullopt for strings, complex numbers and types below 8 bits.
std::optional<ir::DType> dtype_from_number(std::int64_t number);

}  // namespace rhino::frontend::onnx
