// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <rhino/shard/growth.hpp>
#include <rhino/shard/sharding.hpp>

namespace rhino::shard {

/// What the propagations of all functions of a program share.
struct PropagationContext {
  const ir::Program& program;
  const MeshShape& mesh;
  bool carry_partials = false;
  std::vector<int> uses;                   ///< control_uses(program)
  std::vector<FunctionSharding>& decided;  ///< outcome per function; bodies are written while their op is propagated
};

/// Propagation within one function. Layouts of values and strategies of ops start whole and only gain splits: forward,
/// an op follows its operands (the larger first); backward, what costs nothing to split follows its users where they
/// all agree. So it ends, near-linear in the number of ops.
class FunctionPropagation {
 public:
  FunctionPropagation(PropagationContext& context, const ir::Function& function, int depth);

  /// Gives a parameter its layout at the start; a pinned one keeps it.
  void set_param(std::size_t param, const Layout& layout, bool pinned);
  /// Gives a value (not a parameter) a layout at the start.
  void seed(ir::ValueId value, const Layout& layout);
  /// The result shall lie as the parameter does.
  void tie(std::size_t param, std::size_t result);
  /// The result is wanted so.
  void want_result(std::size_t result, const Layout& layout);

  void run();

  Layout param(std::size_t i) const { return layouts_[function_.params[i].index()]; }
  /// Layout in which the result is computed (the partial part already combined).
  Layout result(std::size_t i) const { return layouts_[function_.results[i].index()]; }
  /// The decisions; results that are not tied lie as they are computed.
  FunctionSharding finish();

 private:
  struct OpState {
    FactorMap map;
    Strategy strategy;
    std::vector<Layout> wants;   ///< of the operands
    bool forward_open = true;    ///< an operand changed
    bool backward_open = false;  ///< a user of a result changed
    std::vector<bool> frozen;    ///< while: carried values that keep their layout
    bool settled = false;        ///< control flow: decisions for its regions were written
  };

  const ir::Op& op(std::size_t o) const { return function_.ops[o]; }
  bool forward(std::size_t o);
  bool backward(std::size_t o);
  bool adopt(std::size_t param);
  void refresh(std::size_t o);
  void set_layout(ir::ValueId value, Layout layout);
  void set_wants(std::size_t o, std::vector<Layout> wants);
  void open_producer(ir::ValueId value);
  /// What all users of a value want, dimension by dimension; its own layout where they do not agree.
  Layout common_want(ir::ValueId value) const;
  void merge_growth(Layout& layout, const Layout& wanted) const;

  bool evaluate_control(std::size_t o);
  bool evaluate_while(std::size_t o);
  bool evaluate_branches(std::size_t o);
  bool settle_control(std::size_t o, std::vector<Layout> wants, const std::vector<Layout>& results);
  void decide_whole(ir::FunctionId region);
  void carry_partials();

  PropagationContext& context_;
  const ir::Function& function_;
  const MeshShape& mesh_;
  int depth_;
  std::vector<OpState> ops_;
  std::vector<Layout> layouts_;  ///< per value, never partial
  std::vector<std::vector<std::pair<ir::OpId, std::uint32_t>>> uses_;
  std::vector<bool> pinned_;      ///< per parameter
  std::vector<bool> param_open_;  ///< per parameter: a user changed
  std::vector<std::optional<Layout>> result_wants_;
  std::vector<int> tied_param_;                             ///< per result; -1
  std::vector<std::vector<std::size_t>> result_positions_;  ///< per value: results of the function that it is
};

}  // namespace rhino::shard
