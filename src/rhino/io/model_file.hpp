// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <rhino/ir/init_recipe.hpp>
#include <rhino/ir/literal.hpp>
#include <rhino/ir/program.hpp>
#include <rhino/ir/signature.hpp>

namespace rhino::io {

using ir::InitRecipe;

/// First value of one state parameter: stored numbers or a recipe.
using InitialState = std::variant<ir::Literal, InitRecipe>;

/// A model as every rank loads it.
struct Model {
  ir::Program program;
  ir::Signature signature;
  std::map<std::string, InitialState> state;  ///< by parameter path; every State and Const parameter has one
  std::map<std::string, std::string> meta;
};

/// Writes /program, /constants, /signature, /state, /meta; to a temporary name first, then renamed.
/// Throws EnvironmentError if it cannot be written.
void write_model(const Model& model, const std::string& path);

/// Reads and checks a model: format version, program (verified), signature, state shapes and types.
/// Throws InputError with what is wrong and where. Not collective; any number of processes may read the same file.
Model read_model(const std::string& path);

/// Program and signature, and a reader of the state's elements, so that a rank of a large job loads no more than its shard.
class ModelReader {
 public:
  /// Opens and checks a model file; values are read when asked for. Throws InputError.
  explicit ModelReader(const std::string& path);
  /// Takes a model that is in memory already (imported or built).
  explicit ModelReader(Model model);
  ~ModelReader();
  ModelReader(ModelReader&&) noexcept;
  const ir::Program& program() const;
  const ir::Signature& signature() const;
  const std::map<std::string, std::string>& meta() const;
  /// Type of parameter `param` in the file; replace_program does not change it.
  const ir::TensorType& stored_type(std::size_t param) const;
  /// The recipe of a state that has no stored numbers.
  std::optional<InitRecipe> recipe(const std::string& path) const;
  /// Puts a rewritten program in place, e.g. one whose floats are promoted; parameters keep their number and shapes, and
  /// state is then asked for in the new types.
  void replace_program(ir::Program program);
  /// Fills `out` with the elements of state `path` whose global indices per dimension are listed in `indices` (row-major
  /// product of the lists; -1 leaves zeros), converted to `dtype`.
  void read_state(const std::string& path, const std::vector<std::vector<std::int64_t>>& indices, ir::DType dtype,
                  std::span<std::byte> out) const;

 private:
  friend Model read_model(const std::string& path);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Values of a recipe at the given global elements; the one definition that file readers and tests share.
void evaluate_recipe(const InitRecipe& recipe, const ir::TensorType& type, const std::vector<std::vector<std::int64_t>>& indices,
                     std::span<std::byte> out);

}  // namespace rhino::io
