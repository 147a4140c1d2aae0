// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <rhino/ir/graph.hpp>
#include <rhino/ir/init_recipe.hpp>
#include <rhino/ir/signature.hpp>

namespace rhino::zoo {

using ir::Tensor;

/// A model that is ready to be written: an ordinary training (or evaluation) step with known roles and recipes.
struct BuiltModel {
  ir::Program program;
  ir::Signature signature;
  std::map<std::string, ir::InitRecipe> state;  ///< by parameter path; every State parameter has one
  std::map<std::string, std::string> meta;
};

// Recipes; the builder gives each parameter a seed of its own.
ir::InitRecipe zeros();
ir::InitRecipe constant(double value);
ir::InitRecipe normal(double deviation);
ir::InitRecipe truncated_normal(double deviation);
ir::InitRecipe uniform(double bound);  ///< in [-bound, bound)

/// How a model is built, whatever the model.
struct BuildPolicy {
  ir::DType compute = ir::DType::F32;  ///< of activations and products; weights are kept in f32 and converted
  bool training = true;                ///< dropout acts and batch norm uses the statistics of the batch
  bool scan = false;                   ///< repeated blocks become one loop over stacked weights
  std::uint64_t seed = 0;              ///< of first values and of random draws
};

namespace detail {
/// Made before the Graph that builds into it.
struct ModelUnderConstruction {
  explicit ModelUnderConstruction(std::string name);
  BuiltModel model_;
};
}  // namespace detail

/// A Graph that knows what its parameters are for. Layers (zoo/layers) declare weights where they use them, under the
/// current scope; a model declares its batch and its loss. One object per model.
class ModelBuilder : private detail::ModelUnderConstruction, public ir::Graph {
 public:
  ModelBuilder(std::string name, const BuildPolicy& policy);

  const BuildPolicy& policy() const { return policy_; }
  ir::DType compute() const { return policy_.compute; }

  /// A trained parameter in f32, named by the scope. Within a scanned block it is one slice of a stack. A path that is
  /// declared twice is an error, except under `sharing`.
  Tensor parameter(std::string_view name, const ir::Dims& dims, const ir::InitRecipe& recipe);
  /// The same, converted to the policy's type: what products take.
  Tensor weight(std::string_view name, const ir::Dims& dims, const ir::InitRecipe& recipe);

  /// A state that is kept and replaced, not trained: running statistics.
  Tensor statistics(std::string_view name, const ir::Dims& dims, const ir::InitRecipe& recipe);
  /// A state of any type that starts at zero: what inference keeps between steps.
  Tensor memory(std::string_view name, ir::TensorType type);
  /// What an update rule keeps, zero at first; `path` is under "optimizer/".
  Tensor optimizer_state(std::string_view path, ir::TensorType type);
  /// Next value of what `statistics`, `memory`, `optimizer_state` or `step` gave.
  void set_next(const Tensor& state, const Tensor& next);

  /// While it lives, parameters of one path are one parameter: repeated blocks share their weights.
  class [[nodiscard]] Sharing {
   public:
    explicit Sharing(ModelBuilder& builder) : builder_(builder) { ++builder_.sharing_; }
    ~Sharing() { --builder_.sharing_; }
    Sharing(const Sharing&) = delete;
    Sharing& operator=(const Sharing&) = delete;

   private:
    ModelBuilder& builder_;
  };

  /// An input of which every step gets new values; the first dimension is the example.
  Tensor batch(std::string_view name, ir::TensorType type);
  /// The loss that the parameters under the scope `name` are trained by, in place of the model's: learning that is
  /// local.
  void local_loss(std::string_view name, const Tensor& loss);
  /// A value to report beside the loss; a scalar in training steps.
  void metric(std::string_view name, const Tensor& value);
  /// The number of steps done, an i32 scalar kept as state.
  Tensor step();

  /// A block repeated: `name0`, `name1`, .. or, by policy, one loop over stacked weights. The block takes and gives the
  /// carried values.
  using Block = std::function<std::vector<Tensor>(std::vector<Tensor> carried)>;
  std::vector<Tensor> repeat(std::int64_t count, std::string_view name, std::vector<Tensor> carried,
                             const Block& block);

  // Random numbers: pure functions of (seed, step, place in the model, global index of the element), so that every
  // layout draws the same ones. Four rounds of "Squares" (Widynski, "Squares: a fast counter-based RNG", 2020).
  Tensor random_bits(const ir::Dims& dims);     ///< u32
  Tensor random_uniform(const ir::Dims& dims);  ///< f32 in [0, 1)
  Tensor random_normal(const ir::Dims& dims);   ///< f32 (Box and Muller)
  /// Elements are zeroed with probability `rate`, the others scaled by 1 / (1 - rate); nothing happens outside of
  /// training.
  Tensor dropout(const Tensor& x, double rate);

  /// A fact for the model file's /meta.
  void note(const std::string& key, std::string value) { model_.meta[key] = std::move(value); }

 private:
  friend class TrainingStep;
  struct State {
    ir::ParamInfo info;
    ir::InitRecipe recipe;
    Tensor value;  ///< of the entry function
    Tensor next;   ///< invalid: unchanged (or, of a trained parameter, what the optimizer makes)
  };
  void check_size(std::string_view path, const ir::Dims& dims) const;
  Tensor declare(std::string path, ir::TensorType type, ir::InitRecipe recipe, ir::StateKind kind);
  Tensor random_key();

  BuildPolicy policy_;
  std::vector<State> states_;  ///< and batch inputs, in the order of the entry's parameters
  std::map<std::string, std::size_t, std::less<>> declared_;  ///< places in states_ by path
  std::unordered_map<ir::ValueId, std::size_t> by_value_;     ///< and by the parameter of the entry function
  std::vector<std::pair<std::string, Tensor>> metrics_;
  std::vector<std::pair<std::string, Tensor>> local_losses_;  ///< by the paths of their parameters
  int sharing_ = 0;
  std::int64_t random_sites_ = 0;
};

}  // namespace rhino::zoo
